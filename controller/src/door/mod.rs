//! Who comes in: addresses, tokens, roles, and how much of everything one caller gets.
//!
//! On a loopback address without tokens everybody who can reach it may look and act: they are on this machine. Pages of other
//! sites cannot: the `Host` of a request must be loopback, and what changes something must be JSON, which forms cannot
//! send. Everywhere else a token is needed.

mod host;
#[cfg(feature = "tls")]
pub mod oidc;
mod patient;
pub mod rate;
pub mod seats;
#[cfg(feature = "tls")]
pub mod tls;
pub mod tokens;

pub(crate) use patient::Patient;

use crate::refusal::Refusal;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use fleet_words::exit::Exit;
use fleet_words::fail::Failure;
use rate::{Rate, Rates};
use seats::Seats;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokens::Tokens;

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Look.
    Viewer,
    /// Look and act.
    Operator,
    /// Say that a machine will be taken back, and nothing else: for machines, which anybody on them can read.
    Agent,
}

impl Role {
    /// Its name, as in files of tokens.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Operator => "operator",
            Role::Agent => "agent",
        }
    }

    /// The role of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Role::Viewer, Role::Operator, Role::Agent].into_iter().find(|role| role.as_str() == name)
    }
}

/// Somebody who came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Who it is, for journals: a token's name, a person of the OpenID provider, or an address of this machine.
    pub name: String,
    /// What they may do.
    pub role: Role,
}

/// Where a connection comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Peer(pub IpAddr);

impl Peer {
    /// What limits go by. One household has a whole network of IPv6 addresses.
    pub fn key(self) -> IpAddr {
        match self.0 {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => match address.to_ipv4_mapped() {
                Some(address) => IpAddr::V4(address),
                None => {
                    let [a, b, c, d, ..] = address.segments();
                    IpAddr::from([a, b, c, d, 0, 0, 0, 0])
                }
            },
        }
    }
}

/// How much is let in.
#[derive(Debug, Clone, Copy)]
pub struct Amounts {
    /// Requests per second and caller.
    pub rate: f64,
    /// Connections in all; one peer gets half.
    pub connections: usize,
}

impl Default for Amounts {
    fn default() -> Self {
        Amounts { rate: 50.0, connections: 4096 }
    }
}

/// The door.
pub struct Door {
    tokens: Option<Tokens>,
    #[cfg(feature = "tls")]
    oidc: Option<oidc::Oidc>,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<tls::Certificate>,
    rates: Mutex<Rates>,
    /// Wrong tokens, by peer.
    wrong: Mutex<Rates>,
    pub(crate) connections: Seats<IpAddr>,
}

impl Door {
    /// Open to this machine alone.
    pub fn loopback(amounts: Amounts) -> Self {
        let Amounts { rate, connections } = amounts;
        Door {
            tokens: None,
            #[cfg(feature = "tls")]
            oidc: None,
            #[cfg(feature = "tls")]
            tls: None,
            // A page asks for a dozen things at once.
            rates: Mutex::new(Rates::new(Rate { per_second: rate, burst: rate * 4.0 })),
            wrong: Mutex::new(Rates::new(Rate { per_second: 0.5, burst: 20.0 })),
            connections: Seats::new(connections),
        }
    }

    /// Open to everybody who has a token.
    pub fn with_tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Open to whom an OpenID provider knows.
    #[cfg(feature = "tls")]
    pub fn with_oidc(mut self, oidc: oidc::Oidc) -> Self {
        self.oidc = Some(oidc);
        self
    }

    /// Behind TLS.
    #[cfg(feature = "tls")]
    pub fn with_tls(mut self, certificate: tls::Certificate) -> Self {
        self.tls = Some(certificate);
        self
    }

    /// Whether everybody who reaches it may come in.
    fn is_open(&self) -> bool {
        #[cfg(feature = "tls")]
        if self.oidc.is_some() {
            return false;
        }
        self.tokens.is_none()
    }

    async fn who(&self, headers: &HeaderMap, peer: Peer) -> Result<Caller, Refusal> {
        if self.is_open() {
            host::is_here(headers)?;
            return Ok(Caller { name: format!("somebody at {}", peer.0), role: Role::Operator });
        }
        let now = Instant::now();
        let key = peer.key().to_string();
        let wrong = || self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        let token = token(headers);
        // Who is known comes in whatever others at that address send: behind a proxy all callers have one.
        let known = |token: &String| self.tokens.as_ref()?.whose(token);
        if let Some(caller) = token.as_ref().and_then(known) {
            return Ok(caller);
        }
        if let Some(wait) = wrong().is_spent(&key, now) {
            return Err(Refusal::too_many("too many wrong tokens came from this address", wait));
        }
        let Some(token) = token else { return Err(unknown("a token is needed", headers)) };
        let found = self.who_by_oidc(&token).await;
        if found.as_ref().is_err_and(|refusal| refusal.status() == StatusCode::UNAUTHORIZED) {
            let _ = wrong().take(&key, now);
        }
        found
    }

    #[cfg(feature = "tls")]
    async fn who_by_oidc(&self, token: &str) -> Result<Caller, Refusal> {
        match &self.oidc {
            Some(oidc) => oidc.whose(token).await,
            None => Err(unknown("this token is not known here", &HeaderMap::new())),
        }
    }

    #[cfg(not(feature = "tls"))]
    async fn who_by_oidc(&self, _token: &str) -> Result<Caller, Refusal> {
        Err(unknown("this token is not known here", &HeaderMap::new()))
    }
}

/// That somebody has to say who they are. Browsers ask for it if they may: the password is the token.
pub(crate) fn unknown(what: &str, headers: &HeaderMap) -> Refusal {
    let failure = Failure::new(what)
        .hint("send `Authorization: Bearer TOKEN`; `fleet token new` makes one")
        .exit(Exit::Usage);
    let refusal = Refusal::new(StatusCode::UNAUTHORIZED, failure)
        .with(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"fleet\""));
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    if accept.is_some_and(|accept| accept.contains("text/html")) {
        let basic = HeaderValue::from_static("Basic realm=\"fleet\", charset=\"UTF-8\"");
        return refusal.with(header::WWW_AUTHENTICATE, basic);
    }
    refusal
}

/// The token of a request: a bearer's, or a browser's password.
fn token(headers: &HeaderMap) -> Option<String> {
    let sent = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, rest) = sent.split_once(' ')?;
    let rest = rest.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = base64::engine::general_purpose::STANDARD.decode(rest).ok()?;
    let decoded = String::from_utf8(decoded).ok()?;
    decoded.split_once(':').map(|(_, password)| password.to_owned())
}

/// Paths that probes ask, without a token. They tell nothing but whether we are well.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];

/// Lets a request in, or not; and puts on every answer what browsers are to know.
pub(crate) async fn guard(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let answer = match admit(&door, request).await {
        Ok(request) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    harden(&path, explained(&path, answer))
}

async fn admit(door: &Door, mut request: Request) -> Result<Request, Refusal> {
    let peer = request.extensions().get::<Peer>().copied();
    let peer = peer.unwrap_or(Peer(IpAddr::from([0, 0, 0, 0])));
    if PROBES.contains(&request.uri().path()) {
        take_turn(door, &format!("peer {}", peer.key()))?;
        return Ok(request);
    }
    let caller = door.who(request.headers(), peer).await?;
    take_turn(door, &caller.name)?;
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        // Forms can send nothing else; for other methods browsers ask first.
        if *request.method() == Method::POST && !is_read_only(&request) {
            host::is_no_form(request.headers())?;
        }
    }
    may(&caller, &request)?;
    request.extensions_mut().insert(caller);
    Ok(request)
}

/// Whether a caller may do what is asked for.
fn may(caller: &Caller, request: &Request) -> Result<(), Refusal> {
    let acts = !matches!(*request.method(), Method::GET | Method::HEAD);
    let matched = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    match caller.role {
        Role::Operator => Ok(()),
        Role::Viewer if !acts => Ok(()),
        Role::Agent
            if acts && matched.is_some_and(|path| crate::api::MACHINES_SAY.contains(&path)) =>
        {
            Ok(())
        }
        Role::Viewer => Err(Refusal::forbidden(
            format!("{} may look, and not act", caller.name),
            "an operator's token may: `fleet token new NAME --role operator`",
        )),
        Role::Agent => Err(Refusal::forbidden(
            format!("{} may tell of machines, taken back or busy, and nothing else", caller.name),
            "an operator's token may: `fleet token new NAME --role operator`",
        )),
    }
}

/// Whether nothing at this path takes a `POST`: the router says so, whatever was sent.
fn is_read_only(request: &Request) -> bool {
    let matched = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    matched.is_some_and(|path| path.starts_with("/v1/") && !crate::api::ACTS.contains(&path))
}

fn take_turn(door: &Door, who: &str) -> Result<(), Refusal> {
    let mut rates = door.rates.lock().unwrap_or_else(PoisonError::into_inner);
    rates
        .take(who, Instant::now())
        .map_err(|wait| Refusal::too_many("too many requests; ask more slowly", wait))
}

/// An answer that says nothing but its status gets words.
fn explained(path: &str, answer: Response) -> Response {
    let silent = !answer.headers().contains_key(header::CONTENT_TYPE);
    let (what, hint) = match answer.status() {
        StatusCode::NOT_FOUND if silent => {
            (format!("there is nothing at {path}"), "`/v1/openapi.json` lists what there is")
        }
        StatusCode::METHOD_NOT_ALLOWED if silent => {
            (format!("{path} does not know this method"), "the header `Allow` lists what it knows")
        }
        _ => return answer,
    };
    let failure = Failure::new(what).hint(hint).exit(Exit::Usage);
    let mut refusal = Refusal::new(answer.status(), failure);
    if let Some(allow) = answer.headers().get(header::ALLOW) {
        refusal = refusal.with(header::ALLOW, allow.clone());
    }
    refusal.into_response()
}

/// Headers that every answer has, unless it has others already.
fn harden(path: &str, mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    let mut set = |name: header::HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::X_FRAME_OPTIONS, "DENY");
    set(
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    );
    set(header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    if path.starts_with("/v1") {
        set(header::CACHE_CONTROL, "no-store");
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(authorization: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, authorization.parse().expect("a value"));
        headers
    }

    #[test]
    fn tokens_come_from_bearers_and_browsers() {
        assert_eq!(token(&headers("Bearer abc")).as_deref(), Some("abc"));
        assert_eq!(token(&headers("bearer  abc ")).as_deref(), Some("abc"));
        // "ada:secret:more"
        assert_eq!(token(&headers("Basic YWRhOnNlY3JldDptb3Jl")).as_deref(), Some("secret:more"));
        assert_eq!(token(&headers("Basic !!!")), None);
        assert_eq!(token(&headers("Digest abc")), None);
        assert_eq!(token(&headers("abc")), None);
        assert_eq!(token(&HeaderMap::new()), None);
    }

    #[test]
    fn wrong_tokens_of_others_keep_out_nobody_who_is_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("tokens");
        let right = tokens::new_token(&file, "ada", Role::Operator, "2026-11-18").expect("a token");
        let door = Door::loopback(Amounts::default())
            .with_tokens(Tokens::open(&file).expect("a file of tokens"));
        let peer = Peer("192.0.2.1".parse().expect("an address"));
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let ask = |token: &str| {
            let headers = headers(&format!("Bearer {token}"));
            let who = runtime.block_on(door.who(&headers, peer));
            who.map_or_else(|refusal| refusal.status().as_u16(), |_| 200)
        };
        let wrong: Vec<u16> = (0..25).map(|_| ask("wrong")).collect();
        assert!(wrong.starts_with(&[401; 20]) && wrong.ends_with(&[429]), "{wrong:?}");
        assert_eq!(ask(right.trim()), 200);
    }

    #[test]
    fn a_household_is_one_peer() {
        let key = |text: &str| Peer(text.parse().expect("an address")).key().to_string();
        assert_eq!(key("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(key("::ffff:192.0.2.1"), "192.0.2.1");
        assert_eq!(key("192.0.2.1"), "192.0.2.1");
    }
}
