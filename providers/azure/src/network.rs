//! Where a machine is plugged in: the template's subnet in the right region.

use crate::api::{Api, NETWORK};
use crate::error::refused;
use crate::names::{self, Group};
use crate::wire::Resource;
use fleet_model::{Region, Template};
use fleet_provider::{Class, Error};
use std::collections::BTreeMap;
use tokio::sync::Mutex;

/// Regions of networks, looked up once: they do not move.
#[derive(Default)]
pub(crate) struct Networks(Mutex<BTreeMap<String, String>>);

/// Why a template without a subnet makes no machine.
pub(crate) const NO_SUBNET: &str = "azure machines need a subnet: name its whole address, one per \
                                    region, in template.subnets";

/// A subnet, and the group in which its machines are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plug {
    pub(crate) subnet: String,
    pub(crate) group: Group,
}

impl Networks {
    /// The first subnet of the template whose network lies in a region of our subscription: a
    /// machine cannot be plugged in anywhere else.
    pub(crate) async fn find(
        &self,
        api: &Api,
        template: &Template,
        region: &Region,
    ) -> Result<Plug, Error> {
        let wrong = |code, words: String| Err(refused(Class::Invalid, code, words));
        if template.subnets.is_empty() {
            return wrong("NoSubnet", NO_SUBNET.to_owned());
        }
        let group = api.group()?;
        for subnet in &template.subnets {
            let (Some(network), Some(of)) =
                (names::network_of(subnet), names::subscription(subnet))
            else {
                return wrong("BadSubnet", format!("`{subnet}` is not the address of a subnet"));
            };
            if of == group.subscription && self.region_of(api, network).await? == region.as_str() {
                return Ok(Plug { subnet: subnet.clone(), group });
            }
        }
        let words = format!(
            "no subnet of the template lies in {region} of subscription {}",
            group.subscription
        );
        wrong("NoSubnetInRegion", words)
    }

    async fn region_of(&self, api: &Api, network: &str) -> Result<String, Error> {
        let mut known = self.0.lock().await;
        if let Some(region) = known.get(network) {
            return Ok(region.clone());
        }
        let Some(found) = api.find::<Resource>(network, NETWORK).await? else {
            let words = format!("there is no network {network}");
            return Err(refused(Class::Invalid, "NetworkNotFound", words));
        };
        let region = names::region(&found.location);
        known.insert(network.to_owned(), region.clone());
        Ok(region)
    }
}
