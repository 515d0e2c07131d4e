use super::*;
use fleet_model::NoPrice;

fn dollars_per_month(dollars: u64) -> MicroUsd {
    MicroUsd(dollars * 1_000_000 / fleet_model::HOURS_PER_MONTH)
}

/// From $1,000 to $1,100 a month.
fn measures() -> Measures {
    Measures {
        before: Some(dollars_per_month(1000)),
        after: Some(dollars_per_month(1100)),
        families: Some(vec!["aws p5".into()]),
        regions: Some(Vec::new()),
        clouds: None,
        destroys: 3,
        against: "what stands".into(),
        ..Measures::default()
    }
}

/// Something that no amount counts, of so many machines.
fn left_out(kind: CostKind, because: NoPrice, machines: u32) -> Uncounted {
    Uncounted { kind, because, cloud: fleet_model::Cloud::Aws, machines }
}

fn stands(rule: &str, measures: &Measures) -> Standing {
    let rule: Rule = rule.parse().expect(rule);
    rule.judge(measures).is
}

#[test]
fn rules_are_held_against_a_change() {
    let check =
        |rule: &str, expect: Standing| assert_eq!(stands(rule, &measures()), expect, "{rule}");
    check("monthly-increase>99usd", Standing::Broken);
    check("monthly-increase > $100.50", Standing::Kept);
    check("monthly-increase>1,000 USD", Standing::Kept);
    check("monthly-increase>9.9%", Standing::Broken);
    check("monthly-increase>10.1%", Standing::Kept);
    check("hourly-increase>0.1usd", Standing::Broken);
    check("hourly-increase>0.2usd", Standing::Kept);
    check("monthly>1000usd", Standing::Broken);
    check("hourly>2usd", Standing::Kept);
    check("new-family", Standing::Broken);
    check("new-region", Standing::Kept);
    check("new-cloud", Standing::Unknown);
    check("destroys>2", Standing::Broken);
    check("destroys>3", Standing::Kept);
    check("unplaced", Standing::Kept);
    check("unpriced", Standing::Kept);
}

#[test]
fn what_costs_nothing_before_grows_by_any_share() {
    let from_nothing = Measures { before: Some(MicroUsd(0)), ..measures() };
    assert_eq!(stands("monthly-increase>1000%", &from_nothing), Standing::Broken);
    let nothing = Measures { after: Some(MicroUsd(0)), ..from_nothing };
    assert_eq!(stands("monthly-increase>0%", &nothing), Standing::Kept);
    let less = Measures { after: Some(MicroUsd(1)), ..measures() };
    assert_eq!(stands("monthly-increase>0usd", &less), Standing::Kept);
}

#[test]
fn unknown_is_not_kept() {
    let machines = |count| vec![left_out(CostKind::Machine, NoPrice::Machine, count)];
    let unpriced = Measures { uncounted: (machines(1), machines(3)), ..measures() };
    assert_eq!(stands("monthly-increase>500usd", &unpriced), Standing::Unknown);
    assert_eq!(stands("monthly-increase>50usd", &unpriced), Standing::Broken);
    assert_eq!(stands("monthly>5000usd", &unpriced), Standing::Unknown);
    assert_eq!(stands("unpriced", &unpriced), Standing::Broken);
    // What had no price before is no change.
    let as_before = Measures { uncounted: (machines(3), machines(3)), ..measures() };
    assert_eq!(stands("monthly-increase>500usd", &as_before), Standing::Kept);
    let blind = Measures { before: None, after: None, families: None, ..measures() };
    for rule in ["monthly-increase>1usd", "hourly>1usd", "new-family"] {
        assert_eq!(stands(rule, &blind), Standing::Unknown, "{rule}");
    }
}

#[test]
fn what_is_left_out_of_the_cost_breaks_a_rule() {
    let check = |kind, because, rule: &str, expect: Standing, why: &str| {
        let after = vec![left_out(kind, because, 2)];
        let rule: Rule = rule.parse().expect("a rule");
        let verdict = rule.judge(&Measures { uncounted: (Vec::new(), after), ..measures() });
        assert_eq!((verdict.is, verdict.why.as_str()), (expect, why), "{verdict:?}");
        assert_eq!(verdict.next.is_some(), expect != Standing::Kept, "{verdict:?}");
    };
    use Standing::{Broken, Kept, Unknown};
    let internet = "traffic of 2 machines: no price is known from there to the internet";
    check(CostKind::Egress, NoPrice::Internet, "unpriced", Broken, internet);
    check(CostKind::Egress, NoPrice::Internet, "uncounted", Broken, internet);
    let unknown = "traffic of 2 more machines without a known price, so the cost is not known";
    check(CostKind::Egress, NoPrice::Internet, "monthly>5000usd", Unknown, unknown);
    check(CostKind::Egress, NoPrice::Internet, "monthly-increase>500usd", Unknown, unknown);
    // Most specs leave the size of a disk to the image: `unpriced` would be of no use with them.
    let image = "disks of 2 machines: the image decides the size (template.disk.sizeGiB)";
    let image_decides = NoPrice::ImageDecides;
    let priced = "nothing is without a known price";
    check(CostKind::Disk, image_decides, "unpriced", Kept, priced);
    check(CostKind::Disk, image_decides, "uncounted", Broken, image);
    check(CostKind::Disk, image_decides, "monthly>5000usd", Kept, "$1,100 per month");
}

#[test]
fn a_limit_alone_is_about_the_bill() {
    check_same(">9.9%", "monthly-increase>9.9%");
    check_same(" > 99usd", "monthly-increase>99usd");
    check_same(">10.1%", "monthly-increase>10.1%");
}

fn check_same(bare: &str, named: &str) {
    let parsed = |rule: &str| rule.parse::<Rule>().expect(rule);
    assert_eq!(parsed(bare).kind, parsed(named).kind, "{bare}");
    assert_eq!(parsed(bare).text, bare.trim());
}

/// Else a change could pay for new fleets by taking away the specs of others, and nobody ends those.
#[test]
fn removed_fleets_that_run_are_counted() {
    let after = Some(dollars_per_month(1300));
    let remains = dollars_per_month(300);
    let rule: Rule = "monthly-increase>200usd".parse().expect("a rule");
    let verdict = rule.judge(&Measures { after, remains, ..measures() });
    assert_eq!(verdict.is, Standing::Broken);
    assert!(
        verdict.why.ends_with("; counts $300 per month of removed fleets that still run"),
        "{verdict:?}"
    );
}

#[test]
fn a_verdict_has_its_figure_and_a_way_past() {
    let rule: Rule = "monthly-increase>5%".parse().expect("a rule");
    let verdict = rule.judge(&measures());
    assert_eq!(verdict.why, "+$100 per month, +10 % over what stands, $1,000");
    assert!(verdict.next.is_some_and(|next| next.contains("--fail-if")));
    let kept: Rule = "unplaced".parse().expect("a rule");
    assert_eq!(kept.judge(&measures()).next, None);
}

#[test]
fn bad_rules_are_shown_where_they_are_wrong() {
    let check = |rule: &str, at: (usize, usize), what: &str| {
        let error = rule.parse::<Rule>().expect_err(rule);
        let caret = format!("{}{}", " ".repeat(at.0), "^".repeat(at.1));
        assert_eq!(error.to_string(), format!("{what}\n    {rule}\n    {caret}"));
    };
    let near = "there is no such rule; did you mean `monthly-increase`?";
    check("monthly-increse>5usd", (0, 15), near);
    let bare = "this is not an amount; write monthly-increase>500usd or >10%";
    check("monthly-increase>500", (17, 3), bare);
    check("hourly>5%", (7, 2), "a share of what?; write hourly>15usd");
    check("destroys", (0, 8), "there is no limit; write destroys>3");
    check("new-family>2", (10, 2), "it has no limit");
    check("destroys>-1", (9, 2), "this is not a number of machines; write destroys>3");
    for bad in [
        "",
        ">",
        "monthly-increase>",
        "monthly-increase>=5usd",
        "monthly>nanusd",
        "monthly>-1usd",
        "é>ü%",
        "destroys>99999999999999999999",
    ] {
        assert!(bad.parse::<Rule>().is_err(), "{bad}");
    }
}
