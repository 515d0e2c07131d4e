//! The one place where something is sent.

use crate::error::{Asked, Refusal, classify, refused, unanswered};
use crate::pace::Pace;
use crate::session::{ENDPOINT, LambdaSettings};
use crate::wire::{Data, Failure};
use fleet_model::Secret;
use fleet_provider::{Class, Clock, Error, NO_CREDENTIALS};
use reqwest::header::{HeaderName, LOCATION, RETRY_AFTER};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;

/// A connection that is not there by then will not come.
const CONNECT: Duration = Duration::from_secs(5);

/// What takes longer than this is asked about, not waited for.
const ANSWER: Duration = Duration::from_secs(60);

/// Longer than this we do not wait, whatever the cloud says: the engine has other things to do.
const LONGEST_WISH: Duration = Duration::from_secs(300);

/// No answer is longer. One that is would only be read to fill our memory.
const LONGEST_ANSWER: usize = 64 << 20;

/// Lambda's API with one account's key.
pub(crate) struct Api {
    settings: LambdaSettings,
    client: Result<Client, String>,
    pace: Pace,
}

impl Api {
    pub(crate) fn new(settings: LambdaSettings, clock: Arc<dyn Clock>) -> Self {
        let client = Client::builder()
            .connect_timeout(CONNECT)
            .timeout(ANSWER)
            .user_agent(concat!("fleet/", env!("CARGO_PKG_VERSION")))
            // Retries are the engine's, and a launch that is sent twice is two machines.
            .retry(reqwest::retry::never())
            .redirect(reqwest::redirect::Policy::none())
            // A connection from the pool may be dead already; a fresh one is either there or not,
            // and at a call in a second it costs nothing.
            .pool_max_idle_per_host(0)
            .build()
            .map_err(|cause| cause.to_string());
        Api { settings, client, pace: Pace::new(clock) }
    }

    /// Waits until a launch may be sent, which is to follow at once. Apart from the sending, so that
    /// whoever waited too long can still turn round.
    pub(crate) async fn turn_to_launch(&self) {
        self.pace.turn(true).await;
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        let request = self.request(Method::GET, path)?;
        self.send(Asked::Read, request).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        asked: Asked,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Error> {
        let request = self.request(Method::POST, path)?.json(body);
        self.send(asked, request).await
    }

    /// The key, if there is one.
    pub(crate) fn key(&self) -> Result<&Secret, Error> {
        let words = "set LAMBDA_API_KEY";
        let missing = || refused(Class::Auth, NO_CREDENTIALS, words);
        self.settings.key.as_ref().ok_or_else(missing)
    }

    fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, Error> {
        let key = self.key()?;
        let client =
            self.client.as_ref().map_err(|why| refused(Class::Invalid, "NoClient", why.clone()))?;
        let url = format!("{}/api/v1/{path}", self.settings.endpoint.trim_end_matches('/'));
        Ok(client.request(method, url).bearer_auth(key.expose()))
    }

    async fn send<T: DeserializeOwned>(
        &self,
        asked: Asked,
        request: RequestBuilder,
    ) -> Result<T, Error> {
        if asked != Asked::Launch {
            self.pace.turn(false).await;
        }
        let answer = request.send().await.map_err(|error| unanswered(asked, &error))?;
        let status = answer.status().as_u16();
        let after = wish(&answer);
        let moved = header(&answer, LOCATION).filter(|_| (300..400).contains(&status));
        let moved = moved.map(str::to_owned);
        let body = read(answer).await.map_err(|error| unanswered(asked, &error))?;
        if (200..300).contains(&status) {
            return serde_json::from_slice::<Data<T>>(&body).map(|data| data.data).map_err(|why| {
                refused(asked.silence(), "UnreadableAnswer", format!("{status}: {why}"))
            });
        }
        let (code, message) = words(status, moved.as_deref(), &body);
        Err(classify(asked, Refusal { status, code, message, after }))
    }
}

/// Code and message of an answer that is no success.
///
/// What is not in Lambda's form comes from something in front of it, and its text is nothing that
/// anybody should have to read.
fn words(status: u16, moved: Option<&str>, body: &[u8]) -> (String, String) {
    if let Ok(Failure { error }) = serde_json::from_slice(body) {
        let hint = error.suggestion.map(|hint| format!(" {hint}")).unwrap_or_default();
        return (error.code, format!("{}{hint}", error.message));
    }
    let code = format!("Http{status}");
    match moved {
        Some(target) => {
            let words = format!(
                "the endpoint has moved to {target}: unset LAMBDA_CLOUD_ENDPOINT, or set it to \
                 {ENDPOINT}. A key is never sent after a redirect"
            );
            (code, words)
        }
        None => (code, format!("{} bytes that are not an error of Lambda's", body.len())),
    }
}

/// How long the cloud asks us to wait.
fn wish(answer: &Response) -> Option<Duration> {
    let seconds = header(answer, RETRY_AFTER)?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WISH))
}

fn header(answer: &Response, name: HeaderName) -> Option<&str> {
    answer.headers().get(name)?.to_str().ok()
}

async fn read(mut answer: Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        if body.len() + chunk.len() > LONGEST_ANSWER {
            // What is left out makes it unreadable, which is what it is.
            break;
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_lambdas_own_word_has_no_code_of_lambdas() {
        let check = |status, moved, body: &str, code: &str, part: &str| {
            let (found, message) = words(status, moved, body.as_bytes());
            assert!(found == code && message.contains(part), "{found}: {message}");
        };
        let described = r#"{"error": {"code": "global/x", "message": "No.", "suggestion": "Do."}}"#;
        check(400, None, described, "global/x", "No. Do.");
        check(502, None, "<html><h1>Bad gateway</h1></html>", "Http502", "33 bytes");
        check(403, None, "", "Http403", "0 bytes");
        let moved = Some("https://cloud.lambda.ai/api/v1/instances");
        check(301, moved, "<html>", "Http301", "unset LAMBDA_CLOUD_ENDPOINT");
    }
}
