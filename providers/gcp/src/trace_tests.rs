//! Operations as Google writes them, read as reasons.

use super::*;
use fleet_model::{Group, MachineId, SlotId, SlotName};
use serde_json::{Value, json};

const NUMBER: u64 = 2_093_000_891_450_668_968;

fn missing(pool: &str) -> Missing {
    let name = SlotName { group: Group::Base, ordinal: 0 };
    Missing {
        machine: MachineId::new(format!("us-central1-c/{NUMBER}")),
        slot: SlotId { name, generation: 1 },
        pool: pool.parse().expect("a pool"),
        launched_at: "2026-11-15T00:00:00Z".parse().expect("a time"),
    }
}

fn known(now: &str) -> Known<'static> {
    let now = now.parse().expect("a time");
    Known { now, account: Some("fleet@p.iam.gserviceaccount.com"), flex_start_hours: Some(4) }
}

fn operations(all: &[Value]) -> Vec<Operation> {
    let one = |body: &Value| {
        let mut body = body.clone();
        body["targetId"] = json!(NUMBER.to_string());
        serde_json::from_value(body).expect("an operation")
    };
    all.iter().map(one).collect()
}

#[test]
fn an_end_is_told_by_its_operation() {
    const SPOT: &str = "gcp/us-central1/us-central1-c/n2-standard-4/spot";
    let event = |kind: &str, words: &str| {
        json!({ "operationType": format!("compute.instances.{kind}"), "user": "system",
                "statusMessage": words, "insertTime": "2026-11-15T01:00:00.000-08:00" })
    };
    let by = |kind: &str, user: &str| json!({ "operationType": kind, "user": user, "insertTime": "2026-11-15T02:00:00.000-08:00" });
    let failed = json!({ "operationType": "insert", "user": "a",
        "error": { "errors": [{ "code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": "none" }] } });
    let check = |all: &[Value], expect: Option<CauseKind>| {
        let now = known("2026-11-15T01:00:00Z");
        let found = cause(&operations(all), NUMBER, &missing(SPOT), now);
        assert_eq!(found.map(|cause| cause.kind), expect, "{all:?}");
        assert_eq!(cause(&operations(all), NUMBER + 1, &missing(SPOT), now), None);
    };
    check(&[], None);
    check(&[event("preempted", "Instance was preempted.")], Some(CauseKind::Interrupted));
    let both = [by("delete", "system"), event("preempted", "Instance was preempted.")];
    check(&both, Some(CauseKind::Interrupted));
    check(&[event("guestTerminate", "by guest")], Some(CauseKind::Guest));
    check(&[event("hostError", "host")], Some(CauseKind::Unwell));
    // It had come back, and then somebody deleted it.
    let later = [event("hostError", "host"), by("delete", "person@example.com")];
    check(&later, Some(CauseKind::Person));
    check(&[event("migrateOnHostMaintenance", "moved")], None);
    check(&[by("delete", "person@example.com")], Some(CauseKind::Person));
    check(&[by("delete", "fleet@p.iam.gserviceaccount.com")], None);
    check(&[by("delete", "other@p"), by("insert", "other@p")], None);
    check(&[by("stop", "person@example.com")], None);
    check(&[failed], Some(CauseKind::LaunchFailed));
}

#[test]
fn a_machine_whose_hours_are_over_was_to_be_gone() {
    let check = |pool: &str, now: &str, expect: Option<CauseKind>| {
        let found = cause(&[], NUMBER, &missing(pool), known(now));
        assert_eq!(found.map(|cause| cause.kind), expect, "{pool} {now}");
    };
    let gpu = "gcp/us-central1/us-central1-c/g2-standard-4/on-demand";
    check(gpu, "2026-11-15T04:01:00Z", Some(CauseKind::Expired));
    check(gpu, "2026-11-15T03:00:00Z", None);
    let plain = "gcp/us-central1/us-central1-c/n2-standard-4/on-demand";
    check(plain, "2026-11-15T04:01:00Z", None);
    let spot = "gcp/us-central1/us-central1-c/g2-standard-4/spot";
    check(spot, "2026-11-15T04:01:00Z", None);
}
