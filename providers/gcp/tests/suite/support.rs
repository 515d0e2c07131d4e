//! A provider on the fake.

use async_trait::async_trait;
use fleet_fakes::gcp::Fake;
use fleet_gcp::{Gcp, GcpSettings};
use fleet_model::{
    Create, FleetName, FleetUid, Group, Labelled, Labels, Machine, MachineId, PoolId, SlotId,
    SlotName, Template, Timestamp, Token, Victim,
};
use fleet_provider::{
    Clock, CreateRequest, Created, DestroyRequest, Destroyed, Error, Listing, Provider,
    RelabelRequest,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The time it is.
pub(crate) struct RealTime;

#[async_trait]
impl Clock for RealTime {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A clock on which waiting takes no time.
#[derive(Default)]
pub(crate) struct Hasty(AtomicU64);

#[async_trait]
impl Clock for Hasty {
    fn now(&self) -> Timestamp {
        let ahead = Duration::from_millis(self.0.load(Ordering::Relaxed));
        Timestamp::now().checked_add(ahead).unwrap_or(Timestamp::MAX)
    }

    async fn sleep(&self, duration: Duration) {
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}

pub(crate) const ON_DEMAND: &str = "gcp/us-central1/us-central1-a/n2-standard-4/on-demand";
pub(crate) const SPOT: &str = "gcp/us-central1/us-central1-b/n2-standard-4/spot";

pub(crate) fn pool(text: &str) -> PoolId {
    text.parse().expect("a pool")
}

/// The server and a client.
pub(crate) struct Fixture {
    pub(crate) fake: Fake,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) clock: Arc<dyn Clock>,
}

pub(crate) fn client(endpoint: String, clock: Arc<dyn Clock>) -> Arc<dyn Provider> {
    let settings = GcpSettings {
        project: Some("test-project".into()),
        endpoint: Some(endpoint),
        ..GcpSettings::default()
    };
    Arc::new(Gcp::new(settings, clock))
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Fixture::with(Arc::new(RealTime)).await
    }

    pub(crate) async fn with(clock: Arc<dyn Clock>) -> Self {
        let fake = Fake::start().await.expect("a port");
        let provider = client(fake.url(), clock.clone());
        Fixture { fake, provider, clock }
    }

    pub(crate) async fn create(&self, create: &Create) -> Result<Created, Error> {
        create_from(&*self.provider, create, &Template::default()).await
    }

    pub(crate) async fn destroy(&self, victims: &[Victim]) -> Result<Destroyed, Error> {
        destroy(&*self.provider, victims).await
    }

    /// The machines of the region, all of them.
    pub(crate) async fn list(&self) -> Vec<Machine> {
        match self.provider.machines(&pool(ON_DEMAND).place.scope()).await {
            Ok(Listing::Complete(all)) => all,
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) async fn create_from(
    provider: &dyn Provider,
    create: &Create,
    template: &Template,
) -> Result<Created, Error> {
    let request = CreateRequest {
        fleet: &FleetUid::new("uid"),
        name: &FleetName::new("web"),
        labels: &BTreeMap::from([("team".to_owned(), "Shop & Co".to_owned())]),
        create,
        template,
    };
    provider.create(&request).await
}

pub(crate) async fn destroy(
    provider: &dyn Provider,
    victims: &[Victim],
) -> Result<Destroyed, Error> {
    let fleet = FleetUid::new("uid");
    let scope = pool(ON_DEMAND).place.scope();
    provider.destroy(&DestroyRequest { fleet: &fleet, scope: &scope, victims }).await
}

/// Puts one label on machines.
pub(crate) async fn relabel(
    provider: &dyn Provider,
    (key, value): (&str, &str),
    machines: &[Machine],
) -> Result<Vec<MachineId>, Error> {
    let labelled = |machine: &Machine| Labelled {
        machine: machine.id.clone(),
        slot: machine.owner.as_ref().expect("an owner").slot,
    };
    let request = RelabelRequest {
        fleet: &FleetUid::new("uid"),
        name: &FleetName::new("fleet"),
        scope: &pool(ON_DEMAND).place.scope(),
        set: &Labels::from([(key.to_owned(), value.to_owned())]),
        remove: &BTreeSet::new(),
        machines: &machines.iter().map(labelled).collect::<Vec<_>>(),
    };
    provider.relabel(&request).await
}

/// A request for some machines.
pub(crate) fn ask(text: &str, token: &str, count: u32) -> Create {
    let slot = |ordinal| SlotId { name: SlotName { group: Group::Base, ordinal }, generation: 1 };
    Create {
        pool: pool(text),
        slots: (0..count).map(slot).collect(),
        token: Token::new(token),
        price: None,
        max_price: None,
        template: Template::default().digest(),
        image: None,
        others: Vec::new(),
    }
}

/// Machines as a destroy names them.
pub(crate) fn victims(machines: &[Machine]) -> Vec<Victim> {
    let victim = |machine: &Machine| Victim {
        machine: machine.id.clone(),
        slot: machine.owner.as_ref().expect("an owner").slot,
        launched_at: machine.launched_at,
        price: None,
    };
    machines.iter().map(victim).collect()
}
