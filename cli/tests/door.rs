//! The door of the real binary: TLS with a certificate that is renewed meanwhile, and people whom an OpenID provider knows.

mod support;

use fleet_testkit::{Answer, Listener, Request};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use support::Place;
use support::server::{Reply, Server, reply};

/// Writes a new certificate for localhost with its key, and tells the certificate.
fn certify(place: &Place) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    place.write("key.pem", &made.signing_key.serialize_pem());
    place.write("cert.pem", &made.cert.pem());
    made.cert.der().clone()
}

/// Asks over TLS as a client that trusts one certificate.
fn ask(
    server: &Server,
    trusted: &CertificateDer<'static>,
    token: &str,
) -> Result<Reply, std::io::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).expect("a root");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let session = ClientConnection::new(Arc::new(client), name).expect("a session");
    let stream = TcpStream::connect(server.address)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut stream = StreamOwned::new(session, stream);
    write!(
        stream,
        "GET /v1/fleets HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(reply(&answer).expect("an answer"))
}

#[test]
fn tls_is_served_and_renewed_without_a_restart() {
    let (place, specs) = Server::ground();
    let first = certify(&place);
    let path = |name: &str| place.path(name).to_str().expect("a path").to_owned();
    let (tokens, certificate, key) = (path("tokens"), path("cert.pem"), path("key.pem"));
    let new = ["token", "new", "ada", "--role", "viewer", "--tokens", &tokens];
    let token = place.expect(0, &new).trim().to_owned();
    let door = ["--speed", "0", "--tokens", &tokens, "--tls-cert", &certificate, "--tls-key", &key];
    let server = Server::start(&place, &specs, &door);
    let answer = ask(&server, &first, &token).expect("an answer");
    assert_eq!((answer.status, answer.document()["kind"].as_str()), (200, Some("overview")));
    assert_eq!(ask(&server, &first, "fleet_0").expect("an answer").status, 401);
    // Plain words get no answer that a client could take for one.
    let plain = server.raw(b"GET /v1/fleets HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert!(!String::from_utf8_lossy(&plain).contains("overview"));
    let second = certify(&place);
    let until = Instant::now() + Duration::from_secs(60);
    while ask(&server, &second, &token).is_err() {
        assert!(Instant::now() < until, "the new certificate is not served");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(ask(&server, &first, &token).is_err(), "the old certificate is served");
}

#[test]
fn certificate_and_key_that_do_not_fit_are_refused() {
    let (place, specs) = Server::ground();
    certify(&place);
    std::fs::rename(place.path("cert.pem"), place.path("old.pem")).expect("a file");
    certify(&place);
    let path = |name: &str| place.path(name).to_str().expect("a path").to_owned();
    let (specs, old, key) = (specs.to_str().expect("a path"), path("old.pem"), path("key.pem"));
    let door =
        ["controller", specs, "--listen", "127.0.0.1:0", "--tls-cert", &old, "--tls-key", &key];
    let ended = place.command(&door).output().expect("fleet");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success() && said.contains("do not fit"), "{said}");
}

/// An OpenID provider with one key.
struct Issuer {
    url: String,
    key: EncodingKey,
    _listener: Listener,
}

impl Issuer {
    async fn start() -> Self {
        let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("a key");
        let key = EncodingKey::from_ec_pem(pair.serialize_pem().as_bytes()).expect("a key");
        let jwk = Jwk::from_encoding_key(&key, Algorithm::ES256).expect("a key");
        let mut jwk = serde_json::to_value(jwk).expect("JSON");
        jwk["kid"] = "one".into();
        let port = fleet_testkit::free_port().expect("a port");
        let url = format!("http://127.0.0.1:{port}");
        let about = json!({ "issuer": url, "jwks_uri": format!("{url}/keys") });
        let answer = move |request: Request| {
            let answer = match request.path.as_str() {
                "/.well-known/openid-configuration" => Answer::json(200, about.clone()),
                "/keys" => Answer::json(200, json!({ "keys": [jwk] })),
                _ => Answer::empty(404),
            };
            async move { Some(answer) }
        };
        let listener = Listener::start(port, answer).await.expect("an issuer");
        Issuer { url, key, _listener: listener }
    }

    /// A token of somebody, for an audience, that is over at a time from now.
    fn sign(&self, groups: &[&str], audience: &str, lasts: i64) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs();
        let claims: Value = json!({
            "iss": self.url, "aud": audience, "sub": "1234", "email": "ada@example.com",
            "groups": groups, "exp": now as i64 + lasts, "nbf": now - 10,
        });
        let mut header = Header::new(Algorithm::ES256);
        header.kid = Some("one".to_owned());
        let token = jsonwebtoken::encode(&header, &claims, &self.key).expect("a token");
        format!("Bearer {token}")
    }
}

#[test]
fn people_of_an_openid_provider_come_in_and_the_journal_names_them() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let issuer = runtime.block_on(Issuer::start());
    let (place, specs) = Server::ground();
    let door = [
        &[
            "--speed",
            "0",
            "--rate",
            "1000",
            "--oidc-issuer",
            &issuer.url,
            "--oidc-audience",
            "fleet",
        ],
        &["--oidc-operators", "groups=sre"][..],
    ]
    .concat();
    let server = Server::start(&place, &specs, &door);
    let (sre, dev) = (issuer.sign(&["sre"], "fleet", 300), issuer.sign(&["dev"], "fleet", 300));
    server.settled(&[("authorization", &dev)]);
    let freeze = |token: &str| {
        let headers = [("content-type", "application/json"), ("authorization", token)];
        let body = json!({ "reason": "costs" }).to_string();
        server.send("POST", "/v1/fleets/quickstart/freeze", &headers, &body).status
    };
    assert_eq!(freeze(&dev), 403);
    for (wrong, why) in [
        (issuer.sign(&["sre"], "other", 300), "it is for somebody else"),
        (issuer.sign(&["sre"], "fleet", -300), "it is over"),
        (format!("{sre}x"), "its signature is not the issuer's"),
    ] {
        assert_eq!(freeze(&wrong), 401, "{why}");
    }
    assert_eq!(freeze(&sre), 200);
    let history = place.expect(0, &["history", "quickstart"]);
    assert!(history.contains("ada@example.com") && history.contains("freeze over HTTP (costs)"));
}
