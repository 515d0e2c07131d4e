//! Request bodies as they leave for EC2, caught at the last moment and never sent.

use super::*;
use crate::image::Root;
use crate::testing::caught;
use fleet_model::{Create, FleetName, FleetUid, Template, Token};
use std::collections::BTreeMap;

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
        others: Vec::new(),
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
    let image = Image { id: "ami-1".into(), root: Some(root), kept: vec!["/dev/sdb".into()] };
    let request = request(&asked, Some("us-east-1c"), &image, &case.network, &case.efa_cards);
    caught(async |ec2| drop(request.send_with(&ec2).await)).await
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

#[tokio::test]
async fn burstable_spot_machines_are_not_billed_for_surplus_credits() {
    for (kind, market, standard) in [
        ("t3.large", "spot", true),
        ("t4g.small", "spot", true),
        ("t3.large", "on-demand", false),
        ("t2.micro", "spot", false),
        ("m5.large", "spot", false),
    ] {
        let pool = format!("aws/us-east-1/use1-az4/{kind}/{market}");
        let body = sent(Case {
            pool: pool.leak(),
            max_price: None,
            template: Template::default(),
            network: Network::default(),
            efa_cards: Vec::new(),
        })
        .await;
        assert_eq!(body.contains("CreditSpecification.CpuCredits = standard"), standard, "{kind}");
    }
}
