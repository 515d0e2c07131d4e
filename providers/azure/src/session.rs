//! Whose account is used, and where it is.

use fleet_model::Secret;

/// Azure Resource Manager.
const ENDPOINT: &str = "https://management.azure.com";

/// The public price list.
const PRICES: &str = "https://prices.azure.com";

/// Whose account is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureSettings {
    /// The subscription in which machines are made.
    pub subscription: Option<String>,
    /// The resource group in which machines are made, of the same name in each subscription.
    pub resource_group: Option<String>,
    /// The capacity reservation group that machines of the reserved market are taken from.
    pub reservation_group: Option<String>,
    /// A token to use instead of looking for credentials.
    pub token: Option<Secret>,
    /// Where requests go.
    pub endpoint: String,
    /// Where prices are asked for.
    pub prices: String,
}

impl Default for AzureSettings {
    fn default() -> Self {
        AzureSettings {
            subscription: None,
            resource_group: None,
            reservation_group: None,
            token: None,
            endpoint: ENDPOINT.to_owned(),
            prices: PRICES.to_owned(),
        }
    }
}

impl AzureSettings {
    /// From `AZURE_SUBSCRIPTION_ID`, `FLEET_AZURE_RESOURCE_GROUP`, `FLEET_AZURE_RESERVATION_GROUP`,
    /// `FLEET_AZURE_TOKEN`, `FLEET_AZURE_ENDPOINT` and `FLEET_AZURE_PRICES_ENDPOINT`.
    pub fn from_environment() -> Self {
        AzureSettings::read(|name| std::env::var(name).ok())
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let default = AzureSettings::default();
        AzureSettings {
            subscription: set("AZURE_SUBSCRIPTION_ID").map(|id| id.trim().to_ascii_lowercase()),
            resource_group: set("FLEET_AZURE_RESOURCE_GROUP"),
            reservation_group: set("FLEET_AZURE_RESERVATION_GROUP"),
            token: set("FLEET_AZURE_TOKEN").map(Secret::from),
            endpoint: set("FLEET_AZURE_ENDPOINT").unwrap_or(default.endpoint),
            prices: set("FLEET_AZURE_PRICES_ENDPOINT").unwrap_or(default.prices),
        }
    }

    /// The same in another subscription.
    pub(crate) fn for_subscription(&self, id: &str) -> Self {
        AzureSettings { subscription: Some(id.to_ascii_lowercase()), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        let settings = AzureSettings::read(|name| match name {
            "AZURE_SUBSCRIPTION_ID" => Some(" A1".into()),
            "FLEET_AZURE_RESOURCE_GROUP" => Some("fleets".into()),
            "FLEET_AZURE_TOKEN" => Some("canary".into()),
            _ => None,
        });
        assert_eq!(settings.subscription.as_deref(), Some("a1"));
        assert_eq!(settings.for_subscription("B2").subscription.as_deref(), Some("b2"));
        assert_eq!(settings.resource_group.as_deref(), Some("fleets"));
        assert_eq!(settings.endpoint, ENDPOINT);
        assert!(!format!("{settings:?}").contains("canary"));
    }
}
