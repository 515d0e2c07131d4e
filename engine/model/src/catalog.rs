//! The catalog as a value: types, places and what each costs where.

use crate::{Cloud, InstanceType, MicroUsd, Place, Resources, Timestamp};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A kind of machine: its cloud, its name, what it has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstanceKind {
    /// The cloud that offers it.
    pub cloud: Cloud,
    /// The cloud's name for it.
    pub name: InstanceType,
    /// What it has.
    pub resources: Resources,
}

/// One type in one place. A missing price is unpriced: neither free nor gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogRow {
    /// Index into [`Catalog::kinds`].
    pub kind: u32,
    /// Index into [`Catalog::places`].
    pub place: u32,
    /// On-demand price per hour.
    pub on_demand: Option<MicroUsd>,
    /// Spot price per hour when the catalog was made. `None`: no spot price known.
    pub spot: Option<MicroUsd>,
    /// Whether the type is sold as spot there at all.
    pub has_spot: bool,
}

/// Every type, every place, every price. Columns, because 95,000 rows are loaded by every command.
///
/// `kinds` and `places` are sorted and unique, `rows` are sorted by (place, kind name): the order
/// of rows is the order of pool ids, so an index breaks ties as an id would.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalog {
    /// Where the facts come from, for people.
    pub source: String,
    /// When the facts were true.
    pub as_of: Timestamp,
    /// Every kind of machine.
    pub kinds: Vec<Arc<InstanceKind>>,
    /// Every place.
    pub places: Vec<Place>,
    /// What is sold where.
    pub rows: Vec<CatalogRow>,
}

impl Catalog {
    /// The kind a row speaks of.
    pub fn kind(&self, row: &CatalogRow) -> &Arc<InstanceKind> {
        &self.kinds[row.kind as usize]
    }

    /// The place a row speaks of.
    pub fn place(&self, row: &CatalogRow) -> &Place {
        &self.places[row.place as usize]
    }
}
