//! Requests as they go over the wire.

use super::*;
use fleet_model::{Create, Disk, FleetName, FleetUid, Token};
use std::collections::BTreeMap;

const SUBNET: &str =
    "/subscriptions/s1/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v/subnets/a";

fn create(pool: &str) -> Create {
    Create {
        pool: pool.parse().expect("a pool"),
        slots: vec!["burst-3.2".parse().expect("a slot")],
        token: Token::new("fleet-abc"),
        price: None,
        max_price: None,
        template: Template::default().digest(),
        image: None,
        others: Vec::new(),
    }
}

fn template() -> Template {
    Template {
        key: Some("ssh-ed25519 AAAA".into()),
        subnets: vec![SUBNET.into()],
        ..Template::default()
    }
}

fn with<T>(create: &Create, template: &Template, f: impl FnOnce(&CreateRequest<'_>) -> T) -> T {
    f(&CreateRequest {
        fleet: &FleetUid::new("uid"),
        name: &FleetName::new("web"),
        labels: &BTreeMap::from([
            ("team/x".into(), "shop".into()),
            ("FLEET:uid".into(), "?".into()),
        ]),
        create,
        template,
    })
}

fn built(create: &Create, template: &Template) -> Value {
    let group = Group { subscription: "s1".into(), name: "fleets".into() };
    let plug = Plug { subnet: SUBNET.into(), group };
    let found = Found {
        plug: &plug,
        key: "ssh-ed25519 AAAA",
        fast_network: true,
        arm: false,
        reservation: Some("held"),
    };
    with(create, template, |asked| body(asked, check(asked).expect("one slot"), &found))
}

#[test]
fn a_plain_machine_on_the_wire() {
    let body = built(&create("azure/eastus/regional/Standard_D2s_v5/on-demand"), &template());
    assert_eq!(
        body,
        json!({
            "location": "eastus",
            "tags": {
                "fleet:name": "web", "fleet:slot": "burst-3.2", "fleet:uid": "uid",
                "fleet:template": Template::default().digest().to_string(),
                "fleet:token": "fleet-abc", "team-x": "shop",
            },
            "properties": {
                "hardwareProfile": { "vmSize": "Standard_D2s_v5" },
                "storageProfile": {
                    "imageReference": {
                        "publisher": "Canonical", "offer": "ubuntu-24_04-lts",
                        "sku": "server", "version": "latest",
                    },
                    "osDisk": {
                        "name": "fleet-abc-disk", "createOption": "FromImage",
                        "deleteOption": "Delete",
                        "managedDisk": { "storageAccountType": "StandardSSD_LRS" },
                    },
                },
                "osProfile": {
                    "computerName": "fleet-abc", "adminUsername": "fleet",
                    "linuxConfiguration": {
                        "disablePasswordAuthentication": true,
                        "ssh": { "publicKeys": [{
                            "path": "/home/fleet/.ssh/authorized_keys",
                            "keyData": "ssh-ed25519 AAAA",
                        }] },
                    },
                },
                "networkProfile": {
                    "networkApiVersion": "2020-11-01",
                    "networkInterfaceConfigurations": [{
                        "name": "fleet-abc-nic",
                        "properties": {
                            "primary": true, "deleteOption": "Delete",
                            "enableAcceleratedNetworking": true,
                            "ipConfigurations": [{
                                "name": "primary",
                                "properties": { "primary": true, "subnet": { "id": SUBNET } },
                            }],
                        },
                    }],
                },
            },
        })
    );
}

#[test]
fn everything_a_template_can_say() {
    let template = Template {
        image: Some("/subscriptions/s1/x/images/y".into()),
        security_groups: vec!["web".into()],
        disk: Some(Disk { size_gib: Some(200), kind: Some("Premium_LRS".into()), encrypted: true }),
        instance_role: Some("runner".into()),
        user_data: Some("#!/bin/sh\n".into()),
        ..template()
    };
    let spot = Create {
        max_price: Some(MicroUsd(123_456)),
        ..create("azure/eastus/2/Standard_D2s_v5/spot")
    };
    let body = built(&spot, &template);
    assert_eq!(body["zones"], json!(["2"]));
    let properties = &body["properties"];
    assert_eq!(properties["priority"], "Spot");
    assert_eq!(properties["evictionPolicy"], "Delete");
    assert_eq!(properties["billingProfile"], json!({ "maxPrice": 0.12345 }));
    assert_eq!(properties["userData"], "IyEvYmluL3NoCg==");
    assert_eq!(properties["osProfile"]["customData"], "IyEvYmluL3NoCg==");
    assert_eq!(
        properties["storageProfile"]["imageReference"]["id"],
        "/subscriptions/s1/x/images/y"
    );
    assert_eq!(properties["storageProfile"]["osDisk"]["diskSizeGB"], 200);
    let nic = &properties["networkProfile"]["networkInterfaceConfigurations"][0]["properties"];
    let firewall = "/subscriptions/s1/resourceGroups/fleets/providers/Microsoft.Network/networkSecurityGroups/web";
    assert_eq!(nic["networkSecurityGroup"]["id"], firewall);
    let identity = "/subscriptions/s1/resourceGroups/fleets/providers/Microsoft.ManagedIdentity/userAssignedIdentities/runner";
    assert_eq!(
        body["identity"],
        json!({ "type": "UserAssigned", "userAssignedIdentities": { identity: {} } })
    );
    let reserved = built(&create("azure/eastus/1/Standard_D2s_v5/reserved"), &template);
    let group = "/subscriptions/s1/resourceGroups/fleets/providers/Microsoft.Compute/capacityReservationGroups/held";
    assert_eq!(
        reserved["properties"]["capacityReservation"],
        json!({ "capacityReservationGroup": { "id": group } })
    );
    assert_eq!(reserved["properties"].get("priority"), None);
}

#[test]
fn spot_without_a_limit_pays_what_it_costs() {
    let body = built(&create("azure/eastus/regional/Standard_D2s_v5/spot"), &template());
    assert_eq!(body["properties"]["billingProfile"], json!({ "maxPrice": -1 }));
}

#[test]
fn what_azure_would_refuse_is_not_sent() {
    let refuses = |create: &Create, template: &Template, code: &str| {
        let error = with(create, template, |asked| check(asked).expect_err("refused"));
        assert_eq!((error.class, error.code.as_str()), (Class::Invalid, code));
    };
    let plain = create("azure/eastus/regional/Standard_D2s_v5/spot");
    refuses(&plain, &Template { subnets: Vec::new(), ..template() }, "BadTemplate");
    refuses(&plain, &Template { key: None, ..template() }, "BadTemplate");
    let long = Template { user_data: Some("x".repeat(65_536).as_str().into()), ..template() };
    refuses(&plain, &long, "BadTemplate");
    let two = Template { security_groups: vec!["a".into(), "b".into()], ..template() };
    refuses(&plain, &two, "BadTemplate");
    refuses(&create("aws/us-east-1/z/m5.large/spot"), &template(), "WrongCloud");
    let many = Create { slots: vec![plain.slots[0]; 2], ..plain.clone() };
    refuses(&many, &template(), "TooMany");
    refuses(&Create { token: Token::new(""), ..plain }, &template(), "BadToken");
}
