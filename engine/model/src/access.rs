//! How a machine is reached: its addresses, and who may log in.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// The longest name of DNS.
const LONGEST_NAME: usize = 253;

/// The longest name of a Linux user.
const LONGEST_USER: usize = 32;

/// How a machine is reached, as far as its cloud tells. Addresses come and go with reboots: no decision
/// depends on them, and no journal has them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Access {
    /// Its address on the internet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_ip: Option<IpAddr>,
    /// Its address in its own network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_ip: Option<IpAddr>,
    /// Its name in the public DNS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns_name: Option<String>,
    /// The user that its launch made, where the cloud tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The name of the SSH key that it was launched with. The cloud's words: escape before printing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Access {
    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Access::default()
    }
}

/// An address, if it is one. Clouds write "none" as an empty text as well.
pub fn address(text: Option<&str>) -> Option<IpAddr> {
    text?.trim().parse().ok()
}

/// A name of DNS, if it is one. Nothing else may become an argument of another program: what begins
/// with a hyphen would be an option there.
pub fn dns_name(text: Option<&str>) -> Option<String> {
    let text = text?;
    let label = |label: &str| {
        let inner = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        !label.is_empty() && !label.starts_with('-') && label.chars().all(inner)
    };
    let fits = text.len() <= LONGEST_NAME && text.split('.').all(label);
    fits.then(|| text.to_owned())
}

/// The name of a user, if it is one that `ssh` can be given without harm.
pub fn user_name(text: Option<&str>) -> Option<String> {
    let text = text?;
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fits = (1..=LONGEST_USER).contains(&text.len())
        && !text.starts_with('-')
        && text.chars().all(letter);
    fits.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_one_passes() {
        assert_eq!(address(Some("192.0.2.7")), Some(IpAddr::from([192, 0, 2, 7])));
        assert!(address(Some("2001:db8::1")).is_some());
        for no in [None, Some(""), Some("192.0.2"), Some("-oProxyCommand=x")] {
            assert_eq!(address(no), None, "{no:?}");
        }
        assert!(dns_name(Some("ec2-192-0-2-7.compute-1.amazonaws.com")).is_some());
        let long = "a".repeat(254);
        for no in ["", "-oProxyCommand=x", "a b", "a..b", "a;b", "a.-b", &long] {
            assert_eq!(dns_name(Some(no)), None, "{no}");
        }
        assert_eq!(user_name(Some("ec2-user")).as_deref(), Some("ec2-user"));
        for no in ["", "-l", "a@b", "a b", "$(id)", "a:b", &"a".repeat(33)] {
            assert_eq!(user_name(Some(no)), None, "{no}");
        }
    }
}
