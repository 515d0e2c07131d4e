//! Ownership labels: set in the launch itself, read back from every list.
//!
//! One launch labels all its machines alike, so the labels carry the slots of the whole launch,
//! and a machine's own slot is the one at the place that its name tells. Labels hold lower case,
//! digits, `-` and `_`, 63 at most: other characters are written as `_` and two hex digits, and
//! what is too long goes on in the next label.

use crate::name;
use fleet_model::{FleetName, FleetUid, Ownership, SlotId, SlotName, Token};
use fleet_provider::{CreateRequest, RelabelRequest};
use std::collections::{BTreeMap, HashMap};
use std::iter::once;

/// The fleet's identity. What lists are filtered by.
pub(crate) const UID: &str = "fleet-uid";
/// The fleet's name, for people.
pub(crate) const NAME: &str = "fleet-name";
/// The slots of the launch, in order.
pub(crate) const SLOTS: &str = "fleet-slots";
/// The launch's idempotency token.
pub(crate) const TOKEN: &str = "fleet-token";
/// The template's fingerprint.
pub(crate) const TEMPLATE: &str = "fleet-template";
/// How all of ours begin.
const OURS: &str = "fleet-";

/// The longest key and the longest value.
const LONGEST: usize = 63;

/// As many as a machine may have.
pub(crate) const MOST: usize = 64;

/// Every label of a launch. The user's own come first, so that none of them can take the place of
/// ours.
pub(crate) fn of(request: &CreateRequest<'_>) -> BTreeMap<String, String> {
    let mut labels = of_users(request.labels.iter().chain(&request.template.tags));
    put(&mut labels, UID, &escape(request.fleet.as_str()));
    put(&mut labels, NAME, &escape(request.name.as_str()));
    put(&mut labels, TOKEN, &escape(request.create.token.as_str()));
    put(&mut labels, TEMPLATE, &request.create.template.to_string());
    put(&mut labels, SLOTS, &write_slots(&request.create.slots));
    labels
}

/// The user's own. What begins like ours is left out.
fn of_users<'a>(
    labels: impl Iterator<Item = (&'a String, &'a String)>,
) -> BTreeMap<String, String> {
    let mut labels: BTreeMap<String, String> =
        labels.map(|(key, value)| (plain_key(key), plain(value))).collect();
    labels.retain(|key, _| !key.starts_with(OURS));
    labels
}

/// The labels of a machine after a change. Ours stay, and so do those that others put there.
pub(crate) fn changed(
    now: &HashMap<String, String>,
    request: &RelabelRequest<'_>,
) -> HashMap<String, String> {
    let mut labels = now.clone();
    let remove: Vec<String> = request.remove.iter().map(|key| plain_key(key)).collect();
    labels.retain(|key, _| key.starts_with(OURS) || !remove.contains(key));
    labels.extend(of_users(request.set.iter()));
    labels
}

/// The labels of a machine without ours.
pub(crate) fn without_ours(now: &HashMap<String, String>) -> HashMap<String, String> {
    let ours = [UID, NAME, SLOTS, TOKEN, TEMPLATE];
    let mut labels = now.clone();
    labels.retain(|key, _| !ours.iter().any(|of| is_of(key, of, now.len())));
    labels
}

/// Whether a key holds a part of what is written under another. There are no more parts than labels.
fn is_of(key: &str, of: &str, labels: usize) -> bool {
    (0..labels).any(|n| nth_key(of, n) == key)
}

/// The labels of a machine whose fleet has another name.
pub(crate) fn renamed(now: &HashMap<String, String>, name: &FleetName) -> HashMap<String, String> {
    let mut labels = now.clone();
    labels.retain(|key, _| !is_of(key, NAME, now.len()));
    let mut told = BTreeMap::new();
    put(&mut told, NAME, &escape(name.as_str()));
    labels.extend(told);
    labels
}

/// The fleet that labels tell of, whatever the machine is called.
pub(crate) fn uid(labels: &HashMap<String, String>) -> Option<FleetUid> {
    Some(FleetUid::new(unescape(&get(labels, UID)?)?))
}

/// The filter that finds the machines of one launch, and perhaps others.
pub(crate) fn filter(token: &Token) -> String {
    let text = escape(token.as_str());
    format!("labels.{TOKEN}={}", text.get(..LONGEST).unwrap_or(&text))
}

/// A user's text as Google takes it. For people: it is not read back.
fn plain(text: &str) -> String {
    let mut plain: String = text.chars().map(plain_char).collect();
    plain.truncate(LONGEST);
    plain
}

fn plain_key(text: &str) -> String {
    let key = plain(text);
    if key.starts_with(|c: char| c.is_ascii_lowercase()) {
        return key;
    }
    plain(&format!("x{key}"))
}

fn plain_char(c: char) -> char {
    match c {
        'a'..='z' | '0'..='9' | '-' | '_' => c,
        'A'..='Z' => c.to_ascii_lowercase(),
        _ => '-',
    }
}

/// A text in the characters of a label, so that it can be read back.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => safe.push(char::from(byte)),
            _ => safe.push_str(&format!("_{byte:02x}")),
        }
    }
    safe
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        if byte == b'_' {
            let hex = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(hex, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(byte);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

/// `fleet-slots`, `fleet-slots-1`, …
fn nth_key(key: &str, n: usize) -> String {
    if n == 0 { key.to_owned() } else { format!("{key}-{n}") }
}

/// Writes a text of ASCII under a key and, as far as it does not fit, under the next ones.
fn put(labels: &mut BTreeMap<String, String>, key: &str, text: &str) {
    let bytes = text.as_bytes();
    let parts = bytes.chunks(LONGEST).map(|part| String::from_utf8_lossy(part).into_owned());
    labels.extend(parts.enumerate().map(|(n, part)| (nth_key(key, n), part)));
}

fn get(labels: &HashMap<String, String>, key: &str) -> Option<String> {
    let more = (1..).map_while(|n| labels.get(&nth_key(key, n)));
    Some(once(labels.get(key)?).chain(more).map(String::as_str).collect())
}

/// Slots as words: `burst-17_1x24_base-3_2` for 24 in a row, and one more.
fn write_slots(slots: &[SlotId]) -> String {
    let mut runs: Vec<(SlotId, u32)> = Vec::new();
    for slot in slots {
        match runs.last_mut() {
            Some((first, count)) if nth(*first, *count) == Some(*slot) => *count += 1,
            _ => runs.push((*slot, 1)),
        }
    }
    let word = |(first, count): (SlotId, u32)| {
        let SlotId { name, generation } = first;
        match count {
            1 => format!("{name}_{generation}"),
            _ => format!("{name}_{generation}x{count}"),
        }
    };
    runs.into_iter().map(word).collect::<Vec<_>>().join("_")
}

/// The slot `n` after another.
fn nth(first: SlotId, n: u32) -> Option<SlotId> {
    let ordinal = first.name.ordinal.checked_add(n)?;
    Some(SlotId { name: SlotName { ordinal, ..first.name }, ..first })
}

/// The slot at a place in a list, without writing the list out: its lengths are whatever a label
/// says.
fn slot_at(words: &str, index: usize) -> Option<SlotId> {
    let mut index = u32::try_from(index).ok()?;
    let mut words = words.split('_');
    while let Some(name) = words.next() {
        let generation = words.next()?;
        let (generation, count) = match generation.split_once('x') {
            Some((generation, count)) => (generation, count.parse().ok()?),
            None => (generation, 1),
        };
        let first = SlotId { name: name.parse().ok()?, generation: generation.parse().ok()? };
        if index < count {
            return nth(first, index);
        }
        index -= count;
    }
    None
}

/// Who owns a machine, as its labels and its name say. `None` if they do not say it in full, or if
/// the name is not one that the launch in the labels would give: labels can be copied, and "create
/// similar" does it; the name is then another.
pub(crate) fn owner(machine: &str, labels: &HashMap<String, String>) -> Option<Ownership> {
    let fleet = FleetUid::new(unescape(&get(labels, UID)?)?);
    let token = Token::new(unescape(&get(labels, TOKEN)?)?);
    let (mark, index) = name::read(machine)?;
    if mark != name::mark(&fleet, &token) {
        return None;
    }
    Some(Ownership {
        slot: slot_at(&get(labels, SLOTS)?, index)?,
        name: FleetName::new(unescape(&get(labels, NAME)?)?),
        template: get(labels, TEMPLATE)?.parse().ok()?,
        fleet,
        token,
    })
}

#[cfg(test)]
#[path = "labels_tests.rs"]
mod tests;
