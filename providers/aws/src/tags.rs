//! Ownership tags: set in the launch itself, read back from every list.
//!
//! One launch call tags all its machines alike, so the tags carry the slots of the whole call, and
//! a machine's own slot is the one at its launch index, a number that EC2 gives each machine of a
//! call and never changes. A second call that tags each machine would leave a moment, or after a
//! crash an age, in which machines are live and nobody's.

use aws_sdk_ec2::types::Instance;
use fleet_model::{Digest, FleetName, FleetUid, Ownership, SlotId, SlotName, Token};
use fleet_provider::CreateRequest;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::StrDeserializer;
use std::collections::BTreeMap;
use std::iter::once;

/// The fleet's identity. What lists are filtered by.
pub(crate) const UID: &str = "fleet:uid";
/// The fleet's name, for people.
pub(crate) const NAME: &str = "fleet:name";
/// The slots of the launch, in order of launch index.
pub(crate) const SLOTS: &str = "fleet:slots";
/// The launch's idempotency token.
pub(crate) const TOKEN: &str = "fleet:token";
/// The template's fingerprint.
pub(crate) const TEMPLATE: &str = "fleet:template";
/// What the console shows as the name.
const CONSOLE_NAME: &str = "Name";

/// The longest value of a tag.
const LONGEST: usize = 256;

/// Every tag of a launch. The user's own come first, so that none of them can take the place of
/// ours.
pub(crate) fn of(request: &CreateRequest<'_>) -> BTreeMap<String, String> {
    let mut tags = BTreeMap::from([(CONSOLE_NAME.to_owned(), request.name.to_string())]);
    tags.extend(request.labels.clone());
    tags.extend(request.template.tags.clone());
    tags.retain(|key, _| !key.starts_with("fleet:"));
    let mut ours = |key: &str, value: String| tags.insert(key.to_owned(), value);
    ours(UID, request.fleet.to_string());
    ours(NAME, request.name.to_string());
    ours(TOKEN, request.create.token.to_string());
    ours(TEMPLATE, request.create.template.to_string());
    for (n, part) in write_slots(&request.create.slots).into_iter().enumerate() {
        ours(&slots_key(n), part);
    }
    tags
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

/// Who owns an instance, as its tags say. `None` if they do not say it in full, or if the instance
/// was not made by the launch that its tags speak of: tags can be copied, tokens cannot.
pub(crate) fn owner(instance: &Instance) -> Option<Ownership> {
    let tags: BTreeMap<&str, &str> =
        instance.tags().iter().filter_map(|tag| Some((tag.key()?, tag.value()?))).collect();
    let token = *tags.get(TOKEN)?;
    if instance.client_token().is_some_and(|made_by| !made_by.is_empty() && made_by != token) {
        return None;
    }
    let index = u32::try_from(instance.ami_launch_index()?).ok()?;
    let more = (1..).map_while(|n| tags.get(slots_key(n).as_str()).copied());
    let words: Vec<&str> = once(*tags.get(SLOTS)?).chain(more).collect();
    Some(Ownership {
        fleet: FleetUid::new(*tags.get(UID)?),
        name: FleetName::new(*tags.get(NAME)?),
        slot: slot_at(&words.join(" "), index)?,
        token: Token::new(token),
        template: digest(tags.get(TEMPLATE)?)?,
    })
}

fn digest(text: &str) -> Option<Digest> {
    let text: StrDeserializer<'_, serde::de::value::Error> = text.into_deserializer();
    Digest::deserialize(text).ok()
}

#[cfg(test)]
#[path = "tags_tests.rs"]
mod tests;
