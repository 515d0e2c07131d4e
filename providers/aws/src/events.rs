//! Warnings that machines will be taken back.
//!
//! EC2 says with the spot request of a machine that it will take it. For want of capacity the request
//! is closed at once, with `instance-terminated-no-capacity`, while the machine runs on for two
//! minutes. With a queue that EventBridge fills, warnings of every region come at once, rebalance
//! recommendations too.
//! Messages are looked at and left in the queue: looking must change nothing, and several readers
//! may look. The queue forgets them by itself; keep its retention at a few minutes.

use crate::error::{Asked, read, refused};
use crate::session::Site;
use crate::tags;
use aws_sdk_ec2::types::{Filter, SpotInstanceRequest};
use fleet_model::{Cause, CauseKind, InterruptionNotice, MachineId, NoticeKind, Timestamp};
use fleet_provider::{Class, Error};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// What is known of machines that will be taken.
pub(crate) type Notices = BTreeMap<MachineId, InterruptionNotice>;

/// How long after its warning a spot machine is taken.
const WARNING: Duration = Duration::from_secs(120);

/// Messages per look at the queue, ten at a time.
const LOOKS: usize = 20;

/// As many spot requests as a page may hold.
const PAGE: i32 = 1000;

/// More pages than there are requests.
const PAGES: usize = 1000;

/// A queue that is asked for so many seconds asks all of its servers. With none at all it asks some,
/// and an empty answer proves nothing.
const QUEUE_WAIT: i32 = 1;

/// What a request says whose machine will be taken, and is still there if it is in a list.
const TAKEN: [&str; 2] = ["instance-terminated-no-capacity", "instance-terminated-by-price"];

/// So many answers in a row without a new message, and the queue counts as read.
const STALE: u32 = 3;

/// Warnings that EC2 keeps with the spot requests of a region. Those of machines that do not run any
/// more are among them, for as long as EC2 keeps requests: whoever reads them looks at machines.
pub(crate) async fn marked(site: &Site) -> Result<Notices, Error> {
    let tagged = Filter::builder().name("tag-key").values(tags::UID).build();
    Ok(requests(site, vec![tagged]).await?.iter().filter_map(notice_of).collect())
}

/// Spot requests, page by page to the end.
pub(crate) async fn requests(
    site: &Site,
    filters: Vec<Filter>,
) -> Result<Vec<SpotInstanceRequest>, Error> {
    let mut found = Vec::new();
    let mut page = None;
    for _ in 0..PAGES {
        let asked = site
            .ec2
            .describe_spot_instance_requests()
            .set_filters(Some(filters.clone()))
            .max_results(PAGE)
            .set_next_token(page);
        let answer = asked.send().await.map_err(|error| read(Asked::Read, error))?;
        found.extend(answer.spot_instance_requests.unwrap_or_default());
        page = answer.next_token.filter(|token| !token.is_empty());
        if page.is_none() {
            return Ok(found);
        }
    }
    let words = "the list of spot requests has no end";
    Err(refused(Class::Retry { after: None }, "EndlessList", words))
}

fn notice_of(request: &SpotInstanceRequest) -> Option<(MachineId, InterruptionNotice)> {
    let status = request.status()?;
    let code = status.code()?;
    if !code.starts_with("marked-for-") && !TAKEN.contains(&code) {
        return None;
    }
    let marked = Timestamp::from_second(status.update_time()?.secs()).ok()?;
    let at = marked.checked_add(WARNING).ok()?;
    let notice = InterruptionNotice { at, kind: NoticeKind::Interruption };
    Some((MachineId::new(request.instance_id()?), notice))
}

/// Why the machine of a request ended, as the request tells it.
pub(crate) fn cause_of(request: &SpotInstanceRequest) -> Option<Cause> {
    let status = request.status()?;
    let code = status.code()?;
    let kind = if TAKEN.contains(&code) || code.starts_with("marked-for-") {
        CauseKind::Interrupted
    } else if ["instance-terminated-by-user", "spot-instance-terminated-by-user"].contains(&code) {
        CauseKind::Person
    } else if code == "instance-terminated-by-schedule" {
        CauseKind::Expired
    } else if code == "instance-terminated-launch-group-constraint" {
        CauseKind::Interrupted
    } else {
        return None;
    };
    Some(Cause::new(kind, format!("{code}: {}", status.message().unwrap_or_default())))
}

/// An event as EventBridge writes it, as far as we read it.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "detail-type")]
    kind: String,
    time: Timestamp,
    detail: Detail,
}

#[derive(Debug, Deserialize)]
struct Detail {
    #[serde(rename = "instance-id")]
    instance: String,
}

/// Warnings in a queue.
pub(crate) async fn queued(config: &aws_config::SdkConfig, queue: &str) -> Result<Notices, Error> {
    // The queue's address says where it is.
    let region = queue.strip_prefix("https://sqs.").and_then(|rest| rest.split('.').next());
    let config = match region {
        Some(region) => {
            let region = aws_config::Region::new(region.to_owned());
            config.to_builder().region(region).build()
        }
        None => config.clone(),
    };
    let client = aws_sdk_sqs::Client::new(&config);
    let mut notices = Notices::new();
    let mut seen = std::collections::BTreeSet::new();
    let mut stale = 0;
    for _ in 0..LOOKS {
        let asked = client
            .receive_message()
            .queue_url(queue)
            .max_number_of_messages(10)
            // Seen by us and left for the next reader.
            .visibility_timeout(0)
            .wait_time_seconds(QUEUE_WAIT);
        let answer = asked.send().await.map_err(|error| read(Asked::Read, error))?;
        if answer.messages().is_empty() {
            break;
        }
        let before = seen.len();
        for message in answer.messages() {
            if seen.insert(message.message_id().unwrap_or_default().to_owned())
                && let Some((machine, notice)) = message.body().and_then(read_event)
            {
                add(&mut notices, machine, notice);
            }
        }
        // What we look at stays visible: an answer of nothing but known messages may hide others.
        stale = if seen.len() == before { stale + 1 } else { 0 };
        if stale == STALE {
            break;
        }
    }
    Ok(notices)
}

/// A certain warning outweighs a recommendation.
pub(crate) fn add(notices: &mut Notices, machine: MachineId, notice: InterruptionNotice) {
    let known = notices.entry(machine).or_insert(notice);
    if notice.kind < known.kind {
        *known = notice;
    }
}

/// What a message says; `None` if it speaks of something else.
fn read_event(body: &str) -> Option<(MachineId, InterruptionNotice)> {
    let event: Event = serde_json::from_str(body).ok()?;
    let (kind, warning) = match event.kind.as_str() {
        "EC2 Spot Instance Interruption Warning" => (NoticeKind::Interruption, WARNING),
        "EC2 Instance Rebalance Recommendation" => (NoticeKind::Rebalance, Duration::ZERO),
        _ => return None,
    };
    let at = event.time.checked_add(warning).ok()?;
    Some((MachineId::new(event.detail.instance), InterruptionNotice { at, kind }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_sdk_ec2::primitives::DateTime;
    use aws_sdk_ec2::types::SpotInstanceStatus;

    #[test]
    fn a_marked_request_is_a_warning() {
        let request = |code: &str| {
            let status =
                SpotInstanceStatus::builder().code(code).update_time(DateTime::from_secs(60));
            SpotInstanceRequest::builder().instance_id("i-1").status(status.build()).build()
        };
        for code in [
            "marked-for-termination",
            "instance-terminated-no-capacity",
            "instance-terminated-by-price",
        ] {
            let (machine, notice) = notice_of(&request(code)).expect("a notice");
            assert_eq!((machine.as_str(), notice.at.as_second()), ("i-1", 180));
        }
        for code in ["fulfilled", "instance-terminated-by-user", "capacity-not-available"] {
            assert_eq!(notice_of(&request(code)), None, "{code}");
        }
        let kind = |code: &str| cause_of(&request(code)).map(|cause| cause.kind);
        assert_eq!(kind("instance-terminated-no-capacity"), Some(CauseKind::Interrupted));
        assert_eq!(kind("instance-terminated-by-user"), Some(CauseKind::Person));
        assert_eq!(kind("fulfilled"), None);
    }

    #[test]
    fn events_of_the_queue() {
        let event = |kind: &str| {
            format!(
                r#"{{"version":"0","detail-type":"{kind}","source":"aws.ec2",
                "time":"2026-01-01T00:00:00Z","region":"us-east-1","resources":[],
                "detail":{{"instance-id":"i-9","instance-action":"terminate"}}}}"#
            )
        };
        let warning = read_event(&event("EC2 Spot Instance Interruption Warning")).expect("read");
        assert_eq!(warning.1.kind, NoticeKind::Interruption);
        assert_eq!(warning.1.at.to_string(), "2026-01-01T00:02:00Z");
        let advice = read_event(&event("EC2 Instance Rebalance Recommendation")).expect("read");
        assert_eq!(advice.1.kind, NoticeKind::Rebalance);
        assert_eq!(read_event(&event("EC2 Instance State-change Notification")), None);
        assert_eq!(read_event("not JSON"), None);
        let mut notices = Notices::new();
        add(&mut notices, advice.0.clone(), advice.1);
        add(&mut notices, warning.0, warning.1);
        add(&mut notices, advice.0, advice.1);
        assert_eq!(
            notices.values().map(|n| n.kind).collect::<Vec<_>>(),
            [NoticeKind::Interruption]
        );
    }
}
