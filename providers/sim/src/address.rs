//! Addresses of machines that are not there: of the ranges that are kept for documentation (RFC 5737),
//! under names that nobody can register (RFC 2606), so that nothing is ever reached by mistake.

use fleet_model::{Access, Cloud, MachineState};
use std::net::{IpAddr, Ipv4Addr};

/// The ranges, one after the other.
const RANGES: [[u8; 3]; 3] = [[192, 0, 2], [198, 51, 100], [203, 0, 113]];

/// Addresses of a range that a machine may have: neither the first nor the last.
const EACH: u64 = 254;

/// How a machine would be reached, by its serial number: a private address as long as it is there, a
/// public one while it runs. After 762 machines public addresses come round again, private ones after
/// 16 million.
pub(crate) fn access(serial: u64, cloud: Cloud, state: MachineState) -> Access {
    let private_ip = match state {
        MachineState::Terminated => None,
        MachineState::Pending
        | MachineState::Running
        | MachineState::Failed
        | MachineState::Stopped
        | MachineState::Stopping => Some(private(serial)),
    };
    let public = (state == MachineState::Running).then(|| public(serial));
    let dns_name = public.filter(|_| has_names(cloud)).map(|ip| {
        let [a, b, c, d] = ip.octets();
        format!("{cloud}-{a}-{b}-{c}-{d}.sim.example")
    });
    let user = match cloud {
        Cloud::Azure => Some("fleet".to_owned()),
        Cloud::Aws | Cloud::Gcp | Cloud::Lambda => None,
    };
    Access { public_ip: public.map(IpAddr::V4), private_ip, dns_name, user, key: None }
}

/// Whether a cloud gives its machines public names.
fn has_names(cloud: Cloud) -> bool {
    match cloud {
        Cloud::Aws | Cloud::Lambda => true,
        Cloud::Gcp | Cloud::Azure => false,
    }
}

fn private(serial: u64) -> IpAddr {
    let [.., b, c] = (serial / EACH).to_be_bytes();
    IpAddr::from([10, b, c, (serial % EACH) as u8 + 1])
}

fn public(serial: u64) -> Ipv4Addr {
    let nth = serial % (EACH * RANGES.len() as u64);
    let [a, b, c] = RANGES[(nth / EACH) as usize];
    Ipv4Addr::new(a, b, c, (nth % EACH) as u8 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn addresses_are_distinct_and_for_documentation_only() {
        let all: BTreeSet<Ipv4Addr> = (0..762).map(public).collect();
        assert_eq!(all.len(), 762);
        assert!(all.iter().all(Ipv4Addr::is_documentation));
        assert_eq!((0..100_000).map(private).collect::<BTreeSet<_>>().len(), 100_000);
    }

    #[test]
    fn what_does_not_run_has_no_public_address() {
        let pending = access(7, Cloud::Aws, MachineState::Pending);
        assert_eq!((pending.public_ip, &pending.dns_name), (None, &None));
        assert!(pending.private_ip.is_some());
        let running = access(7, Cloud::Aws, MachineState::Running);
        assert_eq!(running.dns_name.as_deref(), Some("aws-192-0-2-8.sim.example"));
        assert!(access(7, Cloud::Gcp, MachineState::Terminated).is_unknown());
    }
}
