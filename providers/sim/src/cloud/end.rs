//! The end of machines, the same on every cloud but for the codes.

use crate::classify::answer;
use crate::event::{Event, Refusal};
use crate::limit::Call;
use crate::time::{Ms, from_stamp};
use crate::tx::Tx;
use crate::vm::Vm;
use fleet_model::{Cloud, MachineId, MachineState, SETTLE_WINDOW, Victim};
use fleet_provider::{DestroyRequest, evidence, not_the_machine};

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    pub(crate) ended: Vec<MachineId>,
    pub(crate) refused: Vec<(MachineId, String)>,
}

/// For this long after a launch, "there is no such machine" proves nothing.
const SETTLE: Ms = SETTLE_WINDOW.as_millis() as Ms;

/// Reads each machine again, and ends those that are what the caller takes them for.
pub(crate) fn end(tx: &mut Tx<'_>, request: &DestroyRequest<'_>) -> Result<Ends, Refusal> {
    let machines = u32::try_from(request.victims.len()).unwrap_or(u32::MAX);
    tx.change(request.scope, Call::End, machines, |tx| {
        let mut ends = Ends::default();
        let mut fell = Vec::new();
        for victim in request.victims {
            match verdict(tx, request, victim)? {
                Verdict::Gone => ends.ended.push(victim.machine.clone()),
                Verdict::Ours => {
                    ends.ended.push(victim.machine.clone());
                    fell.push(victim.machine.clone());
                }
                Verdict::NotOurs(why) => ends.refused.push((victim.machine.clone(), why)),
            }
        }
        if !fell.is_empty() {
            let asked = tx.now();
            let gone = super::done_in(tx, 5, 40);
            tx.emit(Event::Ended { ids: fell.clone(), asked, gone });
            tx.leave_children(&fell, gone);
        }
        Ok(ends)
    })
}

enum Verdict {
    Gone,
    Ours,
    NotOurs(String),
}

fn verdict(tx: &Tx<'_>, request: &DestroyRequest<'_>, victim: &Victim) -> Result<Verdict, Refusal> {
    let now = tx.now();
    let known: Option<&Vm> = tx.world.vm(&victim.machine);
    let Some(vm) = known.filter(|vm| vm.visible <= now) else {
        let age = now.saturating_sub(from_stamp(victim.launched_at));
        // Not shown yet is not gone: ask again rather than take it for ended.
        return if known.is_some() || age < SETTLE {
            let message = format!("there is no {}", victim.machine.as_str().escape_debug());
            {
                let cloud = request.scope.cloud;
                Err(answer(cloud, evidence::Call::End, not_found(cloud), &message))
            }
        } else {
            Ok(Verdict::Gone)
        };
    };
    if vm.state(now) == MachineState::Terminated {
        return Ok(Verdict::Gone);
    }
    let Some(machine) = tx.world.describe(vm) else { return Ok(Verdict::Gone) };
    let scope = machine.place.scope();
    let mismatch = if scope == *request.scope {
        not_the_machine(request.fleet, victim, &machine)
    } else {
        Some(format!("it stands in {scope}"))
    };
    Ok(match mismatch {
        Some(why) => Verdict::NotOurs(why),
        None if vm.state(now) == MachineState::Stopping => Verdict::Gone,
        None => Verdict::Ours,
    })
}

fn not_found(cloud: Cloud) -> &'static str {
    match cloud {
        Cloud::Aws => "InvalidInstanceID.NotFound",
        Cloud::Gcp => "notFound",
        Cloud::Azure => "ResourceNotFound",
        Cloud::Lambda => "global/object-does-not-exist",
    }
}
