//! Warnings that machines will be taken back.
//!
//! EC2 marks the spot request of a machine two minutes before it takes it. With a queue that
//! EventBridge fills, warnings of every region come at once, rebalance recommendations too.
//! Messages are looked at and left in the queue: looking must change nothing, and several readers
//! may look. The queue forgets them by itself; keep its retention at a few minutes.

use crate::error::{Asked, read};
use crate::session::Site;
use crate::tags;
use aws_sdk_ec2::types::{Filter, SpotInstanceRequest};
use fleet_model::{InterruptionNotice, MachineId, NoticeKind, Timestamp};
use fleet_provider::Error;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// What is known of machines that will be taken.
pub(crate) type Notices = BTreeMap<MachineId, InterruptionNotice>;

/// How long after its warning a spot machine is taken.
const WARNING: Duration = Duration::from_secs(120);

/// Messages per look at the queue, ten at a time.
const LOOKS: usize = 20;

/// Warnings that EC2 keeps with the spot requests of a region.
pub(crate) async fn marked(site: &Site) -> Result<Notices, Error> {
    let asked = site
        .ec2
        .describe_spot_instance_requests()
        .filters(Filter::builder().name("tag-key").values(tags::UID).build())
        .filters(Filter::builder().name("state").values("active").build());
    let answer = asked.send().await.map_err(|error| read(Asked::Read, error))?;
    Ok(answer.spot_instance_requests().iter().filter_map(notice_of).collect())
}

fn notice_of(request: &SpotInstanceRequest) -> Option<(MachineId, InterruptionNotice)> {
    let status = request.status()?;
    if !status.code()?.starts_with("marked-for-") {
        return None;
    }
    let marked = Timestamp::from_second(status.update_time()?.secs()).ok()?;
    let at = marked.checked_add(WARNING).ok()?;
    let notice = InterruptionNotice { at, kind: NoticeKind::Interruption };
    Some((MachineId::new(request.instance_id()?), notice))
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
    for _ in 0..LOOKS {
        let asked = client
            .receive_message()
            .queue_url(queue)
            .max_number_of_messages(10)
            // Seen by us and left for the next reader.
            .visibility_timeout(0)
            .wait_time_seconds(0);
        let answer = asked.send().await.map_err(|error| read(Asked::Read, error))?;
        let before = seen.len();
        for message in answer.messages() {
            if seen.insert(message.message_id().unwrap_or_default().to_owned())
                && let Some((machine, notice)) = message.body().and_then(read_event)
            {
                add(&mut notices, machine, notice);
            }
        }
        if seen.len() == before {
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
        let (machine, notice) = notice_of(&request("marked-for-termination")).expect("a notice");
        assert_eq!((machine.as_str(), notice.at.as_second()), ("i-1", 180));
        assert_eq!(notice_of(&request("fulfilled")), None);
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
