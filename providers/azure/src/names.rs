//! Names and addresses of resources.

use fleet_model::digest;

/// The longest name of a Linux machine.
const LONGEST: usize = 64;

/// The name of the machine that a launch makes: its token, if that is a name, else a digest of it.
/// Names do not tell cases apart, so capitals make a digest, too.
pub(crate) fn machine(token: &str) -> String {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let fits = (1..=LONGEST).contains(&token.len())
        && token.chars().all(|c| letter(c) || c == '-' || c == '_')
        && token.starts_with(letter)
        && token.ends_with(letter);
    if fits {
        token.to_owned()
    } else {
        format!("fleet-{}", digest("azure-name/1", [token.as_bytes()]))
    }
}

/// What we ask that the interface of a machine be called.
///
/// Azure adds a hyphen and eight hexadecimal digits of its own, which nobody can know before.
pub(crate) fn nic(machine: &str) -> String {
    format!("{machine}-nic")
}

/// The machine that an interface was made for, by the interface's name.
pub(crate) fn machine_of_nic(nic: &str) -> Option<&str> {
    let (machine, ending) = nic.rsplit_once("-nic")?;
    let digits = ending.strip_prefix('-');
    let made_up = digits.is_some_and(|d| d.len() == 8 && d.chars().all(|c| c.is_ascii_hexdigit()));
    // Without an ending, should Azure ever do as it is told.
    (ending.is_empty() || made_up).then_some(machine).filter(|machine| !machine.is_empty())
}

/// The machine that a disk was made for, by the disk's name.
pub(crate) fn machine_of_disk(disk: &str) -> Option<&str> {
    disk.strip_suffix("-disk").filter(|machine| !machine.is_empty())
}

/// The disk that comes and goes with a machine.
pub(crate) fn disk(machine: &str) -> String {
    format!("{machine}-disk")
}

/// A group of resources, the start of every address in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group {
    pub(crate) subscription: String,
    pub(crate) name: String,
}

impl Group {
    /// The address of something in the group.
    pub(crate) fn at(&self, kind: &str, name: &str) -> String {
        format!("{}/providers/{kind}/{name}", self.path())
    }

    /// The address of everything of a kind in the group.
    pub(crate) fn all(&self, kind: &str) -> String {
        format!("{}/providers/{kind}", self.path())
    }

    /// The group's own address.
    pub(crate) fn path(&self) -> String {
        format!("/subscriptions/{}/resourceGroups/{}", self.subscription, self.name)
    }

    /// A resource as a spec names it: by its whole address, or by its name in this group.
    pub(crate) fn named(&self, kind: &str, text: &str) -> String {
        if text.starts_with('/') { text.to_owned() } else { self.at(kind, text) }
    }
}

/// The last part of an address.
pub(crate) fn last(address: &str) -> &str {
    address.rsplit('/').next().unwrap_or(address)
}

/// The kinds that we deal with.
pub(crate) const MACHINES: &str = "Microsoft.Compute/virtualMachines";
pub(crate) const DISKS: &str = "Microsoft.Compute/disks";
pub(crate) const KEYS: &str = "Microsoft.Compute/sshPublicKeys";
pub(crate) const RESERVATIONS: &str = "Microsoft.Compute/capacityReservationGroups";
pub(crate) const NICS: &str = "Microsoft.Network/networkInterfaces";
/// Public addresses.
pub(crate) const PUBLIC: &str = "Microsoft.Network/publicIPAddresses";
pub(crate) const FIREWALLS: &str = "Microsoft.Network/networkSecurityGroups";
pub(crate) const IDENTITIES: &str = "Microsoft.ManagedIdentity/userAssignedIdentities";

/// A region as everybody writes it: `East US` is `eastus`.
pub(crate) fn region(location: &str) -> String {
    location.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_lowercase()).collect()
}

/// The subscription of an address.
pub(crate) fn subscription(address: &str) -> Option<String> {
    let mut parts = address.strip_prefix('/')?.split('/');
    let first = parts.next()?;
    first.eq_ignore_ascii_case("subscriptions").then_some(())?;
    parts.next().filter(|id| !id.is_empty()).map(str::to_ascii_lowercase)
}

/// The network that a subnet is part of, by their addresses.
pub(crate) fn network_of(subnet: &str) -> Option<&str> {
    let lower = subnet.to_ascii_lowercase();
    let at = lower.find("/subnets/")?;
    let network = &subnet[..at];
    let ok = subscription(subnet).is_some()
        && lower[..at].contains("/providers/microsoft.network/virtualnetworks/")
        && subnet.is_ascii()
        && subnet.len() > at + "/subnets/".len()
        && !subnet.contains(['?', '#', '%', ' '])
        && !subnet.contains("..");
    ok.then_some(network)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_named_by_their_tokens() {
        assert_eq!(machine("fleet-0a1b"), "fleet-0a1b");
        for odd in ["", "Fleet-A", "-a", "a-", "a/b", "a.b", "ü", &"x".repeat(65)] {
            let name = machine(odd);
            assert_eq!((name.len(), name.starts_with("fleet-")), (38, true), "{odd}");
        }
        assert_ne!(machine("Fleet-A"), machine("Fleet-B"));
    }

    #[test]
    fn subnets_name_their_network() {
        let network =
            "/subscriptions/S1/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v";
        let subnet = format!("{network}/subnets/default");
        assert_eq!(network_of(&subnet), Some(network));
        assert_eq!(subscription(&subnet).as_deref(), Some("s1"));
        for bad in ["", "default", network, "/subscriptions//subnets/x", "/a/b/subnets/c"] {
            assert_eq!(network_of(bad), None, "{bad}");
        }
        assert_eq!(network_of(&format!("{network}/../../x/subnets/y")), None);
        assert_eq!(network_of(&format!("{network}/subnets/y?z=1")), None);
    }

    #[test]
    fn interfaces_have_an_ending_that_azure_makes_up() {
        for (nic, machine) in [
            ("fleet-a-nic-78b7aa25", Some("fleet-a")),
            ("fleet-a-nic", Some("fleet-a")),
            ("fleet-a-nic-nic-78b7aa25", Some("fleet-a-nic")),
            ("fleet-a-nic-78b7aa2", None),
            ("fleet-a-nic-78b7aa2z", None),
            ("fleet-a-nic2", None),
            ("-nic-78b7aa25", None),
            ("fleet-a-disk", None),
        ] {
            assert_eq!(machine_of_nic(nic), machine, "{nic}");
        }
        assert_eq!(machine_of_disk("fleet-a-disk"), Some("fleet-a"));
    }

    #[test]
    fn regions() {
        assert_eq!(region("East US 2"), "eastus2");
        assert_eq!(region("westeurope"), "westeurope");
    }
}
