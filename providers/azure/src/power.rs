//! What a machine does now. `provisioningState` is the result of what was last done to it, and says
//! nothing of whether it runs: a working machine is `Failed` when a policy could not install an agent.
//!
//! Azure gives no power states with the list of a group. The list of the subscription has them, up to
//! a quarter of an hour late, and a machine asked for by its name has them right. So: the one list,
//! now and then, to know whom to ask; and a question for each machine that may not be well.

use crate::api::{Api, COMPUTE};
use crate::error::Asked;
use crate::machines::{is_coming, is_shell, looks_gone};
use crate::names::{Group, MACHINES};
use crate::wire::{InstanceView, Vm};
use fleet_model::{Cause, CauseKind, MachineState, Timestamp};
use fleet_provider::Error;
use futures::future::join_all;
use reqwest::Method;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many machines one look asks about by name: what is left comes first in the next one. A policy
/// that fails on ten thousand machines must not use up all reads.
const ASKED_PER_LOOK: usize = 200;

/// How many of them at a time.
const AT_A_TIME: usize = 20;

/// How long the list of power states holds. It is an expensive one, and late by itself.
const HOLDS: Duration = Duration::from_secs(300);

/// The machine never came up: nobody should wait for it, and Microsoft's own cure is to delete it.
const NEVER_READY: [&str; 3] =
    ["OSProvisioningTimedOut", "VMStartTimedOut", "OSProvisioningClientError"];

/// What is known of power states.
#[derive(Default)]
pub(crate) struct Power(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// When the list was asked for, and who was off in it.
    listed: Option<(Timestamp, BTreeSet<String>)>,
    /// The last word on single machines, and when it was said.
    views: BTreeMap<String, (Timestamp, InstanceView)>,
}

/// A machine's name as a key.
fn key(vm: &Vm) -> String {
    vm.name.to_ascii_lowercase()
}

impl Power {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what machines do now to those of a list of which something may be wrong.
    pub(crate) async fn look(&self, api: &Api, group: &Group, machines: &mut [Vm]) {
        let now = api.clock.now();
        let off = self.off(api, group, now, machines.len()).await;
        let suspect = |vm: &&mut Vm| is_shell(vm) || off.contains(&key(vm));
        let mut suspects: Vec<&mut Vm> = machines.iter_mut().filter(suspect).collect();
        let names: BTreeSet<String> = suspects.iter().map(|vm| key(vm)).collect();
        {
            let views = &mut self.lock().views;
            views.retain(|name, _| names.contains(name));
            // Whoever was asked about longest ago, or never, comes first.
            suspects.sort_by_key(|vm| views.get(&key(vm)).map(|(when, _)| *when));
        }
        for some in suspects[..suspects.len().min(ASKED_PER_LOOK)].chunks(AT_A_TIME) {
            let asked = some.iter().map(|vm| ask(api, group, &vm.name));
            let answers = join_all(asked).await;
            let throttled = answers.iter().any(|answer| matches!(answer, Err(e) if e.throttled));
            for (vm, answer) in some.iter().zip(answers) {
                // Now and then Azure says that there is no view of a machine that is there.
                if let Ok(Some(Vm { properties, .. })) = answer
                    && let Some(view) = properties.instance_view
                {
                    self.lock().views.insert(key(vm), (now, view));
                }
            }
            if throttled {
                break;
            }
        }
        let known = self.lock();
        for vm in suspects {
            vm.properties.instance_view = known.views.get(&key(vm)).map(|(_, view)| view.clone());
        }
    }

    /// Who is off, by the list of the subscription. One that does not come says nothing.
    async fn off(
        &self,
        api: &Api,
        group: &Group,
        now: Timestamp,
        machines: usize,
    ) -> BTreeSet<String> {
        if let Some((when, off)) = &self.lock().listed
            && now.duration_since(*when).unsigned_abs() < HOLDS
        {
            return off.clone();
        }
        if machines == 0 {
            return BTreeSet::new();
        }
        let path = format!("/subscriptions/{}/providers/{MACHINES}", group.subscription);
        let query = [("api-version", COMPUTE), ("statusOnly", "true")];
        // Nor is it asked for again at once: the role may not reach as far as the subscription.
        let all: Vec<Vm> = api.list(&path, &query).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "power states are not known");
            Vec::new()
        });
        let is_off = |vm: &&Vm| vm.properties.instance_view.as_ref().is_some_and(is_off);
        let off: BTreeSet<String> = all.iter().filter(is_off).map(key).collect();
        self.lock().listed = Some((now, off.clone()));
        off
    }
}

/// A machine with what it does now; `None` if it is not there.
pub(crate) async fn ask(api: &Api, group: &Group, name: &str) -> Result<Option<Vm>, Error> {
    let query = [("api-version", COMPUTE), ("$expand", "instanceView")];
    let answer =
        api.send(Asked::Read, Method::GET, &group.at(MACHINES, name), &query, None).await?;
    match answer.status {
        200 => answer.json(Asked::Read).map(Some),
        404 if looks_gone(&answer.error(Asked::Read)) => Ok(None),
        _ => Err(answer.error(Asked::Read)),
    }
}

/// The power state's name: `running`, `deallocated`.
fn power(view: &InstanceView) -> Option<&str> {
    view.statuses.iter().find_map(|status| status.code.strip_prefix("PowerState/"))
}

fn is_off(view: &InstanceView) -> bool {
    power(view).is_some_and(|power| {
        ["stopped", "stopping", "deallocated", "deallocating"].contains(&power)
    })
}

/// The code and the words of what failed.
fn failure(view: &InstanceView) -> Option<(&str, &str)> {
    view.statuses.iter().find_map(|status| {
        let code = status.code.strip_prefix("ProvisioningState/failed")?;
        let words =
            if status.message.is_empty() { &status.display_status } else { &status.message };
        Some((code.trim_start_matches('/'), words.as_str()))
    })
}

/// What a machine is, and why, if that is worth a word.
pub(crate) fn state(vm: &Vm) -> (MachineState, Option<Cause>) {
    let view = vm.properties.instance_view.as_ref();
    if is_shell(vm) {
        return failed(view);
    }
    match view.filter(|view| is_off(view)).and_then(power) {
        // Nothing inside a machine can deallocate it, and our spot machines are deleted instead.
        Some(power @ ("deallocated" | "deallocating")) => {
            let words = format!("PowerState/{power}");
            (MachineState::Stopped, Some(Cause::new(CauseKind::Person, words)))
        }
        // By somebody, or from inside: Azure does not tell.
        Some(_) => (MachineState::Stopped, None),
        None if is_coming(vm) => (MachineState::Pending, None),
        None if vm.is("Deleting") => (MachineState::Stopping, None),
        // A state we do not know is taken for running: what may cost money must not be overlooked.
        None => (MachineState::Running, None),
    }
}

/// A machine to which something was done that failed.
fn failed(view: Option<&InstanceView>) -> (MachineState, Option<Cause>) {
    let because = |kind, words: String| (MachineState::Failed, Some(Cause::new(kind, words)));
    let Some(view) = view else {
        // Not looked at yet. It counts and costs, and is replaced before it is destroyed.
        return because(CauseKind::Unwell, "Failed; whether it runs is not known".to_owned());
    };
    let (code, words) = failure(view).unwrap_or(("Failed", ""));
    let words = format!("{code}: {words}");
    if NEVER_READY.contains(&code) {
        return because(CauseKind::NeverReady, words);
    }
    match power(view) {
        Some("running" | "starting") => because(CauseKind::Unwell, words),
        Some(_) if is_off(view) => (MachineState::Stopped, None),
        // A shell that a failed launch left: it never was a machine.
        Some(_) | None => because(CauseKind::NeverReady, words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    fn check(provisioning: &str, codes: &[&str], state: MachineState, kind: Option<CauseKind>) {
        let statuses: Vec<_> = codes.iter().map(|code| json!({ "code": code })).collect();
        let mut vm = json!({ "properties": { "provisioningState": provisioning } });
        if !codes.is_empty() {
            vm["properties"]["instanceView"] = json!({ "statuses": statuses });
        }
        let vm: Vm = from_value(vm).expect("a machine");
        let (found, cause) = super::state(&vm);
        assert_eq!(
            (found, cause.map(|cause| cause.kind)),
            (state, kind),
            "{provisioning} {codes:?}"
        );
    }

    #[test]
    fn a_machine_is_what_it_does_and_not_what_was_last_done_to_it() {
        use CauseKind::{NeverReady, Person, Unwell};
        use MachineState::{Failed, Pending, Running, Stopped, Stopping};
        let (on, off) = ("PowerState/running", "PowerState/deallocated");
        let agent = "ProvisioningState/failed/VMExtensionProvisioningError";
        let late = "ProvisioningState/failed/OSProvisioningTimedOut";
        let full = "ProvisioningState/failed/AllocationFailed";
        check("Creating", &[], Pending, None);
        check("Updating", &[], Running, None);
        check("Succeeded", &["ProvisioningState/succeeded", on], Running, None);
        check("Succeeded", &["ProvisioningState/succeeded", off], Stopped, Some(Person));
        check("Succeeded", &["PowerState/stopped"], Stopped, None);
        check("Deleting", &[], Stopping, None);
        check("Dreaming", &[], Running, None);
        check("Failed", &[agent, on], Failed, Some(Unwell));
        check("Failed", &[agent, off], Stopped, None);
        for code in NEVER_READY {
            check(
                "Failed",
                &[&format!("ProvisioningState/failed/{code}"), on],
                Failed,
                Some(NeverReady),
            );
        }
        check("Failed", &[late, "PowerState/starting"], Failed, Some(NeverReady));
        check("Failed", &[full], Failed, Some(NeverReady));
        check("Canceled", &["ProvisioningState/canceled", on], Failed, Some(Unwell));
        check("Failed", &[], Failed, Some(Unwell));
    }
}
