//! The promises of a catalog, checked.

use fleet_model::Catalog;

/// A promise that a catalog breaks. Only a damaged or hand-made file can hold such a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// Kinds out of order, or one of them twice.
    #[error("kind {0} is out of order")]
    Kinds(usize),
    /// Places out of order, or one of them twice.
    #[error("place {0} is out of order")]
    Places(usize),
    /// Rows out of order, or one of them twice.
    #[error("row {0} is out of order")]
    Rows(usize),
    /// A row that speaks of a kind or place which is not there.
    #[error("row {0} speaks of a kind or place that is not there")]
    Dangling(usize),
    /// A row that offers a kind of one cloud in a place of another.
    #[error("row {0} offers one cloud's type in another cloud")]
    Clouds(usize),
    /// A price of zero. Unknown is not zero.
    #[error("row {0} is free")]
    Free(usize),
    /// A spot price for what is not sold as spot.
    #[error("row {0} has a spot price and is not sold as spot")]
    Spot(usize),
}

/// Checks that kinds and places are sorted and unique, rows are sorted by place and kind name and
/// unique, every index leads somewhere and no price is zero.
pub fn validate(catalog: &Catalog) -> Result<(), Flaw> {
    let Catalog { source: _, as_of: _, kinds, places, rows } = catalog;
    for (at, pair) in kinds.windows(2).enumerate() {
        if (pair[0].cloud, &pair[0].name) >= (pair[1].cloud, &pair[1].name) {
            return Err(Flaw::Kinds(at + 1));
        }
    }
    for (at, pair) in places.windows(2).enumerate() {
        if pair[0] >= pair[1] {
            return Err(Flaw::Places(at + 1));
        }
    }
    let mut last = None;
    for (at, row) in rows.iter().enumerate() {
        let (Some(kind), Some(place)) =
            (kinds.get(row.kind as usize), places.get(row.place as usize))
        else {
            return Err(Flaw::Dangling(at));
        };
        if kind.cloud != place.cloud {
            return Err(Flaw::Clouds(at));
        }
        // Within a place all kinds are of one cloud, and those are sorted by name.
        let here = Some((row.place, row.kind));
        if here <= last {
            return Err(Flaw::Rows(at));
        }
        last = here;
        if [row.on_demand, row.spot].into_iter().flatten().any(|price| price.0 == 0) {
            return Err(Flaw::Free(at));
        }
        if row.spot.is_some() && !row.has_spot {
            return Err(Flaw::Spot(at));
        }
    }
    Ok(())
}
