use super::*;
use insta::assert_snapshot;

fn pools(names: &[&str]) -> Vec<PoolId> {
    names.iter().map(|name| name.parse().expect("a pool")).collect()
}

#[test]
fn the_smallest_spec() {
    let pools = pools(&["aws/us-east-1/use1-az4/m5.large/on-demand"]);
    let template = Template { image: Some("ami-1".into()), ..Template::default() };
    assert_snapshot!(document(&Uses::of(&pools, &template, Some("111122223333"))));
}

#[test]
fn spot_parameter_network_key_and_role() {
    let pools = pools(&[
        "aws/eu-west-1/euw1-az1/m5.large/spot",
        "aws/us-east-1/use1-az4/m5.large/on-demand",
    ]);
    let template = Template {
        network: Some("prod".into()),
        subnets: vec!["subnet-1".into(), "subnet-2".into()],
        security_groups: vec!["sg-1".into(), "web".into()],
        instance_role: Some("node".into()),
        key: Some("ops".into()),
        ..Template::default()
    };
    assert_snapshot!(document(&Uses::of(&pools, &template, Some("111122223333"))));
}

#[test]
fn launch_templates() {
    let pools = pools(&["aws/us-east-1/use1-az4/m5.large/spot"]);
    let template = Template { image: Some("ami-1".into()), ..Template::default() };
    let uses = Uses { launch_templates: true, ..Uses::of(&pools, &template, None) };
    assert_snapshot!(document(&uses));
}

#[test]
fn only_who_uses_a_capacity_block_asks_when_it_ends() {
    let pools = pools(&["aws/us-east-1/use1-az4/p5.48xlarge/on-demand"]);
    let asks = |reservation: Option<&str>| {
        let template = Template { reservation: reservation.map(Into::into), ..Template::default() };
        document(&Uses::of(&pools, &template, None)).contains("ec2:DescribeCapacityReservations")
    };
    assert_eq!([None, Some("cr-1"), Some("block:cr-1")].map(asks), [false, false, true]);
}

#[test]
fn roles_and_parameters_are_named_exactly() {
    let pools = pools(&["aws/us-gov-west-1/usgw1-az1/m5.large/on-demand"]);
    let check = |role: &str, account, expect: &str| {
        let template = Template { instance_role: Some(role.into()), ..Template::default() };
        let uses = Uses::of(&pools, &template, account);
        assert_eq!(role_arn(role, &uses).as_deref(), Some(expect));
    };
    check("node", Some("1"), "arn:aws-us-gov:iam::1:role/node");
    check("node", None, "arn:aws-us-gov:iam::*:role/node");
    let profile = "arn:aws-us-gov:iam::2:instance-profile/team/node";
    check(profile, Some("1"), "arn:aws-us-gov:iam::2:role/node");
    let path = |image: &str| {
        let template = Template { image: Some(image.into()), ..Template::default() };
        parameter(&Uses::of(&pools, &template, Some("1"))).map(|s| s.resource.to_string())
    };
    let own = "\"arn:aws-us-gov:ssm:*:1:parameter/golden\"";
    assert_eq!(path("ssm:/golden").as_deref(), Some(own));
    assert_eq!(path("ssm:golden").as_deref(), Some(own));
    let amazons = "\"arn:aws-us-gov:ssm:*::parameter/aws/service/x-*\"";
    assert_eq!(path("ssm:/aws/service/x-{arch}").as_deref(), Some(amazons));
    assert_eq!(path("ami-1"), None);
}

/// The page shows what the command prints.
#[test]
fn the_documented_example() {
    let pools = pools(&[
        "aws/eu-west-1/euw1-az1/m5.large/on-demand",
        "aws/eu-west-1/euw1-az1/m5.large/spot",
    ]);
    let template = Template { instance_role: Some("web-node".into()), ..Template::default() };
    let policy = document(&Uses::of(&pools, &template, Some("111122223333")));
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/aws.md");
    let page = std::fs::read_to_string(page).expect("the page");
    assert_snapshot!(policy);
    assert!(page.contains(policy.trim_end()), "docs/aws.md shows another policy");
}

/// The document in docs/security is for a spec that uses everything.
#[test]
fn the_document_for_everything() {
    let pools = pools(&[
        "aws/eu-west-1/euw1-az1/m5.large/on-demand",
        "aws/eu-west-1/euw1-az1/m5.large/spot",
    ]);
    let template = Template {
        network: Some("prod".into()),
        subnets: vec!["tag:Tier=web".into()],
        security_groups: vec!["web".into()],
        instance_role: Some("web-node".into()),
        key: Some("ops".into()),
        reservation: Some("block:cr-0123456789abcdef0".into()),
        ..Template::default()
    };
    let uses = Uses { launch_templates: true, ..Uses::of(&pools, &template, Some("111122223333")) };
    let page = include_str!("../../../docs/security/aws.json");
    assert_eq!(document(&uses), page, "docs/security/aws.json is stale");
}

/// Whatever a spec says, no right is given without a limit.
#[test]
fn every_statement_has_a_condition() {
    let pools = pools(&["aws/us-east-1/use1-az4/m5.large/spot"]);
    let template = Template { instance_role: Some("node".into()), ..Template::default() };
    let uses = Uses { launch_templates: true, ..Uses::of(&pools, &template, None) };
    let policy: Value = serde_json::from_str(&document(&uses)).expect("JSON");
    let statements = policy["Statement"].as_array().expect("statements");
    assert_eq!(statements.len(), 10);
    for statement in statements {
        let condition = statement["Condition"].as_object().expect("a condition");
        assert!(!condition.is_empty(), "{statement}");
        let changes = ["ec2:RunInstances", "ec2:CreateTags", "ec2:TerminateInstances"];
        let change = changes.iter().any(|action| statement["Action"] == *action);
        assert!(!change || statement["Resource"] != "*", "{statement}");
    }
}
