//! R: the target is what the clock says, nothing is launched once a fleet is over, nothing is changed while a
//! person wants it so, and a fleet is pruned only if it has no spec and somebody asked for it.

use super::{Facts, Judge};
use fleet_model::{CapacityGoal, Desired, Event, RolloutNews, Timestamp, Unit};

/// Clocks that nobody sets differ by no more than this.
const SKEW: jiff::SignedDuration = jiff::SignedDuration::from_secs(30);

/// A person's word that nothing be changed, and until when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frozen {
    until: Option<Timestamp>,
}

/// The least and the most of each that a fleet may have been meant to hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goals {
    pub(crate) least: CapacityGoal,
    pub(crate) most: CapacityGoal,
}

/// What a spec wants at a moment. Schedules of the swarm have one entry on the hour, and one half an hour
/// later: no code of the engine reads them here.
fn goal_at(desired: &Desired, at: Timestamp) -> CapacityGoal {
    if desired.expires.is_some_and(|end| end <= at) {
        return nothing(desired);
    }
    let late = at.as_second().rem_euclid(3600) >= 1800;
    match desired.schedule.as_slice() {
        [] => desired.capacity,
        [_, second, ..] if late => second.goal,
        [first, ..] => first.goal,
    }
}

fn nothing(desired: &Desired) -> CapacityGoal {
    CapacityGoal { unit: desired.capacity.unit, ..CapacityGoal::default() }
}

/// Everything that a spec wants at some time, whatever the clock says.
fn all_goals(desired: &Desired) -> Vec<CapacityGoal> {
    let end = desired.expires.map(|_| nothing(desired));
    let own = [desired.capacity].into_iter().filter(|_| desired.schedule.is_empty());
    own.chain(desired.schedule.iter().map(|entry| entry.goal)).chain(end).collect()
}

impl Goals {
    fn of(all: &[CapacityGoal], unit: Unit) -> Self {
        let by = |pick: fn(&CapacityGoal) -> fleet_model::Units, most: bool| {
            let values = all.iter().map(pick);
            if most { values.max() } else { values.min() }.unwrap_or_default()
        };
        let goal = |most| CapacityGoal {
            unit,
            target: by(|goal| goal.target, most),
            on_demand: by(|goal| goal.on_demand, most),
            spot: by(|goal| goal.spot, most),
        };
        Goals { least: goal(false), most: goal(true) }
    }

    /// What a spec wants between two moments, by clocks that may be a little wrong. If clocks were set, it
    /// may be anything that the spec wants at some time.
    pub(super) fn between(
        desired: &Desired,
        from: Timestamp,
        to: Timestamp,
        clocks_set: bool,
    ) -> Self {
        let all = if clocks_set {
            all_goals(desired)
        } else {
            let step = jiff::SignedDuration::from_secs(600);
            let from = from.checked_sub(SKEW).unwrap_or(from);
            let to = to.checked_add(SKEW).unwrap_or(to);
            let moments = std::iter::successors(Some(from), |at| at.checked_add(step).ok());
            let moments = moments.take_while(|at| *at < to).chain([to]);
            moments.map(|at| goal_at(desired, at)).collect()
        };
        Goals::of(&all, desired.capacity.unit)
    }
}

impl Judge {
    /// What a process may have taken for the target since it began to look.
    pub(super) fn goals(&self, facts: &Facts) -> Goals {
        Goals::between(&facts.desired, facts.looked_from, self.now, self.blurred)
    }

    /// A fleet as it is wanted now, where clocks are right.
    pub(crate) fn as_of_now(&self, wish: &Desired) -> Desired {
        Desired { capacity: goal_at(wish, self.now), ..wish.clone() }
    }

    /// A process is to destroy the fleet because no spec names it, or must not.
    pub(crate) fn prunes(&mut self, process: u32, may: bool) {
        if let Some(facts) = self.processes.get_mut(&process) {
            facts.prunes = Some(may);
        }
    }

    /// Whether a person wants nothing to be changed: until when, if that was said.
    pub(crate) fn frozen(&self) -> Option<Option<Timestamp>> {
        let frozen = self.frozen?;
        frozen.until.is_none_or(|until| until > self.now).then_some(frozen.until)
    }

    /// Whether every process must know so, by clocks that may be a little wrong.
    fn is_known_frozen(&self) -> bool {
        let now = self.now.checked_add(SKEW).unwrap_or(self.now);
        let holds = |until: Option<Timestamp>| until.is_none_or(|at| at > now && !self.blurred);
        self.frozen.is_some_and(|frozen| holds(frozen.until))
    }

    /// Judges an event before it is in the book.
    pub(super) fn check_wishes(&mut self, process: u32, event: &Event) {
        match event {
            Event::Frozen { until, .. } => self.frozen = Some(Frozen { until: *until }),
            Event::Thawed => self.frozen = None,
            _ => {}
        }
        let does = match event {
            Event::CreateIntended { .. } => "launches",
            Event::CreateResent { .. } => "launches again",
            Event::DestroyIntended { .. } => "ends machines",
            Event::Relabelled { .. } => "changes labels",
            Event::Rollout { news: RolloutNews::WaveBegan { .. } } => "begins a wave",
            _ => return,
        };
        if self.is_known_frozen() {
            self.fail('R', format!("p{process} {does} though a person froze the fleet"));
        }
        let Some(facts) = self.processes.get(&process) else { return };
        let (goals, prunes) = (self.goals(facts), facts.prunes);
        let launches = matches!(event, Event::CreateIntended { .. });
        if prunes == Some(false) {
            self.fail('R', format!("p{process} {does} of a fleet that nobody wants to prune"));
        }
        let wave = matches!(event, Event::Rollout { .. });
        if (launches || wave) && goals.most.target.is_zero() {
            self.fail('R', format!("p{process} {does} in a fleet that is to have nothing"));
        }
    }

    /// When all is calm and nothing is left to do: there is no more than the clock asks for.
    pub(crate) fn check_not_too_much(&mut self, wish: &Desired) {
        let CapacityGoal { unit, target, .. } = wish.capacity;
        // Machines come whole: what weighs more than is wanted may be there for its last part.
        if unit != Unit::Instances && !target.is_zero() {
            return;
        }
        let stands = self.stands(wish);
        let most = if wish.placement.hedge.is_some() { target + target } else { target };
        if stands > most {
            self.fail('R', format!("at rest with {stands}, and {target} are wanted"));
        }
    }
}
