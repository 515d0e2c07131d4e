//! What Azure says, as far as we listen. Fields that we do not use are left out.

use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// Azure writes `null` for lists and maps that have nothing in them as readily as it leaves them out.
fn nullable<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// A page of a list.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "T: Deserialize<'de>")]
pub(crate) struct Page<T> {
    pub(crate) value: Vec<T>,
    #[serde(default)]
    pub(crate) next_link: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Failure {
    pub(crate) error: ErrorBody,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct ErrorBody {
    #[serde(alias = "Code")]
    pub(crate) code: String,
    #[serde(alias = "Message")]
    pub(crate) message: String,
    #[serde(deserialize_with = "nullable")]
    pub(crate) details: Vec<ErrorBody>,
}

/// An operation under way.
#[derive(Debug, Deserialize)]
pub(crate) struct Operation {
    pub(crate) status: String,
    #[serde(default)]
    pub(crate) error: Option<ErrorBody>,
}

/// A virtual machine as it is read.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Vm {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) location: String,
    #[serde(deserialize_with = "nullable")]
    pub(crate) zones: Vec<String>,
    #[serde(deserialize_with = "nullable")]
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) properties: VmProperties,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct VmProperties {
    pub(crate) hardware_profile: HardwareProfile,
    pub(crate) network_profile: NetworkProfile,
    pub(crate) instance_view: Option<InstanceView>,
    pub(crate) provisioning_state: Option<String>,
    pub(crate) priority: Option<String>,
    pub(crate) capacity_reservation: Option<serde_json::Value>,
    pub(crate) time_created: Option<String>,
    pub(crate) os_profile: Option<OsProfile>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct OsProfile {
    pub(crate) admin_username: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct HardwareProfile {
    pub(crate) vm_size: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct NetworkProfile {
    /// The interfaces as they are named in truth: not as we asked for.
    #[serde(deserialize_with = "nullable")]
    pub(crate) network_interfaces: Vec<Reference>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Reference {
    pub(crate) id: String,
}

/// What a machine does now, besides what was last done to it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct InstanceView {
    #[serde(deserialize_with = "nullable")]
    pub(crate) statuses: Vec<Status>,
}

/// `PowerState/running`, `ProvisioningState/failed/OSProvisioningTimedOut`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Status {
    pub(crate) code: String,
    pub(crate) display_status: String,
    pub(crate) message: String,
}

/// Anything that has a name and stands somewhere.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Resource {
    pub(crate) name: String,
    pub(crate) location: String,
    pub(crate) properties: serde_json::Value,
}

/// A disk or an interface.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Child {
    pub(crate) name: String,
    pub(crate) location: String,
    #[serde(deserialize_with = "nullable")]
    tags: BTreeMap<String, String>,
    /// The machine that uses a disk.
    managed_by: Option<String>,
    properties: ChildProperties,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ChildProperties {
    /// The machine that uses an interface.
    virtual_machine: Option<serde_json::Value>,
}

impl Child {
    /// Whether a machine uses it.
    pub(crate) fn is_used(&self) -> bool {
        self.managed_by.as_ref().is_some_and(|by| !by.is_empty())
            || self.properties.virtual_machine.as_ref().is_some_and(|by| !by.is_null())
    }

    /// A tag's value, whatever its name's case.
    pub(crate) fn tag(&self, key: &str) -> Option<&str> {
        crate::tags::value(&self.tags, key)
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Sku {
    pub(crate) resource_type: String,
    pub(crate) name: String,
    pub(crate) family: String,
    #[serde(deserialize_with = "nullable")]
    pub(crate) location_info: Vec<SkuLocation>,
    #[serde(deserialize_with = "nullable")]
    pub(crate) capabilities: Vec<Capability>,
    #[serde(deserialize_with = "nullable")]
    pub(crate) restrictions: Vec<Restriction>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SkuLocation {
    pub(crate) location: String,
    pub(crate) zones: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Capability {
    pub(crate) name: String,
    pub(crate) value: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Restriction {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) values: Vec<String>,
    pub(crate) restriction_info: RestrictionInfo,
    pub(crate) reason_code: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RestrictionInfo {
    pub(crate) locations: Vec<String>,
    pub(crate) zones: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage {
    pub(crate) current_value: i64,
    pub(crate) limit: i64,
    pub(crate) name: UsageName,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct UsageName {
    pub(crate) value: String,
    pub(crate) localized_value: String,
}

/// An interface with its addresses.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Interface {
    pub(crate) properties: InterfaceProperties,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct InterfaceProperties {
    pub(crate) primary: Option<bool>,
    #[serde(deserialize_with = "nullable")]
    pub(crate) ip_configurations: Vec<IpConfiguration>,
    pub(crate) virtual_machine: Option<Reference>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct IpConfiguration {
    pub(crate) properties: IpProperties,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct IpProperties {
    pub(crate) primary: Option<bool>,
    #[serde(rename = "privateIPAddress")]
    pub(crate) private_ip_address: Option<String>,
    #[serde(rename = "publicIPAddress")]
    pub(crate) public_ip_address: Option<Reference>,
}

/// A public address.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PublicAddress {
    pub(crate) id: String,
    pub(crate) properties: PublicProperties,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PublicProperties {
    pub(crate) ip_address: Option<String>,
    dns_settings: Option<DnsSettings>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct DnsSettings {
    fqdn: Option<String>,
}

impl PublicAddress {
    /// Its name in the public DNS.
    pub(crate) fn name(&self) -> Option<&str> {
        self.properties.dns_settings.as_ref()?.fqdn.as_deref()
    }
}
