//! Who is ended, who is left alone, and who is looked for again.

use super::*;
use crate::tags;
use aws_sdk_ec2::primitives::DateTime;
use aws_sdk_ec2::types::builders::InstanceBuilder;
use aws_sdk_ec2::types::{
    InstanceNetworkInterface, InstanceNetworkInterfaceAttachment, InstanceState, Placement, Tag,
};

const LAUNCHED: i64 = 1_700_000_000;

fn tag(key: &str, value: &str) -> Tag {
    Tag::builder().key(key).value(value).build()
}

fn instance() -> InstanceBuilder {
    Instance::builder()
        .instance_id("i-1")
        .instance_type("m5.large".into())
        .launch_time(DateTime::from_secs(LAUNCHED))
        .placement(Placement::builder().availability_zone("us-east-1c").build())
        .state(InstanceState::builder().name(InstanceStateName::Running).build())
        .ami_launch_index(1)
        .client_token("t")
        .tags(tag(tags::UID, "mine"))
        .tags(tag(tags::NAME, "n"))
        .tags(tag(tags::TOKEN, "t"))
        .tags(tag(tags::TEMPLATE, "00112233445566778899aabbccddeeff"))
        .tags(tag(tags::SLOTS, "base-4.2/3"))
}

fn check(found: &[Instance], after: i64, expect: &str) {
    let launched_at = Timestamp::from_second(LAUNCHED).expect("a time");
    let slot = "base-5.2".parse().expect("a slot");
    let victims = [Victim { machine: "i-1".into(), slot, launched_at, price: None }];
    let now = Timestamp::from_second(LAUNCHED + after).expect("a time");
    let zones = Zones::default();
    let verdicts = judge(&"mine".into(), &victims, found, &"us-east-1".into(), &zones, now);
    let Verdicts { gone, doomed, refused, unseen } = verdicts;
    let said = match (&gone[..], &doomed[..], &refused[..], &unseen[..]) {
        ([_], [], [], []) => "gone".to_owned(),
        ([], [_], [], []) => "doomed".to_owned(),
        ([], [], [(_, why)], []) => format!("refused: {why}"),
        ([], [], [], [_]) => "unseen".to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(said, expect);
}

fn in_state(name: InstanceStateName) -> Instance {
    instance().state(InstanceState::builder().name(name).build()).build()
}

#[test]
fn only_the_very_machine_is_ended() {
    check(&[instance().build()], 0, "doomed");
    check(&[in_state(InstanceStateName::Stopped)], 0, "doomed");
    check(&[in_state(InstanceStateName::ShuttingDown)], 0, "gone");
    check(&[in_state(InstanceStateName::Terminated)], 0, "gone");
    let moved = instance().ami_launch_index(0).build();
    check(&[moved], 0, "refused: it fills slot base-4.2, not base-5.2");
    let near = instance().launch_time(DateTime::from_secs(LAUNCHED + 1)).build();
    check(&[near], 0, "doomed");
    let later = instance().launch_time(DateTime::from_secs(LAUNCHED + 300)).build();
    check(
        &[later],
        0,
        "refused: it was launched at 2023-11-14T22:18:20Z, not at 2023-11-14T22:13:20Z",
    );
    check(&[restarted()], 0, "doomed");
    let edited = instance().tags(tag(tags::UID, "theirs")).build();
    check(&[edited], 0, "refused: it belongs to fleet theirs");
    let bare = instance().set_tags(None).build();
    check(&[bare], 0, "refused: its tags do not say that it is a machine of ours");
    let copied = instance().client_token("another").build();
    check(&[copied], 0, "refused: its tags do not say that it is a machine of ours");
}

#[test]
fn absence_proves_nothing_for_five_minutes() {
    check(&[], 0, "unseen");
    check(&[], 299, "unseen");
    check(&[], 300, "gone");
}

/// Stopped and started a day later: the same machine, with the first interface of old.
fn restarted() -> Instance {
    let attachment = InstanceNetworkInterfaceAttachment::builder()
        .device_index(0)
        .attach_time(DateTime::from_secs(LAUNCHED))
        .build();
    let first = InstanceNetworkInterface::builder().attachment(attachment).build();
    let late = DateTime::from_secs(LAUNCHED + 24 * 3600);
    instance().launch_time(late).network_interfaces(first).build()
}

#[test]
fn the_new_state_counts_and_not_the_name() {
    let change = |state: Option<InstanceStateName>| {
        let state = state.map(|name| InstanceState::builder().name(name).build());
        InstanceStateChange::builder().instance_id("i-1").set_current_state(state).build()
    };
    let said = |changes: &[InstanceStateChange]| told(&["i-1".into()], changes);
    for ended in [InstanceStateName::ShuttingDown, InstanceStateName::Terminated] {
        let told = said(&[change(Some(ended))]).expect("read");
        assert_eq!((told.ended.len(), told.refused.len()), (1, 0));
    }
    let told = said(&[change(Some(InstanceStateName::Running))]).expect("read");
    assert_eq!((told.ended.len(), told.refused[0].1.as_str()), (0, "EC2 left it running"));
    for unread in [said(&[]), said(&[change(None)])] {
        assert_eq!(unread.expect_err("unread").class, Class::Unknown);
    }
}
