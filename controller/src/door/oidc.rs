//! People whom an OpenID provider knows.
//!
//! A token must be signed by a key of the issuer, with an algorithm that has a public and a private half; it must be
//! for us, from the issuer, and not be over. Keys come from the issuer's own description, are kept for an hour, and are
//! fetched again when a token names one that we do not know, though not for every stranger who makes one up.

use super::{Caller, Role, unknown};
use crate::refusal::Refusal;
use axum::http::HeaderMap;
use fleet_words::exit::Exit;
use fleet_words::fail::{Answer, Failure};
use fleet_words::text::clean_line;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::{Map, Value};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// How long keys are good for.
const KEPT: Duration = Duration::from_secs(3600);
/// An unknown key makes us ask at most this often.
const ASK_AGAIN: Duration = Duration::from_secs(10);
/// Descriptions and keys are small.
const MOST_BYTES: usize = 1 << 20;
/// Names in journals are short.
const MOST_NAME: usize = 120;

/// A claim that makes somebody a member: `groups=sre`, `email=ada@example.com`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    claim: String,
    value: String,
}

impl std::str::FromStr for Membership {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((claim, value)) if !claim.is_empty() && !value.is_empty() => {
                Ok(Membership { claim: claim.into(), value: value.into() })
            }
            _ => Err("write CLAIM=VALUE, such as groups=sre or email=ada@example.com".into()),
        }
    }
}

impl Membership {
    fn has(&self, claims: &Map<String, Value>) -> bool {
        match claims.get(&self.claim) {
            Some(Value::String(text)) => *text == self.value,
            Some(Value::Array(some)) => some.iter().any(|one| one.as_str() == Some(&self.value)),
            _ => false,
        }
    }
}

/// An OpenID provider, and what its people may do.
pub struct Oidc {
    issuer: String,
    audience: String,
    operators: Vec<Membership>,
    /// Empty: everybody with a token for us.
    viewers: Vec<Membership>,
    client: reqwest::Client,
    keys: Mutex<Keys>,
}

#[derive(Default)]
struct Keys {
    set: Vec<Jwk>,
    fetched: Option<Instant>,
    tried: Option<Instant>,
}

impl Oidc {
    /// Nobody is asked before the first token comes.
    pub fn new(
        issuer: &str,
        audience: &str,
        operators: Vec<Membership>,
        viewers: Vec<Membership>,
    ) -> Answer<Self> {
        if !is_safe(issuer) {
            return Err(Failure::new(format!("`{issuer}` is no address of an OpenID provider"))
                .at("--oidc-issuer")
                .hint("an https:// URL, such as https://accounts.google.com")
                .exit(Exit::Usage));
        }
        let client = reqwest::Client::builder()
            .timeout(Duration::from_secs(10))
            // Keys come from where the issuer says, and from nowhere else.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|cause| Failure::new(format!("cannot set up TLS: {cause}")))?;
        Ok(Oidc {
            issuer: issuer.to_owned(),
            audience: audience.to_owned(),
            operators,
            viewers,
            client,
            keys: Mutex::default(),
        })
    }

    /// Whose token this is.
    pub(super) async fn whose(&self, token: &str) -> Result<Caller, Refusal> {
        let no =
            |why: &str| unknown(&format!("this token is not good here: {why}"), &HeaderMap::new());
        let header =
            jsonwebtoken::decode_header(token).map_err(|_| no("it is none of a provider"))?;
        let algorithm = header.alg;
        if !is_asymmetric(algorithm) {
            return Err(no("its algorithm is not allowed"));
        }
        let Some(key) = self.key(header.kid.as_deref(), algorithm).await? else {
            return Err(no("the issuer has no such key"));
        };
        let key = DecodingKey::from_jwk(&key).map_err(|_| no("the issuer's key is of no use"))?;
        let mut rules = Validation::new(algorithm);
        rules.set_audience(&[&self.audience]);
        rules.set_issuer(&[&self.issuer]);
        rules.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        rules.validate_nbf = true;
        rules.leeway = 30;
        let claims = jsonwebtoken::decode::<Map<String, Value>>(token, &key, &rules)
            .map_err(|cause| no(why(cause.kind())))?
            .claims;
        self.caller(&claims)
    }

    fn caller(&self, claims: &Map<String, Value>) -> Result<Caller, Refusal> {
        let name = name(claims);
        let in_some = |some: &[Membership]| some.iter().any(|membership| membership.has(claims));
        if in_some(&self.operators) {
            return Ok(Caller { name, role: Role::Operator });
        }
        if self.viewers.is_empty() || in_some(&self.viewers) {
            return Ok(Caller { name, role: Role::Viewer });
        }
        Err(Refusal::forbidden(
            format!("{name} is known, and not among those who may look"),
            "--oidc-viewers says who may",
        ))
    }

    /// The key of this name that fits the algorithm.
    async fn key(&self, id: Option<&str>, algorithm: Algorithm) -> Result<Option<Jwk>, Refusal> {
        let mut keys = self.keys.lock().await;
        let recent = |at: Option<Instant>, time: Duration| at.is_some_and(|at| at.elapsed() < time);
        let found = |keys: &Keys| keys.set.iter().find(|key| fits(key, id, algorithm)).cloned();
        let known = found(&keys).filter(|_| recent(keys.fetched, KEPT));
        if known.is_some() || recent(keys.tried, ASK_AGAIN) {
            // A key that is known, though old, does while the issuer was asked a moment ago.
            return Ok(known.or_else(|| found(&keys)));
        }
        keys.tried = Some(Instant::now());
        match self.fetch().await {
            Ok(set) => {
                keys.set = set;
                keys.fetched = keys.tried;
                Ok(found(&keys))
            }
            Err(why) => {
                tracing::warn!(issuer = self.issuer, "cannot get the issuer's keys: {why}");
                match found(&keys) {
                    Some(old) => Ok(Some(old)),
                    None => Err(Refusal::busy("the OpenID provider does not answer", ASK_AGAIN)),
                }
            }
        }
    }

    async fn fetch(&self) -> Result<Vec<Jwk>, String> {
        let about =
            format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        let about: Value = self.get(&about).await?;
        if about["issuer"].as_str() != Some(&self.issuer) {
            return Err(format!("it says that it is {}, not {}", about["issuer"], self.issuer));
        }
        let at = about["jwks_uri"].as_str().unwrap_or_default();
        if !is_safe(at) {
            return Err(format!("its keys are at `{at}`, which is no https:// URL"));
        }
        let keys = self.get(at).await?;
        let keys: JwkSet = serde_json::from_value(keys).map_err(|cause| cause.to_string())?;
        Ok(keys.keys)
    }

    async fn get(&self, url: &str) -> Result<Value, String> {
        let told = |cause: reqwest::Error| cause.without_url().to_string();
        let mut answer = self.client.get(url).send().await.map_err(told)?;
        if !answer.status().is_success() {
            return Err(format!("{url} answers {}", answer.status()));
        }
        let mut bytes = Vec::new();
        while let Some(some) = answer.chunk().await.map_err(told)? {
            bytes.extend_from_slice(&some);
            if bytes.len() > MOST_BYTES {
                return Err(format!("{url} answers with more than a megabyte"));
            }
        }
        serde_json::from_slice(&bytes).map_err(|cause| format!("{url}: {cause}"))
    }
}

/// Whether an address can be trusted to be what it says: https, or this machine.
fn is_safe(url: &str) -> bool {
    let host = |rest: &str| rest.split(['/', '?', '#']).next().unwrap_or_default().to_owned();
    match url.split_once("://") {
        Some(("https", rest)) => !host(rest).is_empty(),
        Some(("http", rest)) => super::host::is_loopback(&host(rest)),
        _ => false,
    }
}

/// Those who can check such a signature cannot make one.
fn is_asymmetric(algorithm: Algorithm) -> bool {
    match algorithm {
        Algorithm::RS256 | Algorithm::RS384 | Algorithm::RS512 => true,
        Algorithm::PS256 | Algorithm::PS384 | Algorithm::PS512 => true,
        Algorithm::ES256 | Algorithm::ES384 | Algorithm::EdDSA => true,
        // Shared secrets, and whatever comes later.
        _ => false,
    }
}

fn fits(key: &Jwk, id: Option<&str>, algorithm: Algorithm) -> bool {
    let common = &key.common;
    let named = match id {
        Some(id) => common.key_id.as_deref() == Some(id),
        None => true,
    };
    let signs = !matches!(common.public_key_use, Some(PublicKeyUse::Encryption));
    let meant =
        common.key_algorithm.is_none_or(|meant| meant.to_string() == format!("{algorithm:?}"));
    let of_kind = match &key.algorithm {
        AlgorithmParameters::RSA(_) => matches!(
            algorithm,
            Algorithm::RS256
                | Algorithm::RS384
                | Algorithm::RS512
                | Algorithm::PS256
                | Algorithm::PS384
                | Algorithm::PS512
        ),
        AlgorithmParameters::EllipticCurve(curve) => match algorithm {
            Algorithm::ES256 => curve.curve == EllipticCurve::P256,
            Algorithm::ES384 => curve.curve == EllipticCurve::P384,
            _ => false,
        },
        AlgorithmParameters::OctetKeyPair(_) => algorithm == Algorithm::EdDSA,
        // A shared secret is no key of an issuer's.
        _ => false,
    };
    named && signs && meant && of_kind
}

fn why(kind: &jsonwebtoken::errors::ErrorKind) -> &'static str {
    use jsonwebtoken::errors::ErrorKind;
    match kind {
        ErrorKind::ExpiredSignature => "it is over",
        ErrorKind::ImmatureSignature => "it is not valid yet",
        ErrorKind::InvalidAudience => "it is for somebody else",
        ErrorKind::InvalidIssuer => "it is from another issuer",
        ErrorKind::InvalidSignature => "its signature is wrong",
        ErrorKind::MissingRequiredClaim(_) => "a claim is missing",
        _ => "it cannot be read",
    }
}

/// Who it is, for people who read journals: as the provider names them, and its id of them, which nobody chooses.
fn name(claims: &Map<String, Value>) -> String {
    let text = |claim: &str| claims.get(claim).and_then(Value::as_str).map(clean_line);
    let id = text("sub").unwrap_or_default();
    let verified = claims.get("email_verified").and_then(Value::as_bool) != Some(false);
    let shown = text("email").filter(|_| verified).or_else(|| text("preferred_username"));
    let name = match shown {
        Some(shown) if shown != id => format!("{shown} ({id})"),
        _ => id,
    };
    name.chars().take(MOST_NAME).collect()
}

#[cfg(test)]
#[path = "oidc_tests.rs"]
mod issuer_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuers_are_reached_by_tls_or_on_this_machine() {
        assert!(is_safe("https://accounts.example.com") && is_safe("http://127.0.0.1:80/x"));
        for bad in ["http://accounts.example.com", "https://", "ftp://127.0.0.1", "127.0.0.1", ""] {
            assert!(!is_safe(bad), "{bad}");
        }
    }

    #[test]
    fn claims_make_members() {
        let claims = serde_json::json!({ "groups": ["dev", "sre"], "email": "ada@example.com" });
        let claims = claims.as_object().expect("an object");
        let has = |text: &str| text.parse::<Membership>().expect("a membership").has(claims);
        assert!(has("groups=sre") && has("email=ada@example.com"));
        assert!(!has("groups=sr") && !has("email=ada") && !has("roles=sre"));
        assert!("groups".parse::<Membership>().is_err() && "=x".parse::<Membership>().is_err());
    }

    #[test]
    fn names_are_short_and_plain() {
        let long = "x".repeat(500);
        let claims = serde_json::json!({ "sub": long, "email": "a\nb@example.com" });
        let name = name(claims.as_object().expect("an object"));
        assert!(name.chars().count() <= MOST_NAME && !name.contains('\n'), "{name}");
    }
}
