//! Whose account is used, and where it is.

use fleet_model::Secret;

/// Lambda's own address.
pub(crate) const ENDPOINT: &str = "https://cloud.lambda.ai";

/// Whose account is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LambdaSettings {
    /// The key. Without one every call is refused before it is sent.
    pub key: Option<Secret>,
    /// Where requests go.
    pub endpoint: String,
}

impl LambdaSettings {
    /// From `LAMBDA_API_KEY` and `LAMBDA_CLOUD_ENDPOINT`.
    pub fn from_environment() -> Self {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        LambdaSettings {
            key: set("LAMBDA_API_KEY").map(Secret::from),
            endpoint: set("LAMBDA_CLOUD_ENDPOINT").unwrap_or_else(|| ENDPOINT.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let settings = LambdaSettings { key: Some("canary".into()), endpoint: ENDPOINT.into() };
        assert!(!format!("{settings:?}").contains("canary"));
    }
}
