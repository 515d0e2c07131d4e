//! Machines as other programs read them. A machine's name is its fleet and its slot: it stays the same
//! for as long as the machine is there, and says nothing of its address.

use crate::machines::Line;
use crate::output::reach::{Access, FleetInventory, Inventory, InventoryMachine};
use crate::output::words::Time;
use fleet_model::{FleetName, Timestamp};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::IpAddr;

/// A machine of a fleet.
pub(crate) struct Host<'a> {
    pub fleet: &'a FleetName,
    pub line: &'a Line,
}

impl Host<'_> {
    /// `web-burst-3`.
    pub(crate) fn name(&self) -> String {
        word(&format!("{}-{}", self.fleet, self.line.slot.name))
    }

    /// The address that others should use, of a machine that may answer.
    pub(crate) fn reached_at(&self, private: bool) -> Option<IpAddr> {
        self.line.address(private).filter(|_| self.line.may_answer())
    }

    fn where_and_what(&self) -> String {
        let pool = &self.line.pool;
        word_or(&format!("{}/{}", pool, self.line.id), "/.:@")
    }
}

/// One word of letters that no format gives a meaning: names come from clouds and folders.
fn word(text: &str) -> String {
    word_or(text, ".")
}

fn word_or(text: &str, also: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || also.contains(c);
    text.chars().map(|c| if keep(c) { c } else { '_' }).collect()
}

/// The name of a group as Ansible allows it: letters, digits and `_`.
fn group(kind: &str, name: &str) -> String {
    format!("{kind}_{}", word_or(name, "").replace('-', "_"))
}

/// An Ansible inventory in INI form: each host once with its variables, then the groups.
pub(crate) fn ansible(hosts: &[Host<'_>], private: bool) -> String {
    let mut out = String::from("# Written by `fleet inventory`; addresses change with reboots.\n");
    let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for host in hosts {
        let Some(address) = host.reached_at(private) else { continue };
        let (name, line) = (host.name(), host.line);
        let place = &line.pool.place;
        let _ = write!(out, "{name} ansible_host={address}");
        if let Some(user) = line.user() {
            let _ = write!(out, " ansible_user={user}");
        }
        let _ = writeln!(
            out,
            " fleet_slot={} fleet_machine={}",
            line.slot,
            word_or(line.id.as_str(), "/.:")
        );
        for key in [
            group("fleet", host.fleet.as_str()),
            group("group", line.slot.name.group.as_str()),
            group("market", line.pool.market.as_str()),
            group("cloud", place.cloud.as_str()),
            group("region", &format!("{}_{}", place.cloud, place.region)),
        ] {
            groups.entry(key).or_default().insert(name.clone());
        }
    }
    for (group, names) in groups {
        let _ = write!(out, "\n[{group}]\n");
        names.iter().for_each(|name| {
            let _ = writeln!(out, "{name}");
        });
    }
    out
}

/// Blocks for `~/.ssh/config`.
pub(crate) fn ssh_config(hosts: &[Host<'_>], private: bool) -> String {
    let mut out = String::from("# Written by `fleet inventory --format ssh-config`.\n");
    for host in hosts {
        let Some(address) = host.reached_at(private) else { continue };
        let _ = write!(out, "\n# {}\nHost {}\n", host.where_and_what(), host.name());
        let _ = writeln!(out, "    HostName {address}");
        if let Some(user) = host.line.user() {
            let _ = writeln!(out, "    User {user}");
        }
    }
    out
}

/// Lines for `/etc/hosts`.
pub(crate) fn hosts(hosts: &[Host<'_>], private: bool) -> String {
    let mut out = String::new();
    for host in hosts {
        if let Some(address) = host.reached_at(private) {
            let _ = writeln!(out, "{address}\t{}", host.name());
        }
    }
    out
}

/// A machine, whether it can be reached or not.
fn machine(host: &Host<'_>, private: bool) -> InventoryMachine {
    let line = host.line;
    InventoryMachine {
        name: host.name(),
        slot: line.slot.to_string(),
        group: line.slot.name.group.into(),
        market: line.pool.market.into(),
        provider: line.pool.place.cloud.into(),
        region: line.pool.place.region.to_string(),
        zone: line.pool.place.zone.to_string(),
        r#type: line.pool.instance_type.to_string(),
        id: line.id.to_string(),
        state: line.state.into(),
        address: host.reached_at(private).map(|address| address.to_string()),
        access: Access::of(line),
    }
}

/// Every machine, by fleet.
pub(crate) fn document(
    hosts: &[Host<'_>],
    private: bool,
    taken_at: Option<Timestamp>,
) -> Inventory {
    let mut fleets: BTreeMap<&FleetName, Vec<InventoryMachine>> = BTreeMap::new();
    for host in hosts {
        fleets.entry(host.fleet).or_default().push(machine(host, private));
    }
    let fleet =
        |(fleet, machines): (&FleetName, _)| FleetInventory { fleet: fleet.to_string(), machines };
    Inventory { taken_at: taken_at.map(Time), fleets: fleets.into_iter().map(fleet).collect() }
}

/// The columns of the table: fields of the JSON document.
const COLUMNS: [&str; 18] = [
    "name",
    "fleet",
    "slot",
    "group",
    "market",
    "provider",
    "region",
    "zone",
    "type",
    "id",
    "state",
    "address",
    "publicIp",
    "privateIp",
    "dnsName",
    "sshUser",
    "sshUserFrom",
    "sshKey",
];

/// The same as a table (RFC 4180), with a header.
pub(crate) fn csv(hosts: &[Host<'_>], private: bool) -> String {
    let mut out = COLUMNS.join(",");
    out.push_str("\r\n");
    for host in hosts {
        let mut machine = serde_json::to_value(machine(host, private)).unwrap_or_default();
        machine["fleet"] = Value::from(host.fleet.as_str());
        let cells: Vec<String> = COLUMNS.iter().map(|column| cell(&machine[*column])).collect();
        out.push_str(&cells.join(","));
        out.push_str("\r\n");
    }
    out
}

/// A cell. What a spreadsheet would take for a formula becomes text there.
fn cell(value: &Value) -> String {
    let text = value.as_str().unwrap_or_default();
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    let text = match text.starts_with(['=', '+', '@', '-']) {
        true => format!("'{text}"),
        false => text,
    };
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_have_no_meaning_to_any_format() {
        assert_eq!(word("web-burst-3"), "web-burst-3");
        assert_eq!(word("a b\n[c]=*"), "a_b__c___");
        assert_eq!(group("region", "aws_us-east-1"), "region_aws_us_east_1");
        assert_eq!(cell(&json!("=1+1")), "'=1+1");
        assert_eq!(cell(&json!("a,\"b\"\n")), "\"a,\"\"b\"\"\"");
        assert_eq!(cell(&Value::Null), "");
    }
}
