//! Hand-made plans, and snapshots of how they look.

use super::{plan_markdown, plan_text};
use crate::exit::Exit;
use crate::output::{document, plan as output};
use crate::review::Review;
use fleet_model::*;
use std::collections::BTreeSet;

fn pool(text: &str) -> PoolId {
    text.parse().expect("a pool")
}

fn line(id: &str, weight: u64, changes: [u32; 3], price: f64, full: f64) -> PoolLine {
    let [keep, create, destroy] = changes;
    PoolLine {
        pool: pool(id),
        weight: Units::whole(weight),
        keep,
        create,
        destroy,
        kept_hourly: MicroUsd::from_f64(price * f64::from(keep)).unwrap_or_default(),
        ended_hourly: MicroUsd::from_f64(price * f64::from(destroy)).unwrap_or_default(),
        price: MicroUsd::from_f64(price),
        on_demand: MicroUsd::from_f64(full),
        obtainability: None,
        signals: Vec::new(),
        share: Share::from_percent(25.0).expect("a share"),
        committed: 0,
        reason: (create > 0).then_some(PoolReason::Best { strategy: Strategy::CapacityOptimized }),
        chance: None,
    }
}

fn group(group: Group, wanted: u64, before: u64, after: u64) -> GroupLine {
    let [wanted, before, after] = [wanted, before, after].map(Units::whole);
    GroupLine { group, wanted, before, after, doubt: Units(0), keep: 0, create: 0, destroy: 0 }
}

fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().expect("a time")
}

fn plan(steps: Vec<Step>) -> Plan {
    Plan {
        fleet: "train".into(),
        uid: "f-1".into(),
        steps,
        vacate: Vec::new(),
        failed: Vec::new(),
        readopt: Vec::new(),
        health: Default::default(),
        rollout: Vec::new(),
        drain: Vec::new(),
        resend: Vec::new(),
        relabel: Vec::new(),
        clear: Vec::new(),
        fallback: None,
        cheaper: None,
        moving: None,
        premises: Premises {
            engine: "0.1.0".into(),
            spec: digest("t/1", []),
            journal: 7,
            observation: digest("t/1", []),
            hourly_after: MicroUsd::dollars(320),
            decided_at: now(),
            expires_at: now(),
        },
    }
}

fn create(id: u32, from: &str, slots: std::ops::Range<u32>, group: Group, why: Why) -> Step {
    let slot = |ordinal| SlotId { name: SlotName { group, ordinal }, generation: 1 };
    let action = Action::Create(Create {
        pool: pool(from),
        slots: slots.map(slot).collect(),
        token: "t".into(),
        price: MicroUsd::from_f64(20.74),
        max_price: None,
        template: digest("t/1", []),
        image: None,
        others: Vec::new(),
    });
    Step { id: StepId(id), action, after: BTreeSet::new(), why }
}

fn destroy(id: u32, from: &str, why: Why) -> Step {
    let action = Action::Destroy(Destroy {
        pool: pool(from),
        victims: vec![Victim {
            machine: "i-0abc".into(),
            slot: "burst-9.1".parse().expect("a slot"),
            launched_at: now(),
            price: None,
        }],
    });
    Step { id: StepId(id), action, after: [StepId(0)].into(), why }
}

const AWS: &str = "aws/us-east-1/use1-az4/p5.48xlarge/spot";
const GCP: &str = "gcp/us-central1/us-central1-a/a3-highgpu-8g/on-demand";
const AZURE: &str = "azure/westeurope/westeurope-2/Standard_ND96isr_H100_v5/spot";
const LAMBDA: &str = "lambda/us-west-1/regional/gpu_8x_h100_sxm5/on-demand";

fn report() -> Report {
    Report {
        unit: Unit::Gpus,
        groups: vec![group(Group::Base, 16, 8, 16), group(Group::Burst, 48, 8, 32)],
        pools: vec![
            line(AWS, 8, [0, 3, 0], 20.74, 55.04),
            line(AZURE, 8, [1, 0, 1], 33.1, 98.32),
            line(GCP, 8, [1, 0, 0], 88.25, 88.25),
            line(LAMBDA, 8, [0, 1, 0], 23.92, 23.92),
        ],
        cost: Cost {
            hourly_before: MicroUsd::dollars(121),
            hourly_after: MicroUsd(320_480_000),
            hourly_at_present: MicroUsd(320_480_000),
            hourly_on_demand: MicroUsd::dollars(812),
            hourly_limit: Some(MicroUsd::dollars(400)),
            unpriced: 0,
            committed: 0,
            when_done: None,
            range: None,
        },
        cost_lines: vec![],
        uncounted: vec![],
        uncounted_before: vec![],
        held: vec![],
        unplaced: vec![],
        in_doubt: vec![],
        gaps: vec![],
        answered: 2,
        notices: vec![],
        candidates: 41,
        rejected: vec![(Rejection::RegionNotAllowed, 900), (Rejection::FamilyNotAllowed, 4000)],
        template_changes: vec![],
        outlook: None,
        budgets: Vec::new(),
        budget_uncounted: Vec::new(),
    }
}

fn changing() -> (Plan, Report) {
    let below = |group| Why::BelowTarget { group };
    let steps = vec![
        create(0, AWS, 0..3, Group::Burst, below(Group::Burst)),
        create(1, LAMBDA, 0..1, Group::Base, below(Group::Base)),
        destroy(2, AZURE, Why::AboveTarget { group: Group::Burst }),
    ];
    (plan(steps), report())
}

fn troubled() -> (Plan, Report) {
    let scope = Scope { cloud: Cloud::Azure, region: "westeurope".into() };
    let blocked = Rejection::Blocked {
        scope: BlockScope::Pool { pool: pool(AWS) },
        until: now(),
        code: "InsufficientInstance\u{1b}[31mCapacity".into(),
    };
    let mut report = report();
    report.pools.truncate(1);
    report.unplaced = vec![Shortfall {
        group: Group::Burst,
        missing: Units::whole(16),
        unit: Unit::Gpus,
        because: vec![
            (blocked, 7),
            (Rejection::BudgetReached { limit: MicroUsd::dollars(400), cap: Cap::Hourly }, 2),
        ],
    }];
    report.held = vec![
        Hold::DestroyLimit { allowed: 1, wanted: 5, held: 4, said: None, lowered: 0 },
        Hold::Gap { scope: scope.clone(), machines: 2 },
    ];
    report.in_doubt = vec![InDoubt {
        token: "fleet-abc".into(),
        pool: pool(LAMBDA),
        slots: vec!["base-1".parse().expect("a slot")],
        since: now(),
    }];
    report.gaps = vec![Gap {
        scope,
        cause: GapCause::Unreachable,
        detail: "timed out\u{202e} after 30 s | @everyone".into(),
    }];
    report.notices = vec![Notice::FewerZones { zones: 2, wanted: 3 }];
    (plan(vec![]), report)
}

pub(crate) fn quiet() -> (Plan, Report) {
    let mut report = report();
    report.cost.hourly_before = report.cost.hourly_after;
    for line in &mut report.pools {
        (line.keep, line.create, line.destroy) = (2, 0, 0);
        line.kept_hourly = MicroUsd(line.price.unwrap_or_default().0 * 2);
    }
    report.groups = vec![group(Group::Base, 16, 16, 16), group(Group::Burst, 48, 48, 48)];
    (plan(vec![]), report)
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn a_plan_reads_like_a_diff() {
    let (plan, report) = changing();
    insta::assert_snapshot!("changing_text", plain(&plan_text::render(&plan, &report)));
    insta::assert_json_snapshot!(
        "changing_json",
        document(
            Exit::Done,
            output::plan(&[(&plan, &report)], Vec::new(), Vec::new(), &Review::default())
        )
    );
    insta::assert_snapshot!(
        "changing_markdown",
        plan_markdown::render(&[(&plan, &report)], &Review::default())
    );
}

#[test]
fn trouble_is_named_with_a_way_out() {
    let (plan, report) = troubled();
    insta::assert_snapshot!("troubled_text", plain(&plan_text::render(&plan, &report)));
    insta::assert_snapshot!(
        "troubled_markdown",
        plan_markdown::render(&[(&plan, &report)], &Review::default())
    );
}

#[test]
fn no_changes_is_said_plainly() {
    let (plan, report) = quiet();
    insta::assert_snapshot!("quiet_text", plain(&plan_text::render(&plan, &report)));
}

#[test]
fn several_fleets_are_summed() {
    let (a, b) = (changing(), quiet());
    let document =
        output::plan(&[(&a.0, &a.1), (&b.0, &b.1)], Vec::new(), Vec::new(), &Review::default());
    let document = serde_json::to_value(document).expect("JSON");
    assert_eq!(document["summary"], serde_json::json!({ "create": 4, "destroy": 1, "keep": 10 }));
    assert_eq!(document["fleets"].as_array().map(Vec::len), Some(2));
    insta::assert_snapshot!(
        "several_markdown",
        plan_markdown::render(&[(&a.0, &a.1), (&b.0, &b.1)], &Review::default())
    );
}

/// Inputs and plans come from files too: no name in them may steer the terminal.
#[test]
fn hostile_names_are_shown_as_escapes() {
    let (mut plan, mut report) = changing();
    plan.fleet = "tr\u{1b}[2Jain".into();
    report.pools[0].pool.instance_type = "p5\u{1b}]0;title\u{7}\u{202e}".into();
    report.pools[0].pool.place.region = "us\u{9b}31m".into();
    let hostile =
        |text: &str| text.contains(['\u{7}', '\u{9b}', '\u{202e}']) || text.contains("[2J");
    let text = plan_text::render(&plan, &report);
    assert!(!hostile(&text.replace("\\u{1b}[2J", "")), "{text:?}");
    let comment = plan_markdown::render(&[(&plan, &report)], &Review::default());
    assert!(!comment.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{comment:?}");
}
