//! Names that follow from the launch.
//!
//! A machine is called `web-3f0c…-7`: the fleet's name for people, a digest of fleet and token,
//! and the machine's place in its launch. A repeat asks for the same names, and Google makes no
//! name twice in a zone: that holds for ever, where a request id is forgotten within the hour.

use fleet_model::{FleetName, FleetUid, Token, digest};

/// What is left of a fleet's name: with digest and number it stays below 63 characters.
const LONGEST_PREFIX: usize = 30;

/// As much of a digest as makes two launches never meet.
const DIGITS: usize = 20;

/// The mark of a launch in the names of its machines.
pub(crate) fn mark(fleet: &FleetUid, token: &Token) -> String {
    let parts = [fleet.as_str().as_bytes(), token.as_str().as_bytes()];
    let mut text = digest("gcp-name/1", parts).to_string();
    text.truncate(DIGITS);
    text
}

/// The name of a machine.
pub(crate) fn of(name: &FleetName, mark: &str, index: usize) -> String {
    format!("{}-{mark}-{index}", prefix(name.as_str()))
}

/// A name that Google takes: lower case, digits and dashes, and a letter in front.
fn prefix(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let mut text: String = name.chars().map(plain).collect();
    if !text.starts_with(|c: char| c.is_ascii_lowercase()) {
        text.insert_str(0, "f-");
    }
    text.truncate(LONGEST_PREFIX);
    text.trim_end_matches('-').to_owned()
}

/// The mark and the place in its launch that a name tells.
pub(crate) fn read(name: &str) -> Option<(&str, usize)> {
    let (rest, index) = name.rsplit_once('-')?;
    let (_, mark) = rest.rsplit_once('-')?;
    // One way to write a number: `07` is not a name of ours.
    let index: usize = index.parse().ok().filter(|n: &usize| n.to_string() == index)?;
    Some((mark, index))
}

/// The id under which Google knows a request for an hour: a UUID from the same facts.
pub(crate) fn request_id(fleet: &FleetUid, token: &Token) -> String {
    let parts = [fleet.as_str().as_bytes(), token.as_str().as_bytes()];
    let hex = digest("gcp-request/1", parts).to_string();
    // Version 8, "made by a rule of one's own", of the usual variant.
    format!("{}-{}-8{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        let uid = FleetUid::new("u");
        let mark = mark(&uid, &Token::new("t"));
        for fleet in [
            "web",
            "Web_2",
            "9lives",
            "",
            "é",
            &"x".repeat(80),
            "a-very-long-name-that-ends-in-a-dash-",
        ] {
            let name = of(&FleetName::new(fleet), &mark, 99);
            assert_eq!(read(&name), Some((mark.as_str(), 99)), "{name}");
            assert!(
                name.len() <= 63 && name.starts_with(|c: char| c.is_ascii_lowercase()),
                "{name}"
            );
            let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(name.chars().all(good), "{name}");
        }
        for bad in ["", "web", "web-1", "web-aa-07", "web-aa-x", "web-aa--1"] {
            assert_eq!(read(bad).filter(|(mark, _)| !mark.is_empty()), None, "{bad}");
        }
    }

    #[test]
    fn another_token_is_another_name_and_another_request() {
        let (uid, a, b) = (FleetUid::new("u"), Token::new("a"), Token::new("b"));
        assert_ne!(mark(&uid, &a), mark(&uid, &b));
        assert_ne!(mark(&uid, &a), mark(&FleetUid::new("v"), &a));
        assert_eq!(request_id(&uid, &a), request_id(&uid, &a));
        assert_ne!(request_id(&uid, &a), request_id(&uid, &b));
        let id = request_id(&uid, &a);
        let parts: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12], "{id}");
    }
}
