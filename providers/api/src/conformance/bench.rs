//! What the checks share: a fleet of their own, patience, and the words for what went wrong.

use super::{Fault, Harness};
use crate::{
    Class, Clock, CreateRequest, Created, DestroyRequest, Destroyed, Error, Listing, Provider,
    RelabelRequest,
};
use fleet_model::{
    Create, FleetName, FleetUid, Group, Labelled, Labels, Machine, MachineId, MachineState, PoolId,
    SlotId, SlotName, Template, Timestamp, Token, Victim,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Why a check did not pass.
#[derive(Debug)]
pub(super) enum Verdict {
    Skipped(String),
    Failed(String),
}

/// The end of a check.
pub(super) type Outcome = Result<(), Verdict>;

/// Fails unless something holds.
pub(super) fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(Verdict::Failed(otherwise())) }
}

/// How often a throttled call is repeated. Lambda allows one launch in twelve seconds.
const ATTEMPTS: usize = 100;

/// One check's fleet.
pub(super) struct Bench<'a> {
    pub(super) harness: &'a dyn Harness,
    pub(super) provider: Arc<dyn Provider>,
    clock: Arc<dyn Clock>,
    pub(super) pool: PoolId,
    pub(super) fleet: FleetUid,
    name: FleetName,
    template: Template,
}

impl<'a> Bench<'a> {
    pub(super) fn new(harness: &'a dyn Harness, check: &str) -> Option<Self> {
        let clock = harness.clock();
        Some(Bench {
            provider: harness.provider(),
            pool: harness.pools().into_iter().next()?,
            // The time makes it another fleet in each run against a real cloud.
            fleet: FleetUid::new(format!("{check}-{}", clock.now().as_millisecond())),
            name: FleetName::new("conformance"),
            template: harness.template(),
            clock,
            harness,
        })
    }

    pub(super) async fn cause(&self, trouble: Fault) -> Outcome {
        self.harness.cause(&trouble).await.map_err(Verdict::Skipped)
    }

    pub(super) async fn sleep(&self, seconds: u64) {
        self.clock.sleep(Duration::from_secs(seconds)).await;
    }

    /// As many machines as one request may ask for, up to `most`.
    pub(super) fn several(&self, most: u32) -> u32 {
        most.min(self.pool.place.cloud.max_per_create())
    }

    /// A request for `count` machines. Another `token` is another request.
    pub(super) fn ask(&self, token: &str, count: u32) -> Create {
        // Slots are the token's own: the name of a machine may be made from them.
        let first = token.bytes().fold(0u32, |sum, byte| sum * 31 % 9973 + u32::from(byte)) * 100;
        let slot = |ordinal| SlotId {
            name: SlotName { group: Group::Base, ordinal: first + ordinal },
            generation: 1,
        };
        Create {
            pool: self.pool.clone(),
            others: Vec::new(),
            slots: (0..count).map(slot).collect(),
            token: Token::new(format!("{}-{token}", self.fleet)),
            price: None,
            max_price: None,
            template: self.template.digest(),
            image: None,
        }
    }

    fn request<'b>(
        &'b self,
        create: &'b Create,
        labels: &'b BTreeMap<String, String>,
    ) -> CreateRequest<'b> {
        let Bench { fleet, name, template, .. } = self;
        CreateRequest { fleet, name, labels, create, template }
    }

    /// One create call.
    pub(super) async fn create_once(&self, create: &Create) -> Result<Created, Error> {
        self.provider.create(&self.request(create, &BTreeMap::new())).await
    }

    /// What a launch made, asked for by its own names.
    pub(super) async fn made(&self, create: &Create) -> Result<Vec<Machine>, Verdict> {
        let made = self.provider.made(&self.request(create, &BTreeMap::new())).await;
        made.map_err(|error| Verdict::Failed(format!("what a launch made is not told: {error}")))
    }

    /// A create call, repeated while it is throttled.
    pub(super) async fn create(&self, create: &Create) -> Result<Created, Error> {
        let mut answer = self.create_once(create).await;
        for _ in 0..ATTEMPTS {
            match &answer {
                Err(Error { class: Class::Retry { after }, .. }) => self.pause(*after).await,
                _ => break,
            }
            answer = self.create_once(create).await;
        }
        answer
    }

    /// A create call that must give all it was asked for.
    pub(super) async fn launch(&self, create: &Create) -> Result<Vec<Machine>, Verdict> {
        let created = self.create(create).await.map_err(|error| {
            Verdict::Failed(format!("a launch that should succeed was refused: {error}"))
        })?;
        let (asked, got) = (create.slots.len(), created.machines.len());
        ensure(asked == got, || format!("asked for {asked} machines, got {got}"))?;
        Ok(created.machines)
    }

    async fn pause(&self, after: Option<Duration>) {
        self.clock.sleep(after.unwrap_or(Duration::from_secs(2))).await;
    }

    /// A list, repeated while it is throttled.
    pub(super) async fn list(&self) -> Result<Vec<Machine>, Verdict> {
        let scope = self.pool.place.scope();
        for _ in 0..ATTEMPTS {
            match self.provider.machines(&scope).await {
                Ok(Listing::Complete(machines)) => {
                    let ours = |m: &Machine| {
                        m.owner.as_ref().is_some_and(|owner| owner.fleet == self.fleet)
                    };
                    return Ok(machines.into_iter().filter(ours).collect());
                }
                Ok(Listing::Partial(_, why)) => {
                    return Err(Verdict::Failed(format!(
                        "a list without trouble is partial: {why}"
                    )));
                }
                Err(Error { class: Class::Retry { after }, .. }) => self.pause(after).await,
                Err(error) => return Err(Verdict::Failed(format!("a list failed: {error}"))),
            }
        }
        Err(Verdict::Failed("a list was throttled for ever".into()))
    }

    /// The fleet's machines once every one of `expected` is listed.
    pub(super) async fn settled(&self, expected: &[Machine]) -> Result<Vec<Machine>, Verdict> {
        let settle = self.harness.settle();
        let until = self.clock.now().checked_add(settle).unwrap_or(Timestamp::MAX);
        loop {
            let listed = self.list().await?;
            if expected.iter().all(|machine| listed.iter().any(|other| other.id == machine.id)) {
                return Ok(listed);
            }
            if self.clock.now() >= until {
                return Err(Verdict::Failed(format!(
                    "of {} machines {} are listed after the settle time",
                    expected.len(),
                    listed.len()
                )));
            }
            self.sleep(5).await;
        }
    }

    /// The live machines of the fleet once nothing can be hidden any more.
    pub(super) async fn live(&self) -> Result<Vec<Machine>, Verdict> {
        self.clock.sleep(self.harness.settle()).await;
        let mut machines = self.list().await?;
        machines.retain(|machine| machine.state.is_live());
        Ok(machines)
    }

    /// One destroy call.
    pub(super) async fn destroy_once(
        &self,
        fleet: &FleetUid,
        victims: &[Victim],
    ) -> Result<Destroyed, Error> {
        let scope = self.pool.place.scope();
        self.provider.destroy(&DestroyRequest { fleet, scope: &scope, victims }).await
    }

    /// A destroy call, repeated while it is throttled or cannot see the machine yet.
    pub(super) async fn destroy(
        &self,
        fleet: &FleetUid,
        victims: &[Victim],
    ) -> Result<Destroyed, Verdict> {
        for _ in 0..ATTEMPTS {
            match self.destroy_once(fleet, victims).await {
                Ok(destroyed) => return Ok(destroyed),
                Err(Error { class: Class::Retry { after }, .. }) => self.pause(after).await,
                Err(error) => return Err(Verdict::Failed(format!("a destroy failed: {error}"))),
            }
        }
        Err(Verdict::Failed("a destroy was put off for ever".into()))
    }

    /// Changes labels, repeated while it is throttled or cannot see the machine yet.
    pub(super) async fn relabel(
        &self,
        fleet: &FleetUid,
        set: &[(&str, &str)],
        remove: &[&str],
        machines: &[Machine],
    ) -> Result<BTreeSet<MachineId>, Verdict> {
        let scope = self.pool.place.scope();
        let set = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let set: Labels = set.collect();
        let remove: BTreeSet<String> = remove.iter().map(|key| (*key).to_owned()).collect();
        let labelled = |machine: &Machine| {
            let slot = machine.owner.as_ref()?.slot;
            Some(Labelled { machine: machine.id.clone(), slot })
        };
        let machines: Vec<Labelled> = machines.iter().filter_map(labelled).collect();
        let request = RelabelRequest {
            fleet,
            name: &self.name,
            scope: &scope,
            set: &set,
            remove: &remove,
            machines: &machines,
        };
        for _ in 0..ATTEMPTS {
            match self.provider.relabel(&request).await {
                Ok(done) => return Ok(done.into_iter().collect()),
                Err(Error { class: Class::Retry { after }, .. }) => self.pause(after).await,
                Err(error) => return Err(Verdict::Failed(format!("labels stay: {error}"))),
            }
        }
        Err(Verdict::Failed("a change of labels was put off for ever".into()))
    }

    /// The labels of a machine, where somebody can look.
    pub(super) async fn labels(&self, machine: &MachineId) -> Option<Labels> {
        self.harness.labels(machine).await
    }

    /// Takes the fleet down.
    pub(super) async fn clear(&self) -> Outcome {
        let live = self.live().await?;
        let victims: Vec<Victim> = live.iter().filter_map(victim).collect();
        if !victims.is_empty() {
            self.destroy(&self.fleet, &victims).await?;
        }
        Ok(())
    }
}

/// A machine as a destroy names it.
pub(super) fn victim(machine: &Machine) -> Option<Victim> {
    Some(Victim {
        machine: machine.id.clone(),
        slot: machine.owner.as_ref()?.slot,
        launched_at: machine.launched_at,
        price: machine.price,
    })
}

/// Whether the cloud has taken note that a machine is to end.
pub(super) fn is_ending(machine: &Machine) -> bool {
    matches!(machine.state, MachineState::Stopping | MachineState::Terminated)
}
