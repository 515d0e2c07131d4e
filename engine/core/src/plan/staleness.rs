//! Whether a saved plan still stands on what it was made from.

use crate::offers::find_offering;
use fleet_model::{
    Action, Digest, ENGINE_VERSION, Inputs, MicroUsd, Plan, Premises, Step, Timestamp, digest,
};
use std::fmt::{self, Write as _};
use std::time::Duration;

/// A plan lives this long: prices and capacity are worth little after an hour.
const LIFE: Duration = Duration::from_secs(3600);
/// Prices of what is to be launched may rise by this many per cent before a plan is stale.
const PRICE_TOLERANCE_PERCENT: u64 = 10;

/// What is digested of what was seen.
const OBSERVATION: &str = "observation/1";

/// The premise that broke.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant says it in its message")]
pub enum Stale {
    Engine { planned: String, now: String },
    Expired { at: Timestamp },
    Fleet,
    Spec,
    Journal { planned: u64, now: u64 },
    Observation,
    Prices { planned: MicroUsd, now: MicroUsd },
    Unavailable { pool: fleet_model::PoolId },
    Decision,
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stale::Engine { planned, now } => {
                write!(f, "it was made by engine {planned}, and this is {now}")
            }
            Stale::Expired { at } => write!(f, "it expired at {at}"),
            Stale::Fleet => write!(f, "it is the plan of another fleet of that name"),
            Stale::Spec => write!(f, "the spec changed since"),
            Stale::Journal { planned, now } => write!(
                f,
                "somebody changed the fleet since (change {now} of its journal, planned at {planned})"
            ),
            Stale::Observation => {
                write!(f, "the machines or scopes seen are not the same any more")
            }
            Stale::Prices { planned, now } => {
                write!(f, "what it launches cost {planned} per hour and now costs {now}")
            }
            Stale::Decision => {
                write!(f, "what would be decided now is not what the file says")
            }
            Stale::Unavailable { pool } => write!(f, "{pool} is no longer on offer"),
        }
    }
}

/// What a plan made from these inputs stands on.
pub fn premises(inputs: &Inputs, hourly_after: MicroUsd) -> Premises {
    Premises { observation: observation(inputs), ..premises_of_the_moment(inputs, hourly_after) }
}

/// The same of a plan that is carried out at once or never: nobody asks later what was seen.
pub(crate) fn premises_of_the_moment(inputs: &Inputs, hourly_after: MicroUsd) -> Premises {
    Premises {
        engine: ENGINE_VERSION.into(),
        spec: inputs.desired.digest,
        journal: inputs.recorded.changes,
        observation: digest(OBSERVATION, std::iter::empty()),
        hourly_after,
        decided_at: inputs.now,
        expires_at: inputs.now.checked_add(LIFE).unwrap_or(Timestamp::MAX),
    }
}

/// The first premise of a plan that no longer holds at a moment.
pub fn stale(plan: &Plan, inputs: &Inputs, now: Timestamp) -> Option<Stale> {
    let Premises {
        engine,
        spec,
        journal,
        observation: seen,
        hourly_after: _,
        decided_at: _,
        expires_at,
    } = &plan.premises;
    if engine != ENGINE_VERSION {
        return Some(Stale::Engine { planned: engine.clone(), now: ENGINE_VERSION.into() });
    }
    if plan.fleet != inputs.desired.fleet
        || inputs.recorded.uid.as_ref().is_some_and(|uid| *uid != plan.uid)
    {
        return Some(Stale::Fleet);
    }
    if *spec != inputs.desired.digest {
        return Some(Stale::Spec);
    }
    if *journal != inputs.recorded.changes {
        return Some(Stale::Journal { planned: *journal, now: inputs.recorded.changes });
    }
    if *seen != observation(inputs) {
        return Some(Stale::Observation);
    }
    if *expires_at < now {
        return Some(Stale::Expired { at: *expires_at });
    }
    prices(plan, inputs)
}

/// Whether two plans do the same. Prices may differ: how far is judged by [`stale`].
pub fn same_steps(one: &Plan, other: &Plan) -> bool {
    let without_price = |step: &Step| {
        let mut step = step.clone();
        match &mut step.action {
            Action::Create(create) => create.price = None,
            Action::Destroy(destroy) => destroy.victims.iter_mut().for_each(|v| v.price = None),
        }
        step
    };
    one.uid == other.uid
        && one.vacate == other.vacate
        && one.clear == other.clear
        && one.relabel == other.relabel
        && one.steps.len() == other.steps.len()
        && one.steps.iter().zip(&other.steps).all(|(a, b)| without_price(a) == without_price(b))
}

fn prices(plan: &Plan, inputs: &Inputs) -> Option<Stale> {
    let (mut planned, mut now) = (MicroUsd(0), MicroUsd(0));
    for step in &plan.steps {
        let Action::Create(create) = &step.action else { continue };
        let Some(offering) = find_offering(inputs, &create.pool) else {
            return Some(Stale::Unavailable { pool: create.pool.clone() });
        };
        let count = create.slots.len() as u64;
        planned += create.price.unwrap_or_default() * count;
        now += offering.price.unwrap_or_default() * count;
    }
    let tolerated = planned.0 + planned.0 / 100 * PRICE_TOLERANCE_PERCENT;
    (now.0 > tolerated).then_some(Stale::Prices { planned, now })
}

/// What was seen, as far as a decision depends on it: booting up is no change.
fn observation(inputs: &Inputs) -> Digest {
    let observed = &inputs.observed;
    // All parts in one text, and where each ends: a fleet has thousands of them.
    let (mut text, mut ends) = (String::new(), Vec::new());
    let mut add = |part: fmt::Arguments<'_>| {
        // Writing into a string cannot fail.
        let _ = text.write_fmt(part);
        ends.push(text.len());
    };
    // Machines that ended drop off the list in time, which is no news either.
    for machine in observed.machines.values().filter(|machine| machine.state.is_live()) {
        let owner = machine.owner.as_ref().filter(|owner| owner.fleet == inputs.uid);
        let Some(owner) = owner else { continue };
        add(format_args!("{} {} {}", machine.id, owner.slot, machine.notice.is_some()));
    }
    observed.gaps.iter().for_each(|gap| add(format_args!("gap {}", gap.scope)));
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let parts = starts.zip(&ends).map(|(start, &end)| &text.as_bytes()[start..end]);
    digest(OBSERVATION, parts)
}
