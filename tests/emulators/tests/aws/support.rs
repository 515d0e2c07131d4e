//! A provider on moto behind the proxy.

use async_trait::async_trait;
use fleet_aws::{Aws, AwsSettings};
use fleet_emulators::aws::{Moto, Proxy, tool};
use fleet_model::{
    Create, FleetName, FleetUid, Group, PoolId, SlotId, SlotName, Template, Timestamp, Token,
    Victim,
};
use fleet_provider::{
    Clock, CreateRequest, Created, DestroyRequest, Destroyed, Error, Listing, Provider,
};
use fleet_testkit::{fleet, say, told};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;

/// The time it is. moto has no other.
struct RealTime;

#[async_trait]
impl Clock for RealTime {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

pub(crate) const ON_DEMAND: &str = "aws/us-east-1/use1-az4/m5.large/on-demand";
/// What moto calls the zone of that pool.
pub(crate) const ZONE_NAME: &str = "us-east-1d";

pub(crate) fn pool(text: &str) -> PoolId {
    text.parse().expect("a pool")
}

/// The servers and a client.
pub(crate) struct Fixture {
    pub(crate) proxy: Proxy,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) clock: Arc<dyn Clock>,
    _moto: Moto,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let moto = Moto::start().await.expect("moto");
        let proxy = Proxy::start(moto.port()).await.expect("a proxy");
        let settings = AwsSettings { endpoint: Some(proxy.url()), ..AwsSettings::default() };
        let clock: Arc<dyn Clock> = Arc::new(RealTime);
        let provider = Arc::new(Aws::new(settings, clock.clone()));
        Fixture { proxy, provider, clock, _moto: moto }
    }

    pub(crate) async fn create(&self, create: &Create) -> Result<Created, Error> {
        self.create_from(create, &Template::default()).await
    }

    pub(crate) async fn create_from(
        &self,
        create: &Create,
        template: &Template,
    ) -> Result<Created, Error> {
        let request = CreateRequest {
            fleet: &FleetUid::new("uid"),
            name: &FleetName::new("web"),
            labels: &BTreeMap::new(),
            create,
            template,
        };
        self.provider.create(&request).await
    }

    pub(crate) async fn destroy(&self, victims: &[Victim]) -> Result<Destroyed, Error> {
        let fleet = FleetUid::new("uid");
        let scope = pool(ON_DEMAND).place.scope();
        let request = DestroyRequest { fleet: &fleet, scope: &scope, victims };
        self.provider.destroy(&request).await
    }

    /// How many live machines there are in the pool's region.
    pub(crate) async fn live(&self) -> usize {
        match self.provider.machines(&pool(ON_DEMAND).place.scope()).await {
            Ok(Listing::Complete(all)) => all.iter().filter(|m| m.state.is_live()).count(),
            other => panic!("{other:?}"),
        }
    }
}

/// A request for some machines.
pub(crate) fn ask(token: &str, count: u32) -> Create {
    let slot = |ordinal| SlotId { name: SlotName { group: Group::Base, ordinal }, generation: 1 };
    Create {
        pool: pool(ON_DEMAND),
        others: Vec::new(),
        slots: (0..count).map(slot).collect(),
        token: Token::new(token),
        price: None,
        max_price: None,
        template: Template::default().digest(),
        image: None,
    }
}

/// Machines as a destroy names them.
pub(crate) fn victims(created: &Created) -> Vec<Victim> {
    let victim = |machine: &fleet_model::Machine| Victim {
        machine: machine.id.clone(),
        slot: machine.owner.as_ref().expect("an owner").slot,
        launched_at: machine.launched_at,
        price: None,
    };
    created.machines.iter().map(victim).collect()
}

/// Runs a script that drives the whole command, and looks at moto with Amazon's own client.
pub(crate) async fn script(name: &str, moto: &Moto, endpoint: &str, more: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/aws");
    let mut script = Command::new(tool("python"));
    script
        .arg(scripts.join(name))
        .arg("--fleet")
        .arg(fleet())
        .arg("--dir")
        .arg(folder.path())
        .args(["--endpoint", endpoint, "--moto", &moto.url()])
        .args(more);
    let said = told(&mut script).await.unwrap_or_else(|error| panic!("{error}"));
    say(&format!("{name}: {}", said.trim()));
}
