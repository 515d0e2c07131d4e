//! Launching: look, launch one machine, look again.
//!
//! The name of a machine is the token of its launch. Before a launch everything is listed, so that
//! a launch that is asked for twice finds what the first one made; after a launch whose outcome is
//! not known it is listed once more, and what then is not there may still come: nobody sends again.

use crate::api::Api;
use crate::error::{Asked, LOOK_AGAIN, SETTLE, refused};
use crate::machines::{all, machine, place};
use crate::tags;
use crate::wire::{Image, Instance, Launch, Launched, Ruleset};
use fleet_model::{
    Cloud, Machine, MachineId, MachineState, Market, Ownership, SlotId, Timestamp, Token, Zone,
};
use fleet_provider::{Class, Clock, CreateRequest, Created, Error};
use std::collections::BTreeMap;

/// The longest name that Lambda takes.
const LONGEST_NAME: usize = 64;

/// What Lambda would refuse, told before anything is sent.
pub(crate) fn check(request: &CreateRequest<'_>) -> Result<SlotId, Error> {
    let wrong = |code, words: String| Err(refused(Class::Invalid, code, words));
    let create = request.create;
    let pool = &create.pool;
    if pool.place.cloud != Cloud::Lambda {
        return wrong("WrongCloud", format!("{pool} is not of lambda"));
    }
    if pool.market != Market::OnDemand || pool.place.zone.as_str() != Zone::REGIONAL {
        return wrong("NoSuchPool", format!("lambda sells on demand and has no zones: {pool}"));
    }
    let token = create.token.as_str();
    if token.is_empty() || token.len() > LONGEST_NAME || !token.is_ascii() {
        return wrong("BadToken", format!("a token has 1 to {LONGEST_NAME} ASCII characters"));
    }
    if request.template.key.is_none() {
        return wrong("NoSshKey", NO_KEY.to_owned());
    }
    match create.slots[..] {
        [slot] => Ok(slot),
        _ => wrong("TooMany", "a launch makes one machine".to_owned()),
    }
}

/// Why a template without a key makes no machine.
pub(crate) const NO_KEY: &str =
    "lambda launches with exactly one SSH key: name one of the account's in template.key";

/// The request for a launch: a pure function of what is asked, and when.
pub(crate) fn request(asked: &CreateRequest<'_>, slot: SlotId, now: Timestamp) -> Launch {
    let CreateRequest { create, template, .. } = asked;
    let image = create.image.as_ref().or(template.image.as_ref());
    Launch {
        region_name: create.pool.place.region.to_string(),
        instance_type_name: create.pool.instance_type.to_string(),
        ssh_key_names: template.key.iter().cloned().collect(),
        name: create.token.to_string(),
        image: image.map(|text| self::image(text)),
        user_data: template.user_data.as_ref().map(|text| text.expose().to_owned()),
        tags: tags::of(asked, slot, now),
        firewall_rulesets: template
            .security_groups
            .iter()
            .map(|id| Ruleset { id: id.clone() })
            .collect(),
    }
}

/// `43336648-096d-4cba-9aa2-f9bb7727639d` is one image, `lambda-stack-24-04` the newest of a family.
fn image(text: &str) -> Image {
    let is_id = text.len() == 36 && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if is_id { Image::Id(text.to_owned()) } else { Image::Family(text.to_owned()) }
}

/// Launches of this run that lists may not show yet.
#[derive(Default)]
pub(crate) struct Sent(BTreeMap<Token, (Timestamp, Vec<Machine>)>);

impl Sent {
    /// What a launch of this run made, as far as it is known; `None` if it was not sent, or so long
    /// ago that lists tell.
    fn lately(&self, token: &Token, now: Timestamp) -> Option<&[Machine]> {
        let (at, machines) = self.0.get(token)?;
        (now.duration_since(*at).unsigned_abs() < SETTLE).then_some(machines)
    }
}

/// Launches, or finds what an earlier launch with the same token made.
pub(crate) async fn launch(
    api: &Api,
    clock: &dyn Clock,
    sent: &mut Sent,
    asked: &CreateRequest<'_>,
    slot: SlotId,
) -> Result<Created, Error> {
    let token = &asked.create.token;
    loop {
        if let Some(machines) = made_before(&all(api).await?, asked)? {
            return Ok(Created { machines, shortfall: None, refusals: Vec::new() });
        }
        match sent.lately(token, clock.now()) {
            None => break,
            // Sent and not known: nothing is sent until lists must show what it made.
            Some([]) => clock.sleep(LOOK_AGAIN).await,
            Some(made) => {
                return Ok(Created {
                    machines: made.to_vec(),
                    shortfall: None,
                    refusals: Vec::new(),
                });
            }
        }
    }
    let now = clock.now();
    sent.0.retain(|_, (at, _)| now.duration_since(*at).unsigned_abs() < SETTLE);
    sent.0.insert(token.clone(), (now, Vec::new()));
    let created = send(api, asked, slot, now).await;
    match &created {
        Ok(made) => {
            sent.0.insert(token.clone(), (now, made.machines.clone()));
        }
        Err(error) if error.class == Class::Unknown => {}
        Err(_) => {
            sent.0.remove(token);
        }
    }
    created
}

/// Sends a launch, and looks for what it made.
async fn send(
    api: &Api,
    asked: &CreateRequest<'_>,
    slot: SlotId,
    now: Timestamp,
) -> Result<Created, Error> {
    let body = request(asked, slot, now);
    let answer = api.post::<Launched>(Asked::Launch, "instance-operations/launch", &body).await;
    let ids = match answer {
        Ok(launched) if launched.instance_ids.is_empty() => {
            let words = "the answer to a launch names no machine";
            return Err(refused(Class::Unknown, "UnreadableAnswer", words));
        }
        Ok(launched) => launched.instance_ids,
        Err(error) if error.class == Class::Unknown => {
            // It may be there already, which would settle it. If it is not, that proves nothing.
            let found = all(api).await.ok().and_then(|seen| made_before(&seen, asked).ok()?);
            let machines = found.ok_or(error)?;
            return Ok(Created { machines, shortfall: None, refusals: Vec::new() });
        }
        Err(error) => return Err(error),
    };
    // A list that does not come changes nothing about what was made.
    let seen = all(api).await.unwrap_or_default();
    let machines = ids.iter().map(|id| {
        let listed = seen.iter().find(|instance| instance.id == *id).map(machine);
        listed.unwrap_or_else(|| new(id, asked, slot, now))
    });
    Ok(Created { machines: machines.collect(), shortfall: None, refusals: Vec::new() })
}

/// What a launch with this token made, by name and tags. `None`: nothing that is listed.
fn made_before(
    seen: &[Instance],
    asked: &CreateRequest<'_>,
) -> Result<Option<Vec<Machine>>, Error> {
    let token = asked.create.token.as_str();
    let named = |instance: &&Instance| {
        instance.name.as_deref() == Some(token) || tags::get(instance, tags::TOKEN) == Some(token)
    };
    let machines: Vec<Machine> = seen.iter().filter(named).map(machine).collect();
    let ours = |machine: &Machine| {
        machine.owner.as_ref().is_some_and(|owner| owner.fleet == *asked.fleet)
            && machine.pool() == asked.create.pool
    };
    match machines.iter().find(|machine| !ours(machine)) {
        // Either somebody edits our tags or somebody uses our names: both are for a person.
        Some(stranger) => {
            let words = format!("{} bears our name and not our tags", stranger.id);
            Err(refused(Class::Freeze, "ForeignMachine", words))
        }
        None => Ok((!machines.is_empty()).then_some(machines)),
    }
}

/// A machine that is not listed yet, as it will be.
fn new(id: &str, asked: &CreateRequest<'_>, slot: SlotId, now: Timestamp) -> Machine {
    let create = asked.create;
    Machine {
        id: MachineId::new(id),
        place: place(create.pool.place.region.as_str()),
        instance_type: create.pool.instance_type.clone(),
        market: Market::OnDemand,
        state: MachineState::Pending,
        launched_at: now,
        price: create.price,
        owner: Some(Ownership {
            fleet: asked.fleet.clone(),
            name: asked.name.clone(),
            slot,
            token: create.token.clone(),
            template: create.template,
        }),
        notice: None,
        cause: None,
    }
}

#[cfg(test)]
#[path = "launch_tests.rs"]
mod tests;
