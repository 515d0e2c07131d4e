//! The policy documents in docs/security allow what the providers call, and no more. The calls are
//! read from the providers' own sources, so a new one fails here until it is allowed.

#[path = "rights/iam.rs"]
mod iam;
#[path = "rights/sources.rs"]
mod sources;

use iam::{Policy, Request};
use sources::{code, page, snake_to_pascal};
use std::collections::BTreeSet;

/// Calls that need a right that is documented elsewhere, or none.
const AWS_ELSEWHERE: [(&str, &str); 4] = [
    ("sts:GetCallerIdentity", "needs no right"),
    ("ec2:DescribeRegions", "`fleet catalog refresh` only: docs/aws.md"),
    ("pricing:GetProducts", "`fleet catalog refresh` only: docs/aws.md"),
    ("sqs:ReceiveMessage", "only with a queue of one's own: docs/aws.md"),
];

/// The actions behind the SDK's calls: `XInputBuilder::default()`, and `client.x()`.
fn aws_calls() -> BTreeSet<String> {
    let code = code("aws");
    let built = code.match_indices("InputBuilder::default()").map(|(at, _)| {
        let name = code[..at].rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        name.to_owned()
    });
    let clients = [".ec2.", "ec2.", "ssm.", "client.", "limits.", "sts().await."];
    let fluent = clients.iter().flat_map(|client| {
        code.match_indices(client).filter_map(|(at, _)| {
            let name = code[at + client.len()..].split_once("()")?.0;
            let is_call = name.contains('_') && name.chars().all(|c| c == '_' || c.is_lowercase());
            is_call.then(|| snake_to_pascal(name))
        })
    });
    let service = |name: String| match name.as_str() {
        "GetCallerIdentity" => format!("sts:{name}"),
        "GetParameter" => format!("ssm:{name}"),
        "GetProducts" => format!("pricing:{name}"),
        "ListServiceQuotas" => format!("servicequotas:{name}"),
        "ReceiveMessage" => format!("sqs:{name}"),
        _ => format!("ec2:{name}"),
    };
    built.chain(fluent).map(service).collect()
}

/// A request as the engine makes it: in a region of the spec, with our tags.
fn ours<'a>(action: &'a str, resource: &'a str) -> Request<'a> {
    let by = if resource.contains(":launch-template/") {
        "CreateLaunchTemplate"
    } else {
        "RunInstances"
    };
    Request {
        action,
        resource,
        context: vec![
            ("aws:RequestedRegion", "eu-west-1"),
            ("aws:RequestTag/fleet:uid", "f1"),
            ("aws:ResourceTag/fleet:uid", "f1"),
            ("ec2:CreateAction", by),
            ("iam:PassedToService", "ec2.amazonaws.com"),
            ("aws:TagKeys", "team"),
        ],
    }
}

fn own(kind: &str) -> String {
    format!("arn:aws:ec2:eu-west-1:111122223333:{kind}")
}

/// What each call touches.
fn resources(action: &str) -> Vec<String> {
    let made = ["instance/*", "volume/*", "spot-instances-request/*"].map(own);
    let parts = ["network-interface/*", "subnet/subnet-1", "security-group/sg-1", "key-pair/ops"];
    let shared =
        ["image/ami-1", "snapshot/snap-1"].map(|kind| format!("arn:aws:ec2:eu-west-1::{kind}"));
    match action {
        "ec2:RunInstances" => {
            made.into_iter().chain(parts.map(own)).chain(shared).chain([own("launch-template/lt-1")]).collect()
        }
        "ec2:CreateTags" => made.into_iter().chain([own("launch-template/lt-1")]).collect(),
        "ec2:TerminateInstances" | "ec2:DeleteTags" => vec![own("instance/i-1")],
        "ec2:CreateFleet" => vec![own("fleet/f-1")],
        "ec2:CreateLaunchTemplate" | "ec2:DeleteLaunchTemplate" => vec![own("launch-template/lt-1")],
        "ssm:GetParameter" => vec![
            "arn:aws:ssm:eu-west-1::parameter/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64".into(),
        ],
        _ => vec!["*".into()],
    }
}

#[test]
fn aws_allows_every_call() {
    let policy = Policy::read(&page("aws.json"));
    let calls = aws_calls();
    assert!(calls.len() > 20 && calls.contains("ec2:RunInstances"), "{calls:?}");
    for action in &calls {
        if AWS_ELSEWHERE.iter().any(|(elsewhere, _)| elsewhere == action) {
            continue;
        }
        for resource in resources(action) {
            assert!(policy.allows(&ours(action, &resource)), "{action} on {resource}");
        }
    }
    let role = "arn:aws:iam::111122223333:role/web-node";
    assert!(policy.allows(&ours("iam:PassRole", role)));
    for (elsewhere, _) in AWS_ELSEWHERE {
        assert!(calls.contains(elsewhere), "{elsewhere} is not called any more");
    }
}

#[test]
fn aws_allows_nothing_that_is_not_called() {
    let policy = Policy::read(&page("aws.json"));
    let calls = aws_calls();
    for action in policy.actions() {
        assert!(calls.contains(&action) || action == "iam:PassRole", "{action} is never called");
    }
}

#[test]
fn aws_denies_the_rest() {
    let policy = Policy::read(&page("aws.json"));
    let machine = own("instance/i-1");
    for action in [
        "ec2:StopInstances",
        "ec2:ModifyInstanceAttribute",
        "ec2:DeleteVolume",
        "ec2:AuthorizeSecurityGroupIngress",
        "ec2:DeleteVpc",
        "ec2:GetPasswordData",
        "ec2:DeregisterImage",
        "ec2:CreateKeyPair",
        "iam:CreateUser",
        "iam:AttachRolePolicy",
        "sts:AssumeRole",
        "s3:GetObject",
        "ssm:GetParameters",
        "ssm:SendCommand",
    ] {
        assert!(
            !policy.allows(&ours(action, &machine)) && !policy.allows(&ours(action, "*")),
            "{action}"
        );
    }
    let without = |action, resource, lacking: &[&str]| {
        let mut request = ours(action, resource);
        request.context.retain(|(key, _)| !lacking.contains(key));
        policy.allows(&request)
    };
    let (asked, there) = ("aws:RequestTag/fleet:uid", "aws:ResourceTag/fleet:uid");
    assert!(!without("ec2:RunInstances", &machine, &[asked]), "a machine that nobody owns");
    assert!(!without("ec2:TerminateInstances", &machine, &[there]), "somebody else's machine");
    assert!(!without("ec2:CreateTags", &machine, &[there, "ec2:CreateAction"]), "taking one over");
    let all = "aws:TagKeys";
    assert!(!without("ec2:DeleteTags", &machine, &[there]), "tags of somebody else's machine");
    assert!(!without("ec2:DeleteTags", &machine, &[all]), "all tags, ours among them");
    let mut giving_away = ours("ec2:DeleteTags", &machine);
    giving_away.context.push((all, "fleet:uid"));
    assert!(!policy.allows(&giving_away), "a machine of ours that nobody finds any more");
    let mut labels = ours("ec2:CreateTags", &machine);
    labels.context.retain(|(key, _)| *key != "ec2:CreateAction");
    assert!(policy.allows(&labels), "labels of a machine of ours");
    assert!(!without("ec2:DeleteLaunchTemplate", &own("launch-template/lt-1"), &[there]));
    let elsewhere = |action, resource| {
        let mut request = ours(action, resource);
        request.context[0] = ("aws:RequestedRegion", "us-east-1");
        policy.allows(&request)
    };
    assert!(
        !elsewhere("ec2:RunInstances", &machine) && !elsewhere("ec2:TerminateInstances", &machine)
    );
    assert!(!elsewhere("ec2:DescribeInstances", "*"));
    assert!(!policy.allows(&ours("iam:PassRole", "arn:aws:iam::111122223333:role/admin")));
    let mut to_lambda = ours("iam:PassRole", "arn:aws:iam::111122223333:role/web-node");
    to_lambda.context[4] = ("iam:PassedToService", "lambda.amazonaws.com");
    assert!(!policy.allows(&to_lambda));
}

/// The permissions behind `clients.thing.verb()`.
fn gcp_calls() -> BTreeSet<String> {
    let code = code("gcp");
    let call = |(at, _): (usize, &str)| {
        let mut words = code[at + "clients.".len()..].splitn(3, ['.', '(']);
        let (thing, verb) = (words.next()?, words.next()?);
        let right = match verb {
            "insert" | "bulk_insert" => "create",
            "list" | "aggregated_list" => "list",
            "get" | "wait" => "get",
            "get_from_family" => "getFromFamily",
            "delete" | "capacity" => verb,
            _ => return None,
        };
        // A machine is a machine, whichever door it comes through.
        let thing = thing.replace("region_instances", "instances");
        let thing = snake_to_pascal(&thing);
        Some(format!("compute.{}{}.{right}", thing[..1].to_lowercase(), &thing[1..]))
    };
    code.match_indices("clients.").filter_map(call).collect()
}

#[test]
fn gcp_allows_every_call_and_denies_the_rest() {
    let role = page("gcp.yaml");
    let allowed: BTreeSet<&str> = role.lines().filter_map(|line| line.strip_prefix("- ")).collect();
    let calls = gcp_calls();
    assert!(calls.len() > 8 && calls.contains("compute.instances.create"), "{calls:?}");
    for call in &calls {
        // A plan goes on without advice: docs/gcp.md.
        let advice = call.starts_with("compute.advice.capacity");
        assert!(allowed.contains(call.as_str()) || advice, "{call}");
    }
    for right in &allowed {
        let parts = ["disks", "images", "instances", "subnetworks", "serviceAccounts"];
        let part_of_a_launch = parts.iter().any(|part| right.contains(&format!(".{part}.")));
        assert!(calls.contains(*right) || part_of_a_launch, "{right} is never used");
    }
    for right in [
        "compute.instances.setIamPolicy",
        "compute.instances.stop",
        "compute.disks.delete",
        "compute.firewalls.create",
        "compute.images.delete",
        "compute.networks.delete",
        "compute.projects.setCommonInstanceMetadata",
        "compute.instances.getSerialPortOutput",
        "iam.serviceAccountKeys.create",
        "iam.serviceAccounts.getAccessToken",
        "resourcemanager.projects.setIamPolicy",
        "storage.objects.get",
    ] {
        assert!(!allowed.contains(right), "{right}");
    }
    assert!(!role.contains('*'), "no patterns");
}

#[test]
fn azure_allows_every_call_and_denies_the_rest() {
    let role: serde_json::Value = serde_json::from_str(&page("azure.json")).expect("JSON");
    let allowed: BTreeSet<&str> = role["Actions"]
        .as_array()
        .expect("actions")
        .iter()
        .filter_map(|one| one.as_str())
        .collect();
    let code = code("azure");
    let changes = ["Method::PUT", "Method::DELETE", "Method::POST", "Method::PATCH"];
    let changes = changes.map(|method| code.matches(method).count());
    assert_eq!(changes, [1, 1, 2, 1], "another call that changes something: is it allowed?");
    // Machines are made with their interface and disk in one call, and ended with them.
    for kind in ["Compute/virtualMachines", "Compute/disks", "Network/networkInterfaces"] {
        for deed in ["read", "write", "delete"] {
            assert!(allowed.contains(format!("Microsoft.{kind}/{deed}").as_str()), "{kind}/{deed}");
        }
    }
    for action in [
        "Microsoft.Compute/skus/read",
        "Microsoft.Compute/locations/usages/read",
        "Microsoft.Compute/locations/placementScores/generate/action",
        "Microsoft.Network/virtualNetworks/subnets/join/action",
        "Microsoft.ResourceGraph/resources/read",
    ] {
        assert!(allowed.contains(action), "{action}");
    }
    for action in &allowed {
        assert!(!action.contains('*'), "{action} is a pattern");
        let [_, kind, deed] = [0, 1, 2].map(|at| match at {
            2 => action.rsplit('/').next().unwrap_or_default(),
            at => action.split('/').nth(at).unwrap_or_default(),
        });
        // Tags have no narrower right: docs/azure.md says what it is for, and that it can be left out.
        let ours = ["virtualMachines", "disks", "networkInterfaces", "tags"].contains(&kind);
        assert!(ours || ["read", "action"].contains(&deed), "{action} changes what is not ours");
    }
    for action in [
        "Microsoft.Authorization/roleAssignments/write",
        "Microsoft.Compute/virtualMachines/runCommand/action",
        "Microsoft.Compute/virtualMachines/extensions/write",
        "Microsoft.KeyVault/vaults/secrets/read",
        "Microsoft.Network/networkSecurityGroups/write",
        "Microsoft.Resources/subscriptions/resourceGroups/delete",
        "Microsoft.Storage/storageAccounts/listKeys/action",
    ] {
        assert!(!allowed.contains(action), "{action}");
    }
}
