//! Launching: look, launch one machine, look again.
//!
//! The name of a machine is the token of its launch. Before a launch everything is listed, so that
//! a launch that is asked for twice finds what the first one made; after a launch whose outcome is
//! not known it is listed once more, and what then is not there may still come: nobody sends again.

use crate::api::Api;
use crate::error::{Asked, LOOK_AGAIN, refused};
use crate::machines::{all, machine, place};
use crate::regional::{self, Rulesets, fitting, is_image_id};
use crate::tags;
use crate::wire::{Image, Instance, Launch, Launched, Ruleset};
use fleet_model::{
    Cloud, Machine, MachineId, MachineState, Market, Ownership, SETTLE_WINDOW, SlotId, Timestamp,
    Token, Zone,
};
use fleet_provider::{Class, Clock, CreateRequest, Created, Error, Reach};
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest name that Lambda takes.
const LONGEST_NAME: usize = 64;

/// A launch that waited here for longer is handed back instead of sent.
///
/// The engine keeps the account's rate, and waits for its turn before it writes an intent down: the
/// time after which absence proves that nothing was made counts from that record. What waits here
/// waits after it. Normally that is a second, for the look before; behind a launch that is being
/// settled, or many questions, it may be minutes. Handed back, the launch is written down anew.
const LONGEST_HOLD: Duration = Duration::from_secs(30);

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
pub(crate) fn request(
    asked: &CreateRequest<'_>,
    slot: SlotId,
    rulesets: Vec<String>,
    now: Timestamp,
) -> Launch {
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
        firewall_rulesets: rulesets.into_iter().map(|id| Ruleset { id }).collect(),
    }
}

fn image(text: &str) -> Image {
    if is_image_id(text) { Image::Id(text.to_owned()) } else { Image::Family(text.to_owned()) }
}

/// What launches of this run need to know of each other.
#[derive(Default)]
pub(crate) struct Sent {
    /// Launches that lists may not show yet.
    lately: BTreeMap<Token, (Timestamp, Vec<Machine>)>,
    /// The account's rulesets, as last seen.
    rulesets: Rulesets,
}

impl Sent {
    /// What a launch of this run made, as far as it is known; `None` if it was not sent, or so long
    /// ago that lists tell.
    fn lately(&self, token: &Token, now: Timestamp) -> Option<&[Machine]> {
        let (at, machines) = self.lately.get(token)?;
        (now.duration_since(*at).unsigned_abs() < SETTLE_WINDOW).then_some(machines)
    }

    /// The rulesets that a launch takes. Asked for if they are not all known.
    async fn rulesets(
        &mut self,
        api: &Api,
        asked: &CreateRequest<'_>,
    ) -> Result<Vec<String>, Error> {
        let wanted = &asked.template.security_groups;
        if !wanted.iter().all(|id| self.rulesets.contains_key(id)) {
            self.rulesets = regional::rulesets(api).await?;
        }
        fitting(asked.create.pool.place.region.as_str(), wanted, &self.rulesets)
            .map_err(|why| refused(Class::Invalid, "NoSuchRuleset", why).reaching(Reach::Region))
    }
}

/// Launches, or finds what an earlier launch with the same token made.
pub(crate) async fn launch(
    api: &Api,
    clock: &dyn Clock,
    sent: &mut Sent,
    asked: &CreateRequest<'_>,
    slot: SlotId,
    entered: Duration,
) -> Result<Created, Error> {
    let token = &asked.create.token;
    loop {
        if let Some(machines) = made_before(&all(api).await?, asked, clock.now())? {
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
    let rulesets = sent.rulesets(api, asked).await?;
    api.turn_to_launch().await;
    if clock.steady().saturating_sub(entered) > LONGEST_HOLD {
        let words = "the launch waited too long for its turn, and was not sent";
        return Err(refused(Class::Retry { after: None }, "HeldTooLong", words));
    }
    let now = clock.now();
    sent.lately.retain(|_, (at, _)| now.duration_since(*at).unsigned_abs() < SETTLE_WINDOW);
    sent.lately.insert(token.clone(), (now, Vec::new()));
    let created = send(api, asked, slot, rulesets, now).await;
    match &created {
        Ok(made) => {
            sent.lately.insert(token.clone(), (now, made.machines.clone()));
        }
        Err(error) if error.class == Class::Unknown => {}
        Err(_) => {
            sent.lately.remove(token);
        }
    }
    created
}

/// Sends a launch, and looks for what it made.
async fn send(
    api: &Api,
    asked: &CreateRequest<'_>,
    slot: SlotId,
    rulesets: Vec<String>,
    now: Timestamp,
) -> Result<Created, Error> {
    let body = request(asked, slot, rulesets, now);
    let answer = api.post::<Launched>(Asked::Launch, "instance-operations/launch", &body).await;
    let ids = match answer {
        Ok(launched) if launched.instance_ids.is_empty() => {
            let words = "the answer to a launch names no machine";
            return Err(refused(Class::Unknown, "UnreadableAnswer", words));
        }
        Ok(launched) => launched.instance_ids,
        Err(error) if matches!(error.class, Class::Unknown | Class::Refused { .. }) => {
            // It may be there already, which would settle it. If it is not, that proves nothing of
            // a silence, and a refusal for an unknown reason stands.
            let seen = all(api).await.ok();
            let found = seen.and_then(|seen| made_before(&seen, asked, now).ok()?);
            let machines = found.ok_or(error)?;
            return Ok(Created { machines, shortfall: None, refusals: Vec::new() });
        }
        Err(error) => return Err(error),
    };
    // A list that does not come changes nothing about what was made.
    let seen = all(api).await.unwrap_or_default();
    let machines = ids.iter().map(|id| {
        let listed = seen.iter().find(|instance| instance.id == *id);
        let listed = listed.map(|instance| machine(instance, now));
        listed.unwrap_or_else(|| new(id, asked, slot, now))
    });
    Ok(Created { machines: machines.collect(), shortfall: None, refusals: Vec::new() })
}

/// What a launch with this token made, by name and tags. `None`: nothing that is listed.
fn made_before(
    seen: &[Instance],
    asked: &CreateRequest<'_>,
    now: Timestamp,
) -> Result<Option<Vec<Machine>>, Error> {
    let token = asked.create.token.as_str();
    let named = |instance: &&Instance| {
        instance.name.as_deref() == Some(token) || tags::get(instance, tags::TOKEN) == Some(token)
    };
    let machines: Vec<Machine> = seen.iter().filter(named).map(|one| machine(one, now)).collect();
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
        access: Default::default(),
    }
}

#[cfg(test)]
#[path = "launch_tests.rs"]
mod tests;
