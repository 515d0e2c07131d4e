//! Why this pool, and why not that one, for programs.

use super::explain::{on_markets, relax, verdict};
use crate::output::common::unplaced;
use crate::output::explain::{
    ExplainedMove, ExplainedPool, ExplainedSlot, FleetExplained, Odds, ProvenGap,
    Relaxation as Relaxed,
};
use crate::output::reasons::{Said, counted};
use crate::output::words::{percent, usd};
use crate::sentences;
use fleet_core::{PoolVerdict, Relaxation, SlotVerdict, Verdict, explain_moves};
use fleet_model::{Inputs, Report, Saving, SavingVerdict};

/// One fleet.
pub fn fleet(
    inputs: &Inputs,
    report: &Report,
    (pools, slots): (&[PoolVerdict], &[SlotVerdict]),
    relaxations: &[Relaxation],
    [base, burst]: [Option<f64>; 2],
) -> FleetExplained {
    let in_percent = |share: f64| share * 100.0;
    FleetExplained {
        fleet: inputs.desired.fleet.to_string(),
        unit: inputs.desired.capacity.unit.into(),
        candidates: report.candidates,
        rejected: counted(&report.rejected),
        unplaced: unplaced(&report.unplaced),
        pools: pools.iter().map(pool).collect(),
        slots: slots.iter().map(slot).collect(),
        notices: on_markets(report).map(Said::from).collect(),
        moves: explain_moves(inputs).iter().map(moved).collect(),
        relaxations: relaxations.iter().map(relaxation).collect(),
        proven_gap: ProvenGap {
            base_percent: base.map(in_percent),
            burst_percent: burst.map(in_percent),
        },
    }
}

fn moved(shown: &Saving) -> ExplainedMove {
    ExplainedMove {
        from: shown.from.to_string(),
        to: shown.to.to_string(),
        machines: shown.machines,
        hourly_usd: usd(shown.price),
        then_hourly_usd: usd(shown.then),
        saving_percent: percent(shown.saving),
        life_minutes: shown.life_minutes,
        gain_usd: usd(shown.gain),
        cost_usd: usd(shown.cost.sum()),
        moves: matches!(shown.verdict, SavingVerdict::Moves { .. }),
        why: sentences::rebalance::verdict(&shown.verdict),
    }
}

fn pool(shown: &PoolVerdict) -> ExplainedPool {
    let (keep, create, destroy, reason) = match &shown.verdict {
        Verdict::Used { keep, create, destroy } => (*keep, *create, *destroy, None),
        Verdict::NotUsed(why) => (0, 0, 0, Some(Said::from(why))),
    };
    ExplainedPool {
        pool: shown.pool.to_string(),
        used: matches!(shown.verdict, Verdict::Used { .. }),
        why: verdict(&shown.verdict),
        reason,
        keep,
        create,
        destroy,
        hourly_usd: shown.price.map(usd),
        beside_hourly_usd: usd(shown.extras.known()),
        on_demand_hourly_usd: shown.on_demand.map(usd),
        obtainability: shown.obtainability.map(Into::into),
        signals: shown.signals.iter().map(Into::into).collect(),
        odds: shown.odds.as_ref().map(Odds::of),
        weight: shown.weight.map(|weight| weight.as_f64()),
    }
}

fn slot(shown: &SlotVerdict) -> ExplainedSlot {
    ExplainedSlot {
        slot: shown.slot.to_string(),
        machine: shown.machine.as_ref().map(ToString::to_string),
        pool: shown.pool.to_string(),
        weight: shown.weight.as_f64(),
        hourly_usd: shown.price.map(usd),
        standing: shown.standing.to_owned(),
        reason: shown.ends.as_ref().map(Said::from),
    }
}

fn relaxation(one: &Relaxation) -> Relaxed {
    Relaxed {
        relax: relax(&one.relax),
        hourly_before_usd: usd(one.before),
        hourly_after_usd: usd(one.after),
        saved_percent: percent(one.saved()),
        gained: one.gained.as_f64(),
    }
}
