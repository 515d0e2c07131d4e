//! The request for a machine: a pure function of what is asked and of what names stand for.

use crate::error::refused;
use crate::image;
use crate::names::{self, FIREWALLS, Group, IDENTITIES, RESERVATIONS};
use crate::network::Plug;
use crate::tags;
use fleet_model::{Cloud, Market, MicroUsd, SlotId, Template, Zone};
use fleet_provider::{Class, CreateRequest, Error};
use serde_json::{Value, json};

/// The user that the SSH key is for.
const USER: &str = "fleet";

/// The disk if the spec does not say: every size takes it.
const DISK: &str = "StandardSSD_LRS";

/// The most user data that Azure takes.
const LONGEST_DATA: usize = 65_535;

/// What Azure would refuse, told before anything is sent.
pub(crate) fn check(request: &CreateRequest<'_>) -> Result<SlotId, Error> {
    let wrong = |code, words: String| Err(refused(Class::Invalid, code, words));
    let create = request.create;
    let pool = &create.pool;
    if pool.place.cloud != Cloud::Azure {
        return wrong("WrongCloud", format!("{pool} is not of azure"));
    }
    if create.token.as_str().is_empty() {
        return wrong("BadToken", "a launch has a token".to_owned());
    }
    if let Some(why) = lacks(request.template) {
        return wrong("BadTemplate", why.to_owned());
    }
    match create.slots[..] {
        [slot] => Ok(slot),
        _ => wrong("TooMany", "a launch makes one machine".to_owned()),
    }
}

/// What a template lacks for any machine to be made from it.
pub(crate) fn lacks(template: &Template) -> Option<&'static str> {
    if template.subnets.is_empty() {
        return Some(crate::network::NO_SUBNET);
    }
    if template.key.is_none() {
        return Some(
            "azure machines need an SSH key: template.key, the public key itself or the name of an sshPublicKeys resource",
        );
    }
    if template.user_data.as_ref().is_some_and(|data| data.expose().len() > LONGEST_DATA) {
        return Some("azure takes 64 kB of user data at most");
    }
    if template.security_groups.len() > 1 {
        return Some("an azure machine has one network security group at most");
    }
    None
}

/// What has been looked up.
pub(crate) struct Found<'a> {
    pub(crate) plug: &'a Plug,
    /// The public key itself.
    pub(crate) key: &'a str,
    /// Whether the size has accelerated networking.
    pub(crate) fast_network: bool,
    /// Whether the size is Arm.
    pub(crate) arm: bool,
    /// The capacity reservation group, for the reserved market.
    pub(crate) reservation: Option<&'a str>,
}

/// The body of the request.
pub(crate) fn body(asked: &CreateRequest<'_>, slot: SlotId, found: &Found<'_>) -> Value {
    let CreateRequest { create, template, .. } = asked;
    let (pool, group) = (&create.pool, &found.plug.group);
    let name = names::machine(create.token.as_str());
    let image = create.image.as_deref().unwrap_or(image::text(template, found.arm));
    let mut body = json!({
        "location": pool.place.region,
        "tags": tags::of(asked, slot),
        "properties": {
            "hardwareProfile": { "vmSize": pool.instance_type },
            "storageProfile": {
                "imageReference": image::reference(image),
                "osDisk": disk(template, &name),
            },
            "osProfile": {
                "computerName": name,
                "adminUsername": USER,
                "linuxConfiguration": {
                    "disablePasswordAuthentication": true,
                    "ssh": { "publicKeys": [{
                        "path": format!("/home/{USER}/.ssh/authorized_keys"),
                        "keyData": found.key,
                    }] },
                },
            },
            "networkProfile": {
                // The interface is made and ended with its machine: no child is left behind.
                "networkApiVersion": "2020-11-01",
                "networkInterfaceConfigurations": [interface(template, &name, found)],
            },
        },
    });
    if pool.place.zone.as_str() != Zone::REGIONAL {
        body["zones"] = json!([pool.place.zone]);
    }
    let properties = &mut body["properties"];
    match pool.market {
        Market::OnDemand => {}
        Market::Spot => {
            properties["priority"] = json!("Spot");
            properties["evictionPolicy"] = json!("Delete");
            properties["billingProfile"] = json!({ "maxPrice": most(create.max_price) });
        }
        Market::Reserved => {
            let id = found.reservation.map(|text| group.named(RESERVATIONS, text));
            properties["capacityReservation"] = json!({ "capacityReservationGroup": { "id": id } });
        }
    }
    if let Some(text) = &template.user_data {
        // Custom data is what provisioning agents hand to a machine at its first boot, on every image
        // that has one. User data is only shown by the metadata service, and not every cloud-init
        // looks there; images without an agent can read nothing else. cloud-init takes the second
        // where the first is missing, so what is sent twice runs once.
        let data = json!(azure_core::base64::encode(text.expose()));
        properties["osProfile"]["customData"] = data.clone();
        properties["userData"] = data;
    }
    if let Some(role) = &template.instance_role {
        body["identity"] = identity(group, role);
    }
    body
}

/// The most to pay: dollars with five decimals at most, or −1 for "up to the on-demand price".
fn most(price: Option<MicroUsd>) -> Value {
    // Rounded down, so that nobody pays more than they said.
    let five = |MicroUsd(micros): MicroUsd| MicroUsd(micros - micros % 10);
    price.map_or_else(|| json!(-1), |price| json!(five(price).as_f64()))
}

fn disk(template: &Template, name: &str) -> Value {
    let disk = template.disk.as_ref();
    let kind = disk.and_then(|disk| disk.kind.as_deref()).unwrap_or(DISK);
    let mut json = json!({
        "name": names::disk(name),
        "createOption": "FromImage",
        "deleteOption": "Delete",
        "managedDisk": { "storageAccountType": kind },
    });
    if let Some(size) = disk.and_then(|disk| disk.size_gib) {
        json["diskSizeGB"] = json!(size);
    }
    json
}

fn interface(template: &Template, name: &str, found: &Found<'_>) -> Value {
    let mut properties = json!({
        "primary": true,
        "deleteOption": "Delete",
        "enableAcceleratedNetworking": found.fast_network,
        "ipConfigurations": [{
            "name": "primary",
            "properties": { "primary": true, "subnet": { "id": found.plug.subnet } },
        }],
    });
    if let Some(text) = template.security_groups.first() {
        properties["networkSecurityGroup"] =
            json!({ "id": found.plug.group.named(FIREWALLS, text) });
    }
    json!({ "name": names::nic(name), "properties": properties })
}

/// `system`, or a user-assigned identity by name or address.
fn identity(group: &Group, role: &str) -> Value {
    if role.eq_ignore_ascii_case("system") {
        return json!({ "type": "SystemAssigned" });
    }
    let id = group.named(IDENTITIES, role);
    json!({ "type": "UserAssigned", "userAssignedIdentities": { id: {} } })
}

#[cfg(test)]
#[path = "launch_tests.rs"]
mod tests;
