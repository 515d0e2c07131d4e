//! What is sent, and its signature. Pure.

use super::message::Message;
use fleet_spec::NotifyFormat;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Slack takes no more than 3000 characters in one part.
const LONGEST: usize = 2500;

/// The body of a request.
pub(super) fn body(id: &str, message: &Message, format: NotifyFormat) -> Vec<u8> {
    let Message { policy, rule, event, fleet, at, title, text, next, replica } = message;
    let body = match format {
        NotifyFormat::Json => serde_json::json!({
            "id": id, "event": event, "fleet": fleet, "title": title, "text": text, "next": next,
            "at": at, "policy": policy, "rule": rule, "replica": replica,
        }),
        NotifyFormat::Slack => {
            let next = next.as_ref().map_or_else(String::new, |next| format!("\n→ {next}"));
            let said = harmless(&format!("{text}{next}"));
            let title = harmless(title);
            let about = harmless(&format!("{event} · rule {rule} · replica {replica} · {at}"));
            serde_json::json!({
                "text": format!("{title}: {said}"),
                "blocks": [
                    { "type": "section", "text": { "type": "mrkdwn", "text": format!("*{title}*\n{said}") } },
                    { "type": "context", "elements": [{ "type": "mrkdwn", "text": about }] },
                ],
            })
        }
    };
    body.to_string().into_bytes()
}

/// The three letters that Slack reads as its own language, escaped; and not too much of it.
fn harmless(text: &str) -> String {
    let short: String = text.chars().take(LONGEST).collect();
    short.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// `t=SECONDS,v1=HEX`: HMAC-SHA256 over time, a dot and the body, as Stripe does it. With the time in it, an old
/// message cannot be sent again by somebody else for ever.
pub(super) fn signature(secret: &[u8], seconds: i64, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret)
        .unwrap_or_else(|_| unreachable!("HMAC takes keys of every length"));
    mac.update(format!("{seconds}.").as_bytes());
    mac.update(body);
    let hex: String =
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={seconds},v1={hex}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::message::tests::message;

    #[test]
    fn signatures_are_those_of_others() {
        // printf '1492774577.{"a":1}' | openssl dgst -sha256 -hmac whsec_test
        let told = signature(b"whsec_test", 1_492_774_577, b"{\"a\":1}");
        assert_eq!(
            told,
            concat!(
                "t=1492774577,v1=",
                "2a55874e33dedb30da6fac02873208f53a243141599a71c0d52a1d5b89656823"
            )
        );
    }

    #[test]
    fn slack_reads_no_language_of_its_own_into_it() {
        let body = body("id", &message(), NotifyFormat::Slack);
        let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(body["text"], "fleet a: &lt;b&gt;: x &amp; y\n→ do z");
        assert_eq!(body["blocks"][0]["type"], "section");
    }
}
