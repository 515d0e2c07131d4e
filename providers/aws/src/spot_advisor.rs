//! Interruption bands, if somebody supplies the file of AWS's Spot Advisor.
//!
//! The file is public, and no API gives the same: for each region and type, the band that the
//! share of machines taken back within a month fell into.

use fleet_model::{InstanceType, Region, Share};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The file, as far as we read it.
#[derive(Debug, Deserialize)]
struct Advisor {
    ranges: Vec<Range>,
    spot_advisor: BTreeMap<String, BTreeMap<String, BTreeMap<String, Advice>>>,
}

#[derive(Debug, Deserialize)]
struct Range {
    index: u32,
    /// The upper end, in percent.
    max: u32,
}

#[derive(Debug, Deserialize)]
struct Advice {
    /// Index of the range.
    r: u32,
}

/// The upper end of each band, by region and type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SpotAdvisor(BTreeMap<(String, String), Share>);

impl SpotAdvisor {
    /// Reads the file; an error says what is wrong with it.
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|cause| cause.to_string())?;
        SpotAdvisor::read(&text)
    }

    fn read(text: &str) -> Result<Self, String> {
        let advisor: Advisor = serde_json::from_str(text).map_err(|cause| cause.to_string())?;
        let upper: BTreeMap<u32, Share> = advisor
            .ranges
            .iter()
            .filter_map(|range| Some((range.index, Share::from_ppm(range.max.min(100) * 10_000)?)))
            .collect();
        let mut bands = BTreeMap::new();
        for (region, systems) in advisor.spot_advisor {
            for (kind, advice) in
                systems.into_iter().filter(|(os, _)| os == "Linux").flat_map(|(_, types)| types)
            {
                if let Some(share) = upper.get(&advice.r) {
                    bands.insert((region.clone(), kind), *share);
                }
            }
        }
        Ok(SpotAdvisor(bands))
    }

    /// The share of machines of a type that are taken back within a month, at most.
    pub(crate) fn of(&self, region: &Region, kind: &InstanceType) -> Option<Share> {
        self.0.get(&(region.name().to_owned(), kind.to_string())).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upper_end_of_the_band() {
        let text = r#"{
            "ranges": [{"index": 0, "label": "<5%", "dots": 0, "max": 5},
                       {"index": 4, "label": ">20%", "dots": 4, "max": 100}],
            "instance_types": {},
            "spot_advisor": {"us-east-1": {
                "Linux": {"m5.large": {"s": 60, "r": 0}, "p5.48xlarge": {"s": 50, "r": 4}},
                "Windows": {"m5.large": {"s": 60, "r": 4}}}}
        }"#;
        let bands = SpotAdvisor::read(text).expect("bands");
        let of = |kind: &str| bands.of(&"us-east-1@1".into(), &kind.into()).map(Share::ppm);
        assert_eq!(of("m5.large"), Some(50_000));
        assert_eq!(of("p5.48xlarge"), Some(1_000_000));
        assert_eq!(of("m6i.large"), None);
        assert!(SpotAdvisor::read("{}").is_err());
    }
}
