//! What is told, and when the same thing is told again. Pure.

use super::conditions::Condition;
use fleet_model::{Timestamp, digest};
use fleet_spec::NotifyRule;
use serde::{Deserialize, Serialize};

/// A message as the outbox keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message {
    pub(super) policy: String,
    pub(super) rule: String,
    pub(super) event: String,
    pub(super) fleet: Option<String>,
    pub(super) at: Timestamp,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) next: Option<String>,
    pub(super) replica: String,
}

/// What a message is about: the same thing by the same rule has the same key.
pub(super) fn key(policy: &str, rule: &NotifyRule, condition: &Condition) -> String {
    let fleet = condition.fleet.as_ref().map_or("", |fleet| fleet.as_str());
    let parts = [policy, &rule.name, condition.event.as_str(), fleet, &condition.about];
    digest("fleet/notify/1", parts.map(str::as_bytes)).to_string()
}

/// Whether the same thing is told again.
pub(super) fn again(last: Option<&[u8]>, now: Timestamp, repeat_seconds: u32) -> bool {
    let last = last.and_then(|last| serde_json::from_slice::<Message>(last).ok());
    last.is_none_or(|last| now.duration_since(last.at).as_secs() >= i64::from(repeat_seconds))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::notify) fn message() -> Message {
        Message {
            policy: "p".into(),
            rule: "r".into(),
            event: "failed".into(),
            fleet: Some("a".into()),
            at: Timestamp::UNIX_EPOCH,
            title: "fleet a: <b>".into(),
            text: "x & y".into(),
            next: Some("do z".into()),
            replica: "one".into(),
        }
    }

    #[test]
    fn the_same_thing_is_told_once_until_it_is_time_again() {
        let last = serde_json::to_vec(&message()).expect("JSON");
        let at = |seconds| Timestamp::from_second(seconds).expect("a moment");
        assert!(again(None, at(0), 60));
        assert!(!again(Some(&last), at(59), 60));
        assert!(again(Some(&last), at(60), 60));
        assert!(again(Some(b"damaged"), at(0), 60));
    }
}
