//! Request bodies as they leave for Google.

use super::*;
use fleet_model::{Create, Disk, FleetName, FleetUid, Token};
use serde_json::{Value, json};
use std::collections::BTreeMap;

struct Case<'a> {
    pool: &'a str,
    template: Template,
    reservation: Option<&'a str>,
    flex_start_hours: Option<u64>,
    others: &'a [&'a str],
}

fn other(text: &str) -> fleet_model::OtherPool {
    let pool = text.parse().expect("a pool");
    fleet_model::OtherPool { pool, price: None, max_price: None }
}

impl Default for Case<'_> {
    fn default() -> Self {
        Case {
            pool: "gcp/us-central1/us-central1-a/n2-standard-4/on-demand",
            template: Template::default(),
            reservation: None,
            flex_start_hours: None,
            others: &[],
        }
    }
}

impl Case<'_> {
    fn bodies(&self, slots: &[&str]) -> (Value, Value) {
        let pool: PoolId = self.pool.parse().expect("a pool");
        let create = Create {
            pool: pool.clone(),
            slots: slots.iter().map(|text| text.parse().expect("a slot")).collect(),
            token: Token::new("token"),
            price: None,
            max_price: None,
            template: self.template.digest(),
            image: None,
            others: self.others.iter().map(|text| other(text)).collect(),
        };
        let asked = CreateRequest {
            fleet: &FleetUid::new("uid"),
            name: &FleetName::new("web"),
            labels: &BTreeMap::from([("team".to_owned(), "shop".to_owned())]),
            create: &create,
            template: &self.template,
        };
        let resolved = Resolved {
            project: "p",
            kind: Kind::read(pool.instance_type.as_str()).expect("a type"),
            choice: Choice::of(&create, Kind::read(pool.instance_type.as_str()).expect("a type")),
            image: "projects/debian-cloud/global/images/x".into(),
            reservation: self.reservation.map(str::to_owned),
            flex_start_hours: self.flex_start_hours,
        };
        let names = names(&asked);
        let one = one(&asked, &resolved, &pool.place.zone, &names[0]);
        let many = many(&asked, &resolved, &names);
        (serde_json::to_value(one).expect("json"), serde_json::to_value(many).expect("json"))
    }

    fn one(&self) -> Value {
        self.bodies(&["base-0.1"]).0
    }
}

#[test]
fn a_launch_with_nothing_asked_for() {
    let (one, many) = Case::default().bodies(&["base-3.1", "base-4.1"]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&one).expect("json"));
    assert_eq!(many["count"], json!("2"));
    assert_eq!(many["minCount"], json!("1"));
    let names = many["perInstanceProperties"].as_object().expect("names");
    assert!(names.contains_key(one["name"].as_str().expect("a name")));
    let properties = &many["instanceProperties"];
    // Bare names where `insert` has links; all else is the same.
    assert_eq!(properties["machineType"], "n2-standard-4");
    assert_eq!(properties["disks"][0]["initializeParams"]["diskType"], "pd-balanced");
    for field in ["labels", "networkInterfaces", "scheduling"] {
        assert_eq!(properties[field], one[field], "{field}");
    }
}

#[test]
fn a_launch_with_everything_asked_for() {
    let one = Case {
        pool: "gcp/us-central1/us-central1-a/n1-standard-8+2xt4/spot",
        template: Template {
            subnets: vec!["projects/h/regions/us-east1/subnetworks/e".into(), "private".into()],
            network: Some("prod".into()),
            security_groups: vec!["web".into()],
            disk: Some(Disk { size_gib: Some(200), kind: Some("pd-ssd".into()), encrypted: true }),
            instance_role: Some("node@p.iam.gserviceaccount.com".into()),
            key: Some("ops:ssh-ed25519 AAAA ops".into()),
            user_data: Some("#!/bin/sh\necho \"$HOME\"\n".into()),
            ..Template::default()
        },
        ..Case::default()
    }
    .one();
    insta::assert_snapshot!(serde_json::to_string_pretty(&one).expect("json"));
}

#[test]
fn how_machines_are_scheduled() {
    let scheduling = |pool: &str, flex: Option<u64>| {
        Case { pool, flex_start_hours: flex, ..Case::default() }.one()["scheduling"].clone()
    };
    let spot = scheduling("gcp/us-central1/us-central1-a/n2-standard-4/spot", Some(24));
    assert_eq!(spot["provisioningModel"], "SPOT");
    assert_eq!(spot["instanceTerminationAction"], "DELETE");
    let plain = scheduling("gcp/us-central1/us-central1-a/n2-standard-4/on-demand", Some(24));
    assert_eq!(plain, json!({ "provisioningModel": "STANDARD" }));
    let gpu = scheduling("gcp/us-central1/us-central1-a/a2-highgpu-1g/on-demand", None);
    assert_eq!(gpu, json!({ "provisioningModel": "STANDARD", "onHostMaintenance": "TERMINATE" }));
    let flex = scheduling("gcp/us-central1/us-central1-a/a2-highgpu-1g/on-demand", Some(24));
    assert_eq!(flex["provisioningModel"], "FLEX_START");
    assert_eq!(flex["maxRunDuration"]["seconds"], "86400");
}

#[test]
fn reserved_machines_name_their_reservation() {
    let one = Case {
        pool: "gcp/us-central1/us-central1-a/a2-highgpu-1g/reserved",
        reservation: Some("held"),
        ..Case::default()
    }
    .one();
    let expect = json!({
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": ["held"],
    });
    assert_eq!(one["reservationAffinity"], expect);
}

#[test]
fn cloud_init_and_scripts_have_different_keys() {
    let key = |text: &str| {
        let template = Template { user_data: Some(text.into()), ..Template::default() };
        Case { template, ..Case::default() }.one()["metadata"]["items"][0]["key"].clone()
    };
    assert_eq!(key("#!/bin/sh\n"), "startup-script");
    assert_eq!(key("#cloud-config\n"), "user-data");
}

#[test]
fn what_cannot_be_launched_is_said_before_it_is_tried() {
    let check = |pool: &str, template: &Template, expect: Option<&str>| {
        let found = refusal(&pool.parse().expect("a pool"), template, false);
        assert_eq!(found.is_some(), expect.is_some(), "{pool}: {found:?}");
        if let (Some(found), Some(expect)) = (found, expect) {
            assert!(found.contains(expect), "{found}");
        }
    };
    let plain = Template::default();
    check("gcp/us-central1/us-central1-a/n2-standard-4/spot", &plain, None);
    check("gcp/us-central1/us-central1-a/tpu-v5litepod-16/spot", &plain, Some("TPU"));
    check("gcp/us-central1/us-central1-a/tpu-v5litepod-8/spot", &plain, None);
    check("gcp/us-central1/us-central1-a/warp-9/spot", &plain, Some("series"));
    let far =
        Template { subnets: vec!["regions/us-east1/subnetworks/e".into()], ..Template::default() };
    check("gcp/us-central1/us-central1-a/n2-standard-4/spot", &far, Some("subnet"));
    let key = Template { key: Some("ops".into()), ..Template::default() };
    check("gcp/us-central1/us-central1-a/n2-standard-4/spot", &key, Some("public key"));
}

#[test]
fn a_launch_that_leaves_a_choice_names_only_pairs_that_are_allowed() {
    let case = Case {
        others: &[
            "gcp/us-central1/us-central1-b/n2-standard-4/on-demand",
            "gcp/us-central1/us-central1-a/e2-standard-4/on-demand",
            "gcp/us-central1/us-central1-b/e2-standard-4/on-demand",
            // Only in one of the two zones.
            "gcp/us-central1/us-central1-a/c2-standard-4/on-demand",
            // Of another disk.
            "gcp/us-central1/us-central1-a/n4-standard-4/on-demand",
            "gcp/us-central1/us-central1-b/n4-standard-4/on-demand",
        ],
        ..Case::default()
    };
    let (_, many) = case.bodies(&["base-0.1", "base-1.1"]);
    assert_eq!(many["instanceProperties"].get("machineType"), None);
    let wanted = json!({
        "choice-0": { "machineTypes": ["n2-standard-4"], "rank": "0" },
        "choice-1": { "machineTypes": ["e2-standard-4"], "rank": "1" },
    });
    assert_eq!(many["instanceFlexibilityPolicy"]["instanceSelections"], wanted);
    let zones = json!([{ "zone": "zones/us-central1-a" }, { "zone": "zones/us-central1-b" }]);
    assert_eq!(many["locationPolicy"]["zones"], zones);
    assert_eq!(many["locationPolicy"]["targetShape"], "ANY");
}

#[test]
fn a_dense_reservation_binds_its_machines() {
    let check = |kind: &str, expect: &str| {
        let one = Case {
            pool: &format!("gcp/us-central1/us-central1-a/{kind}/reserved"),
            reservation: Some("held"),
            ..Case::default()
        }
        .one();
        assert_eq!(one["scheduling"]["provisioningModel"], expect, "{kind}");
        assert_eq!(one["scheduling"]["onHostMaintenance"], "TERMINATE", "{kind}");
        assert_eq!(one["reservationAffinity"]["values"], json!(["held"]), "{kind}");
    };
    check("a3-ultragpu-8g", "RESERVATION_BOUND");
    check("a4-highgpu-8g", "RESERVATION_BOUND");
    check("a3-highgpu-8g", "STANDARD");
}

#[test]
fn a_disk_that_a_type_does_not_take_is_refused() {
    let with = |kind: &str| Template {
        disk: Some(Disk { size_gib: None, kind: Some(kind.into()), encrypted: true }),
        ..Template::default()
    };
    let check = |pool: &str, disk: &str, expect: bool| {
        let found = refusal(&pool.parse().expect("a pool"), &with(disk), false);
        assert_eq!(found.is_some(), expect, "{pool} {disk}: {found:?}");
    };
    check("gcp/us-central1/us-central1-a/a3-ultragpu-8g/spot", "pd-ssd", true);
    check("gcp/us-central1/us-central1-a/a3-ultragpu-8g/spot", "hyperdisk-balanced", false);
    check("gcp/us-central1/us-central1-a/n2-standard-4/spot", "pd-ssd", false);
}
