//! Policies: which fleets they hold for, and what they do to them.

use crate::files::{Tree, named};
use crate::fleet;
use fleet_model::{Cloud, MicroUsd};
use fleet_spec::LoadOptions;

fn policy(spec: &str) -> String {
    format!("apiVersion: fleet/v1\nkind: Policy\nmetadata: {{ name: org }}\nspec: {spec}\n")
}

fn costs(name: &str, usd: u32) -> String {
    fleet(&format!("capacity: {{ target: 1 }}\nbudget: {{ hourlyUsd: {usd} }}"))
        .replace("train", name)
}

#[test]
fn what_is_open_is_narrowed() {
    let limits = "{ providers: [aws, gcp], regions: [\"us-*\"], families: [m5, \"c5*\"], \
                  exclude: [\"*.metal\"], budget: { perFleetHourlyUsd: 50 } }";
    let tree = Tree::new(&[("policy.yaml", &policy(limits)), ("a.yaml", &named("a"))]);
    let loaded = tree.load(&["a.yaml"]).expect("valid");
    let fleet = &loaded.fleets[0];
    assert_eq!(fleet.policies, ["org"]);
    let clouds = &fleet.desired.placement.clouds;
    assert_eq!(clouds.iter().map(|rule| rule.cloud).collect::<Vec<_>>(), [Cloud::Aws, Cloud::Gcp]);
    assert!(clouds.iter().all(|rule| rule.regions == [fleet_model::Pattern::from("us-*")]));
    assert_eq!(fleet.desired.instances.families.len(), 2);
    assert_eq!(fleet.desired.instances.exclude.len(), 1);
    assert_eq!(fleet.desired.budget.hourly, Some(MicroUsd::dollars(50)));
}

#[test]
fn under_a_ceiling_only_what_the_policy_knows_is_paid_for() {
    let spec = |count: u32, more: &str| {
        let commitment =
            format!("{{ provider: aws, region: r, type: m5.large, count: {count}{more} }}");
        fleet(&format!("capacity: {{ target: 1 }}\nplacement: {{ commitments: [{commitment}] }}"))
    };
    let known = |until: &str| {
        let commitment = format!("{{ provider: aws, region: r, type: m5.large, count: 3{until} }}");
        policy(&format!("{{ budget: {{ totalHourlyUsd: 5 }}, commitments: [{commitment}] }}"))
    };
    let ceiling = policy("{ budget: { perFleetHourlyUsd: 5 } }");
    let elsewhere = policy("{ providers: [aws] }");
    let check = |policy: &str, spec: &str, refused: Option<&str>| {
        let tree = Tree::new(&[("policy.yaml", policy), ("a.yaml", spec)]);
        let found = tree.load(&["a.yaml"]).err().map(|report| report.to_string());
        match (found, refused) {
            (None, None) => {}
            (Some(found), Some(words)) => {
                assert!(found.contains("a.yaml") && found.contains(words), "{found}");
            }
            (found, _) => panic!("{found:?}, {refused:?}"),
        }
    };
    check(&elsewhere, &spec(9, ""), None);
    check(&ceiling, &spec(1, ""), Some("lists none of them under commitments"));
    check(&known(""), &spec(3, ""), None);
    check(&known(""), &spec(4, ""), Some("lists 3 of them"));
    check(&known(", until: 2027-03-01"), &spec(3, ""), Some("lists none of them"));
    check(&known(", until: 2027-03-01"), &spec(3, ", until: 2027-02-01"), None);
}

#[test]
fn patterns_are_narrowed_to_what_is_allowed() {
    let limits = "{ regions: [us-east-1, \"eu-*\"], families: [p5, p4d.24xlarge] }";
    let spec = fleet(
        "capacity: { target: 1 }\ninstances: { families: [\"p*\"], types: [p5.48xlarge] }\n\
         placement: { clouds: [{ provider: aws, regions: [\"us-*\", \"eu-west-*\"] }] }",
    );
    let tree = Tree::new(&[("policy.yaml", &policy(limits)), ("a.yaml", &spec)]);
    let loaded = tree.load(&[""]).expect("valid");
    let desired = &loaded.fleets[0].desired;
    let text = |list: &[fleet_model::Pattern]| {
        list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(text(&desired.placement.clouds[0].regions), "us-east-1 eu-west-*");
    assert_eq!(text(&desired.instances.families), "p5 p4d.24xlarge");
    assert_eq!(text(&desired.instances.types), "p5.48xlarge");
}

#[test]
fn a_policy_holds_for_its_folder_and_below() {
    let aws = policy("{ providers: [aws] }");
    let tree = Tree::new(&[
        (".git/HEAD", ""),
        ("teams/ml/policy.yaml", &aws),
        ("teams/ml/deep/er/a.yaml", &named("a")),
        ("teams/web/b.yaml", &named("b")),
    ]);
    let clouds = |names: &[&str]| -> Vec<usize> {
        let loaded = tree.load(names).expect("valid");
        loaded.fleets.iter().map(|fleet| fleet.desired.placement.clouds.len()).collect()
    };
    assert_eq!(clouds(&[""]), [1, 4]);
    // Naming one file, or a folder below, does not slip past it.
    assert_eq!(clouds(&["teams/ml/deep/er/a.yaml"]), [1]);
    assert_eq!(clouds(&["teams/ml/deep"]), [1]);
    assert_eq!(clouds(&["teams/web/b.yaml"]), [4]);
}

#[test]
fn the_search_ends_at_the_root_of_the_repository() {
    let aws = policy("{ providers: [aws] }");
    let tree = Tree::new(&[
        ("policy.yaml", &aws),
        ("repo/.git/HEAD", ""),
        ("repo/a.yaml", &named("a")),
        ("plain/a.yaml", &named("a")),
    ]);
    let count = |name: &str| tree.load(&[name]).expect("valid").policies.len();
    assert_eq!((count("repo/a.yaml"), count("plain/a.yaml")), (0, 1));
}

#[test]
fn a_policy_by_name_holds_everywhere() {
    let tree = Tree::new(&[
        ("elsewhere/limits.yaml", &policy("{ providers: [aws] }")),
        ("specs/a.yaml", &named("a")),
    ]);
    let options =
        |name: &str| LoadOptions { policies: vec![tree.path(name)], ..LoadOptions::default() };
    let loaded = tree.load_with(&["specs"], &options("elsewhere/limits.yaml")).expect("valid");
    assert_eq!(loaded.fleets[0].desired.placement.clouds.len(), 1);
    for (name, says) in [("specs/a.yaml", "holds no policy"), ("nowhere", "no such file")] {
        let errors = tree.load_with(&["specs"], &options(name)).expect_err("no policy");
        assert!(errors.render(false).contains(says), "{errors}");
    }
}

#[test]
fn a_broken_policy_above_is_an_error() {
    let tree = Tree::new(&[
        ("policy.yaml", "apiVersion: fleet/v1\nkind: Policy\nspec: { providers: [asw] }\n"),
        ("specs/a.yaml", &named("a")),
    ]);
    let errors = tree.errors(&["specs/a.yaml"]);
    assert!(errors.contains("did you mean `aws`?"), "{errors}");
}

#[test]
fn all_policies_hold_together() {
    let tree = Tree::new(&[
        ("policy.yaml", &policy("{ regions: [\"us-*\"], budget: { perFleetHourlyUsd: 10 } }")),
        (
            "team/policy.yaml",
            &policy("{ regions: [us-east-1, eu-west-1], budget: { perFleetHourlyUsd: 5 } }"),
        ),
        ("team/a.yaml", &named("a")),
        ("other/policy.yaml", &policy("{ regions: [\"eu-*\"] }")),
    ]);
    let loaded = tree.load(&["team/a.yaml"]).expect("valid");
    let desired = &loaded.fleets[0].desired;
    assert_eq!(desired.placement.clouds[0].regions, [fleet_model::Pattern::from("us-east-1")]);
    assert_eq!(desired.budget.hourly, Some(MicroUsd::dollars(5)));
    std::fs::write(tree.path("other/b.yaml"), named("b")).expect("a file");
    let errors = tree.errors(&["other/b.yaml"]);
    assert!(errors.contains("no place is left under its policies"), "{errors}");
}

#[test]
fn a_total_counts_fleets_that_are_not_named() {
    let tree = Tree::new(&[
        ("policy.yaml", &policy("{ budget: { totalHourlyUsd: 100 } }")),
        ("a.yaml", &costs("a", 60)),
        ("b.yaml", &costs("b", 60)),
        ("c/c.yaml", &named("c")),
    ]);
    let errors = tree.errors(&["b.yaml"]);
    assert!(errors.contains("$120.00 per hour"), "{errors}");
    std::fs::remove_file(tree.path("b.yaml")).expect("removed");
    let loaded = tree.load(&["c/c.yaml"]).expect("valid");
    assert_eq!(loaded.fleets[0].desired.budget.hourly, Some(MicroUsd::dollars(40)));
    let errors = tree.errors(&[""]);
    assert!(errors.contains("needs a budget of its own"), "{errors}");
}

#[cfg(unix)]
#[test]
fn a_link_is_no_way_around_a_policy() {
    let tree = Tree::new(&[
        ("limits/policy.yaml", &policy("{ providers: [aws] }")),
        ("free/a.yaml", &named("a")),
        ("limits/b.yaml", &named("b")),
    ]);
    let link = |to: &str, name: &str| {
        std::os::unix::fs::symlink(tree.path(to), tree.path(name)).expect("a link");
    };
    link("free/a.yaml", "limits/link.yaml");
    link("limits/b.yaml", "free/link.yaml");
    for name in ["limits/link.yaml", "free/link.yaml"] {
        let loaded = tree.load(&[name]).expect("valid");
        assert_eq!(loaded.fleets[0].desired.placement.clouds.len(), 1, "{name}");
    }
}

#[test]
fn a_policy_that_would_not_be_found_is_told() {
    let tree =
        Tree::new(&[("limits.yaml", &policy("{ providers: [aws] }")), ("a.yaml", &named("a"))]);
    let loaded = tree.load(&[""]).expect("valid");
    let warnings = loaded.warnings.render(false);
    assert!(warnings.contains("is not found when a single file is named"), "{warnings}");
}

#[test]
fn money_of_months_and_lives_is_shared_by_policy_and_label() {
    let costs = |name: &str, team: &str, budget: &str| {
        format!(
            "apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: {name}, labels: {{ team: {team} }} }}\n\
             spec: {{ capacity: {{ target: 1 }}{budget} }}\n"
        )
    };
    let month = |usd: u32| format!(", budget: {{ calendarMonthUsd: {usd} }}");
    let check = |limits: &str, fleets: &[String], refused: Option<&str>| {
        let policy = policy(&format!("{{ budget: {{ {limits} }} }}"));
        let names: Vec<String> = (0..fleets.len()).map(|at| format!("{at}.yaml")).collect();
        let mut files = vec![("policy.yaml", policy.as_str())];
        files.extend(names.iter().map(String::as_str).zip(fleets.iter().map(String::as_str)));
        let tree = Tree::new(&files);
        match (tree.load(&[""]), refused) {
            (Ok(loaded), None) => Some(loaded.fleets[0].desired.budget.clone()),
            (Err(found), Some(words)) => {
                let found = found.to_string();
                assert!(found.contains(words), "{found}");
                None
            }
            (found, _) => panic!("{:?}, {refused:?}", found.err().map(|e| e.to_string())),
        }
    };
    let (a, b) = (costs("a", "ml", &month(60)), costs("b", "ml", &month(50)));
    let open = costs("c", "ml", "");
    let ml = "byLabel: [{ label: team, value: \"m*\", calendarMonthUsd: 100 }]";
    check(
        ml,
        &[a.clone(), b.clone()],
        Some("fleets with team: m* may cost $110.00 in a calendar month"),
    );
    check(ml, &[a.clone(), costs("b", "web", &month(50))], None);
    check(ml, &[a.clone(), open.clone()], Some("it needs a budget of its own"));
    let alone = check(ml, std::slice::from_ref(&open), None).expect("valid");
    assert_eq!(alone.calendar_month, Some(MicroUsd::dollars(100)));
    let all = "totalCalendarMonthUsd: 90, perFleetCalendarMonthUsd: 80";
    check(all, &[a.clone(), b], Some("all fleets may cost $110.00 in a calendar month"));
    check(
        all,
        &[costs("d", "x", &month(85))],
        Some("a budget of $85.00 in a calendar month is too high"),
    );
    let each = check("perFleetLifetimeUsd: 500", &[open], None).expect("valid");
    assert_eq!(each.lifetime, Some(MicroUsd::dollars(500)));
    let base = fleet("capacity: { target: 2, base: { onDemand: 1 } }");
    check("perFleetLifetimeUsd: 500", &[base], Some("needs an end"));
    check("byLabel: [{ label: team, value: x }]", &[a], Some("this sets no limit"));
}

#[test]
fn machines_that_need_an_approval_wait_for_a_label() {
    let rule =
        "{ families: [p5], needs: { label: approved-by, value: \"*@platform\" }, message: ask }";
    let small = "{ aboveMonthlyUsd: 7300, needs: { label: approved-by } }";
    let spec = |labels: &str, more: &str| {
        fleet(&format!("capacity: {{ target: 1 }}\ninstances: {{ families: [m5, p5] }}\n{more}"))
            .replace("name: train", &format!("name: train, labels: {{ {labels} }}"))
    };
    let check = |rule: &str, spec: &str, missing: usize, warnings: usize| {
        let limits = policy(&format!("{{ approvals: [{rule}] }}"));
        let tree = Tree::new(&[("policy.yaml", &limits), ("a.yaml", spec)]);
        let loaded = tree.load(&["a.yaml"]).expect("valid");
        let approvals = &loaded.fleets[0].desired.approvals;
        let told: Vec<String> = loaded.warnings.0.iter().map(|one| one.message.clone()).collect();
        assert_eq!((approvals.len(), told.len()), (missing, warnings), "{rule} {spec} {told:?}");
        for one in &loaded.warnings.0 {
            assert_eq!(one.path, "spec.instances.families[1]");
            let hint = one.hint.as_deref().unwrap_or_default();
            assert!(hint.contains("policy `org`") && hint.contains("approved-by"), "{hint}");
        }
    };
    check(rule, &spec("team: a", ""), 1, 1);
    check(rule, &spec("approved-by: eve", ""), 1, 1);
    check(rule, &spec("approved-by: ada@platform", ""), 0, 0);
    // A budget that is small enough is as good as an approval; the policy's own counts.
    check(small, &spec("team: a", ""), 1, 0);
    check(small, &spec("team: a", "budget: { hourlyUsd: 11 }"), 1, 0);
    check(small, &spec("team: a", "budget: { hourlyUsd: 10 }"), 0, 0);
    check(small, &spec("team: a", "budget: { calendarMonthUsd: 7301 }"), 1, 0);
    check(small, &spec("team: a", "budget: { calendarMonthUsd: 7300 }"), 0, 0);
    let limits = policy(&format!("{{ approvals: [{small}], budget: {{ perFleetHourlyUsd: 9 }} }}"));
    let tree = Tree::new(&[("policy.yaml", &limits), ("a.yaml", &spec("team: a", ""))]);
    assert!(tree.load(&["a.yaml"]).expect("valid").fleets[0].desired.approvals.is_empty());
}

#[test]
fn bad_approvals_are_told_with_their_place() {
    let check = |rule: &str, words: &str| {
        let limits = policy(&format!("{{ approvals: [{rule}] }}"));
        let tree = Tree::new(&[("policy.yaml", &limits), ("a.yaml", &named("a"))]);
        let said = tree.errors(&["a.yaml"]);
        assert!(said.contains("policy.yaml:4") && said.contains(words), "{said}");
    };
    check("{ families: [p5] }", "`needs` is missing");
    check("{ families: [p5], needs: {} }", "`label` is missing");
    check("{ familes: [p5], needs: { label: a } }", "did you mean `families`?");
    check("{ aboveMonthlyUsd: -1, needs: { label: a } }", "aboveMonthlyUsd");
    check("{ providers: [mars], needs: { label: a } }", "mars");
}
