//! States, reasons and identity.

use super::*;
use aws_sdk_ec2::types::{
    InstanceNetworkInterface, InstanceNetworkInterfaceAttachment, InstanceState, Placement,
    StateReason,
};

fn instance(state: InstanceStateName) -> aws_sdk_ec2::types::builders::InstanceBuilder {
    Instance::builder()
        .instance_id("i-1")
        .instance_type("m5.large".into())
        .launch_time(DateTime::from_secs(1_700_000_000))
        .placement(Placement::builder().availability_zone("us-east-1c").build())
        .state(InstanceState::builder().name(state).build())
}

#[test]
fn instances_become_machines() {
    let zones = Zones::of(&[("use1-az4", "us-east-1c")]);
    let read = |instance: Instance| machine(&instance, &"us-east-1".into(), &zones);
    let plain = read(instance(InstanceStateName::Running).build()).expect("a machine");
    assert_eq!(plain.pool().to_string(), "aws/us-east-1/use1-az4/m5.large/on-demand");
    assert_eq!(plain.owner, None);
    let spot = instance(InstanceStateName::Pending);
    let spot = read(spot.instance_lifecycle(InstanceLifecycleType::Spot).build());
    assert_eq!(spot.map(|spot| spot.market), Some(Market::Spot));
}

#[test]
fn states() {
    let check = |name: InstanceStateName, expect, over| {
        let instance = instance(name).build();
        assert_eq!(state(&instance), expect);
        assert_eq!(is_over(&instance), over);
    };
    check(InstanceStateName::Pending, MachineState::Pending, false);
    check(InstanceStateName::Running, MachineState::Running, false);
    check(InstanceStateName::Stopping, MachineState::Stopping, false);
    check(InstanceStateName::Stopped, MachineState::Stopped, false);
    check(InstanceStateName::ShuttingDown, MachineState::Stopping, true);
    check(InstanceStateName::Terminated, MachineState::Terminated, true);
    check("dreaming".into(), MachineState::Running, false);
}

#[test]
fn ids_go_in_batches() {
    let ids: Vec<MachineId> = (0..401).map(|n| MachineId::new(format!("i-{n}"))).collect();
    let ids: Vec<&MachineId> = ids.iter().collect();
    assert_eq!(by_id(&ids).len(), 3);
    assert!(by_id(&[]).is_empty());
}

#[test]
fn reasons_of_machines_that_are_down() {
    use CauseKind::*;
    let cause = |name: InstanceStateName, code: Option<&str>, transition: &str| {
        let reason = code.map(|code| {
            StateReason::builder().code(code).message(format!("{code}: words")).build()
        });
        let down = instance(name).set_state_reason(reason).state_transition_reason(transition);
        super::cause(&down.build()).map(|cause| (cause.kind, cause.words))
    };
    let gone = InstanceStateName::Terminated;
    for (code, kind) in [
        ("Server.SpotInstanceTermination", Some(Interrupted)),
        ("Server.SpotInstanceShutdown", Some(Interrupted)),
        ("Client.UserInitiatedShutdown", Some(Person)),
        ("Client.InstanceInitiatedShutdown", Some(Guest)),
        ("Server.ScheduledStop", Some(Unwell)),
        ("Client.InternalError", Some(LaunchFailed)),
        ("Server.InternalError", Some(LaunchFailed)),
        ("Client.VolumeLimitExceeded", Some(LaunchFailed)),
        ("Client.InvalidSnapshot.NotFound", Some(LaunchFailed)),
        ("Client.InvalidKMSKey.InvalidState", Some(LaunchFailed)),
        ("Server.InsufficientInstanceCapacity", Some(LaunchFailed)),
        ("Server.NeverHeardOf", None),
    ] {
        let expect = kind.map(|kind| (kind, format!("{code}: words")));
        assert_eq!(cause(gone.clone(), Some(code), "x"), expect, "{code}");
        assert_eq!(cause(InstanceStateName::Stopped, Some(code), "x"), expect, "{code}");
        assert_eq!(cause(InstanceStateName::Running, Some(code), "x"), None, "{code}");
    }
    let text = "User initiated (2020-04-23 19:27:43 GMT)";
    assert_eq!(cause(gone.clone(), None, text), Some((Person, text.to_owned())));
    assert_eq!(cause(gone, None, ""), None);
    assert_eq!(cause(InstanceStateName::Pending, Some("pending"), ""), None);
}

#[test]
fn a_restart_leaves_the_identity_alone() {
    let attached = |device: i32, at: i64| {
        let attachment = InstanceNetworkInterfaceAttachment::builder()
            .device_index(device)
            .attach_time(DateTime::from_secs(at))
            .build();
        InstanceNetworkInterface::builder().attachment(attachment).build()
    };
    let restarted = instance(InstanceStateName::Running)
        .network_interfaces(attached(1, 1_650_000_000))
        .network_interfaces(attached(0, 1_600_000_000))
        .build();
    assert_eq!(launched_at(&restarted).map(Timestamp::as_second), Some(1_600_000_000));
    assert_eq!(started_at(&restarted).map(Timestamp::as_second), Some(1_700_000_000));
    let gone = instance(InstanceStateName::Terminated).build();
    assert_eq!(launched_at(&gone).map(Timestamp::as_second), Some(1_700_000_000));
}
