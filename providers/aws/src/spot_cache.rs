//! Spot prices, remembered between runs, type by type: a plan that is made twice in a row asks once, and
//! one that is made without a network knows the last price and how old it is.

use crate::prices::{Level, Prices};
use fleet_model::{InstanceType, SignalSource, Timestamp, Zone};
use fleet_provider::Answers;
use std::collections::{BTreeMap, BTreeSet};

/// Prices of some types in one region, as of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    /// The prices.
    pub(crate) prices: Prices,
    /// When the oldest of them was true.
    pub(crate) as_of: Timestamp,
}

/// What was said of one type. No zone is an answer, too.
type Levels = BTreeMap<Zone, Level>;

const SOURCE: SignalSource = SignalSource::SpotPriceHistory;

/// Types of one region whose prices are asked for, with or without how they moved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) region: &'a str,
    pub(crate) types: &'a BTreeSet<&'a InstanceType>,
    pub(crate) history: bool,
}

impl Wanted<'_> {
    /// An answer without history is no answer to who wants it. The other way round it would be, but one
    /// spec that ignores a signal beside one that does not is rare.
    fn question(&self, name: &InstanceType) -> String {
        let what = if self.history { "" } else { "/now" };
        format!("{}/{name}{what}", self.region)
    }

    /// Prices of all these types, if none of them has to be asked for.
    pub(crate) fn fresh(&self, answers: &Answers, now: Timestamp) -> Option<Known> {
        let find = |name: &&InstanceType| answers.fresh(SOURCE, &self.question(name), now);
        let found: Vec<Option<(Levels, Timestamp)>> = self.types.iter().map(find).collect();
        self.known(found, true)
    }

    /// The last prices that were known of these types.
    pub(crate) fn last(&self, answers: &Answers, now: Timestamp) -> Option<Known> {
        let find = |name: &&InstanceType| answers.last(SOURCE, &self.question(name), now);
        let found: Vec<Option<(Levels, Timestamp)>> = self.types.iter().map(find).collect();
        self.known(found, false)
    }

    fn known(&self, found: Vec<Option<(Levels, Timestamp)>>, all: bool) -> Option<Known> {
        if all && found.iter().any(Option::is_none) {
            return None;
        }
        let as_of = found.iter().flatten().map(|(_, at)| *at).min()?;
        let mut prices = Prices::new();
        for (name, (levels, _)) in self.types.iter().zip(found).filter_map(|(n, f)| Some((n, f?))) {
            prices.extend(levels.into_iter().map(|(zone, one)| (((*name).clone(), zone), one)));
        }
        Some(Known { prices, as_of })
    }

    /// Keeps what the region said of these types now.
    pub(crate) fn keep(&self, answers: &Answers, prices: &Prices, now: Timestamp) {
        let mut levels: BTreeMap<&InstanceType, Levels> =
            self.types.iter().map(|name| (*name, Levels::new())).collect();
        for ((name, zone), level) in prices {
            if let Some(here) = levels.get_mut(name) {
                here.insert(zone.clone(), *level);
            }
        }
        let levels = levels.iter().map(|(name, levels)| (self.question(name), levels));
        answers.keep(SOURCE, levels, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    #[test]
    fn prices_are_fresh_for_a_while_and_known_for_long() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state").join("signals.json");
        let (m5, c5): (InstanceType, InstanceType) = ("m5.large".into(), "c5.large".into());
        let (some, both) = (BTreeSet::from([&m5]), BTreeSet::from([&m5, &c5]));
        let rest = BTreeSet::from([&c5]);
        let here = |types| Wanted { region: "us-east-1", types, history: true };
        let level = Level { price: fleet_model::MicroUsd(40_000), volatility: None };
        let prices: Prices = BTreeMap::from([((m5.clone(), "use1-az1".into()), level)]);

        let answers = Answers::at(path.clone());
        assert_eq!(here(&some).last(&answers, at(1000)), None);
        here(&some).keep(&answers, &prices, at(1000));
        // Another run.
        let answers = Answers::at(path);
        let known = Some(Known { prices: prices.clone(), as_of: at(1000) });
        assert_eq!(here(&some).fresh(&answers, at(1299)), known);
        assert_eq!(here(&some).fresh(&answers, at(1300)), None);
        assert_eq!(here(&some).fresh(&answers, at(999)), None);
        assert_eq!(here(&both).fresh(&answers, at(1001)), None);
        let there = Wanted { region: "eu-west-1", ..here(&some) };
        assert_eq!(there.fresh(&answers, at(1001)), None);
        let bare = Wanted { history: false, ..here(&some) };
        assert_eq!(bare.fresh(&answers, at(1001)), None);
        assert_eq!(here(&both).last(&answers, at(9_000_000 / 2)), known);

        // A type without a price is known to have none.
        here(&rest).keep(&answers, &Prices::new(), at(1200));
        assert_eq!(here(&both).fresh(&answers, at(1250)), known);
        // A price that is gone is forgotten.
        here(&some).keep(&answers, &Prices::new(), at(1300));
        let none = Some(Known { prices: Prices::new(), as_of: at(1200) });
        assert_eq!(here(&both).last(&answers, at(1300)), none);
    }
}
