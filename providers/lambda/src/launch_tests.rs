//! Requests as they go over the wire, and what is recognised as made before.

use super::*;
use fleet_model::{Create, FleetName, FleetUid, Template, Token};
use serde_json::{from_value, json};
use std::collections::BTreeMap;

fn create() -> Create {
    Create {
        pool: "lambda/us-east-1/regional/gpu_1x_a10/on-demand".parse().expect("a pool"),
        slots: vec!["base-3.2".parse().expect("a slot")],
        token: Token::new("fleet-abc"),
        price: None,
        max_price: None,
        template: template().digest(),
        image: None,
        others: Vec::new(),
    }
}

fn template() -> Template {
    Template {
        key: Some("laptop".into()),
        image: Some("lambda-stack-24-04".into()),
        user_data: Some("#!/bin/sh\n".into()),
        security_groups: vec!["c4d2".into()],
        tags: BTreeMap::from([("fleet:uid".into(), "forged".into())]),
        ..Template::default()
    }
}

fn with<T>(create: &Create, template: &Template, f: impl FnOnce(&CreateRequest<'_>) -> T) -> T {
    f(&CreateRequest {
        fleet: &FleetUid::new("uid"),
        name: &FleetName::new("web"),
        labels: &BTreeMap::from([("Team".into(), "shop".into())]),
        create,
        template,
    })
}

#[test]
fn a_launch_on_the_wire() {
    let body = with(&create(), &template(), |asked| {
        let slot = check(asked).expect("one slot");
        serde_json::to_value(request(asked, slot, vec!["c4d2".into()], Timestamp::UNIX_EPOCH))
            .expect("JSON")
    });
    assert_eq!(
        body,
        json!({
            "region_name": "us-east-1",
            "instance_type_name": "gpu_1x_a10",
            "ssh_key_names": ["laptop"],
            "name": "fleet-abc",
            "image": { "family": "lambda-stack-24-04" },
            "user_data": "#!/bin/sh\n",
            "tags": [
                { "key": "fleet:launched", "value": "1970-01-01T00:00:00Z" },
                { "key": "fleet:name", "value": "web" },
                { "key": "fleet:slot", "value": "base-3.2" },
                { "key": "fleet:template", "value": template().digest().to_string() },
                { "key": "fleet:token", "value": "fleet-abc" },
                { "key": "fleet:uid", "value": "uid" },
                { "key": "team", "value": "shop" },
            ],
            "firewall_rulesets": [{ "id": "c4d2" }],
        })
    );
}

#[test]
fn what_lambda_would_refuse_is_not_sent() {
    let refuses = |create: &Create, template: &Template, code: &str| {
        let error = with(create, template, |asked| check(asked).expect_err("refused"));
        assert_eq!((error.class, error.code.as_str()), (Class::Invalid, code));
    };
    refuses(&create(), &Template::default(), "NoSshKey");
    let long = Create { token: Token::new("x".repeat(65)), ..create() };
    refuses(&long, &template(), "BadToken");
    let two = Create { slots: vec![create().slots[0]; 2], ..create() };
    refuses(&two, &template(), "TooMany");
    let spot = "lambda/us-east-1/regional/gpu_1x_a10/spot".parse().expect("a pool");
    refuses(&Create { pool: spot, ..create() }, &template(), "NoSuchPool");
    let other = "aws/us-east-1/regional/gpu_1x_a10/on-demand".parse().expect("a pool");
    refuses(&Create { pool: other, ..create() }, &template(), "WrongCloud");
}

#[test]
fn images_by_id_or_family() {
    let id = "43336648-096d-4cba-9aa2-f9bb7727639d";
    assert_eq!(image(id), Image::Id(id.into()));
    assert_eq!(image("lambda-stack-24-04"), Image::Family("lambda-stack-24-04".into()));
}

#[test]
fn a_machine_that_bears_our_name_must_bear_our_tags() {
    let made = with(&create(), &template(), |asked| {
        let slot = asked.create.slots[0];
        let tags = request(asked, slot, Vec::new(), Timestamp::UNIX_EPOCH).tags;
        json!({
            "id": "0920", "name": "fleet-abc", "status": "active",
            "region": { "name": "us-east-1" },
            "instance_type": { "name": "gpu_1x_a10", "price_cents_per_hour": 129 },
            "tags": tags,
        })
    });
    let judge = |instance: serde_json::Value| {
        let seen: Vec<Instance> = vec![from_value(instance).expect("an instance")];
        with(&create(), &template(), |asked| made_before(&seen, asked, Timestamp::UNIX_EPOCH))
    };
    let found = judge(made.clone()).expect("ours").expect("made");
    assert_eq!(found[0].owner.as_ref().map(|owner| owner.slot), Some(create().slots[0]));
    let mut bare = made.clone();
    bare["tags"] = json!([]);
    assert_eq!(judge(bare).map_err(|error| error.class), Err(Class::Freeze));
    let mut copied = made.clone();
    copied["name"] = json!("another");
    assert_eq!(judge(copied).map_err(|error| error.class), Err(Class::Freeze));
    let mut elsewhere = made.clone();
    elsewhere["region"]["name"] = json!("us-west-1");
    assert_eq!(judge(elsewhere).map_err(|error| error.class), Err(Class::Freeze));
    let mut other = made;
    other["name"] = json!("my own");
    other["tags"] = json!([]);
    assert_eq!(judge(other), Ok(None));
}
