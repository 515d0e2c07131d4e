//! A build that sends nothing. Messages wait in the outbox for one that does.

use super::message::Message;
use fleet_spec::NotifyRule;

#[derive(Debug, Clone)]
pub(super) struct Sender;

impl Sender {
    pub(super) fn new() -> Self {
        Sender
    }

    pub(super) async fn send(&self, _: &NotifyRule, _: &str, _: &Message) -> Result<(), String> {
        Err("this build sends no notifications: build `fleet` with the feature `notify`".into())
    }
}
