//! Ownership tags: set in the launch itself, read back from every list.
//!
//! One launch call tags all its machines alike, so the tags carry the slots of the whole call, and
//! a machine's own slot is the one at its launch index, a number that EC2 gives each machine of a
//! call and never changes. A second call that tags each machine would leave a moment, or after a
//! crash an age, in which machines are live and nobody's.
//!
//! `CreateFleet` numbers its machines in no way that is written down. They carry the slots of the
//! call as well, and each is tagged with its own right after the answer. Until then, or if nobody
//! lived to do it, those without take the slots that are left, in order of their ids.

use aws_sdk_ec2::types::{Instance, Tag};
use fleet_model::{FleetName, FleetUid, Labels, Ownership, SlotId, SlotName, Token};
use fleet_provider::CreateRequest;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;

/// The fleet's identity. What lists are filtered by.
pub(crate) const UID: &str = "fleet:uid";
/// The fleet's name, for people.
pub(crate) const NAME: &str = "fleet:name";
/// The slots of the launch, in order of launch index.
pub(crate) const SLOTS: &str = "fleet:slots";
/// What made the machine, if not `RunInstances`.
pub(crate) const BY: &str = "fleet:by";
/// The value of [`BY`] for `CreateFleet`.
const BY_FLEET: &str = "fleet";
/// The value of [`BY`] for machines that somebody else launched and that a fleet took in.
const BY_IMPORT: &str = "import";
/// The machine's own slot, if it was made by `CreateFleet` or taken in.
pub(crate) const SLOT: &str = "fleet:slot";
/// The launch's idempotency token.
pub(crate) const TOKEN: &str = "fleet:token";
/// The template's fingerprint.
pub(crate) const TEMPLATE: &str = "fleet:template";
/// How all of ours begin.
const OURS: &str = "fleet:";
/// What the console shows as the name.
pub(crate) const CONSOLE_NAME: &str = "Name";

/// The longest value of a tag.
const LONGEST: usize = 256;

/// Every tag of a launch. The user's own come first, so that none of them can take the place of
/// ours.
pub(crate) fn of(request: &CreateRequest<'_>) -> BTreeMap<String, String> {
    let mut tags = of_users(request.name, request.labels.iter().chain(&request.template.tags));
    let mut ours = |key: &str, value: String| tags.insert(key.to_owned(), value);
    ours(UID, request.fleet.to_string());
    ours(NAME, request.name.to_string());
    ours(TOKEN, request.create.token.to_string());
    ours(TEMPLATE, request.create.template.to_string());
    if !request.create.others.is_empty() {
        ours(BY, BY_FLEET.to_owned());
    }
    for (n, part) in write_slots(&request.create.slots).into_iter().enumerate() {
        ours(&slots_key(n), part);
    }
    tags
}

/// Every tag of a machine that is taken in. It is found by its own slot: no launch of ours made it, so its launch
/// index and its token say nothing. The name that the console shows stays.
pub(crate) fn of_import(owner: &Ownership, labels: &Labels) -> BTreeMap<String, String> {
    let mut tags = labels.clone();
    tags.retain(|key, _| is_users(key));
    let mut ours = |key: &str, value: String| tags.insert(key.to_owned(), value);
    ours(UID, owner.fleet.to_string());
    ours(NAME, owner.name.to_string());
    ours(TOKEN, owner.token.to_string());
    ours(TEMPLATE, owner.template.to_string());
    ours(BY, BY_IMPORT.to_owned());
    ours(SLOTS, owner.slot.to_string());
    ours(SLOT, owner.slot.to_string());
    tags
}

/// The user's own, and a name for the console if they give none. What begins like ours is left out.
pub(crate) fn of_users<'a>(
    fleet: &FleetName,
    labels: impl Iterator<Item = (&'a String, &'a String)>,
) -> BTreeMap<String, String> {
    let mut tags = BTreeMap::from([(CONSOLE_NAME.to_owned(), fleet.to_string())]);
    tags.extend(labels.map(|(key, value)| (key.clone(), value.clone())));
    tags.retain(|key, _| is_users(key));
    tags
}

/// Whether a tag is the user's own.
pub(crate) fn is_users(key: &str) -> bool {
    !key.starts_with(OURS)
}

/// Whether a tag is the same on everything that a fleet makes from one template.
pub(crate) fn is_of_every_launch(key: &str) -> bool {
    is_users(key) || [UID, NAME, TEMPLATE].contains(&key)
}

/// Tags of what machines are made from.
pub(crate) fn of_template(request: &CreateRequest<'_>) -> BTreeMap<String, String> {
    BTreeMap::from([
        (UID.to_owned(), request.fleet.to_string()),
        (NAME.to_owned(), request.name.to_string()),
        (TEMPLATE.to_owned(), request.create.template.to_string()),
    ])
}

/// `fleet:slots`, `fleet:slots.1`, …: a list that is too long for one value goes on in the next.
fn slots_key(n: usize) -> String {
    if n == 0 { SLOTS.to_owned() } else { format!("{SLOTS}.{n}") }
}

/// Slots as words, `burst-17.1/24` for 24 of them in a row, in values that fit a tag. No character
/// is used that another service might refuse in a tag.
fn write_slots(slots: &[SlotId]) -> Vec<String> {
    let mut runs: Vec<(SlotId, u32)> = Vec::new();
    for slot in slots {
        match runs.last_mut() {
            Some((first, count)) if nth(*first, *count) == Some(*slot) => *count += 1,
            _ => runs.push((*slot, 1)),
        }
    }
    let mut parts: Vec<String> = Vec::new();
    for (first, count) in runs {
        let word = if count == 1 { first.to_string() } else { format!("{first}/{count}") };
        match parts.last_mut() {
            Some(part) if part.len() + 1 + word.len() <= LONGEST => {
                part.push(' ');
                part.push_str(&word);
            }
            _ => parts.push(word),
        }
    }
    parts
}

/// The slot `n` after another.
fn nth(first: SlotId, n: u32) -> Option<SlotId> {
    let ordinal = first.name.ordinal.checked_add(n)?;
    Some(SlotId { name: SlotName { ordinal, ..first.name }, ..first })
}

/// The slot at a place in a list, without writing the list out: its lengths are whatever a tag
/// says.
fn slot_at(words: &str, mut index: u32) -> Option<SlotId> {
    for word in words.split(' ') {
        let (first, count) = match word.split_once('/') {
            Some((first, count)) => (first, count.parse().ok()?),
            None => (word, 1),
        };
        let first: SlotId = first.parse().ok()?;
        if index < count {
            return nth(first, index);
        }
        index -= count;
    }
    None
}

/// Whether a slot is in a list.
fn lists(words: &str, slot: SlotId) -> bool {
    words.split(' ').any(|word| {
        let (first, count) = word.split_once('/').unwrap_or((word, "1"));
        let (Ok(first), Ok(count)) = (first.parse::<SlotId>(), count.parse::<u32>()) else {
            return false;
        };
        let steps = slot.name.ordinal.checked_sub(first.name.ordinal);
        steps.is_some_and(|steps| steps < count && nth(first, steps) == Some(slot))
    })
}

/// What the tags of an instance say, apart from which of the launch's slots it fills.
struct Claim<'a> {
    tags: BTreeMap<&'a str, &'a str>,
    token: &'a str,
    /// The slots of the launch.
    words: String,
    by_fleet: bool,
}

impl<'a> Claim<'a> {
    fn read(instance: &'a Instance) -> Option<Self> {
        let pair = |tag: &'a Tag| Some((tag.key()?, tag.value()?));
        let tags: BTreeMap<&str, &str> = instance.tags().iter().filter_map(pair).collect();
        let token = *tags.get(TOKEN)?;
        let by_fleet = tags.get(BY).is_some_and(|by| [BY_FLEET, BY_IMPORT].contains(by));
        let more = (1..).map_while(|n| tags.get(slots_key(n).as_str()).copied());
        let words: Vec<&str> = once(*tags.get(SLOTS)?).chain(more).collect();
        let words = words.join(" ");
        Some(Claim { tags, token, words, by_fleet })
    }

    /// The slot that an instance says it fills: at its launch index, or in a tag of its own.
    fn slot(&self, instance: &Instance) -> Option<SlotId> {
        if self.by_fleet {
            let slot = self.tags.get(SLOT)?.parse().ok()?;
            return lists(&self.words, slot).then_some(slot);
        }
        // Tags can be copied, tokens cannot.
        let made_by = instance.client_token().filter(|made_by| !made_by.is_empty());
        if made_by.is_some_and(|made_by| made_by != self.token) {
            return None;
        }
        slot_at(&self.words, u32::try_from(instance.ami_launch_index()?).ok()?)
    }

    fn owner(&self, slot: SlotId) -> Option<Ownership> {
        Some(Ownership {
            fleet: FleetUid::new(*self.tags.get(UID)?),
            name: FleetName::new(*self.tags.get(NAME)?),
            slot,
            token: Token::new(self.token),
            template: self.tags.get(TEMPLATE)?.parse().ok()?,
        })
    }
}

/// Who owns an instance, as its tags say. `None` if they do not say it in full, or if the instance
/// was not made by the launch that its tags speak of.
pub(crate) fn owner(instance: &Instance) -> Option<Ownership> {
    let claim = Claim::read(instance)?;
    claim.owner(claim.slot(instance)?)
}

/// Machines without a slot of their own, by id: their place in a list and what their tags say.
type Unnumbered<'a> = BTreeMap<&'a str, (usize, Claim<'a>)>;

/// Who owns each of some instances. Of a `CreateFleet`, either all machines are among them or those
/// that are must all have tags of their own.
pub(crate) fn owners(instances: &[Instance]) -> Vec<Option<Ownership>> {
    let mut owners: Vec<Option<Ownership>> = instances.iter().map(owner).collect();
    // By fleet and token, in order of id.
    let mut waiting: BTreeMap<(&str, &str), Unnumbered<'_>> = BTreeMap::new();
    for (at, instance) in instances.iter().enumerate() {
        if !is_unnumbered(instance) {
            continue;
        }
        let (Some(claim), Some(id)) = (Claim::read(instance), instance.instance_id()) else {
            continue;
        };
        let fleet = claim.tags.get(UID).copied().unwrap_or_default();
        waiting.entry((fleet, claim.token)).or_default().insert(id, (at, claim));
    }
    for ((fleet, token), machines) in waiting {
        let same =
            |owner: &&Ownership| owner.fleet.as_str() == fleet && owner.token.as_str() == token;
        let taken: BTreeSet<SlotId> =
            owners.iter().flatten().filter(same).map(|owner| owner.slot).collect();
        let Some((_, first)) = machines.values().next() else { continue };
        let words = first.words.clone();
        let slots = (0..).map_while(|n| slot_at(&words, n)).filter(|slot| !taken.contains(slot));
        for (slot, (at, claim)) in slots.zip(machines.into_values()) {
            owners[at] = claim.owner(slot);
        }
    }
    owners
}

/// Whether an instance was made by `CreateFleet` and has no slot of its own yet.
pub(crate) fn is_unnumbered(instance: &Instance) -> bool {
    Claim::read(instance).is_some_and(|claim| claim.by_fleet && !claim.tags.contains_key(SLOT))
}

/// The token of the launch that made an instance, as its tags say.
pub(crate) fn token(instance: &Instance) -> Option<&str> {
    instance.tags().iter().find(|tag| tag.key() == Some(TOKEN)).and_then(Tag::value)
}

#[cfg(test)]
#[path = "tags_tests.rs"]
mod tests;
