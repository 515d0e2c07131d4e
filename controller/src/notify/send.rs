//! One request to a webhook.

use super::message::Message;
use super::request::{body, signature};
use fleet_model::Timestamp;
use fleet_spec::{Kept, NotifyRule};
use std::time::Duration;

/// A receiver that takes longer is asked again later.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends messages. Redirects are not followed: a message goes where the rule says, or nowhere.
#[derive(Debug, Clone)]
pub(super) struct Sender(Option<reqwest::Client>);

impl Sender {
    pub(super) fn new() -> Self {
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(PATIENCE)
            .user_agent(concat!("fleet/", env!("CARGO_PKG_VERSION")))
            .build();
        Sender(client.ok())
    }

    /// Sends once. Whatever is no "taken" is an error, in words without secrets.
    pub(super) async fn send(
        &self,
        rule: &NotifyRule,
        id: &str,
        message: &Message,
    ) -> Result<(), String> {
        let client = self.0.as_ref().ok_or("this machine has no way to send requests")?;
        let url = read(&rule.url)?;
        let body = body(id, message, rule.format);
        let mut request = client
            .post(url)
            .header("content-type", "application/json")
            .header("fleet-notification-id", id);
        if let Some(secret) = &rule.secret {
            let now = Timestamp::now().as_second();
            let signature = signature(read(secret)?.as_bytes(), now, &body);
            request = request.header("fleet-signature", signature);
        }
        // The address may be a secret, and errors repeat it.
        let answer = request.body(body).send().await.map_err(|error| reason(&error))?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            status => Err(format!("the receiver answered {}", status.as_u16())),
        }
    }
}

fn reason(error: &reqwest::Error) -> String {
    let what = match () {
        () if error.is_timeout() => "no answer in ten seconds",
        () if error.is_connect() => "no connection",
        () if error.is_builder() => "this is no address",
        () => "the request failed",
    };
    what.into()
}

/// A secret from where it is kept. Files end with a line break that is not meant.
fn read(kept: &Kept) -> Result<String, String> {
    let found = match kept {
        Kept::Plain(text) => return Ok(text.clone()),
        Kept::Env(name) => {
            std::env::var(name).map_err(|_| format!("the variable {name} is not set"))?
        }
        Kept::File(file) => std::fs::read_to_string(file)
            .map_err(|cause| format!("cannot read {file}: {}", cause.kind()))?,
    };
    match found.trim() {
        "" => Err("the secret is empty".into()),
        found => Ok(found.to_owned()),
    }
}
