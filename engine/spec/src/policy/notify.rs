//! Who is told of what: notifications by webhook.

use super::Policy;
use crate::reader::{Field, Reader};
use crate::source::quote;
use crate::wire;
use crate::words::{NOTIFY_EVENTS, NOTIFY_FORMATS};
use fleet_model::Pattern;
use serde::Serialize;
use std::collections::BTreeSet;

/// The same thing is told again after this, in seconds, unless the rule says otherwise.
const REPEAT: u32 = 4 * 3600;

/// What somebody may want to be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotifyEvent {
    /// A look at a fleet failed.
    Failed,
    /// Something is held back and waits for a person or for a cloud.
    Held,
    /// Many machines are interrupted at once.
    Interruptions,
    /// A budget is used up, or the target does not fit into it.
    Budget,
    /// A rollout stopped.
    Rollout,
    /// The latest specs are not in force.
    SpecsRefused,
}

impl NotifyEvent {
    /// As specs and messages write it.
    pub fn as_str(self) -> &'static str {
        NOTIFY_EVENTS.iter().find(|(_, event)| *event == self).map_or("", |(word, _)| word)
    }
}

/// What a message looks like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotifyFormat {
    /// Fields for programs.
    #[default]
    Json,
    /// For Slack, and for what understands the same: Mattermost, Rocket.Chat, Discord's `/slack`.
    Slack,
}

/// Where a secret is, which no spec holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kept {
    /// In a variable of the environment.
    Env(String),
    /// In a file, which is read for each message.
    File(String),
    /// It is no secret: an address as the spec writes it.
    Plain(String),
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotifyRule {
    /// What it is called.
    pub name: String,
    /// Of what.
    pub events: BTreeSet<NotifyEvent>,
    /// Of which fleets; empty: all under the policy.
    pub fleets: Vec<Pattern>,
    /// Where messages go.
    pub url: Kept,
    /// What signs them.
    pub secret: Option<Kept>,
    /// What they look like.
    pub format: NotifyFormat,
    /// After how many seconds the same thing is told again.
    pub repeat_seconds: u32,
}

/// Reads the list. Each rule has a name of its own: what was told is remembered by it.
pub(super) fn read(reader: &mut Reader<'_>, field: &Field<'_>, policy: &mut Policy) {
    let mut names = BTreeSet::new();
    for item in field.items() {
        let Some(object) = reader.object(&item, wire::PolicyNotify::FIELDS) else { continue };
        let Some(at) = object.require(reader, "name") else { continue };
        if let Some(name) = reader.text(&at)
            && !names.insert(name.clone())
        {
            let message = format!("there are two rules `{}`", quote(&name));
            reader.error(&at, message, Some("give each a name of its own".into()));
        }
    }
    policy.notify = reader.list(field, rule);
}

fn rule(reader: &mut Reader<'_>, item: &Field<'_>) -> Option<NotifyRule> {
    let object = reader.object(item, wire::PolicyNotify::FIELDS)?;
    let name = object.get(reader, "name").and_then(|field| {
        let name = reader.text(&field)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let sound = !name.is_empty() && name.len() <= 63 && name.chars().all(plain);
        if !sound {
            let message = format!("`{}` cannot be the name of a rule", quote(&name));
            reader.error(&field, message, Some("letters, digits and hyphens, at most 63".into()));
        }
        sound.then_some(name)
    });
    let mut events: BTreeSet<NotifyEvent> = NOTIFY_EVENTS.iter().map(|(_, event)| *event).collect();
    if let Some(field) = object.get(reader, "events") {
        let list = reader.list(&field, |reader, item| reader.word(item, "event", NOTIFY_EVENTS));
        events = list.into_iter().collect();
    }
    let mut fleets = Vec::new();
    if let Some(field) = object.get(reader, "fleets") {
        fleets = reader.patterns(&field);
    }
    let plain = object.get(reader, "url").and_then(|field| url(reader, &field));
    let from = object.get(reader, "urlFrom").and_then(|field| kept(reader, &field));
    if object.field().entries().any(|(key, _)| key == "url")
        == object.field().entries().any(|(key, _)| key == "urlFrom")
    {
        let message = "a rule needs `url` or `urlFrom`, and not both".into();
        let hint = "`url: https://…`; `urlFrom: { env: NAME }` for an address that is a secret";
        reader.error(item, message, Some(hint.into()));
    }
    let secret = object.get(reader, "secretFrom").and_then(|field| kept(reader, &field));
    let format = object
        .get(reader, "format")
        .and_then(|field| reader.word(&field, "format", NOTIFY_FORMATS))
        .unwrap_or_default();
    let repeat = object.get(reader, "repeatEvery");
    let repeat = repeat.and_then(|field| reader.span(&field, 60..=30 * 86_400));
    Some(NotifyRule {
        name: name?,
        events,
        fleets,
        url: plain.or(from)?,
        secret,
        format,
        repeat_seconds: repeat.unwrap_or(REPEAT),
    })
}

fn url(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<Kept> {
    let text = reader.text(field)?;
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let sound = host.is_some_and(|host| {
        !host.is_empty() && !host.starts_with('/') && !text.contains(char::is_whitespace)
    });
    if !sound {
        let hint = "write an address such as https://hooks.example.org/fleet".into();
        reader.error(field, "this is no address of a webhook".into(), Some(hint));
    }
    if host.is_some_and(|host| host.split('/').next().is_some_and(|it| it.contains('@'))) {
        let hint = "keep it elsewhere: `urlFrom: { env: NAME }`".into();
        reader.error(field, "the address holds a password".into(), Some(hint));
    }
    sound.then_some(Kept::Plain(text))
}

fn kept(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<Kept> {
    let object = reader.object(field, wire::NotifySecret::FIELDS)?;
    let env = object.get(reader, "env").and_then(|field| reader.text(&field));
    let file = object.get(reader, "file").and_then(|field| reader.text(&field));
    match (env, file) {
        (Some(env), None) => Some(Kept::Env(env)),
        (None, Some(file)) => Some(Kept::File(file)),
        (None, None) | (Some(_), Some(_)) => {
            let hint = "write `{ env: NAME }` or `{ file: /run/secrets/… }`".into();
            reader.error(field, format!("`{}` names one place", field.name()), Some(hint));
            None
        }
    }
}
