//! Spot prices are asked for once, remembered, and told with their age when nobody answers.

use crate::support::pool;
use async_trait::async_trait;
use fleet_aws::{Aws, AwsSettings};
use fleet_emulators::aws::{Faults, Moto, Proxy};
use fleet_model::{CapacityGoal, PoolId, Template, Timestamp};
use fleet_provider::{Answers, Clock, Offered, OfferingsRequest, Provider};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Stands still until it is told otherwise.
struct Stepped(AtomicI64);

#[async_trait]
impl Clock for Stepped {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::SeqCst)).expect("a time")
    }

    async fn sleep(&self, _: Duration) {}
}

async fn ask(provider: &Aws, pools: &[PoolId]) -> Offered {
    let template = Template::default();
    let request = OfferingsRequest {
        pools,
        template: &template,
        goal: CapacityGoal::default(),
        ignore: fleet_model::SignalSet::default(),
    };
    provider.offerings(&request).await.expect("offerings")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs moto: cargo xtask test aws"]
async fn prices_are_asked_for_once_and_remembered() {
    let moto = Moto::start().await.expect("moto");
    let proxy = Proxy::start(moto.port()).await.expect("a proxy");
    let folder = tempfile::tempdir().expect("a folder");
    let start = Timestamp::now();
    let clock = Arc::new(Stepped(AtomicI64::new(start.as_second())));
    let provider = || {
        let settings = AwsSettings { endpoint: Some(proxy.url()), ..AwsSettings::default() };
        let answers = Answers::at(folder.path().join("signals.json"));
        Aws::new(settings, clock.clone()).remembering(Arc::new(answers))
    };
    let pools = [pool("aws/us-east-1/use1-az4/m5.large/spot")];
    let calls = || proxy.calls("DescribeSpotPriceHistory");
    let price = |offered: &Offered| {
        let quote = offered.quotes[0].as_ref().expect("a quote");
        (quote.price.expect("a price"), quote.signals.price_as_of.map(|at| at.as_second()))
    };

    let first = price(&ask(&provider(), &pools).await);
    assert_eq!((calls(), first.1), (1, Some(start.as_second())));
    // Another run, four minutes later.
    clock.0.fetch_add(240, Ordering::SeqCst);
    assert_eq!(price(&ask(&provider(), &pools).await), first);
    assert_eq!(calls(), 1);
    // An hour later nobody answers: the last price, and how old it is.
    clock.0.fetch_add(3600, Ordering::SeqCst);
    proxy.set(Faults { throttled: true, ..Faults::default() });
    assert_eq!(price(&ask(&provider(), &pools).await), first);
    proxy.set(Faults::default());
    // And when somebody does, the price is of now.
    let last = price(&ask(&provider(), &pools).await);
    assert_eq!(last.1, Some(start.as_second() + 3840));
    // A pool that nobody knows the price of.
    let stranger = [pool("aws/us-east-1/use1-az4/m5.large/on-demand")];
    let quotes = ask(&provider(), &stranger).await.quotes;
    assert_eq!(quotes[0].as_ref().and_then(|quote| quote.price), None);
}
