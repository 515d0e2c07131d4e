//! Spot prices, remembered between runs: a plan that is made twice in a row asks once, and one that
//! is made without a network knows the last price and how old it is.
//!
//! A cache and nothing more: what cannot be read is not there, and what cannot be written is not
//! kept.

use crate::prices::{Level, Prices};
use fleet_model::{InstanceType, Timestamp, Zone};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Spot prices move a few times a day; nobody needs them to the second.
const FRESH: Duration = Duration::from_secs(5 * 60);

/// The number that the file begins with.
const FORMAT: u32 = 1;

/// Prices of some types in one region, as of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    /// The prices.
    pub(crate) prices: Prices,
    /// When the oldest of them was true.
    pub(crate) as_of: Timestamp,
}

/// What is in the file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remembered {
    format_version: u32,
    /// By region and type.
    regions: BTreeMap<String, BTreeMap<InstanceType, Entry>>,
}

/// What was said of one type. No zone is an answer, too.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    at: Timestamp,
    zones: BTreeMap<Zone, Level>,
}

/// A file of prices; without a path, nothing is remembered.
#[derive(Debug, Default)]
pub(crate) struct SpotCache {
    path: Option<PathBuf>,
    /// One writer at a time: regions are asked together.
    writing: Mutex<()>,
}

impl SpotCache {
    pub(crate) fn at(path: PathBuf) -> Self {
        SpotCache { path: Some(path), writing: Mutex::default() }
    }

    /// Prices of all these types, if none of them has to be asked for.
    pub(crate) fn fresh(
        &self,
        region: &str,
        types: &BTreeSet<&InstanceType>,
        now: Timestamp,
    ) -> Option<Known> {
        let known = self.known(region, types, true)?;
        // A clock that was set back makes prices of the future, which prove nothing.
        let age = now.duration_since(known.as_of);
        (!age.is_negative() && age.unsigned_abs() < FRESH).then_some(known)
    }

    /// The last prices that were known of these types, however old.
    pub(crate) fn last(&self, region: &str, types: &BTreeSet<&InstanceType>) -> Option<Known> {
        self.known(region, types, false)
    }

    fn known(&self, region: &str, types: &BTreeSet<&InstanceType>, all: bool) -> Option<Known> {
        let file = read(self.path.as_ref()?)?;
        let here = file.regions.get(region)?;
        let entries: Vec<(&InstanceType, &Entry)> =
            types.iter().filter_map(|name| Some((*name, here.get(*name)?))).collect();
        if all && entries.len() < types.len() {
            return None;
        }
        let as_of = entries.iter().map(|(_, entry)| entry.at).min()?;
        let prices = entries
            .into_iter()
            .flat_map(|(name, entry)| {
                entry.zones.iter().map(|(zone, price)| ((name.clone(), zone.clone()), *price))
            })
            .collect();
        Some(Known { prices, as_of })
    }

    /// Keeps what a region said of these types now.
    pub(crate) fn keep(
        &self,
        region: &str,
        types: &BTreeSet<&InstanceType>,
        prices: &Prices,
        now: Timestamp,
    ) {
        let Some(path) = &self.path else { return };
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = read(path).unwrap_or_default();
        file.format_version = FORMAT;
        let here = file.regions.entry(region.to_owned()).or_default();
        for name in types {
            here.insert((*name).clone(), Entry { at: now, zones: BTreeMap::new() });
        }
        for ((name, zone), price) in prices {
            if let Some(entry) = here.get_mut(name) {
                entry.zones.insert(zone.clone(), *price);
            }
        }
        if let Err(error) = write(path, &file) {
            tracing::debug!(%error, path = %path.display(), "spot prices are not remembered");
        }
    }
}

fn read(path: &Path) -> Option<Remembered> {
    let file: Remembered = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    (file.format_version == FORMAT).then_some(file)
}

/// Written beside and moved into place, so that nobody reads half of it.
fn write(path: &Path, file: &Remembered) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    beside.write_all(&serde_json::to_vec(file)?)?;
    beside.persist(path).map(|_| ()).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    #[test]
    fn prices_are_fresh_for_a_while_and_known_for_ever() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state").join("prices.json");
        let (m5, c5): (InstanceType, InstanceType) = ("m5.large".into(), "c5.large".into());
        let some = BTreeSet::from([&m5]);
        let both = BTreeSet::from([&m5, &c5]);
        let level = Level { price: fleet_model::MicroUsd(40_000), volatility: None };
        let prices: Prices = BTreeMap::from([((m5.clone(), "use1-az1".into()), level)]);

        let cache = SpotCache::at(path.clone());
        assert_eq!(cache.last("us-east-1", &some), None);
        cache.keep("us-east-1", &some, &prices, at(1000));
        // Another run.
        let cache = SpotCache::at(path.clone());
        let known = Some(Known { prices: prices.clone(), as_of: at(1000) });
        assert_eq!(cache.fresh("us-east-1", &some, at(1299)), known);
        assert_eq!(cache.fresh("us-east-1", &some, at(1300)), None);
        assert_eq!(cache.fresh("us-east-1", &some, at(999)), None);
        assert_eq!(cache.fresh("us-east-1", &both, at(1001)), None);
        assert_eq!(cache.fresh("eu-west-1", &some, at(1001)), None);
        assert_eq!(cache.last("us-east-1", &both), known);

        // A type without a price is known to have none.
        cache.keep("us-east-1", &BTreeSet::from([&c5]), &Prices::new(), at(1200));
        assert_eq!(cache.fresh("us-east-1", &both, at(1250)), known);
        // A price that is gone is forgotten.
        cache.keep("us-east-1", &some, &Prices::new(), at(1300));
        let none = Some(Known { prices: Prices::new(), as_of: at(1200) });
        assert_eq!(cache.last("us-east-1", &both), none);
    }

    #[test]
    fn a_damaged_file_is_no_file_and_no_path_is_no_cache() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("prices.json");
        let m5: InstanceType = "m5.large".into();
        let some = BTreeSet::from([&m5]);
        for damage in ["", "{", "[]", r#"{"formatVersion":9,"regions":{}}"#] {
            std::fs::write(&path, damage).expect("a file");
            assert_eq!(SpotCache::at(path.clone()).last("r", &some), None, "{damage}");
            SpotCache::at(path.clone()).keep("r", &some, &Prices::new(), at(5));
            assert!(SpotCache::at(path.clone()).last("r", &some).is_some(), "{damage}");
        }
        let off = SpotCache::default();
        off.keep("r", &some, &Prices::new(), at(5));
        assert_eq!(off.last("r", &some), None);
    }
}
