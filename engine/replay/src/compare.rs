//! Policies side by side.

use crate::baseline::{AllOnDemand, EvenSpread, LowestPrice, RoundRobin, SeesRoom, SpotHedge};
use crate::bound::omniscient;
use crate::calibration::{Calibration, HORIZONS, Outcome, calibrate, outcomes};
use crate::engine::Engine;
use crate::judge::{Setup, judge_in};
use crate::measures::Measures;
use crate::policy::Policy;
use crate::reach::{OutOfReach, out_of_reach};
use crate::trace::Trace;
use crate::world::Recorded;
use fleet_model::Desired;

/// A policy by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// The engine's own: the production planner.
    Engine,
    /// Cheapest zone first.
    LowestPrice,
    /// Each zone its share.
    EvenSpread,
    /// SkyPilot's failover.
    RoundRobin,
    /// SkyServe's, without spares.
    SpotHedge,
    /// SkyServe's, with an eighth more than needed.
    SpotHedgeSpare,
    /// EC2's, seeing each zone's room.
    PriceCapacity,
    /// EC2's, seeing each zone's room.
    Capacity,
    /// No spot at all.
    OnDemand,
}

impl Named {
    /// Every policy, ours first.
    pub const ALL: [Named; 9] = [
        Named::Engine,
        Named::LowestPrice,
        Named::EvenSpread,
        Named::RoundRobin,
        Named::SpotHedge,
        Named::SpotHedgeSpare,
        Named::PriceCapacity,
        Named::Capacity,
        Named::OnDemand,
    ];

    /// The name as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Named::Engine => "fleet",
            Named::LowestPrice => "lowest-price",
            Named::EvenSpread => "even-spread",
            Named::RoundRobin => "round-robin",
            Named::SpotHedge => "spothedge",
            Named::SpotHedgeSpare => "spothedge-spare",
            Named::PriceCapacity => "price-capacity",
            Named::Capacity => "capacity",
            Named::OnDemand => "on-demand",
        }
    }

    /// The policy of a name.
    pub fn parse(name: &str) -> Option<Named> {
        Named::ALL.into_iter().find(|policy| policy.as_str() == name)
    }

    /// The policy, in front of a market that it has not seen yet.
    pub fn policy(self, trace: &Trace, setup: &Setup, desired: &Desired) -> Box<dyn Policy> {
        match self {
            Named::Engine => Box::new(Engine::new(trace, setup, desired)),
            Named::LowestPrice => Box::new(LowestPrice::default()),
            Named::EvenSpread => Box::new(EvenSpread),
            Named::RoundRobin => Box::new(RoundRobin::default()),
            Named::SpotHedge => Box::new(SpotHedge::new(false)),
            Named::SpotHedgeSpare => Box::new(SpotHedge::new(true)),
            Named::PriceCapacity => Box::new(SeesRoom { by_price: true }),
            Named::Capacity => Box::new(SeesRoom { by_price: false }),
            Named::OnDemand => Box::new(AllOnDemand),
        }
    }
}

/// What came of one policy on one recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Which policy.
    pub policy: Named,
    /// What came of it.
    pub measures: Measures,
}

/// One recording, and what came of each policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The recording.
    pub recording: String,
    /// How long it is.
    pub hours: f64,
    /// What a policy that knows the future would pay.
    pub omniscient: f64,
    /// A limit of the spec that it can never meet.
    pub out_of_reach: Option<OutOfReach>,
    /// One for each policy.
    pub rows: Vec<Row>,
    /// What the engine predicted of its machines, and what came of it, for each horizon.
    pub outcomes: [Vec<Outcome>; 2],
}

/// Walks policies through a recording.
pub fn compare(trace: &Trace, setup: &Setup, desired: &Desired, policies: &[Named]) -> Compared {
    compare_watched(trace, setup, desired, policies, &|| {})
}

/// The same, and tells of every sample of every policy that is done.
pub fn compare_watched(
    trace: &Trace,
    setup: &Setup,
    desired: &Desired,
    policies: &[Named],
    sampled: &dyn Fn(),
) -> Compared {
    let mut told = [Vec::new(), Vec::new()];
    let mut measure = |policy: Named| {
        let mut world = Recorded(trace);
        let mut judge = |decides| judge_in(trace, &mut world, setup, decides, sampled);
        if policy != Named::Engine {
            return judge(policy.policy(trace, setup, desired).as_mut());
        }
        let mut engine = Engine::foretelling(trace, setup, desired);
        let measures = judge(&mut engine);
        told = outcomes(trace, &engine.into_forecasts());
        measures
    };
    let rows = policies.iter().map(|&policy| Row { policy, measures: measure(policy) }).collect();
    Compared {
        recording: trace.name.clone(),
        hours: trace.samples() as f64 * trace.hours(),
        omniscient: omniscient(trace, setup),
        out_of_reach: out_of_reach(trace, setup, desired),
        rows,
        outcomes: told,
    }
}

/// The means of each policy over several recordings: geometric for what is compared with a bound, with
/// a missing machine-hour at `penalty` on-demand hours.
pub fn overall(all: &[Compared], penalty: f64) -> Vec<(Row, f64)> {
    let Some(first) = all.first() else { return Vec::new() };
    let count = all.len() as f64;
    let mean = |nth: usize, of: &dyn Fn(&Measures) -> f64| {
        all.iter().map(|one| of(&one.rows[nth].measures)).sum::<f64>() / count
    };
    let over_bound = |nth: usize| {
        let logs = all.iter().map(|one| {
            let bound = one.omniscient.max(f64::MIN_POSITIVE);
            (one.rows[nth].measures.j(penalty) / bound).ln()
        });
        (logs.sum::<f64>() / count).exp()
    };
    let row = |(nth, row): (usize, &Row)| {
        let measures = Measures {
            cost: mean(nth, &|m| m.cost),
            availability: mean(nth, &|m| m.availability),
            delivered: mean(nth, &|m| m.delivered),
            unit_hours: mean(nth, &|m| m.unit_hours) * count,
            interruptions_per_100h: mean(nth, &|m| m.interruptions_per_100h),
            recover_minutes: mean(nth, &|m| m.recover_minutes),
        };
        (Row { policy: row.policy, measures }, over_bound(nth))
    };
    first.rows.iter().enumerate().map(row).collect()
}

/// How good the engine's predictions were, over several recordings. Empty if it made none.
pub fn calibrations(all: &[Compared]) -> Vec<Calibration> {
    let of = |horizon: usize| {
        let pooled = all.iter().flat_map(|one| one.outcomes[horizon].iter().copied()).collect();
        calibrate(HORIZONS[horizon], pooled)
    };
    (0..HORIZONS.len()).filter_map(of).collect()
}
