//! Names that follow the content, and what goes when.

use super::*;
use crate::image::Root;
use crate::testing::caught;
use aws_sdk_ec2::primitives::DateTime;
use fleet_model::{Create, Disk, FleetName, Template, Token};
use std::collections::BTreeSet;

fn create(template: &Template, token: &str) -> Create {
    create_in("spot", template, token)
}

fn create_in(market: &str, template: &Template, token: &str) -> Create {
    Create {
        pool: format!("aws/us-east-1/use1-az4/p5.48xlarge/{market}").parse().expect("a pool"),
        others: Vec::new(),
        slots: vec!["base-3.1".parse().expect("a slot")],
        token: Token::new(token),
        price: None,
        max_price: None,
        template: template.digest(),
        image: None,
    }
}

fn full() -> Template {
    Template {
        disk: Some(Disk { size_gib: Some(200), kind: Some("io2".into()), encrypted: false }),
        instance_role: Some("node".into()),
        key: Some("ops".into()),
        user_data: Some("#!/bin/sh\necho \"$HOME\" && id\n".into()),
        placement_group: Some("close".into()),
        tags: BTreeMap::from([("Name".to_owned(), "trainer".to_owned())]),
        ..Template::default()
    }
}

fn image(id: &str) -> Image {
    let root = Root { device: "/dev/xvda".into(), size: Some(8) };
    Image { id: id.into(), root: Some(root), kept: Vec::new() }
}

/// The name for a template, a token, an image and EFA cards.
fn named(template: &Template, token: &str, image: &Image, efa_cards: &[i32]) -> String {
    let create = create(template, token);
    let asked = CreateRequest {
        fleet: &FleetUid::new("0123456789abcdef0123456789abcdef"),
        name: &FleetName::new("web"),
        labels: &BTreeMap::new(),
        create: &create,
        template,
    };
    name(&asked, Common { image, groups: &["sg-1".to_owned()], efa_cards })
}

#[test]
fn the_same_content_has_the_same_name() {
    let one = named(&full(), "t", &image("ami-1"), &[]);
    assert!(one.starts_with("fleet-0123456789abcdef-"), "{one}");
    assert_eq!(one.len(), "fleet-".len() + 16 + 1 + 16);
    assert_eq!(named(&full(), "another launch", &image("ami-1"), &[]), one);
    let other_script = Template { user_data: Some("#!/bin/sh\n".into()), ..full() };
    let other_tags = Template { tags: BTreeMap::new(), ..full() };
    let others = [
        named(&full(), "t", &image("ami-2"), &[]),
        named(&full(), "t", &image("ami-1"), &[0]),
        named(&other_script, "t", &image("ami-1"), &[]),
        named(&other_tags, "t", &image("ami-1"), &[]),
    ];
    let all: BTreeSet<&String> = others.iter().chain([&one]).collect();
    assert_eq!(all.len(), 5, "{all:?}");
}

async fn sent(template: &Template, efa_cards: &[i32]) -> String {
    sent_for("spot", template, efa_cards).await
}

async fn sent_for(market: &str, template: &Template, efa_cards: &[i32]) -> String {
    let create = create_in(market, template, "token");
    let asked = CreateRequest {
        fleet: &FleetUid::new("uid"),
        name: &FleetName::new("web"),
        labels: &BTreeMap::from([("team".to_owned(), "shop".to_owned())]),
        create: &create,
        template,
    };
    let groups = ["sg-1".to_owned(), "sg-2".to_owned()];
    let image = image("ami-1");
    let request = request(&asked, Common { image: &image, groups: &groups, efa_cards });
    caught(async |ec2| drop(request.send_with(&ec2).await)).await
}

#[tokio::test]
async fn a_template_with_everything_asked_for() {
    insta::assert_snapshot!(sent(&full(), &[]).await);
}

#[tokio::test]
async fn a_template_with_fast_interfaces() {
    insta::assert_snapshot!(sent(&Template::default(), &[0, 1]).await);
}

#[test]
fn what_is_young_or_wanted_stays() {
    let now = Timestamp::from_second(1_800_000_000).expect("a time");
    let (fleet, scopes, machines) = (FleetUid::new("uid"), BTreeSet::new(), BTreeMap::new());
    let wanted = Template::default().digest();
    let is_over = |name: &str, of: &str, minutes: i64, gone: bool| {
        let template = LaunchTemplate::builder()
            .launch_template_name(name)
            .create_time(DateTime::from_secs(now.as_second() - 60 * minutes))
            .tags(Tag::builder().key(tags::TEMPLATE).value(of).build())
            .build();
        let request = TidyRequest {
            fleet: &fleet,
            scopes: &scopes,
            machines: &machines,
            template: wanted,
            gone,
        };
        super::is_over(&template, &request, now)
    };
    let of = wanted.to_string();
    assert!(!is_over("fleet-uid-1", "old", 59, false), "young");
    assert!(is_over("fleet-uid-1", "old", 61, false), "old and unwanted");
    assert!(!is_over("fleet-uid-1", &of, 61, false), "wanted");
    assert!(is_over("fleet-uid-1", &of, 25 * 60, false), "made again when needed");
    assert!(is_over("fleet-uid-1", &of, 0, true), "the fleet is gone");
    assert!(!is_over("web", "old", 61, true), "somebody else's, whatever its tags say");
    assert!(!is_over("fleet-other-1", "old", 61, true), "another fleet's");
}

/// An on-demand launch refuses the line that tags spot requests.
#[tokio::test]
async fn only_spot_templates_tag_spot_requests() {
    for (market, tagged) in [("spot", true), ("on-demand", false)] {
        let body = sent_for(market, &Template::default(), &[]).await;
        assert_eq!(body.contains("= spot-instances-request"), tagged, "{body}");
        assert!(body.contains("InstanceInitiatedShutdownBehavior = terminate"), "{body}");
    }
    let (spot, other) =
        (sent_for("spot", &full(), &[]).await, sent_for("on-demand", &full(), &[]).await);
    let name = |body: &str| {
        let line = body.lines().find(|line| line.starts_with("LaunchTemplateName"));
        line.unwrap_or_default().to_owned()
    };
    assert_ne!(name(&spot), name(&other));
}
