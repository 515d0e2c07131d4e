//! Servers with the habits of AWS that moto does not have: queues of several servers, pages of spot
//! requests, zones without a default subnet.

use crate::support::{Served, no_requests, requests, runs_again, spot_machines, zones};
use fleet_model::{CapacityGoal, Machine, Template};
use fleet_provider::{Listing, OfferingsRequest, Provider};

async fn warned(served: &Served) -> Vec<String> {
    let listing = served.machines().await.expect("a list");
    let Listing::Complete(machines) = listing else { panic!("{listing:?}") };
    let warned = |machine: &Machine| machine.notice.map(|_| machine.id.to_string());
    machines.iter().filter_map(warned).collect()
}

/// With a wait of 0 the queue asks servers that hold nothing; with a wait it asks all of them, and
/// still gives a message or two at a time, among them some that were given before.
#[tokio::test]
async fn a_queue_is_asked_with_patience_and_to_its_end() {
    if runs_again("warnings::a_queue_is_asked_with_patience_and_to_its_end") {
        return;
    }
    let message = |id: &str| {
        let event = serde_json::json!({
            "detail-type": "EC2 Spot Instance Interruption Warning",
            "time": "2026-01-01T00:00:00Z", "detail": { "instance-id": id },
        });
        serde_json::json!({ "MessageId": id, "Body": event.to_string() })
    };
    let mut turn = 0;
    let queue = Box::new(move |action: &str, body: &str| match action {
        "DescribeInstances" => (200, spot_machines(&["i-1", "i-2", "i-3"])),
        "DescribeAvailabilityZones" => (200, zones("us-east-1a=use1-az1")),
        "DescribeSpotInstanceRequests" => (200, no_requests()),
        "ReceiveMessage" => {
            let asked: serde_json::Value = serde_json::from_str(body).expect("JSON");
            if asked["WaitTimeSeconds"].as_u64().unwrap_or_default() == 0 {
                return (200, "{}".to_owned());
            }
            turn += 1;
            let given = match turn {
                1 | 2 => vec![message("i-1")],
                3 => vec![message("i-2")],
                _ => return (200, "{}".to_owned()),
            };
            (200, serde_json::json!({ "Messages": given }).to_string())
        }
        _ => (400, "<Response/>".to_owned()),
    });
    assert_eq!(warned(&Served::with(Some("queue"), queue).await).await, ["i-1", "i-2"]);
}

#[tokio::test]
async fn spot_requests_are_read_to_their_last_page() {
    if runs_again("warnings::spot_requests_are_read_to_their_last_page") {
        return;
    }
    let request = |id: &str| {
        format!(
            "<item><instanceId>{id}</instanceId><state>closed</state><status>\
             <code>instance-terminated-no-capacity</code>\
             <updateTime>2026-01-01T00:00:00Z</updateTime></status></item>"
        )
    };
    let pages = Box::new(move |action: &str, body: &str| match action {
        "DescribeInstances" => (200, spot_machines(&["i-1", "i-2", "i-3"])),
        "DescribeAvailabilityZones" => (200, zones("us-east-1a=use1-az1")),
        "DescribeSpotInstanceRequests" if body.contains("NextToken=more") => {
            (200, requests(&request("i-3")))
        }
        "DescribeSpotInstanceRequests" => {
            let page = requests(&request("i-1"));
            let set = "</spotInstanceRequestSet>";
            (200, page.replace(set, &format!("{set}<nextToken>more</nextToken>")))
        }
        _ => (400, "<Response/>".to_owned()),
    });
    assert_eq!(warned(&Served::with(None, pages).await).await, ["i-1", "i-3"]);
}

#[tokio::test]
async fn a_zone_without_a_default_subnet_is_ruled_out() {
    if runs_again("warnings::a_zone_without_a_default_subnet_is_ruled_out") {
        return;
    }
    let subnets = "<DescribeSubnetsResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">\
                   <requestId>0</requestId><subnetSet><item><subnetId>subnet-1</subnetId>\
                   <availabilityZone>us-east-1a</availabilityZone></item></subnetSet>\
                   </DescribeSubnetsResponse>";
    let account = Box::new(move |action: &str, body: &str| match action {
        "DescribeAvailabilityZones" => (200, zones("us-east-1a=use1-az1 us-east-1b=use1-az2")),
        "DescribeSubnets" if body.contains("default-for-az") => (200, subnets.to_owned()),
        _ => (400, "<Response/>".to_owned()),
    });
    let served = Served::with(None, account).await;
    let pools = ["use1-az1", "use1-az2"]
        .map(|zone| format!("aws/us-east-1/{zone}/m5.large/on-demand").parse().expect("a pool"));
    let (template, goal) = (Template::default(), CapacityGoal::default());
    let request = OfferingsRequest {
        pools: &pools,
        template: &template,
        goal,
        ignore: fleet_model::SignalSet::default(),
    };
    let offered = served.provider.offerings(&request).await.expect("quotes");
    let refusal = |at: usize| offered.quotes[at].clone().and_then(|quote| quote.refusal);
    assert_eq!(refusal(0), None);
    let why = refusal(1).unwrap_or_default();
    assert!(why.starts_with("this account has no default subnet in use1-az2"), "{why}");
}
