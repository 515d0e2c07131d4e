//! Text that must not be seen.

use crate::digest;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// User data, keys, tokens. Neither printing nor saving one shows it: only [`Secret::expose`] does,
/// and that word is easy to search for.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The text itself, for the one place that has to send it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Secret(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Secret(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A digest is saved in its place: enough to see that two are the same, or that one has changed.
impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digest = digest("user-data/1", [self.0.as_bytes()]);
        serializer.collect_str(&format_args!("digest:{digest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_printed_nor_saved() {
        let secret = Secret::from("hunter2");
        let shown = format!("{secret:?} {secret:#?} {:?}", Some(&secret));
        let saved = serde_json::to_string(&secret).expect("JSON");
        assert!(!shown.contains("hunter2") && !saved.contains("hunter2"), "{shown} {saved}");
        assert!(saved.starts_with("\"digest:"), "{saved}");
        assert_eq!(secret.expose(), "hunter2");
    }
}
