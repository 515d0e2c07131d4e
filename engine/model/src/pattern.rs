//! Names with `*` and `?`, as users write them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A name that may hold wildcards; case does not matter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(String);

impl Pattern {
    /// Wraps a pattern as written.
    pub fn new(text: impl Into<String>) -> Self {
        Pattern(text.into())
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it can match more than one name.
    pub fn has_wildcards(&self) -> bool {
        self.0.contains(['*', '?'])
    }

    /// Whether the whole of `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        let (pattern, text) = (self.0.as_bytes(), text.as_bytes());
        let (mut p, mut t) = (0, 0);
        // Where to go on after the last star: its place, and how much text it has eaten.
        let mut star: Option<(usize, usize)> = None;
        while t < text.len() {
            match pattern.get(p) {
                Some(b'*') => {
                    star = Some((p + 1, t));
                    p += 1;
                }
                Some(&c) if c == b'?' || c.eq_ignore_ascii_case(&text[t]) => {
                    p += 1;
                    t += 1;
                }
                _ => match star {
                    Some((after, eaten)) => {
                        star = Some((after, eaten + 1));
                        p = after;
                        t = eaten + 1;
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|&c| c == b'*')
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        Pattern(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards() {
        let check = |pattern: &str, text: &str, expect: bool| {
            assert_eq!(Pattern::from(pattern).matches(text), expect, "{pattern} {text}");
        };
        check("p5.*", "p5.48xlarge", true);
        check("p5.*", "p5en.48xlarge", false);
        check("*", "", true);
        check("us-*-1", "us-east-1", true);
        check("us-*-1", "us-east-12", false);
        check("A100*", "a100-80gb", true);
        check("?100", "H100", true);
        check("?100", "100", false);
        check("*a*b*", "xxaxxbxx", true);
        check("*a*b*", "xxbxxaxx", false);
        check("", "", true);
        check("", "x", false);
    }
}
