//! From inputs to a decision.

use crate::budget::allowance;
use crate::decide::decision::{Consent, Decision, Limited, Situation};
use crate::decide::holds::{by_hand, frozen, held_by_hand, holds};
use crate::decide::limits::within_limits;
use crate::decide::relabel::to_relabel;
use crate::decide::removals::{Quota, Removals, keep_everything};
use crate::decide::resend;
use crate::decide::rollout;
use crate::decide::together::stand_together;
use crate::holdings::{inventory, to_clear};
use crate::market::Prospects;
use crate::offers::in_force;
use crate::place::Problem;
use fleet_model::{Departure, Inputs};

/// Decides what to keep, what to launch and what to destroy. `certify` asks for a proof of how good it
/// is.
pub(crate) fn decide(inputs: &Inputs, certify: bool) -> Decision<'_> {
    decide_with(inputs, certify, Consent::Limited)
}

/// The same, with a word on what may end.
pub(crate) fn decide_with(inputs: &Inputs, certify: bool, consent: Consent) -> Decision<'_> {
    let commitments = in_force(inputs);
    let mut inventory = inventory(inputs, &commitments);
    let prospects = Prospects::new(inputs, &inventory);
    let problem =
        Problem::new(inputs, &inventory, commitments, &|offering| prospects.of(offering), certify);
    let problem = stand_together(inputs, problem, &mut inventory);
    let allowance = allowance(inputs, &inventory);
    let budget = {
        let situation =
            Situation { inputs, problem: &problem, inventory: &inventory, allowance: &allowance };
        let removals = Removals::new(situation, Quota::NONE);
        removals.update_surge() + removals.unavailable()
    };
    let mut turn = rollout::turn(inputs, &mut inventory, budget);
    let situation =
        Situation { inputs, problem: &problem, inventory: &inventory, allowance: &allowance };

    let frozen = frozen(situation);
    let is_frozen = frozen.is_some();
    let (mut choice, mut limited) = match frozen {
        Some(hold) => {
            let choice = keep_everything(situation);
            (choice, Limited { frozen: Some(hold), ..Limited::default() })
        }
        None => within_limits(situation, consent),
    };
    let (mut resend, mut relabel) = (Vec::new(), Vec::new());
    if !is_frozen {
        resend = resend::wanted(situation);
        relabel = to_relabel(inputs, &inventory, &choice.victims);
    }
    let by_hand = by_hand(inputs);
    if let Some(freeze) = by_hand {
        let would = !resend.is_empty() || !relabel.is_empty();
        limited.by_hand = held_by_hand(freeze, &choice, &limited, would);
        choice = keep_everything(situation);
        (resend, relabel) = (Vec::new(), Vec::new());
        (limited.destroy, limited.budget, limited.when_done) = (None, None, None);
    }
    let drain = if is_frozen || by_hand.is_some() {
        turn.news.clear();
        Vec::new()
    } else {
        inventory.drain.clone()
    };
    limited.rollout = turn.hold.filter(|_| !is_frozen && by_hand.is_none());
    let when_done = limited.when_done;
    let held = holds(situation, &choice, limited);
    let mut vacate = inventory.vacate.clone();
    let clear = to_clear(&inventory.leftovers, is_frozen || by_hand.is_some());
    if is_frozen {
        // What vanished stays on record until a person has looked: forgotten, it would be replaced by
        // the next round.
        vacate.retain(|vacated| vacated.how != Departure::Vanished);
    }
    let rollout = turn.news;
    Decision {
        inputs,
        choice,
        held,
        vacate,
        clear,
        resend,
        relabel,
        rollout,
        drain,
        when_done,
        allowance,
        inventory,
        problem,
    }
}
