//! Which steps may start. A pure state machine; apply only asks and obeys.

use fleet_model::{Plan, StepId};
use std::collections::{BTreeMap, BTreeSet};

/// How far a step has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepState {
    /// Waits for others.
    Waiting,
    /// May start.
    Ready,
    /// Was handed out.
    Started,
    /// Did what it should.
    Done,
    /// Did not do what it should, or not all of it.
    Failed,
    /// Never started: something before it failed.
    Skipped,
}

/// A walk over a plan.
#[derive(Debug, Clone)]
pub struct Walk {
    states: BTreeMap<StepId, StepState>,
    waits_for: BTreeMap<StepId, BTreeSet<StepId>>,
    followers: BTreeMap<StepId, Vec<StepId>>,
    ready: BTreeSet<StepId>,
}

impl Walk {
    /// Stands at the beginning of a plan.
    pub fn new(plan: &Plan) -> Self {
        let mut walk = Walk {
            states: BTreeMap::new(),
            waits_for: BTreeMap::new(),
            followers: BTreeMap::new(),
            ready: BTreeSet::new(),
        };
        for step in &plan.steps {
            let free = step.after.is_empty();
            walk.states.insert(step.id, if free { StepState::Ready } else { StepState::Waiting });
            if free {
                walk.ready.insert(step.id);
            } else {
                walk.waits_for.insert(step.id, step.after.clone());
            }
            for before in &step.after {
                walk.followers.entry(*before).or_default().push(step.id);
            }
        }
        walk
    }

    /// Hands out the next step that may start.
    pub fn start_next(&mut self) -> Option<StepId> {
        let step = self.ready.pop_first()?;
        self.states.insert(step, StepState::Started);
        Some(step)
    }

    /// A started step has ended. What waited for a failed one is skipped.
    pub fn finish(&mut self, step: StepId, done: bool) {
        self.states.insert(step, if done { StepState::Done } else { StepState::Failed });
        for follower in self.followers.remove(&step).unwrap_or_default() {
            if !done {
                self.skip(follower);
                continue;
            }
            let Some(waits) = self.waits_for.get_mut(&follower) else { continue };
            waits.remove(&step);
            if waits.is_empty() && self.states[&follower] == StepState::Waiting {
                self.states.insert(follower, StepState::Ready);
                self.ready.insert(follower);
            }
        }
    }

    fn skip(&mut self, step: StepId) {
        if self.states.get(&step) != Some(&StepState::Waiting) {
            return;
        }
        self.states.insert(step, StepState::Skipped);
        for follower in self.followers.remove(&step).unwrap_or_default() {
            self.skip(follower);
        }
    }

    /// Takes back everything that was not handed out: the user asked to stop.
    pub fn stop(&mut self) {
        self.ready.clear();
        for state in self.states.values_mut() {
            if matches!(state, StepState::Ready | StepState::Waiting) {
                *state = StepState::Skipped;
            }
        }
    }

    /// How far a step has come.
    pub fn state(&self, step: StepId) -> Option<StepState> {
        self.states.get(&step).copied()
    }

    /// How many steps are in a state.
    pub fn count(&self, state: StepState) -> usize {
        self.states.values().filter(|s| **s == state).count()
    }
}
