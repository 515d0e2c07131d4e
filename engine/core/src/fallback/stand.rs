//! How a fleet stands: whether spot failed often enough, and since when it holds.

use crate::fallback::seams;
use crate::holdings::{Holding, Inventory, Standing};
use crate::record::spot::taken_back;
use fleet_model::{
    Fallback, FallbackWhy, FallenBack, Group, Inputs, Market, MoveWhy, SpotRecord, Times,
    Timestamp, Units,
};
use std::collections::BTreeSet;
use std::time::Duration;

/// Losses and refusals that are enough at least, where the spec does not say.
const ENOUGH: u32 = 3;
/// One machine in so many may be lost while spot is said to hold: a large fleet always loses some.
const TOLERATED: u32 = 50;
/// How often the wait doubles, one return that failed after the other: from half an hour to eight.
const DOUBLINGS: u32 = 4;
/// The wait doubles up to this.
const LONGEST: u32 = 24 * 3600;
/// A return is made in steps, so many to a wait.
const STEPS: u32 = 10;
/// And no faster than this.
const SHORTEST_STEP: u32 = 180;

/// How a fleet stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stand {
    /// Since when it buys on demand what spot does not give, and why.
    pub(crate) on: Option<FallenBack>,
    /// Machines lost within the window, and launches refused.
    pub(super) lost: u32,
    pub(super) refused: u32,
    /// How many are enough.
    pub(super) enough: u32,
    /// Since when spot cannot fill the burst, if that is for long enough.
    pub(super) unfilled: Option<Timestamp>,
    /// The same, however long.
    pub(crate) short_since: Option<Timestamp>,
    /// From when on that is long enough.
    pub(crate) on_demand_from: Option<Timestamp>,
    /// How much more may be on demand.
    pub(super) room: Units,
    /// For how long spot must hold.
    pub(crate) wait: Duration,
    /// When machines go back, if spot holds until then.
    pub(crate) back_at: Timestamp,
    /// When the next few may.
    pub(crate) next_step: Timestamp,
}

/// Whether a machine of the burst is on demand in the place of spot: what is paid for ahead of time is
/// there for its own sake.
pub(crate) fn is_in_place_of_spot(holding: &Holding) -> bool {
    holding.slot.name.group == Group::Burst
        && holding.standing.counts()
        && holding.pool.market != Market::Spot
        && !holding.covered
}

/// How a fleet stands; `None` if the fallback is none of its business.
pub(crate) fn stand(inputs: &Inputs, inventory: &Inventory) -> Option<Stand> {
    let record = &inputs.recorded.spot;
    if inputs.limits.destroy_all || inputs.desired.placement.hedge.is_some() {
        return None;
    }
    let rule = inputs.desired.fallback?;
    let now = inputs.now;
    let burst = |holding: &&Holding| holding.slot.name.group == Group::Burst;
    let held = inventory.holdings.iter().filter(burst);
    let machines = held.clone().filter(|holding| holding.standing.counts()).count() as u32;
    // What its cloud takes back right now is as good as lost.
    let leaving = held.filter(|h| h.standing == Standing::Interrupted).count() as u32;
    let gone = taken_back(&inputs.recorded, &inventory.vacate) + leaving;
    let just_now = (gone > 0).then_some(Times { at: now, count: gone });
    let lost: Vec<Times> = record.lost.iter().copied().chain(just_now).collect();

    let from = before(now, rule.within_seconds).max(record.ended.unwrap_or(Timestamp::MIN));
    let within = |rows: &[Times]| -> u32 {
        rows.iter().filter(|row| row.at > from).map(|row| row.count).sum()
    };
    let (lately_lost, refused) = (within(&lost), within(&record.refused));
    let tenth = (machines + lately_lost) / 10;
    let on_demand_from = record
        .short_since
        .map(|since| after(since, Duration::from_secs(rule.unfilled_seconds.into())));
    let tolerated = machines / TOLERATED;
    let wait = wait(&rule, record, &lost, tolerated);
    let trouble = last_beyond(&lost, &record.refused, tolerated);
    let since = record.fallen_back.map(|on| on.since).max(trouble);
    let stepped = record.moves.iter().filter(|moved| moved.why == MoveWhy::BackToSpot);
    let spacing = (wait.as_secs() / u64::from(STEPS)).max(SHORTEST_STEP.into());
    let most = Units(rule.share.floor_of(inputs.desired.capacity.spot.0));
    let on_demand = inventory.holdings.iter().filter(|holding| is_in_place_of_spot(holding));
    Some(Stand {
        on: record.fallen_back,
        lost: lately_lost,
        refused,
        enough: rule.losses.unwrap_or(ENOUGH.max(tenth)),
        unfilled: record.short_since.filter(|_| on_demand_from.is_some_and(|from| from <= now)),
        short_since: record.short_since,
        on_demand_from,
        room: most.saturating_sub(on_demand.map(|holding| holding.weight).sum()),
        wait,
        back_at: since.map_or(now, |since| after(since, wait)),
        next_step: stepped
            .map(|moved| after(moved.at, Duration::from_secs(spacing)))
            .max()
            .unwrap_or(Timestamp::MIN),
    })
}

impl Stand {
    /// Why what is missing goes on demand before any spot is tried: it was taken back too often.
    pub(super) fn distrusts_spot(&self) -> Option<FallbackWhy> {
        match self.on {
            Some(FallenBack { why: why @ FallbackWhy::Lost { .. }, .. }) => Some(why),
            Some(_) => None,
            None => (self.lost >= self.enough).then_some(FallbackWhy::Lost { machines: self.lost }),
        }
    }

    /// Why what spot cannot give now is bought on demand.
    pub(super) fn gives_up_on_spot(&self) -> Option<FallbackWhy> {
        if let Some(on) = self.on {
            return Some(on.why);
        }
        let times = self.lost + self.refused;
        let refused = (times >= self.enough).then_some(FallbackWhy::Refused { times });
        refused.or(self.unfilled.map(|since| FallbackWhy::Unfilled { since }))
    }

    /// Whether machines may go back now.
    pub(crate) fn may_go_back(&self, now: Timestamp) -> bool {
        self.on.is_some() && self.back_at <= now && self.next_step <= now
    }
}

/// For how long spot must hold: twice as long after each return that failed within the last day.
pub(super) fn wait(
    rule: &Fallback,
    record: &SpotRecord,
    lost: &[Times],
    tolerated: u32,
) -> Duration {
    let base = seams::wait_for_spot(rule.return_after_seconds);
    let window = Duration::from_secs(base.into());
    let mut failed = BTreeSet::new();
    for step in record.moves.iter().filter(|moved| moved.why == MoveWhy::BackToSpot) {
        let soon = |row: &&Times| row.at >= step.at && row.at <= after(step.at, window);
        let mut seen = 0;
        let mut rows: Vec<&Times> = lost.iter().chain(&record.refused).filter(soon).collect();
        rows.sort_by_key(|row| row.at);
        // Steps that the same trouble struck failed together.
        failed.extend(rows.into_iter().find_map(|row| {
            seen += row.count;
            (seen > tolerated).then_some(row.at)
        }));
    }
    let doublings = u32::try_from(failed.len()).unwrap_or(u32::MAX).min(DOUBLINGS);
    Duration::from_secs(base.saturating_mul(1 << doublings).min(LONGEST.max(base)).into())
}

/// When spot last failed, apart from the few times that are to be expected.
pub(super) fn last_beyond(lost: &[Times], refused: &[Times], tolerated: u32) -> Option<Timestamp> {
    let mut rows: Vec<&Times> = lost.iter().chain(refused).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.at));
    let mut seen = 0;
    rows.into_iter().find_map(|row| {
        seen += row.count;
        (seen > tolerated).then_some(row.at)
    })
}

fn after(at: Timestamp, time: Duration) -> Timestamp {
    at.checked_add(time).unwrap_or(Timestamp::MAX)
}

fn before(at: Timestamp, seconds: u32) -> Timestamp {
    at.checked_sub(Duration::from_secs(seconds.into())).unwrap_or(Timestamp::MIN)
}
