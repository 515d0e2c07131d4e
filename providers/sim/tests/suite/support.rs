//! A small catalog and short ways to ask for machines.

use fleet_model::{
    Accelerators, Architecture, Catalog, CatalogRow, Cloud, Create, FleetName, FleetUid, Group,
    InstanceKind, Machine, MicroUsd, Place, PoolId, Resources, Scope, SlotId, SlotName, Template,
    Timestamp, Token, Victim,
};
use fleet_provider::{CreateRequest, Created, DestroyRequest, Destroyed, Error, Listing};
use fleet_sim::{Preset, Settings, Sim};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const AWS_CPU: &str = "aws/us-east-1/use1-az1/m7i.2xlarge/on-demand";
pub(crate) const AWS_CPU_SPOT: &str = "aws/us-east-1/use1-az1/m7i.2xlarge/spot";
pub(crate) const AWS_GPU_SPOT: &str = "aws/us-east-1/use1-az1/p5.48xlarge/spot";
pub(crate) const GCP_CPU: &str = "gcp/us-central1/us-central1-a/n2-standard-8/on-demand";
pub(crate) const AZURE_CPU: &str = "azure/eastus/eastus-1/Standard_D8s_v5/on-demand";
pub(crate) const LAMBDA: &str = "lambda/us-west-1/regional/gpu_8x_h100_sxm5/on-demand";

fn resources(vcpus: u32, gpus: u32) -> Resources {
    Resources {
        vcpus: Some(vcpus),
        memory_mib: Some(u64::from(vcpus) * 4096),
        architecture: Architecture::X86_64,
        accelerators: (gpus > 0).then(|| Accelerators {
            name: Some("H100".into()),
            count_milli: gpus * 1000,
            memory_mib: Some(80 << 10),
            maker: None,
        }),
        local_disk: None,
        generation: None,
    }
}

/// Two types in three zones on each cloud; one of them has no price on Azure.
pub(crate) fn catalog() -> Arc<Catalog> {
    let kinds = [
        (Cloud::Aws, "m7i.2xlarge", 8, 0),
        (Cloud::Aws, "p5.48xlarge", 192, 8),
        (Cloud::Gcp, "a3-highgpu-8g", 208, 8),
        (Cloud::Gcp, "n2-standard-8", 8, 0),
        (Cloud::Azure, "Standard_D8s_v5", 8, 0),
        (Cloud::Azure, "Standard_ND96isr_H100_v5", 96, 8),
        (Cloud::Lambda, "gpu_8x_h100_sxm5", 208, 8),
    ];
    let places = [
        (Cloud::Aws, "us-east-1", "use1-az1"),
        (Cloud::Aws, "us-east-1", "use1-az2"),
        (Cloud::Aws, "us-west-2", "usw2-az1"),
        (Cloud::Gcp, "us-central1", "us-central1-a"),
        (Cloud::Gcp, "us-central1", "us-central1-b"),
        (Cloud::Azure, "eastus", "eastus-1"),
        (Cloud::Azure, "westeurope", "westeurope-1"),
        (Cloud::Lambda, "us-west-1", "regional"),
    ];
    let places: Vec<Place> = places
        .map(|(cloud, region, zone)| Place { cloud, region: region.into(), zone: zone.into() })
        .into();
    let kinds: Vec<Arc<InstanceKind>> = kinds
        .map(|(cloud, name, vcpus, gpus)| {
            Arc::new(InstanceKind { cloud, name: name.into(), resources: resources(vcpus, gpus) })
        })
        .into();
    let mut rows = Vec::new();
    for (place, at) in (0u32..).zip(&places) {
        for (kind, it) in (0u32..).zip(&kinds).filter(|(_, kind)| kind.cloud == at.cloud) {
            let gpu = it.resources.accelerators.is_some();
            let unpriced = it.cloud == Cloud::Azure && gpu;
            let price = MicroUsd(if gpu { 98_000_000 } else { 400_000 });
            rows.push(CatalogRow {
                kind,
                place,
                on_demand: (!unpriced).then_some(price),
                spot: (!unpriced).then_some(MicroUsd(price.0 * 2 / 5)),
                has_spot: at.cloud != Cloud::Lambda,
            });
        }
    }
    Arc::new(Catalog { source: "test".into(), as_of: Timestamp::UNIX_EPOCH, kinds, places, rows })
}

pub(crate) fn settings(preset: Preset) -> Settings {
    Settings { preset, ..Settings::default() }
}

pub(crate) fn sim(preset: Preset) -> Sim {
    Sim::in_memory(settings(preset), catalog())
}

pub(crate) fn pool(text: &str) -> PoolId {
    text.parse().expect("a pool")
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

pub(crate) fn fleet() -> FleetUid {
    FleetUid::new("f-1")
}

pub(crate) fn ask(at: &str, token: &str, count: u32) -> Create {
    let slot = |ordinal| SlotId { name: SlotName { group: Group::Base, ordinal }, generation: 1 };
    Create {
        pool: pool(at),
        others: Vec::new(),
        slots: (0..count).map(slot).collect(),
        token: Token::new(token),
        price: None,
        max_price: None,
        template: Template::default().digest(),
        image: None,
    }
}

pub(crate) async fn create(sim: &Sim, create: &Create) -> Result<Created, Error> {
    let (labels, template) = (BTreeMap::new(), Template::default());
    let name = FleetName::new("test");
    let request = CreateRequest {
        fleet: &fleet(),
        name: &name,
        labels: &labels,
        create,
        template: &template,
    };
    sim.provider(create.pool.place.cloud).create(&request).await
}

pub(crate) async fn launch(sim: &Sim, at: &str, token: &str, count: u32) -> Vec<Machine> {
    create(sim, &ask(at, token, count)).await.expect("a launch").machines
}

pub(crate) async fn list(sim: &Sim, at: &str) -> Result<Listing, Error> {
    let scope: Scope = pool(at).place.scope();
    sim.provider(scope.cloud).machines(&scope).await
}

pub(crate) async fn listed(sim: &Sim, at: &str) -> usize {
    match list(sim, at).await {
        Ok(Listing::Complete(machines)) => machines.len(),
        other => panic!("no complete list: {other:?}"),
    }
}

pub(crate) async fn destroy(sim: &Sim, machines: &[Machine]) -> Result<Destroyed, Error> {
    let scope = machines[0].place.scope();
    let victims: Vec<Victim> = machines
        .iter()
        .map(|machine| Victim {
            machine: machine.id.clone(),
            slot: machine.owner.as_ref().expect("tags").slot,
            launched_at: machine.launched_at,
            price: machine.price,
        })
        .collect();
    let request = DestroyRequest { fleet: &fleet(), scope: &scope, victims: &victims };
    sim.provider(scope.cloud).destroy(&request).await
}

pub(crate) fn live(sim: &Sim) -> usize {
    let machines = sim.machines().expect("machines");
    machines.iter().filter(|machine| machine.state.is_live()).count()
}
