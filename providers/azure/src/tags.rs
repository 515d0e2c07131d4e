//! Ownership tags: set in the launch itself, read back from every list.
//!
//! A launch makes one machine, so its tags name its one slot.

use crate::names;
use crate::wire::Vm;
use fleet_model::{FleetName, FleetUid, Ownership, SlotId, Token};
use fleet_provider::{CreateRequest, RelabelRequest};
use std::collections::BTreeMap;

/// The fleet's identity.
pub(crate) const UID: &str = "fleet:uid";
/// The fleet's name, for people.
pub(crate) const NAME: &str = "fleet:name";
/// The slot.
const SLOT: &str = "fleet:slot";
/// The launch.
pub(crate) const TOKEN: &str = "fleet:token";
/// The template's fingerprint.
const TEMPLATE: &str = "fleet:template";

/// The longest value of a tag.
const LONGEST: usize = 256;

/// Every tag of a launch. The user's own come first, so that none of them can take the place of
/// ours. Azure does not tell cases apart in names of tags.
pub(crate) fn of(request: &CreateRequest<'_>, slot: SlotId) -> BTreeMap<String, String> {
    let mut tags = of_users(request.labels.iter().chain(&request.template.tags));
    let mut ours = |key: &str, value: String| tags.insert(key.to_owned(), value);
    ours(UID, request.fleet.to_string());
    ours(NAME, request.name.to_string());
    ours(SLOT, slot.to_string());
    ours(TOKEN, request.create.token.to_string());
    ours(TEMPLATE, request.create.template.to_string());
    tags
}

/// The user's own. What begins like ours is left out.
pub(crate) fn of_users<'a>(
    labels: impl Iterator<Item = (&'a String, &'a String)>,
) -> BTreeMap<String, String> {
    let mut tags: BTreeMap<String, String> = BTreeMap::new();
    for (key, value) in labels {
        let key = in_their_words(key);
        tags.retain(|other, _| !other.eq_ignore_ascii_case(&key));
        tags.insert(key, value.chars().take(LONGEST).collect());
    }
    tags.retain(|key, _| is_users(key));
    tags
}

fn is_users(key: &str) -> bool {
    !key.to_ascii_lowercase().starts_with("fleet:")
}

/// What a machine carries and should carry no more, of the user's own.
pub(crate) fn to_remove(vm: &Vm, request: &RelabelRequest<'_>) -> BTreeMap<String, String> {
    let set = of_users(request.set.iter());
    let asked: Vec<String> = request.remove.iter().map(|key| in_their_words(key)).collect();
    let goes = |key: &str| {
        let same = |other: &String| other.eq_ignore_ascii_case(key);
        is_users(key) && asked.iter().any(same) && !set.keys().any(same)
    };
    let tags = vm.tags.iter().filter(|(key, _)| goes(key));
    tags.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// What a machine carries of ours.
pub(crate) fn ours(vm: &Vm) -> BTreeMap<String, String> {
    let tags = vm.tags.iter().filter(|(key, _)| !is_users(key));
    tags.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// What a machine should carry and does not.
pub(crate) fn to_set(vm: &Vm, request: &RelabelRequest<'_>) -> BTreeMap<String, String> {
    let mut set = of_users(request.set.iter());
    set.retain(|key, value| self::value(&vm.tags, key) != Some(value.as_str()));
    set
}

/// A key of the user's without the characters that Azure refuses.
fn in_their_words(key: &str) -> String {
    key.chars().map(|c| if "<>%&\\?/".contains(c) { '-' } else { c }).collect()
}

/// A tag's value, whatever its name's case.
pub(crate) fn get<'a>(vm: &'a Vm, key: &str) -> Option<&'a str> {
    value(&vm.tags, key)
}

/// The same among some tags.
pub(crate) fn value<'a>(tags: &'a BTreeMap<String, String>, key: &str) -> Option<&'a str> {
    tags.iter().find(|(other, _)| other.eq_ignore_ascii_case(key)).map(|(_, value)| &**value)
}

/// Who owns a machine, as its tags say. `None` if they do not say it in full, or if its name, which
/// cannot be copied along with tags, is not that of the launch that they speak of.
pub(crate) fn owner(vm: &Vm) -> Option<Ownership> {
    let token = get(vm, TOKEN)?;
    if !vm.name.eq_ignore_ascii_case(&names::machine(token)) {
        return None;
    }
    Some(Ownership {
        fleet: FleetUid::new(get(vm, UID)?),
        name: FleetName::new(get(vm, NAME)?),
        slot: get(vm, SLOT)?.parse().ok()?,
        token: Token::new(token),
        template: get(vm, TEMPLATE)?.parse().ok()?,
    })
}
