//! Addresses that lists do not tell, for those who want to reach machines. No decision needs them, so no
//! other look asks for them.

use crate::calls::Patience;
use crate::engine::Engine;
use fleet_model::{Access, Cloud, Inputs, Machine, Operation, Scope};
use fleet_provider::Error;
use std::collections::BTreeMap;

impl Engine {
    /// Adds what clouds tell of addresses when they are asked for them, each cloud once for all fleets.
    /// Those that did not answer, and why: what their lists told stays.
    pub async fn add_addresses(&self, inputs: &mut [Inputs]) -> Vec<(Cloud, Error)> {
        let mut missing: BTreeMap<Cloud, Vec<Machine>> = BTreeMap::new();
        for machine in inputs.iter().flat_map(|one| one.observed.machines.values()) {
            if machine.state.is_live() && machine.access.private_ip.is_none() {
                missing.entry(machine.place.cloud).or_default().push(machine.clone());
            }
        }
        let mut silent = Vec::new();
        for (cloud, machines) in missing {
            let Some(provider) = self.providers.get(&cloud) else { continue };
            let machines: Vec<&Machine> = machines.iter().collect();
            let Some(scope) = machines.first().map(|machine| machine.place.scope()) else {
                continue;
            };
            let seed = seed(&scope);
            let asked = self.calls.retrying(seed, Patience::Look, || async {
                self.calls.limits.turn(&scope, Operation::Look).await;
                let asked = provider.addresses(&machines);
                let answer = self.calls.measured.cloud(cloud, "addresses", asked).await;
                self.calls.paced(&scope, Operation::Look, answer)
            });
            let found = match asked.await {
                Ok(found) => found,
                Err(error) => {
                    silent.push((cloud, error));
                    continue;
                }
            };
            let all = inputs.iter_mut().flat_map(|one| one.observed.machines.values_mut());
            for machine in all.filter(|machine| machine.place.cloud == cloud) {
                if let Some(more) = found.get(&machine.id) {
                    add(&mut machine.access, more);
                }
            }
        }
        silent
    }
}

fn seed(scope: &Scope) -> u64 {
    fleet_model::digest("addresses/1", [scope.to_string().as_bytes()]).as_u64()
}

/// What a list told stays.
fn add(known: &mut Access, more: &Access) {
    let Access { public_ip, private_ip, dns_name, user, key } = more;
    known.public_ip = known.public_ip.or(*public_ip);
    known.private_ip = known.private_ip.or(*private_ip);
    known.dns_name = known.dns_name.take().or_else(|| dns_name.clone());
    known.user = known.user.take().or_else(|| user.clone());
    known.key = known.key.take().or_else(|| key.clone());
}
