//! What tells a request of a person or a program from one that a page of another site made.

use crate::refusal::Refusal;
use axum::http::{HeaderMap, StatusCode, header};
use fleet_words::exit::Exit;
use fleet_words::fail::Failure;
use std::net::IpAddr;

/// The `Host` must be this machine: a page whose name was made to lead here (DNS rebinding) has another.
pub(super) fn is_here(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok()).unwrap_or_default();
    if is_loopback(host) && hosts.next().is_none() {
        return Ok(());
    }
    Err(Refusal::forbidden(
        "without tokens only this machine is answered, under its own name",
        "use http://127.0.0.1 or http://localhost, or serve with --tokens",
    ))
}

/// Whether the host of a URL, perhaps with a port, is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((name, port)) if is_port(port) => name,
            _ => return false,
        },
        None => match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            Some(_) => return false,
            None => host,
        },
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn is_port(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
}

/// What changes something is JSON, and no other site's: forms cannot send JSON, and scripts of other sites have to ask
/// first, which nobody here answers.
pub(super) fn is_no_form(headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let sent = text(header::CONTENT_TYPE).unwrap_or_default();
    let kind = sent.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let failure = Failure::new("what changes something is sent as JSON")
            .at("Content-Type")
            .hint("send `Content-Type: application/json`")
            .exit(Exit::Usage);
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, failure));
    }
    let other_site = match (text(header::ORIGIN), text(header::HOST)) {
        (None, _) => false,
        (Some(origin), Some(host)) => {
            origin.split_once("://").is_none_or(|(_, of)| !of.eq_ignore_ascii_case(host))
        }
        (Some(_), None) => true,
    };
    let fetched = text(header::HeaderName::from_static("sec-fetch-site"));
    if other_site || fetched.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        return Err(Refusal::forbidden(
            "a page of another site may change nothing here",
            "call from a page of this server, or from a program",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for here in
            ["localhost", "LOCALHOST:8190", "127.0.0.1", "127.1.2.3:80", "[::1]", "[::1]:8190"]
        {
            assert!(is_loopback(here), "{here}");
        }
        for other in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:80",
            "::1",
            "[::1]x",
            "10.0.0.1",
            "localhost:80:80",
            "localhost:x",
            "[::1",
            "127.0.0.1@evil",
        ] {
            assert!(!is_loopback(other), "{other}");
        }
    }

    #[test]
    fn forms_and_other_sites_change_nothing() {
        let check = |some: &[(&str, &str)], good: bool| {
            let mut headers = HeaderMap::new();
            for (name, value) in some {
                let name: header::HeaderName = name.parse().expect("a name");
                headers.append(name, value.parse().expect("a value"));
            }
            assert_eq!(is_no_form(&headers).is_ok(), good, "{some:?}");
        };
        let json = ("content-type", "application/json; charset=utf-8");
        let host = ("host", "localhost:8190");
        check(&[json, host], true);
        check(&[host], false);
        check(&[("content-type", "text/plain"), host], false);
        check(&[("content-type", "application/x-www-form-urlencoded"), host], false);
        check(&[json, host, ("origin", "http://localhost:8190")], true);
        check(&[json, host, ("origin", "https://evil.example")], false);
        check(&[json, host, ("origin", "null")], false);
        check(&[json, host, ("sec-fetch-site", "cross-site")], false);
        check(&[json, host, ("sec-fetch-site", "same-origin")], true);
    }
}
