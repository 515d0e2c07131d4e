//! Machines that somebody else launched, as they would be part of a fleet.
//!
//! Which slots they fill is decided here. Whether they may stay is the planner's to say: the inputs as they
//! will be are part of the answer, and a plan that would destroy what was just taken in must not be made
//! possible.

use crate::holdings::template_digests;
use crate::offers::{find_offering, weight};
use crate::plan::steps::free_slots;
use crate::record::{fold, labels_meant, labels_version, template_meant};
use fleet_model::{
    AccountKey, Cloud, Event, Group, Inputs, Machine, MachineState, Market, NewMachine, NoticeKind,
    Ownership, Rejection, Scope, SlotId, SlotState, Token, digest,
};
use std::collections::{BTreeMap, BTreeSet};

/// A machine that is taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adoptee {
    /// As the journal keeps it.
    pub machine: NewMachine,
    /// Where it stands.
    pub scope: Scope,
    /// What its tags are to say.
    pub owner: Ownership,
}

/// Machines that are taken in.
#[derive(Debug, Clone)]
pub struct Adoption {
    /// The machines, in the order of their slots.
    pub machines: Vec<Adoptee>,
    /// What is written down before their tags are.
    pub events: Vec<Event>,
    /// What a plan is made from once it is done.
    pub inputs: Inputs,
}

/// Why a machine cannot be taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// It is not up.
    State(MachineState),
    /// Its cloud takes it back.
    Interrupted,
    /// The spec does not allow it.
    Rejected(Rejection),
    /// The catalog does not know its type, so nobody knows what it counts for.
    UnknownType,
}

/// Why a machine cannot be taken in; `None` if it can. Pools that are not on offer have to be among those
/// that are held.
pub fn unfit(inputs: &Inputs, machine: &Machine) -> Option<Unfit> {
    match machine.state {
        MachineState::Pending | MachineState::Running => {}
        MachineState::Failed
        | MachineState::Stopped
        | MachineState::Stopping
        | MachineState::Terminated => return Some(Unfit::State(machine.state)),
    }
    if machine.notice.is_some_and(|notice| notice.kind == NoticeKind::Interruption) {
        return Some(Unfit::Interrupted);
    }
    let pool = machine.pool();
    let kind = match find_offering(inputs, &pool) {
        Some(offering) => Some(offering.kind.clone()),
        None => {
            let held = inputs.held_pools.get(&pool).cloned().unwrap_or_default();
            if let Some(rejection) = held.rejection {
                return Some(Unfit::Rejected(rejection));
            }
            held.kind
        }
    };
    let known = kind.and_then(|kind| weight(&inputs.desired, &kind));
    known.is_none().then_some(Unfit::UnknownType)
}

/// Takes machines in. Those that the journal knows already keep their slots: a run before this one did not
/// live to write their tags.
pub fn adopt(inputs: &Inputs, found: &[Machine]) -> Adoption {
    let templates = template_digests(&inputs.desired);
    let mut sorted: Vec<&Machine> = found.iter().collect();
    sorted.sort_by(|a, b| (a.launched_at, &a.id).cmp(&(b.launched_at, &b.id)));
    let mut free: BTreeMap<Group, _> =
        Group::ALL.into_iter().map(|group| (group, free_slots(inputs, &[], &[], group))).collect();
    let (mut machines, mut new): (Vec<Adoptee>, BTreeMap<Cloud, Vec<NewMachine>>) =
        (Vec::new(), BTreeMap::new());
    for machine in sorted {
        let (cloud, pool) = (machine.place.cloud, machine.pool());
        let known = inputs.recorded.slots.iter().find_map(|(&name, record)| match &record.state {
            SlotState::Filled { machine: id, template, .. } if *id == machine.id => {
                Some((SlotId { name, generation: record.generation }, *template))
            }
            SlotState::Filled { .. } | SlotState::InDoubt { .. } | SlotState::Vacant => None,
        });
        let group = match machine.market {
            Market::OnDemand | Market::Reserved => Group::Base,
            Market::Spot => Group::Burst,
        };
        let mut next = || free.get_mut(&group).and_then(Iterator::next).map(|(slot, _)| slot);
        let Some((slot, template)) = known.or_else(|| Some((next()?, *templates.get(&cloud)?)))
        else {
            continue;
        };
        let price = find_offering(inputs, &pool).and_then(|offering| offering.price);
        let taken = NewMachine {
            slot,
            machine: machine.id.clone(),
            launched_at: machine.launched_at,
            price: machine.price.or(price),
            pool: Some(pool),
        };
        let parts = [inputs.uid.to_string(), machine.id.to_string(), slot.to_string()];
        let token = digest("adopt/1", parts.iter().map(String::as_bytes));
        let owner = Ownership {
            fleet: inputs.uid.clone(),
            name: inputs.desired.fleet.clone(),
            slot,
            token: Token::new(format!("fleet-{token}")),
            template,
        };
        if known.is_none() {
            new.entry(cloud).or_default().push(taken.clone());
        }
        machines.push(Adoptee { machine: taken, scope: machine.place.scope(), owner });
    }
    drop(free);
    machines.sort_by_key(|one| one.machine.slot);
    let events = events(inputs, new);
    let mut after = inputs.clone();
    events.iter().for_each(|event| fold(&mut after.recorded, event, inputs.now));
    for machine in found {
        let taken = machines.iter().find(|one| one.machine.machine == machine.id);
        let owner = taken.map(|one| one.owner.clone());
        let machine = Machine { owner, ..machine.clone() };
        after.observed.machines.insert(machine.id.clone(), machine);
    }
    Adoption { machines, events, inputs: after }
}

/// What is written down before tags are: everything that a first launch would have written, and who is taken
/// in.
fn events(inputs: &Inputs, new: BTreeMap<Cloud, Vec<NewMachine>>) -> Vec<Event> {
    let mut events = Vec::new();
    if new.is_empty() {
        return events;
    }
    if inputs.recorded.uid.is_none() {
        let (fleet, uid) = (inputs.desired.fleet.clone(), inputs.uid.clone());
        events.push(Event::Opened { fleet, uid });
    }
    let pools = new.values().flatten().filter_map(|one| one.pool.as_ref());
    let keys: BTreeSet<AccountKey> =
        pools.map(|pool| AccountKey::of(&pool.place.scope())).collect();
    for key in keys.into_iter().filter(|key| !inputs.recorded.accounts.contains_key(key)) {
        if let Some(account) = inputs.observed.accounts.get(&key).cloned() {
            events.push(Event::AccountSeen { key, account });
        }
    }
    events.extend(labels_meant(inputs));
    for (cloud, machines) in new {
        let made_from = inputs.desired.templates.get(&cloud).cloned().unwrap_or_default();
        let template = made_from.digest();
        if !inputs.recorded.templates.contains_key(&template) {
            events.push(template_meant(cloud, made_from));
        }
        let labels = labels_version(inputs, cloud);
        events.push(Event::Adopted { machines, template, labels });
    }
    events
}
