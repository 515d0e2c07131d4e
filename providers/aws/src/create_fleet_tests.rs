//! Requests as they leave for EC2, and answers read pool by pool.

use super::*;
use crate::testing::caught;
use aws_sdk_ec2::types::LaunchTemplateAndOverridesResponse;
use fleet_model::{Create, FleetName, FleetUid, OtherPool, Template, Token};

fn pool(text: &str) -> PoolId {
    text.parse().expect("a pool")
}

fn source(text: &str, subnet: Option<&str>) -> Source {
    Source {
        pool: pool(text),
        template: "fleet-uid-0123".into(),
        subnet: subnet.map(str::to_owned),
        zone: Some("us-east-1c".into()),
        max_price: None,
    }
}

async fn sent(market: &str, sources: &[Source]) -> String {
    let slots = ["base-3.1", "base-4.1", "base-9.2"].map(|text| text.parse().expect("a slot"));
    let other = OtherPool {
        pool: pool(&format!("aws/us-east-1/use1-az4/m6i.large/{market}")),
        price: None,
        max_price: None,
    };
    let create = Create {
        pool: pool(&format!("aws/us-east-1/use1-az4/m5.large/{market}")),
        others: vec![other],
        slots: slots.to_vec(),
        token: Token::new("token"),
        price: None,
        max_price: None,
        template: Template::default().digest(),
        image: None,
    };
    let asked = CreateRequest {
        fleet: &FleetUid::new("uid"),
        name: &FleetName::new("web"),
        labels: &BTreeMap::new(),
        create: &create,
        template: &Template::default(),
    };
    let request = request(&asked, sources);
    caught(async |ec2| drop(request.send_with(&ec2).await)).await
}

#[tokio::test]
async fn on_demand_from_two_zones() {
    let sources = [
        source("aws/us-east-1/use1-az4/m5.large/on-demand", None),
        Source {
            zone: Some("us-east-1d".into()),
            ..source("aws/us-east-1/use1-az6/m6i.large/on-demand", None)
        },
    ];
    insta::assert_snapshot!(sent("on-demand", &sources).await);
}

#[tokio::test]
async fn spot_from_subnets_and_two_templates_with_a_limit() {
    let sources = [
        Source {
            max_price: Some(MicroUsd(70_000)),
            ..source("aws/us-east-1/use1-az4/m5.large/spot", Some("subnet-1"))
        },
        Source {
            template: "fleet-uid-4567".into(),
            max_price: Some(MicroUsd(80_000)),
            ..source("aws/us-east-1/use1-az4/m6i.large/spot", Some("subnet-1"))
        },
    ];
    insta::assert_snapshot!(sent("spot", &sources).await);
}

fn error(code: &str, kind: &str, subnet: &str) -> CreateFleetError {
    let about = FleetLaunchTemplateOverrides::builder()
        .instance_type(kind.into())
        .subnet_id(subnet)
        .build();
    let about = LaunchTemplateAndOverridesResponse::builder().overrides(about).build();
    CreateFleetError::builder()
        .launch_template_and_overrides(about)
        .error_code(code)
        .error_message("words")
        .build()
}

#[test]
fn every_pool_has_its_own_answer() {
    let sources = [
        source("aws/us-east-1/use1-az4/m5.large/spot", Some("subnet-1")),
        source("aws/us-east-1/use1-az6/m5.large/spot", Some("subnet-2")),
        source("aws/us-east-1/use1-az6/m6i.large/spot", Some("subnet-2")),
    ];
    let made = |ids: &[&str]| {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        CreateFleetInstance::builder().set_instance_ids(Some(ids)).build()
    };
    let answer = CreateFleetOutput::builder()
        .instances(made(&["i-2", "i-1"]))
        .instances(made(&["i-0"]))
        .errors(error("InsufficientInstanceCapacity", "m5.large", "subnet-2"))
        .errors(error("UnfulfillableCapacity", "m5.large", "subnet-2"))
        .errors(error("MaxSpotInstanceCountExceeded", "m6i.large", "subnet-2"))
        .errors(error("InvalidLaunchTemplateName.NotFoundException", "m5.large", "subnet-1"))
        .errors(CreateFleetError::builder().error_code("UnfulfillableCapacity").build())
        .build();
    let told = read(&answer, &sources);
    assert_eq!(told.made.keys().map(String::as_str).collect::<Vec<_>>(), ["i-0", "i-1", "i-2"]);
    let said: Vec<(&PoolId, &str, Class)> =
        told.refusals.iter().map(|(pool, e)| (pool, e.code.as_str(), e.class)).collect();
    let minutes = |minutes: u64| std::time::Duration::from_secs(60 * minutes);
    assert_eq!(
        said,
        [
            (
                &sources[1].pool,
                "InsufficientInstanceCapacity",
                Class::Capacity { block: minutes(3) }
            ),
            (&sources[2].pool, "MaxSpotInstanceCountExceeded", Class::Quota { block: minutes(3) }),
            // Made a moment ago: nothing is wrong with the request.
            (
                &sources[0].pool,
                "InvalidLaunchTemplateName.NotFoundException",
                Class::Retry { after: None }
            ),
        ]
    );
    // The call was answered: a new word is a refusal, and neither capacity nor "nobody knows".
    let new = CreateFleetOutput::builder().errors(error("SomethingNew", "m5.large", "subnet-1"));
    let class = read(&new.build(), &sources).refusals.first().map(|(_, error)| error.class);
    assert_eq!(class, Some(Class::Refused { block: minutes(10) }));
    let fast =
        CreateFleetOutput::builder().errors(error("RequestLimitExceeded", "m5.large", "subnet-1"));
    assert!(read(&fast.build(), &sources).refusals.iter().all(|(_, error)| error.throttled));
    assert_eq!(told.general.map(|error| error.code).as_deref(), Some("UnfulfillableCapacity"));
}

#[test]
fn the_answer_says_where_machines_came_from() {
    let by_subnet = [
        source("aws/us-east-1/use1-az4/m5.large/spot", Some("subnet-1")),
        source("aws/us-east-1/use1-az6/m5.large/spot", Some("subnet-2")),
    ];
    let by_zone = [source("aws/us-east-1/use1-az4/m5.large/spot", None)];
    let made = CreateFleetInstance::builder().instance_ids("i-1").instance_type("m5.large".into());
    let pool = |made: &CreateFleetInstance, sources: &[Source]| {
        made_in(made, sources).map(|pool| pool.place.zone.to_string())
    };
    let told = made.clone().subnet_id("subnet-2").build();
    assert_eq!(pool(&told, &by_subnet).as_deref(), Some("use1-az6"));
    let told = made.clone().availability_zone_id("use1-az4").build();
    assert_eq!(pool(&told, &by_zone).as_deref(), Some("use1-az4"));
    let overrides = error("x", "m5.large", "subnet-1").launch_template_and_overrides;
    let asked = made.clone().set_launch_template_and_overrides(overrides).build();
    assert_eq!(pool(&asked, &by_subnet).as_deref(), Some("use1-az4"));
    assert_eq!(pool(&made.build(), &by_subnet), None);
}
