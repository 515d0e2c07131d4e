//! The one place where something is sent.

use crate::credential::Chain;
use crate::error::{Asked, LONGEST_WISH, read, refused, silence, unanswered};
use crate::machines::looks_gone;
use crate::names::Group;
use crate::session::AzureSettings;
use crate::wire::Page;
use fleet_provider::{Class, Clock, Error, NOT_SET_UP};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, Method, Response};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// The version of the compute API that we speak.
pub(crate) const COMPUTE: &str = "2023-07-01";
/// The version of the API of sizes.
pub(crate) const SKUS: &str = "2021-07-01";
/// The version of the network API that we speak.
pub(crate) const NETWORK: &str = "2023-09-01";

/// A connection that is not there by then will not come.
const CONNECT: Duration = Duration::from_secs(5);

/// What takes longer than this is asked about, not waited for.
const ANSWER: Duration = Duration::from_secs(60);

/// No answer is longer: all sizes of a subscription are some 20 MB.
const LONGEST_ANSWER: usize = 256 << 20;

/// A list that goes on for longer is not a list: some server repeats itself.
const PAGES: usize = 1000;

/// With fewer reads left than this, a fifth of a subscription's bucket of 250, reads slow down.
const FEW_READS: i64 = 50;

/// With fewer requests left than this in a bucket of Compute's own, which hold 900 and more, everything
/// slows down: beyond it Compute turns us away for up to 20 minutes.
const FEW_REQUESTS: i64 = 20;

/// What 25 reads take to grow again.
const SLOW: Duration = Duration::from_secs(1);

/// An answer of which the caller decides what it means.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// How long the cloud asks us to wait.
    pub(crate) fn wish(&self) -> Option<Duration> {
        let seconds = self.header(RETRY_AFTER.as_str())?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds).min(LONGEST_WISH))
    }

    /// The error of an answer that is no success.
    pub(crate) fn error(&self, asked: Asked) -> Error {
        read(asked, self.status, &self.body, self.wish())
    }

    pub(crate) fn json<T: DeserializeOwned>(&self, asked: Asked) -> Result<T, Error> {
        serde_json::from_slice(&self.body).map_err(|why| {
            refused(silence(asked), "UnreadableAnswer", format!("{}: {why}", self.status))
        })
    }
}

/// Azure Resource Manager, as one identity sees it.
pub(crate) struct Api {
    pub(crate) settings: AzureSettings,
    pub(crate) clock: Arc<dyn Clock>,
    client: Result<Client, String>,
    chain: Chain,
    reads_left: AtomicI64,
    compute_left: AtomicI64,
}

impl Api {
    pub(crate) fn new(settings: AzureSettings, clock: Arc<dyn Clock>) -> Self {
        let client = Client::builder()
            .connect_timeout(CONNECT)
            .timeout(ANSWER)
            .user_agent(concat!("fleet/", env!("CARGO_PKG_VERSION")))
            // Retries are the engine's: one layer, with a budget.
            .retry(reqwest::retry::never())
            // A redirect could carry our token anywhere.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|cause| cause.to_string());
        let chain = Chain::default();
        let plenty = || AtomicI64::new(i64::MAX);
        let (reads_left, compute_left) = (plenty(), plenty());
        Api { settings, clock, client, chain, reads_left, compute_left }
    }

    /// The resource group that we look at.
    pub(crate) fn group(&self) -> Result<Group, Error> {
        let missing = |what: &str| Err(refused(Class::Auth, NOT_SET_UP, what));
        let Some(name) = &self.settings.resource_group else {
            return missing("no resource group: set FLEET_AZURE_RESOURCE_GROUP");
        };
        let Some(subscription) = &self.settings.subscription else {
            return missing("no subscription: set AZURE_SUBSCRIPTION_ID");
        };
        let odd = |text: &str| text.is_empty() || text.contains(['/', '?', '#', '%', ' ']);
        if odd(subscription) || odd(name) {
            return missing("the subscription or the resource group is not a name");
        }
        Ok(Group { subscription: subscription.clone(), name: name.clone() })
    }

    /// Reads something; anything but a success is an error.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        version: &str,
    ) -> Result<T, Error> {
        let query = [("api-version", version)];
        let answer = self.send(Asked::Read, Method::GET, path, &query, None).await?;
        if answer.status != 200 {
            return Err(answer.error(Asked::Read));
        }
        answer.json(Asked::Read)
    }

    /// Reads something that may not be there.
    pub(crate) async fn find<T: DeserializeOwned>(
        &self,
        path: &str,
        version: &str,
    ) -> Result<Option<T>, Error> {
        let query = [("api-version", version)];
        let answer = self.send(Asked::Read, Method::GET, path, &query, None).await?;
        match answer.status {
            200 => answer.json(Asked::Read).map(Some),
            404 => {
                let error = answer.error(Asked::Read);
                // The thing is not there; where it would be is.
                if looks_gone(&error) { Ok(None) } else { Err(error) }
            }
            _ => Err(answer.error(Asked::Read)),
        }
    }

    /// A whole list. A page that does not come makes it fail: part of a list is no list.
    pub(crate) async fn list<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        let answer = self.send(Asked::Read, Method::GET, path, query, None).await?;
        let mut page: Page<T> = self.page(&answer)?;
        for _ in 0..PAGES {
            all.append(&mut page.value);
            let Some(next) = page.next_link.filter(|link| !link.is_empty()) else {
                return Ok(all);
            };
            let answer = self.follow(&next).await?;
            page = self.page(&answer)?;
        }
        Err(refused(Class::Retry { after: None }, "EndlessList", "a list has no end"))
    }

    fn page<T: DeserializeOwned>(&self, answer: &Answer) -> Result<Page<T>, Error> {
        if answer.status != 200 {
            return Err(answer.error(Asked::Read));
        }
        answer.json(Asked::Read)
    }

    /// Reads what the cloud itself gave an address for. Only path and query count: our token goes
    /// to the endpoint that we were told of and nowhere else.
    pub(crate) async fn follow(&self, link: &str) -> Result<Answer, Error> {
        let target = reqwest::Url::parse(link)
            .map(|url| match url.query() {
                Some(query) => format!("{}?{query}", url.path()),
                None => url.path().to_owned(),
            })
            .map_err(|why| refused(Class::Retry { after: None }, "BadLink", why.to_string()))?;
        self.send(Asked::Read, Method::GET, &target, &[], None).await
    }

    /// Sends a request and takes whatever comes back.
    pub(crate) async fn send(
        &self,
        asked: Asked,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Answer, Error> {
        let token = self.token().await?;
        let few_reads = asked == Asked::Read && self.reads_left.load(Ordering::Relaxed) < FEW_READS;
        if few_reads || self.compute_left.load(Ordering::Relaxed) < FEW_REQUESTS {
            self.clock.sleep(SLOW).await;
        }
        let client = self.client()?;
        let url = format!("{}{path}", self.settings.endpoint.trim_end_matches('/'));
        let mut request = client.request(method, url).bearer_auth(token);
        if !query.is_empty() {
            request = request.query(query);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = take(asked, request.send().await).await?;
        if let Some(left) = answer.header("x-ms-ratelimit-remaining-subscription-reads")
            && let Ok(left) = left.trim().parse()
        {
            self.reads_left.store(left, Ordering::Relaxed);
        }
        if let Some(left) =
            answer.header("x-ms-ratelimit-remaining-resource").and_then(emptiest_bucket)
        {
            self.compute_left.store(left, Ordering::Relaxed);
        }
        Ok(answer)
    }

    /// Reads something public. No token goes with it.
    pub(crate) async fn public(&self, url: &str, query: &[(&str, &str)]) -> Result<Answer, Error> {
        let request = self.client()?.get(url);
        let request = if query.is_empty() { request } else { request.query(query) };
        take(Asked::Read, request.send().await).await
    }

    fn client(&self) -> Result<&Client, Error> {
        self.client.as_ref().map_err(|why| refused(Class::Invalid, "NoClient", why.clone()))
    }

    async fn token(&self) -> Result<String, Error> {
        let endpoint = &self.settings.endpoint;
        let local = ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"];
        if !endpoint.starts_with("https://") && !local.iter().any(|l| endpoint.starts_with(l)) {
            let words = format!("{endpoint} is not https: no token is sent there");
            return Err(refused(Class::Auth, "InsecureEndpoint", words));
        }
        match &self.settings.token {
            Some(token) => Ok(token.expose().to_owned()),
            None => Ok(self.chain.token().await?.secret().to_owned()),
        }
    }
}

/// What is left of the bucket of Compute's that is nearest to empty. Buckets of single machines hold a
/// dozen and say nothing of the others.
fn emptiest_bucket(header: &str) -> Option<i64> {
    let buckets = header.split(',').filter_map(|bucket| bucket.rsplit_once(';'));
    let shared = buckets.filter(|(name, _)| !name.trim_end().ends_with("Resource"));
    shared.filter_map(|(_, left)| left.trim().parse().ok()).min()
}

async fn take(asked: Asked, sent: Result<Response, reqwest::Error>) -> Result<Answer, Error> {
    let mut answer = sent.map_err(|error| unanswered(asked, &error))?;
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| unanswered(asked, &error))? {
        if body.len() + chunk.len() > LONGEST_ANSWER {
            // What is left out makes it unreadable, which is what it is.
            break;
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer { status, headers, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_that_all_machines_share() {
        let check = |header, expect| assert_eq!(emptiest_bucket(header), expect, "{header}");
        check("Microsoft.Compute/PutVM3Min;239,Microsoft.Compute/PutVM30Min;1197", Some(239));
        let new =
            "Microsoft.Compute/PutVMSubscriptionMaximum;1499,Microsoft.Compute/PutVMResource;11";
        check(new, Some(1499));
        check("Microsoft.Compute/LowCostGetResource;35", None);
        check("nonsense", None);
    }
}
