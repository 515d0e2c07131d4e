//! Addresses: they belong to interfaces, not to machines, so they are asked for only when somebody wants
//! to reach machines. One list of the group's interfaces tells all private ones; the group's public
//! addresses are listed only where an interface has one, which none that we launch does.

use crate::api::{Api, NETWORK};
use crate::names::{self, NICS, PUBLIC};
use crate::wire::{Interface, PublicAddress};
use fleet_model::{Access, Machine, MachineId, address, dns_name};
use fleet_provider::Error;
use std::collections::BTreeMap;

/// How machines are reached, as far as their interfaces tell.
pub(crate) async fn of(
    api: &Api,
    machines: &[&Machine],
) -> Result<BTreeMap<MachineId, Access>, Error> {
    let group = api.group()?;
    let query = [("api-version", NETWORK)];
    let nics: Vec<Interface> = api.list(&group.all(NICS), &query).await?;
    let ours: Vec<&Interface> = nics.iter().filter(|nic| is_of(nic, machines)).collect();
    let mut public = Vec::new();
    if ours.iter().any(|nic| nic.public().is_some()) {
        public = api.list(&group.all(PUBLIC), &query).await.unwrap_or_else(|error| {
            // Private addresses are worth having without them.
            tracing::warn!(%error, "public addresses on azure are not known");
            Vec::new()
        });
    }
    Ok(read(&ours, &public))
}

fn is_of(nic: &Interface, machines: &[&Machine]) -> bool {
    let name = nic.machine();
    machines.iter().any(|machine| Some(machine.id.as_str()) == name.as_deref())
}

/// The addresses of machines, by their interfaces. Of several interfaces the primary one counts.
pub(crate) fn read(nics: &[&Interface], public: &[PublicAddress]) -> BTreeMap<MachineId, Access> {
    let mut found = BTreeMap::new();
    let mut sorted = nics.to_vec();
    sorted.sort_by_key(|nic| nic.properties.primary != Some(false));
    for nic in sorted {
        let Some(machine) = nic.machine() else { continue };
        let outside = nic
            .public()
            .and_then(|id| public.iter().find(|address| address.id.eq_ignore_ascii_case(id)));
        let access = Access {
            public_ip: address(outside.and_then(|it| it.properties.ip_address.as_deref())),
            private_ip: address(nic.private()),
            dns_name: dns_name(outside.and_then(PublicAddress::name)),
            user: None,
            key: None,
        };
        found.insert(MachineId::new(machine), access);
    }
    found
}

impl Interface {
    /// The machine that uses it.
    fn machine(&self) -> Option<String> {
        let id = &self.properties.virtual_machine.as_ref()?.id;
        Some(names::last(id).to_ascii_lowercase())
    }

    fn first(&self) -> Option<&crate::wire::IpProperties> {
        let all = &self.properties.ip_configurations;
        let primary = all.iter().find(|one| one.properties.primary == Some(true));
        Some(&primary.or(all.first())?.properties)
    }

    fn private(&self) -> Option<&str> {
        self.first()?.private_ip_address.as_deref()
    }

    fn public(&self) -> Option<&str> {
        Some(self.first()?.public_ip_address.as_ref()?.id.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_value, json};

    /// As the description of `Network Interfaces - List`, 2023-09-01, has it.
    fn nic(vm: &str, primary: bool, private: &str, public: Option<&str>) -> Interface {
        let public = public.map_or(Value::Null, |id| json!({ "id": id }));
        from_value(json!({
            "name": "fleet-a-nic-78b7aa25",
            "properties": {
                "primary": primary,
                "ipConfigurations": [{ "name": "primary", "properties": {
                    "primary": true, "privateIPAddress": private, "publicIPAddress": public,
                } }],
                "virtualMachine": { "id": format!("/subscriptions/s/virtualMachines/{vm}") },
            },
        }))
        .expect("an interface")
    }

    #[test]
    fn addresses_are_those_of_the_primary_interface() {
        let nics = [
            nic("Fleet-A", true, "10.0.0.4", Some("/x/publicIPAddresses/a")),
            nic("fleet-a", false, "10.0.0.9", None),
            nic("fleet-b", true, "10.0.0.5", None),
            from_value(json!({ "name": "unused", "properties": { "ipConfigurations": null } }))
                .expect("an interface"),
        ];
        let public: PublicAddress = from_value(json!({
            "id": "/X/publicIPAddresses/A",
            "properties": { "ipAddress": "203.0.113.7", "dnsSettings": { "fqdn": "a.example.com" } },
        }))
        .expect("an address");
        let found = read(&nics.iter().collect::<Vec<_>>(), &[public]);
        assert_eq!(found.len(), 2);
        let a = &found[&MachineId::new("fleet-a")];
        assert_eq!(a.private_ip, address(Some("10.0.0.4")));
        assert_eq!(a.public_ip, address(Some("203.0.113.7")));
        assert_eq!(a.dns_name.as_deref(), Some("a.example.com"));
        let b = &found[&MachineId::new("fleet-b")];
        assert_eq!((b.private_ip, b.public_ip), (address(Some("10.0.0.5")), None));
    }
}
