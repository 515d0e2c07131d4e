//! What became of machines that a list lacks: each is asked for by its id.

use crate::error::{Asked, read};
use crate::events;
use crate::machines::{machines, with_siblings};
use crate::session::Site;
use aws_sdk_ec2::operation::describe_instances::builders::DescribeInstancesInputBuilder;
use aws_sdk_ec2::types::{Filter, Instance};
use fleet_model::{Cause, Machine, MachineId, MachineState, Market, SETTLE_WINDOW, Timestamp};
use fleet_provider::{Error, Missing, TraceRequest, Traced};
use std::collections::{BTreeMap, BTreeSet};

/// Ids per question. EC2 takes more; a question that fails is then asked again without much.
const IDS: usize = 100;

/// Values that one filter may hold.
const VALUES: usize = 200;

/// EC2 names every id that it does not know, so a second question is answered. More rounds are for
/// answers that name one at a time; what is left after them stays unknown.
const ROUNDS: usize = 10;

/// What EC2 said of some ids.
#[derive(Debug, Default)]
struct Found {
    there: Vec<Instance>,
    /// EC2 says that it does not know them.
    absent: BTreeSet<String>,
}

/// Asks for machines by id.
pub(crate) async fn trace(
    site: &Site,
    request: &TraceRequest<'_>,
    now: Timestamp,
) -> Result<Vec<Traced>, Error> {
    let ids: Vec<String> = request.missing.iter().map(|one| one.machine.to_string()).collect();
    let mut found = Found::default();
    for some in ids.chunks(IDS) {
        ask(site, some.to_vec(), &mut found).await?;
    }
    let absent = found.absent;
    let there = with_siblings(site, found.there).await?;
    let zones = site.zones().await?;
    let seen: BTreeMap<MachineId, Machine> = machines(&there, &site.region, zones)
        .into_iter()
        .flatten()
        .map(|machine| (machine.id.clone(), machine))
        .collect();
    let spot: Vec<&Missing> =
        request.missing.iter().filter(|one| asks_for_reason(one, &seen, &absent)).collect();
    let reasons = reasons(site, &spot).await;
    Ok(request.missing.iter().map(|one| verdict(one, &seen, &absent, &reasons, now)).collect())
}

/// Asks for some ids, and again without those that EC2 does not know: one of them fails the call.
async fn ask(site: &Site, mut ids: Vec<String>, found: &mut Found) -> Result<(), Error> {
    for _ in 0..ROUNDS {
        if ids.is_empty() {
            return Ok(());
        }
        let asked = DescribeInstancesInputBuilder::default().set_instance_ids(Some(ids.clone()));
        let error = match asked.send_with(&site.ec2).await {
            Ok(answer) => {
                let reservations = answer.reservations.unwrap_or_default();
                found
                    .there
                    .extend(reservations.into_iter().flat_map(|r| r.instances.unwrap_or_default()));
                return Ok(());
            }
            Err(error) => read(Asked::Read, error),
        };
        let wrong = wrong_ids(&error, &ids);
        if wrong.is_empty() {
            return Err(error);
        }
        ids.retain(|id| !wrong.contains(id));
        found.absent.extend(wrong);
    }
    Ok(())
}

/// The ids that EC2 says it does not know, in singular or plural: "The instance IDs 'i-1, i-2' do
/// not exist".
fn wrong_ids(error: &Error, asked: &[String]) -> BTreeSet<String> {
    if error.code != "InvalidInstanceID.NotFound" {
        return BTreeSet::new();
    }
    let part = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
    let named: BTreeSet<&str> = error.message.split(part).collect();
    asked.iter().filter(|id| named.contains(id.as_str())).cloned().collect()
}

/// Whether the spot request of a machine has to say why it is gone.
fn asks_for_reason(
    missing: &Missing,
    seen: &BTreeMap<MachineId, Machine>,
    absent: &BTreeSet<String>,
) -> bool {
    let gone_unsaid = match seen.get(&missing.machine) {
        Some(machine) => machine.state == MachineState::Terminated && machine.cause.is_none(),
        None => absent.contains(missing.machine.as_str()),
    };
    missing.pool.market == Market::Spot && gone_unsaid
}

/// What spot requests say of machines, which EC2 keeps for longer than machines. A hint: without an
/// answer there is none.
async fn reasons(site: &Site, spot: &[&Missing]) -> BTreeMap<MachineId, Cause> {
    let mut reasons = BTreeMap::new();
    for some in spot.chunks(VALUES) {
        let values = some.iter().map(|one| one.machine.to_string()).collect();
        let filter = Filter::builder().name("instance-id").set_values(Some(values)).build();
        match events::requests(site, vec![filter]).await {
            Ok(requests) => reasons.extend(requests.iter().filter_map(|request| {
                Some((MachineId::new(request.instance_id()?), events::cause_of(request)?))
            })),
            Err(error) => tracing::debug!(region = %site.region, %error, "no spot requests"),
        }
    }
    reasons
}

fn verdict(
    missing: &Missing,
    seen: &BTreeMap<MachineId, Machine>,
    absent: &BTreeSet<String>,
    reasons: &BTreeMap<MachineId, Cause>,
    now: Timestamp,
) -> Traced {
    let young = now.duration_since(missing.launched_at).unsigned_abs() < SETTLE_WINDOW;
    let reason = || reasons.get(&missing.machine).cloned();
    match seen.get(&missing.machine) {
        Some(machine) if machine.state == MachineState::Terminated => {
            Traced::Gone(machine.cause.clone().or_else(reason))
        }
        Some(machine) => Traced::There(Box::new(machine.clone())),
        // EC2's parts may not agree yet about a new one.
        None if young || !absent.contains(missing.machine.as_str()) => Traced::Unknown,
        None => Traced::Gone(reason()),
    }
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
