//! Whether a machine is launching, ready or unhealthy: its cloud's word, and that of its checks.

use crate::holdings::holding::{Holding, Inventory};
use crate::holdings::seams;
use crate::holdings::standing::Standing;
use fleet_model::{
    Cause, CauseKind, Cloud, Health, Hold, Inputs, Machine, MachineId, MachineState, Notice,
    Probed, Readiness, SETTLE_WINDOW, SlotHealth, SlotId, Timestamp,
};
use std::time::Duration;

/// What is asked of one machine on record.
pub(super) struct Asked<'a> {
    pub(super) slot: SlotId,
    pub(super) machine: &'a MachineId,
    pub(super) cloud: Cloud,
    pub(super) launched_at: Timestamp,
    pub(super) known: SlotHealth,
    pub(super) seen: Option<&'a Machine>,
}

/// How a machine is, and since when its checks fail if they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) readiness: Readiness,
    /// What its checks said, where they fail.
    pub(super) failing: Option<String>,
}

/// How long a machine may take to be ready.
fn ready_within(health: &Health, cloud: Cloud) -> Duration {
    let said = health.ready_within_seconds.map(|seconds| Duration::from_secs(seconds.into()));
    said.unwrap_or(cloud.facts().ready_within)
}

impl Inventory {
    /// How a machine is that stands. What changed of its checks is noted.
    pub(super) fn readiness(&mut self, inputs: &Inputs, asked: &Asked<'_>) -> Answer {
        let health = &inputs.desired.health;
        let age = inputs.observed.taken_at.duration_since(asked.launched_at);
        let age = Duration::from_secs(u64::try_from(age.as_secs()).unwrap_or(0));
        let late = age >= ready_within(health, asked.cloud);
        let up = match asked.seen {
            Some(machine) => machine.state != MachineState::Pending,
            // Not listed: young ones are on their way.
            None => age >= SETTLE_WINDOW,
        };
        if !up {
            let readiness = match late {
                true => Readiness::Unhealthy,
                false => Readiness::Launching,
            };
            return Answer { readiness, failing: None };
        }
        if health.probes.is_empty() {
            return Answer { readiness: Readiness::Ready, failing: None };
        }
        self.checked(inputs, asked, late)
    }

    /// The same of a machine that is up, by its checks.
    fn checked(&mut self, inputs: &Inputs, asked: &Asked<'_>, late: bool) -> Answer {
        let SlotHealth { ready, failing_since } = asked.known;
        let now = seams::as_probed(inputs.observed.probed.get(asked.machine));
        let (failing, words) = match now {
            Some(Probed::Passed) => {
                if !ready || failing_since.is_some() {
                    self.health.ready.push(asked.slot);
                }
                return Answer { readiness: Readiness::Ready, failing: None };
            }
            Some(Probed::Failed { words }) => {
                if failing_since.is_none() {
                    self.health.failing.push(asked.slot);
                }
                (true, words.escape_debug().to_string())
            }
            // Nobody checked, or could: what is known stands.
            Some(Probed::NotMade { .. }) | None => (failing_since.is_some(), String::new()),
        };
        if !failing {
            let readiness = if ready { Readiness::Ready } else { Readiness::Launching };
            return Answer { readiness, failing: None };
        }
        let since = failing_since.unwrap_or(inputs.now);
        let long = inputs.now.duration_since(since).as_secs()
            >= i64::from(inputs.desired.health.unhealthy_after_seconds);
        let readiness = match (ready, long) {
            // One that never was ready has its time to become so.
            (false, true) if late => Readiness::Unhealthy,
            (false, _) => Readiness::Launching,
            (true, true) => Readiness::Unhealthy,
            (true, false) => Readiness::Ready,
        };
        Answer { readiness, failing: Some(words) }
    }
}

/// Whether a machine that must not be touched does not work: it counts, because nobody can replace it, and
/// nothing may be destroyed in favour of it. Swarm seed 15570.
pub(super) fn serves_nobody(
    inputs: &Inputs,
    standing: &Standing,
    answer: &Answer,
    seen: Option<&Machine>,
) -> bool {
    let works = |machine: &Machine| match machine.state {
        MachineState::Pending | MachineState::Running => true,
        MachineState::Failed => !inputs.desired.health.cloud,
        MachineState::Stopped | MachineState::Stopping | MachineState::Terminated => false,
    };
    let broken = answer.readiness == Readiness::Unhealthy || !seen.is_none_or(works);
    *standing == Standing::Fixed && broken
}

/// What is said of a machine that is not ready.
pub(super) fn cause(failing: Option<String>) -> Cause {
    let words = failing.filter(|words| !words.is_empty());
    Cause::new(CauseKind::NotReady, words.unwrap_or_else(|| "it did not come up in time".into()))
}

/// Whether a cause is a matter of one machine's health, and not of a launch that never worked.
fn is_health(kind: CauseKind) -> bool {
    matches!(kind, CauseKind::NotReady | CauseKind::Unwell)
}

/// When so many are unhealthy that it is the template or the check, and not the machines: none of them is
/// replaced. One machine alone is replaced always.
pub(super) fn too_many_unhealthy(inventory: &mut Inventory) {
    let unhealthy = |holding: &Holding| match holding.standing {
        Standing::Failed(kind) => is_health(kind),
        _ => false,
    };
    let of = inventory.holdings.iter().filter(|holding| holding.standing.stands()).count() as u32;
    let sick = inventory.holdings.iter().filter(|holding| unhealthy(holding)).count() as u32;
    if !seams::is_too_many(sick, of) {
        return;
    }
    for holding in inventory.holdings.iter_mut().filter(|holding| unhealthy(holding)) {
        holding.standing = Standing::Good;
        holding.failing = true;
    }
    inventory.sick = Some(Hold::ManyUnhealthy { unhealthy: sick, of });
}

/// Tells people of checks that fail.
pub(super) fn notice(inventory: &mut Inventory, asked: &Asked<'_>, words: &str) {
    let (machine, slot, words) = (asked.machine.clone(), asked.slot.name, words.to_owned());
    inventory.notices.push(Notice::ChecksFail { machine, slot, words });
}
