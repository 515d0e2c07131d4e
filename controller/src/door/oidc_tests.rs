//! A small issuer with real keys, and tokens that are not what they should be.

use super::*;
use base64::Engine as _;
use fleet_testkit::{Answer as Reply, Listener, Request};
use jsonwebtoken::{EncodingKey, Header};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as Lock};

struct Key {
    id: &'static str,
    algorithm: Algorithm,
    secret: EncodingKey,
    pem: String,
}

fn rsa(id: &'static str) -> Key {
    let pair =
        KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048).expect("a key");
    let pem = pair.serialize_pem();
    let secret = EncodingKey::from_rsa_pem(pem.as_bytes()).expect("a key");
    Key { id, algorithm: Algorithm::RS256, secret, pem: pair.public_key_pem() }
}

fn ec(id: &'static str) -> Key {
    let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("a key");
    let secret = EncodingKey::from_ec_pem(pair.serialize_pem().as_bytes()).expect("a key");
    Key { id, algorithm: Algorithm::ES256, secret, pem: pair.public_key_pem() }
}

impl Key {
    fn jwk(&self) -> Value {
        let jwk = Jwk::from_encoding_key(&self.secret, self.algorithm).expect("a key");
        let mut jwk = serde_json::to_value(jwk).expect("JSON");
        jwk["kid"] = self.id.into();
        jwk["use"] = "sig".into();
        jwk
    }

    fn sign(&self, claims: &Value) -> String {
        let mut header = Header::new(self.algorithm);
        header.kid = Some(self.id.to_owned());
        jsonwebtoken::encode(&header, claims, &self.secret).expect("a token")
    }
}

struct Issuer {
    listener: Listener,
    keys: Arc<Lock<Vec<Value>>>,
    asked: Arc<AtomicUsize>,
}

impl Issuer {
    async fn start(keys: &[&Key]) -> Self {
        let keys: Arc<Lock<Vec<Value>>> =
            Arc::new(Lock::new(keys.iter().map(|key| key.jwk()).collect()));
        let asked = Arc::new(AtomicUsize::new(0));
        let port = fleet_testkit::free_port().expect("a port");
        let (served, counted) = (keys.clone(), asked.clone());
        let url = format!("http://127.0.0.1:{port}");
        let answer = move |request: Request| {
            let reply = match request.path.as_str() {
                "/.well-known/openid-configuration" => {
                    Reply::json(200, json!({ "issuer": url, "jwks_uri": format!("{url}/keys") }))
                }
                "/keys" => {
                    counted.fetch_add(1, Ordering::SeqCst);
                    Reply::json(200, json!({ "keys": *served.lock().expect("keys") }))
                }
                _ => Reply::empty(404),
            };
            async move { Some(reply) }
        };
        let listener = Listener::start(port, answer).await.expect("an issuer");
        Issuer { listener, keys, asked }
    }

    fn oidc(&self) -> Oidc {
        let sre = vec!["groups=sre".parse().expect("a membership")];
        Oidc::new(&self.listener.url(), "fleet", sre, Vec::new()).expect("a provider")
    }

    fn claims(&self, groups: &[&str]) -> Value {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .expect("a time")
            .as_secs();
        json!({
            "iss": self.listener.url(),
            "aud": "fleet",
            "sub": "1234",
            "email": "ada@example.com",
            "groups": groups,
            "exp": now + 300,
            "nbf": now - 10,
        })
    }
}

fn base64(value: &Value) -> String {
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(value.to_string())
}

/// The words of a refusal.
async fn refused(oidc: &Oidc, token: &str) -> String {
    match oidc.whose(token).await {
        Ok(caller) => panic!("{caller:?} came in"),
        Err(refusal) => format!("{refusal:?}"),
    }
}

#[tokio::test]
async fn whom_the_issuer_knows_comes_in() {
    let (rsa, ec) = (rsa("r"), ec("e"));
    let issuer = Issuer::start(&[&rsa, &ec]).await;
    let oidc = issuer.oidc();
    let operator = oidc.whose(&rsa.sign(&issuer.claims(&["dev", "sre"]))).await.expect("ada");
    assert_eq!(operator, Caller { name: "ada@example.com (1234)".into(), role: Role::Operator });
    let viewer = oidc.whose(&ec.sign(&issuer.claims(&["dev"]))).await.expect("ada");
    assert_eq!(viewer.role, Role::Viewer);
    assert_eq!(issuer.asked.load(Ordering::SeqCst), 1, "keys are kept");
    let devs = vec!["groups=dev".parse().expect("a membership")];
    let strict = Oidc::new(&issuer.listener.url(), "fleet", Vec::new(), devs).expect("a provider");
    assert!(strict.whose(&ec.sign(&issuer.claims(&["dev"]))).await.is_ok());
    assert!(
        refused(&strict, &ec.sign(&issuer.claims(&["ops"])))
            .await
            .contains("not among those who may look")
    );
}

#[tokio::test]
async fn tokens_that_are_not_what_they_should_be_are_refused() {
    let (good, other, curve) = (rsa("r"), rsa("r"), ec("e"));
    let issuer = Issuer::start(&[&good, &curve]).await;
    let oidc = issuer.oidc();
    let claims = issuer.claims(&["sre"]);
    let with = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        claims
    };
    let without = |name: &str| {
        let mut claims = claims.clone();
        claims.as_object_mut().expect("an object").remove(name);
        claims
    };
    let check = async |token: String, why: &str| {
        let said = refused(&oidc, &token).await;
        assert!(said.contains(why), "{why}: {said}");
    };
    assert!(oidc.whose(&good.sign(&claims)).await.is_ok());
    check(good.sign(&with("exp", json!(1_000_000_000))), "it is over").await;
    check(good.sign(&with("nbf", json!(99_999_999_999_u64))), "not valid yet").await;
    check(good.sign(&with("aud", json!("another"))), "somebody else").await;
    check(good.sign(&with("iss", json!("https://evil.example"))), "another issuer").await;
    for claim in ["exp", "aud", "iss", "sub"] {
        check(good.sign(&without(claim)), "not good here").await;
    }
    // Signed by somebody else under the same name.
    check(other.sign(&claims), "signature is wrong").await;
    // No signature at all.
    let none = format!("{}.{}.", base64(&json!({ "alg": "none", "kid": "r" })), base64(&claims));
    check(none, "none of a provider").await;
    // The public key taken for a shared secret.
    let mut header = Header::new(Algorithm::HS256);
    header.kid = Some("r".into());
    let secret = EncodingKey::from_secret(good.pem.as_bytes());
    check(
        jsonwebtoken::encode(&header, &claims, &secret).expect("a token"),
        "algorithm is not allowed",
    )
    .await;
    // A key of another kind than the algorithm, and one that nobody knows.
    let mut header = Header::new(Algorithm::RS256);
    header.kid = Some("e".into());
    check(jsonwebtoken::encode(&header, &claims, &good.secret).expect("a token"), "no such key")
        .await;
    header.kid = Some("unknown".into());
    check(jsonwebtoken::encode(&header, &claims, &good.secret).expect("a token"), "no such key")
        .await;
    // One letter changed.
    let token = good.sign(&claims);
    let (head, rest) = token.split_once('.').expect("parts");
    let (_, signature) = rest.split_once('.').expect("parts");
    check(
        format!("{head}.{}.{signature}", base64(&with("groups", json!(["root"])))),
        "signature is wrong",
    )
    .await;
    for garbage in ["", ".", "..", "a.b.c", "fleet_0", "\u{0}.\u{0}.\u{0}"] {
        check(garbage.to_owned(), "none of a provider").await;
    }
    assert_eq!(
        issuer.asked.load(Ordering::SeqCst),
        1,
        "made-up keys do not make us ask again and again"
    );
}

#[tokio::test]
async fn new_keys_are_fetched_and_an_issuer_that_is_gone_is_told() {
    let (old, new) = (ec("old"), ec("new"));
    let issuer = Issuer::start(&[&old]).await;
    let oidc = issuer.oidc();
    assert!(oidc.whose(&old.sign(&issuer.claims(&[]))).await.is_ok());
    issuer.keys.lock().expect("keys").push(new.jwk());
    let token = new.sign(&issuer.claims(&[]));
    assert!(refused(&oidc, &token).await.contains("no such key"), "asked a moment ago");
    oidc.keys.lock().await.tried = Instant::now().checked_sub(ASK_AGAIN);
    assert!(oidc.whose(&token).await.is_ok());
    assert_eq!(issuer.asked.load(Ordering::SeqCst), 2);
    let fresh = issuer.oidc();
    let token = old.sign(&issuer.claims(&[]));
    drop(issuer);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(refused(&fresh, &token).await.contains("does not answer"));
    // Keys that are known last while the issuer is away.
    assert!(oidc.whose(&token).await.is_ok());
}
