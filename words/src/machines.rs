//! The machines of a fleet, one by one: what the clouds list, what the journal holds for scopes that are
//! silent, and how each is reached.

use fleet_model::{
    Access, Cloud, Inputs, InterruptionNotice, MachineId, MachineState, MicroUsd, PoolId,
    SETTLE_WINDOW, SlotId, SlotState, Timestamp,
};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// A machine as a person asks about it.
#[derive(Debug, Clone)]
pub struct Line {
    pub id: MachineId,
    pub pool: PoolId,
    /// `None`: recorded, but its scope did not answer.
    pub state: Option<MachineState>,
    pub slot: SlotId,
    pub price: Option<MicroUsd>,
    pub launched_at: Timestamp,
    pub notice: Option<InterruptionNotice>,
    /// Whether the journal says that it fills its slot.
    pub recorded: bool,
    pub access: Access,
    /// Who logs in, and how we know; `None`: whoever `ssh` says.
    pub login: Option<(String, LoginFrom)>,
}

/// How we know who logs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginFrom {
    /// The command line says so.
    Flag,
    /// The spec says so.
    Spec,
    /// The cloud says so.
    Cloud,
    /// Images of this cloud, or of this name, usually have this user.
    Guess,
}

impl Line {
    /// Its state in a word.
    pub fn state(&self) -> &'static str {
        match (self.state, self.notice) {
            (None, _) => "unknown",
            (Some(MachineState::Running), Some(_)) => "interrupted",
            (Some(state), _) => state.as_str(),
        }
    }

    /// Whether somebody could log in: it is up, or was.
    pub fn may_answer(&self) -> bool {
        match self.state {
            Some(MachineState::Pending | MachineState::Running | MachineState::Failed) => true,
            Some(MachineState::Stopped | MachineState::Stopping | MachineState::Terminated)
            | None => false,
        }
    }

    /// The address to reach it at: the public one, else the one in its own network, unless a public one
    /// may still come. `private` asks for its own network's alone.
    pub fn address(&self, private: bool) -> Option<IpAddr> {
        let Access { public_ip, private_ip, .. } = self.access;
        match private {
            true => private_ip,
            false => public_ip.or(private_ip.filter(|_| self.state != Some(MachineState::Pending))),
        }
    }

    /// Who logs in.
    pub fn user(&self) -> Option<&str> {
        self.login.as_ref().map(|(user, _)| user.as_str())
    }
}

/// Every machine of a fleet, in the order of slots. `user`: who logs in, if somebody said so.
pub fn lines(inputs: &Inputs, user: Option<&str>) -> Vec<Line> {
    let mut lines = Vec::new();
    let filled = inputs.recorded.slots.values().filter_map(|slot| match &slot.state {
        SlotState::Filled { machine, price, .. } => Some((machine, *price)),
        SlotState::Vacant | SlotState::InDoubt { .. } => None,
    });
    let recorded: BTreeMap<&MachineId, Option<MicroUsd>> = filled.collect();
    for machine in inputs.observed.machines.values().filter(|m| m.state.is_live()) {
        let Some(owner) = machine.owner.as_ref().filter(|o| o.fleet == inputs.uid) else {
            continue;
        };
        if inputs.recorded.released.contains(&machine.id) {
            continue;
        }
        lines.push(Line {
            id: machine.id.clone(),
            pool: machine.pool(),
            state: Some(machine.state),
            slot: owner.slot,
            price: machine.price.or(recorded.get(&machine.id).copied().flatten()),
            launched_at: machine.launched_at,
            notice: machine.notice,
            recorded: recorded.contains_key(&machine.id),
            access: machine.access.clone(),
            login: None,
        });
    }
    for (name, record) in &inputs.recorded.slots {
        if let SlotState::Filled { machine, pool, launched_at, price, .. } = &record.state
            && !inputs.observed.machines.contains_key(machine)
            && let Some(state) = unlisted(inputs, pool, *launched_at)
        {
            lines.push(Line {
                id: machine.clone(),
                pool: pool.clone(),
                state,
                slot: SlotId { name: *name, generation: record.generation },
                price: *price,
                launched_at: *launched_at,
                notice: None,
                recorded: true,
                access: Access::default(),
                login: None,
            });
        }
    }
    for line in &mut lines {
        let template = inputs.desired.templates.get(&line.pool.place.cloud);
        line.login = login(line, template, user);
        if line.access.key.is_none() {
            line.access.key = template.and_then(|template| key_name(line, template.key.as_deref()));
        }
    }
    lines.sort_by(|a, b| (a.slot, &a.id).cmp(&(b.slot, &b.id)));
    lines
}

/// How a recorded machine stands that no list shows: unknown where the scope is silent, pending
/// while it is too young to be listed. `None`: it is gone.
fn unlisted(inputs: &Inputs, pool: &PoolId, since: Timestamp) -> Option<Option<MachineState>> {
    if !inputs.observed.is_complete(&pool.place.scope()) {
        return Some(None);
    }
    let age = inputs.observed.taken_at.duration_since(since);
    let settled = u64::try_from(age.as_secs()).unwrap_or(0) >= SETTLE_WINDOW.as_secs();
    (!settled).then_some(Some(MachineState::Pending))
}

fn login(
    line: &Line,
    template: Option<&fleet_model::Template>,
    user: Option<&str>,
) -> Option<(String, LoginFrom)> {
    let said = user.map(|user| (user.to_owned(), LoginFrom::Flag));
    let spec = || Some((template?.ssh_user.clone()?, LoginFrom::Spec));
    let cloud = || Some((line.access.user.clone()?, LoginFrom::Cloud));
    let guess = || {
        let image = template.and_then(|template| template.image.as_deref()).unwrap_or_default();
        Some((usual(line.pool.place.cloud, image)?.to_owned(), LoginFrom::Guess))
    };
    said.or_else(spec).or_else(cloud).or_else(guess)
}

/// The user that images usually have: guesses, and shown as such. On AWS it is the image's affair (the names
/// are those that its user guide is quoted with), and an id such as `ami-…` tells nothing. On Google
/// Cloud nobody is usual: with OS Login, or keys of the project, users log in by their own names.
fn usual(cloud: Cloud, image: &str) -> Option<&'static str> {
    const BY_NAME: [(&str, &str); 6] = [
        ("ubuntu", "ubuntu"),
        ("debian", "admin"),
        ("fedora", "fedora"),
        ("centos", "centos"),
        ("rocky", "rocky"),
        ("bitnami", "bitnami"),
    ];
    match cloud {
        Cloud::Aws => {
            let image = image.to_ascii_lowercase();
            let named = BY_NAME.iter().find(|(name, _)| image.contains(name));
            Some(named.map_or("ec2-user", |(_, user)| user))
        }
        Cloud::Gcp => None,
        Cloud::Azure => Some("fleet"),
        Cloud::Lambda => Some("ubuntu"),
    }
}

/// The name of the key that the spec gives, where it is a name. On Google Cloud it is the key itself.
fn key_name(line: &Line, key: Option<&str>) -> Option<String> {
    match line.pool.place.cloud {
        Cloud::Aws | Cloud::Azure | Cloud::Lambda => key.map(str::to_owned),
        Cloud::Gcp => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_guessed_by_cloud_and_image() {
        let check = |cloud, image, user| assert_eq!(usual(cloud, image), user, "{image}");
        check(Cloud::Aws, "", Some("ec2-user"));
        check(Cloud::Aws, "ami-0123", Some("ec2-user"));
        check(Cloud::Aws, "ssm:/aws/service/canonical/ubuntu/server/24.04", Some("ubuntu"));
        check(Cloud::Aws, "debian-12-amd64", Some("admin"));
        check(Cloud::Gcp, "projects/debian-cloud/global/images/family/debian-12", None);
        check(Cloud::Azure, "", Some("fleet"));
        check(Cloud::Lambda, "", Some("ubuntu"));
    }
}
