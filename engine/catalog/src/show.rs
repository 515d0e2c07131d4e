//! All there is to know of one type, and what was meant when there is no such type.

use fleet_model::{Catalog, CatalogRow, InstanceKind, InstanceType, MicroUsd, Place};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many names are suggested at most.
const SUGGESTIONS: usize = 3;

/// One type with all its places and prices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The type.
    pub kind: Arc<InstanceKind>,
    /// Where it is sold, by place.
    pub offers: Vec<Offer>,
}

/// One type in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Where.
    pub place: Place,
    /// On-demand price per hour; `None`: unpriced.
    pub on_demand: Option<MicroUsd>,
    /// Spot price per hour; `None`: unpriced or not sold.
    pub spot: Option<MicroUsd>,
    /// Whether it is sold as spot there.
    pub has_spot: bool,
}

/// No cloud has a type of that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no cloud in the catalog has a type `{name}`")]
pub struct UnknownType {
    /// The name asked for.
    pub name: String,
    /// Names close to it, closest first.
    pub similar: Vec<InstanceType>,
}

/// Shows one type; case does not matter.
pub fn show(catalog: &Catalog, name: &str) -> Result<Shown, UnknownType> {
    let found = catalog.kinds.iter().position(|kind| kind.name.as_str().eq_ignore_ascii_case(name));
    let Some(at) = found else {
        let names = catalog.kinds.iter().map(|kind| kind.name.as_str());
        let similar = similar(name, names).into_iter().map(InstanceType::from).collect();
        return Err(UnknownType { name: name.to_owned(), similar });
    };
    let offers = catalog.rows.iter().filter(|row| row.kind as usize == at);
    let offer = |row: &CatalogRow| Offer {
        place: catalog.place(row).clone(),
        on_demand: row.on_demand,
        spot: row.spot,
        has_spot: row.has_spot,
    };
    Ok(Shown { kind: Arc::clone(&catalog.kinds[at]), offers: offers.map(offer).collect() })
}

/// The names of all accelerators in a catalog, sorted: what `--gpu` can mean.
pub fn accelerator_names(catalog: &Catalog) -> BTreeSet<&str> {
    let accelerators = catalog.kinds.iter().filter_map(|kind| kind.resources.accelerators.as_ref());
    accelerators.filter_map(|found| found.name.as_deref()).collect()
}

/// The names of all regions in a catalog, sorted: what `--region` can mean.
pub fn region_names(catalog: &Catalog) -> BTreeSet<&str> {
    catalog.places.iter().map(|place| place.region.as_str()).collect()
}

/// Which of some names may have been meant by a name that is none of them, closest first.
///
/// A third of the letters may be wrong: `p5.48xlrage` and `h10` are slips, `foo` is not `p5`.
pub fn similar<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = name.to_ascii_lowercase();
    // Comparing costs the product of the lengths, and nobody types a name of a thousand letters.
    if wanted.len() > 100 {
        return Vec::new();
    }
    let allowed = wanted.chars().count().div_ceil(3);
    let mut close: Vec<(usize, usize, &str)> = names
        .into_iter()
        .filter(|other| other.len().abs_diff(wanted.len()) <= allowed)
        .map(|other| {
            let lower = other.to_ascii_lowercase();
            // Of equally close names the one that begins alike: people start a word right.
            let alike = lower.bytes().zip(wanted.bytes()).take_while(|(a, b)| a == b).count();
            (strsim::osa_distance(&wanted, &lower), usize::MAX - alike, other)
        })
        .filter(|(distance, ..)| *distance <= allowed)
        .collect();
    close.sort_unstable();
    close.dedup();
    close.into_iter().map(|(.., other)| other).take(SUGGESTIONS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::small;

    #[test]
    fn all_places_of_one_type() {
        let shown = show(&small(), "M5.large").expect("a type");
        let places: Vec<String> = shown.offers.iter().map(|o| o.place.to_string()).collect();
        assert_eq!(
            places,
            [
                "aws/us-east-1/use1-atl2-az1",
                "aws/us-east-1/use1-az1",
                "aws/us-east-1/use1-az2",
                "aws/us-west-2/usw2-az1"
            ]
        );
        assert_eq!(shown.offers[0].on_demand, Some(MicroUsd(120_000)));
    }

    #[test]
    fn slips_are_understood() {
        let check = |name: &str, expect: &[&str]| {
            let error = show(&small(), name).expect_err("no such type");
            let names: Vec<&str> = error.similar.iter().map(InstanceType::as_str).collect();
            assert_eq!(names, expect, "{name}");
        };
        check("p5.48xlrage", &["p5.48xlarge"]);
        check("m5large", &["m5.large", "m6g.large"]);
        check("quantum", &[]);
        check("", &[]);
        check(&"x".repeat(100_000), &[]);
        assert_eq!(similar("h10", accelerator_names(&small())), ["H100", "A10"]);
    }
}
