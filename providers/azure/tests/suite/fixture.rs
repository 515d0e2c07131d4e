//! A provider on a fake.

use fleet_azure::{Azure, AzureSettings};
use fleet_fakes::Server;
use fleet_fakes::azure::{AzureCloud, GROUP, KEY_NAME, SUBSCRIPTIONS, TOKEN, subnet};
use fleet_model::{PoolId, Template};
use fleet_provider::Clock;
use fleet_testkit::{Asks, SteppedClock};
use std::sync::Arc;

pub(crate) const POOL: &str = "azure/eastus/regional/Standard_D2s_v5/on-demand";

pub(crate) fn pool(text: &str) -> PoolId {
    text.parse().expect("a pool")
}

pub(crate) fn template() -> Template {
    Template {
        key: Some(KEY_NAME.into()),
        subnets: vec![subnet(0, "eastus"), subnet(1, "westus2")],
        user_data: Some("#!/bin/sh\n".into()),
        ..Template::default()
    }
}

pub(crate) fn settings(endpoint: String) -> AzureSettings {
    AzureSettings {
        subscription: Some(SUBSCRIPTIONS[0].into()),
        resource_group: Some(GROUP.into()),
        token: Some(TOKEN.into()),
        prices: endpoint.clone(),
        endpoint,
        ..AzureSettings::default()
    }
}

/// A fake and a client.
pub(crate) struct Fixture {
    pub(crate) server: Server<AzureCloud>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) asks: Asks,
}

pub(crate) async fn fixture() -> Fixture {
    bed_with(|_| {}).await
}

pub(crate) async fn bed_with(change: impl FnOnce(&mut AzureSettings)) -> Fixture {
    let clock: Arc<dyn Clock> = Arc::new(SteppedClock::default());
    let server = Server::start(AzureCloud::default(), clock.clone(), 0).await.expect("a fake");
    let mut settings = settings(server.url());
    change(&mut settings);
    let provider = Arc::new(Azure::of_subscriptions(settings, clock.clone(), Arc::default()));
    Fixture { server, clock, asks: Asks { provider, pool: pool(POOL), template: template() } }
}
