//! The one place where something is sent.

use crate::error::{Asked, classify, refused, unanswered};
use crate::pace::Pace;
use crate::session::LambdaSettings;
use crate::wire::{Data, Failure};
use fleet_provider::{Class, Clock, Error};
use reqwest::header::RETRY_AFTER;
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

    fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, Error> {
        let Some(key) = &self.settings.key else {
            let words = "no API key: set LAMBDA_API_KEY";
            return Err(refused(Class::Auth, "NoCredentials", words));
        };
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
        self.pace.turn(asked == Asked::Launch).await;
        let answer = request.send().await.map_err(|error| unanswered(asked, &error))?;
        let status = answer.status().as_u16();
        let after = wish(&answer);
        let body = read(answer).await.map_err(|error| unanswered(asked, &error))?;
        if (200..300).contains(&status) {
            return serde_json::from_slice::<Data<T>>(&body).map(|data| data.data).map_err(|why| {
                refused(asked.silence(), "UnreadableAnswer", format!("{status}: {why}"))
            });
        }
        let (code, message) = match serde_json::from_slice::<Failure>(&body) {
            Ok(Failure { error }) => {
                let hint = error.suggestion.map(|hint| format!(" {hint}")).unwrap_or_default();
                (error.code, format!("{}{hint}", error.message))
            }
            Err(_) => (format!("Http{status}"), "(no message)".to_owned()),
        };
        Err(refused(classify(asked, status, &code, after), &code, message))
    }
}

/// How long the cloud asks us to wait.
fn wish(answer: &Response) -> Option<Duration> {
    let seconds = answer.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WISH))
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
