//! Request bodies as they leave for EC2, caught at the last moment and never sent.

use super::*;
use crate::image::Root;
use aws_credential_types::Credentials;
use aws_sdk_ec2::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_ec2::config::{BehaviorVersion, ConfigBag, Intercept, Region, RuntimeComponents};
use aws_sdk_ec2::error::BoxError;
use fleet_model::{Create, FleetName, FleetUid, Template, Token};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Takes the body and stops the request.
#[derive(Debug, Clone, Default)]
struct Catch(Arc<Mutex<String>>);

impl Intercept for Catch {
    fn name(&self) -> &'static str {
        "Catch"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let body = context.request().body().bytes().unwrap_or_default();
        *self.0.lock().expect("alone") = String::from_utf8_lossy(body).into_owned();
        Err("caught".into())
    }
}

/// A body as lines, each `key = value`, in the order in which they are sent.
async fn body(request: RunInstancesInputBuilder) -> String {
    let catch = Catch::default();
    let config = aws_sdk_ec2::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .endpoint_url("http://127.0.0.1:1")
        .credentials_provider(Credentials::new("key", "secret", None, None, "test"))
        .interceptor(catch.clone())
        .build();
    let sent = request.send_with(&aws_sdk_ec2::Client::from_conf(config)).await;
    assert!(sent.is_err());
    let body = catch.0.lock().expect("alone").clone();
    body.split('&').map(|pair| decode(&pair.replacen('=', " = ", 1))).collect::<Vec<_>>().join("\n")
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let hex = [rest.next().expect("hex"), rest.next().expect("hex")];
            let hex = std::str::from_utf8(&hex).expect("hex");
            bytes.push(u8::from_str_radix(hex, 16).expect("hex"));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).expect("text")
}

struct Case {
    pool: &'static str,
    max_price: Option<MicroUsd>,
    template: Template,
    network: Network,
    efa_cards: Vec<i32>,
}

async fn sent(case: Case) -> String {
    let slots = ["base-3.1", "base-4.1", "base-9.2"].map(|text| text.parse().expect("a slot"));
    let create = Create {
        pool: case.pool.parse().expect("a pool"),
        slots: slots.to_vec(),
        token: Token::new("token"),
        price: None,
        max_price: case.max_price,
        template: case.template.digest(),
        image: None,
    };
    let asked = CreateRequest {
        fleet: &FleetUid::new("uid"),
        name: &FleetName::new("web"),
        labels: &BTreeMap::from([
            ("team".to_owned(), "shop".to_owned()),
            ("fleet:uid".to_owned(), "forged".to_owned()),
        ]),
        create: &create,
        template: &case.template,
    };
    let root = Root { device: "/dev/xvda".into(), size: Some(8) };
    let image = Image { id: "ami-1".into(), root: Some(root) };
    body(request(&asked, Some("us-east-1c"), &image, &case.network, &case.efa_cards)).await
}

#[tokio::test]
async fn an_on_demand_launch_with_nothing_asked_for() {
    let body = sent(Case {
        pool: "aws/us-east-1/use1-az4/m5.large/on-demand",
        max_price: None,
        template: Template::default(),
        network: Network::default(),
        efa_cards: Vec::new(),
    })
    .await;
    insta::assert_snapshot!(body);
}

#[tokio::test]
async fn a_spot_launch_with_everything_asked_for() {
    let body = sent(Case {
        pool: "aws/us-east-1/use1-az4/p5.48xlarge/spot",
        max_price: Some(MicroUsd(12_345_678)),
        template: Template {
            disk: Some(Disk { size_gib: Some(200), kind: Some("io2".into()), encrypted: false }),
            instance_role: Some("node".into()),
            key: Some("ops".into()),
            user_data: Some("#!/bin/sh\necho \"$HOME\" && id\n".into()),
            tags: BTreeMap::from([("Name".to_owned(), "trainer".to_owned())]),
            ..Template::default()
        },
        network: Network {
            subnet: Some("subnet-1".into()),
            groups: vec!["sg-1".into(), "sg-2".into()],
        },
        efa_cards: Vec::new(),
    })
    .await;
    insta::assert_snapshot!(body);
}

#[tokio::test]
async fn a_launch_into_a_capacity_block_with_fast_interfaces() {
    let body = sent(Case {
        pool: "aws/us-east-1/use1-az4/p5.48xlarge/on-demand",
        max_price: None,
        template: Template {
            reservation: Some("block:cr-0123".into()),
            placement_group: Some("close".into()),
            fast_network: true,
            ..Template::default()
        },
        network: Network { subnet: Some("subnet-1".into()), groups: vec!["sg-1".into()] },
        efa_cards: vec![0, 1],
    })
    .await;
    insta::assert_snapshot!(body);
}

#[tokio::test]
async fn spot_machines_leave_reservations_alone() {
    let body = sent(Case {
        pool: "aws/us-east-1/use1-az4/p5.48xlarge/spot",
        max_price: None,
        template: Template {
            reservation: Some("arn:aws:resource-groups:us-east-1:1:group/r".into()),
            ..Template::default()
        },
        network: Network::default(),
        efa_cards: Vec::new(),
    })
    .await;
    assert!(!body.contains("CapacityReservation"), "{body}");
}

#[test]
fn amounts_are_written_in_full() {
    assert_eq!(dollars(MicroUsd(12_345_678)), "12.345678");
    assert_eq!(dollars(MicroUsd(1)), "0.000001");
    assert_eq!(dollars(MicroUsd::dollars(3)), "3.000000");
}
