//! Recorded spot markets, laid over the pools of the simulated clouds.
//!
//! A recording shows one type in several zones of a cloud: how many machines each zone would have
//! carried, every few minutes, for three days to three weeks. So it is laid over one type of the same
//! cloud:
//!
//! - Each type of AWS follows a recording from AWS, each type of Google one from Google. Nobody recorded
//!   Azure; its types follow any of them. Lambda sells no spot.
//! - Each zone of the simulated cloud follows one zone of the recording, in order, from a first one that
//!   the seed draws. If there are more zones than recorded, several follow the same one.
//! - All zones of a type begin at the same moment of the recording, which the seed draws, so zones that
//!   fell together fall together here. A recording that ends begins again.
//! - A pool carries as many machines as were recorded, 4 or 16 at most; nothing is scaled. When that falls
//!   below what we hold, the youngest get the notice of their cloud and are gone after it. Beyond it,
//!   launches are refused.
//!
//! Prices, boot times, rate limits and on-demand capacity are those of the simulated clouds.

use fleet_core::eligible;
use fleet_model::{Catalog, Cloud, Desired, InstanceType, Market, Place, PoolId, Timestamp};
use fleet_replay::Trace;
use fleet_sim::{Chance, Tides};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// One line for people: how recordings became markets.
pub(crate) const MAPPING: &str = "each type follows a recording of its cloud (Azure: of any), each zone one \
     recorded zone, all zones of a type from the same moment, as many machines as recorded, over and over";

/// What every spot pool of a fleet carries, moment by moment.
#[derive(Debug)]
pub(crate) struct Recorded {
    began: Timestamp,
    columns: Vec<Column>,
    lanes: BTreeMap<PoolId, Lane>,
    changes: Vec<u64>,
}

/// One zone of a recording.
#[derive(Debug)]
struct Column {
    interval: u64,
    carries: Vec<u32>,
}

/// Which zone of a recording a pool follows, and from which moment of it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Lane {
    column: usize,
    shift: u64,
}

impl Recorded {
    /// Lays recordings over the spot pools that a fleet may use, for so long from `began` on.
    pub(crate) fn new(
        traces: &[Trace],
        desired: &Desired,
        catalog: &Catalog,
        seed: u64,
        began: Timestamp,
        lasting: Duration,
    ) -> Self {
        let spot = eligible(desired, catalog).offerings.into_iter().map(|offering| offering.pool);
        let spot: Vec<PoolId> = spot.filter(|pool| pool.market == Market::Spot).collect();
        let mut places: BTreeMap<Cloud, BTreeSet<&Place>> = BTreeMap::new();
        let mut types: BTreeMap<(Cloud, &InstanceType), Vec<&PoolId>> = BTreeMap::new();
        for pool in &spot {
            let cloud = pool.place.cloud;
            places.entry(cloud).or_default().insert(&pool.place);
            types.entry((cloud, &pool.instance_type)).or_default().push(pool);
        }
        let firsts: Vec<usize> = traces
            .iter()
            .scan(0, |next, trace| Some(std::mem::replace(next, *next + trace.zones.len())))
            .collect();
        let mut chance = Chance::new(seed);
        let mut turns: BTreeMap<Cloud, u64> = BTreeMap::new();
        let mut lanes = BTreeMap::new();
        for ((cloud, _), pools) in types {
            let mut of_cloud: Vec<usize> =
                (0..traces.len()).filter(|at| cloud_of(&traces[*at]) == cloud).collect();
            if of_cloud.is_empty() {
                of_cloud = (0..traces.len()).collect();
            }
            // Recordings take turns from one that the seed draws, so that each counts alike.
            let turn = turns.entry(cloud).or_insert_with(|| chance.draw() >> 32);
            let Some(&trace) = of_cloud.get((*turn % of_cloud.len().max(1) as u64) as usize) else {
                continue;
            };
            *turn += 1;
            let (zones, samples) = (traces[trace].zones.len(), traces[trace].samples());
            let first = chance.below(zones as u64) as usize;
            let shift = chance.below(samples as u64) * interval(&traces[trace]);
            for pool in pools {
                let nth = places[&cloud].iter().position(|place| **place == pool.place);
                let column = firsts[trace] + (nth.unwrap_or_default() + first) % zones;
                lanes.insert(pool.clone(), Lane { column, shift });
            }
        }
        let columns: Vec<Column> = traces.iter().flat_map(columns).collect();
        let used: BTreeSet<Lane> = lanes.values().copied().collect();
        let until = lasting.as_millis() as u64;
        let mut changes: Vec<u64> =
            used.iter().flat_map(|lane| columns[lane.column].changes(lane.shift, until)).collect();
        changes.sort_unstable();
        changes.dedup();
        Recorded { began, columns, lanes, changes }
    }

    /// How many spot pools follow a recording, and how often one of them changes.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.lanes.len(), self.changes.len())
    }

    fn since(&self, at: Timestamp) -> u64 {
        u64::try_from(at.as_millisecond() - self.began.as_millisecond()).unwrap_or_default()
    }
}

impl Tides for Recorded {
    fn carries(&self, pool: &PoolId, at: Timestamp) -> Option<u32> {
        let lane = self.lanes.get(pool)?;
        Some(self.columns[lane.column].at(self.since(at) + lane.shift))
    }

    fn next_change(&self, after: Timestamp) -> Option<Timestamp> {
        let nth = self.changes.partition_point(|at| *at <= self.since(after));
        let at = i64::try_from(*self.changes.get(nth)?).ok()?;
        Timestamp::from_millisecond(self.began.as_millisecond() + at).ok()
    }
}

impl Column {
    /// What is carried so many milliseconds after the recording began; after its end it begins again.
    fn at(&self, after: u64) -> u32 {
        let sample = after / self.interval % self.carries.len() as u64;
        self.carries[sample as usize]
    }

    /// Moments before `until` at which another number is carried, for one who begins at `shift`, which is
    /// the beginning of a sample.
    fn changes(&self, shift: u64, until: u64) -> impl Iterator<Item = u64> + '_ {
        let moments = (1..).map(|sample| sample * self.interval).take_while(move |at| *at <= until);
        moments.filter(move |at| self.at(at + shift) != self.at(at + shift - 1))
    }
}

fn interval(trace: &Trace) -> u64 {
    u64::from(trace.interval_seconds) * 1000
}

fn columns(trace: &Trace) -> Vec<Column> {
    let of_zone = |zone: usize| trace.capacity.iter().map(|row| row[zone]).collect();
    let column = |zone| Column { interval: interval(trace), carries: of_zone(zone) };
    (0..trace.zones.len()).map(column).collect()
}

/// `us-central1-a` is a zone of Google, `us-east-1a` one of AWS.
fn cloud_of(trace: &Trace) -> Cloud {
    let google = |zone: &String| zone.len() > 2 && zone.as_bytes()[zone.len() - 2] == b'-';
    if trace.zones.iter().all(google) { Cloud::Gcp } else { Cloud::Aws }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(zones: &[&str], capacity: &[&[u32]]) -> Trace {
        let names: Vec<String> = zones.iter().map(|zone| (*zone).to_owned()).collect();
        Trace {
            name: "small".into(),
            interval_seconds: 60,
            on_demand: 1.0,
            regions: names.clone(),
            price: vec![vec![0.3; zones.len()]; capacity.len()],
            zones: names,
            capacity: capacity.iter().map(|row| row.to_vec()).collect(),
            has_prices: false,
        }
    }

    #[test]
    fn a_recording_begins_again_and_changes_where_its_numbers_do() {
        let trace = trace(&["us-east-1a"], &[&[4], &[4], &[0]]);
        let column = columns(&trace).pop().expect("a column");
        let at = |minutes: u64| column.at(minutes * 60_000);
        assert_eq!([at(0), at(1), at(2), at(3), at(5)], [4, 4, 0, 4, 0]);
        let minutes: Vec<u64> = column.changes(0, 6 * 60_000).map(|at| at / 60_000).collect();
        assert_eq!(minutes, [2, 3, 5, 6]);
        let minutes: Vec<u64> = column.changes(60_000, 4 * 60_000).map(|at| at / 60_000).collect();
        assert_eq!(minutes, [1, 2, 4], "from the second sample on");
    }

    #[test]
    fn clouds_by_their_zones() {
        assert_eq!(cloud_of(&trace(&["us-east-1a", "us-east-1b"], &[&[1, 1]])), Cloud::Aws);
        assert_eq!(cloud_of(&trace(&["us-central1-a"], &[&[1]])), Cloud::Gcp);
    }

    #[test]
    fn pools_follow_recordings_of_their_own_cloud() {
        let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/month.yaml");
        let loaded = fleet_spec::load(&[spec.into()], &Default::default()).expect("a spec");
        let catalog = fleet_catalog::embedded();
        let traces =
            [trace(&["us-east-1a"], &[&[4], &[4]]), trace(&["us-central1-a"], &[&[9], &[9]])];
        let began = Timestamp::UNIX_EPOCH;
        let hour = Duration::from_secs(3600);
        let desired = &loaded.fleets[0].desired;
        let market = Recorded::new(&traces, desired, &catalog, 1, began, hour);
        let seen: BTreeSet<(Cloud, Option<u32>)> = market
            .lanes
            .keys()
            .map(|pool| (pool.place.cloud, market.carries(pool, began)))
            .collect();
        assert!(seen.contains(&(Cloud::Aws, Some(4))) && seen.contains(&(Cloud::Gcp, Some(9))));
        assert!(!seen.contains(&(Cloud::Aws, Some(9))) && !seen.contains(&(Cloud::Gcp, Some(4))));
        assert!(seen.iter().any(|(cloud, _)| *cloud == Cloud::Azure));
        assert!(seen.iter().all(|(cloud, _)| *cloud != Cloud::Lambda));
        assert_eq!(market.next_change(began), None, "nothing changes in these recordings");
    }
}
