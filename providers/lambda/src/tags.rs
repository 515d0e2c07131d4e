//! Ownership tags: set in the launch itself, read back from every list.
//!
//! A launch makes one machine, so its tags name its one slot. Lambda does not tell when a machine
//! was made; the tags say when we asked for it.

use crate::wire::{Instance, Tag};
use fleet_model::{FleetName, FleetUid, Ownership, SlotId, Timestamp, Token};
use fleet_provider::CreateRequest;
use std::collections::BTreeMap;

/// The fleet's identity.
pub(crate) const UID: &str = "fleet:uid";
/// The fleet's name, for people.
pub(crate) const NAME: &str = "fleet:name";
/// The slot.
pub(crate) const SLOT: &str = "fleet:slot";
/// The launch.
pub(crate) const TOKEN: &str = "fleet:token";
/// The template's fingerprint.
pub(crate) const TEMPLATE: &str = "fleet:template";
/// When the launch was asked for.
pub(crate) const LAUNCHED: &str = "fleet:launched";

/// The longest key and value that Lambda takes.
const LONGEST_KEY: usize = 55;
const LONGEST_VALUE: usize = 128;

/// Every tag of a launch. The user's own come first, so that none of them can take the place of
/// ours.
pub(crate) fn of(request: &CreateRequest<'_>, slot: SlotId, now: Timestamp) -> Vec<Tag> {
    let mut tags: BTreeMap<String, String> = BTreeMap::new();
    for (key, value) in request.labels.iter().chain(&request.template.tags) {
        if let Some(key) = in_their_words(key) {
            tags.insert(key, value.chars().take(LONGEST_VALUE).collect());
        }
    }
    tags.retain(|key, _| !key.starts_with("fleet:"));
    let mut ours = |key: &str, value: String| tags.insert(key.to_owned(), value);
    ours(UID, request.fleet.to_string());
    ours(NAME, request.name.to_string());
    ours(SLOT, slot.to_string());
    ours(TOKEN, request.create.token.to_string());
    ours(TEMPLATE, request.create.template.to_string());
    ours(LAUNCHED, now.to_string());
    tags.into_iter().map(|(key, value)| Tag { key, value }).collect()
}

/// A key of the user's in Lambda's alphabet: `Team.Name` is `team-name`. `None` if nothing is left.
fn in_their_words(key: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-:".contains(c);
    let key: String = key
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if allowed(c) { c } else { '-' })
        .skip_while(|c| !c.is_ascii_lowercase())
        .take(LONGEST_KEY)
        .collect();
    (key.len() > 1).then_some(key)
}

/// A tag's value.
pub(crate) fn get<'a>(instance: &'a Instance, key: &str) -> Option<&'a str> {
    instance.tags.iter().find(|tag| tag.key == key).map(|tag| tag.value.as_str())
}

/// When a machine was asked for, as its tags say.
pub(crate) fn launched(instance: &Instance) -> Option<Timestamp> {
    get(instance, LAUNCHED)?.parse().ok()
}

/// Who owns an instance, as its tags say. `None` if they do not say it in full, or if its name,
/// which cannot be copied along with tags, is not that of the launch that they speak of.
pub(crate) fn owner(instance: &Instance) -> Option<Ownership> {
    let token = get(instance, TOKEN)?;
    if instance.name.as_deref() != Some(token) {
        return None;
    }
    launched(instance)?;
    Some(Ownership {
        fleet: FleetUid::new(get(instance, UID)?),
        name: FleetName::new(get(instance, NAME)?),
        slot: get(instance, SLOT)?.parse().ok()?,
        token: Token::new(token),
        template: get(instance, TEMPLATE)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_lambdas_alphabet() {
        let check = |key: &str, expect: Option<&str>| {
            assert_eq!(in_their_words(key).as_deref(), expect, "{key}");
        };
        check("team", Some("team"));
        check("Team.Name", Some("team-name"));
        check("app.kubernetes.io/name", Some("app-kubernetes-io-name"));
        check("9-lives", Some("lives"));
        check("größe", Some("gr--e"));
        check("日本", None);
        check("x", None);
        check("", None);
        check(&"k".repeat(99), Some(&"k".repeat(55)));
    }
}
