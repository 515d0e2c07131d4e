//! EC2's own checks of instances that run: whether they still boot, and whether they can be reached.
//!
//! "Status checks for Amazon EC2 instances": every minute, `impaired` after two that failed, `initializing` for
//! the first minutes. Only what is not well is asked for, so that an answer is short whatever else the
//! account runs.

use crate::error::{Asked, read};
use crate::machines::time;
use crate::pages::paged;
use crate::session::Site;
use aws_sdk_ec2::operation::describe_instance_status::builders::DescribeInstanceStatusInputBuilder;
use aws_sdk_ec2::types::{Filter, InstanceStatus, InstanceStatusSummary, SummaryStatus};
use fleet_model::{Cause, CauseKind, Machine, MachineId, MachineState, Timestamp};
use fleet_provider::Error;
use std::collections::BTreeMap;

/// For how long a check must fail before an instance is taken for unwell. Our own choice: EC2 recovers some
/// of them by itself within minutes.
const IMPAIRED_FOR: i64 = 300;

/// As many as a page may hold.
const PAGE: i32 = 1000;
/// A list that goes on for longer is not a list.
const PAGES: usize = 100;

/// What EC2's checks say of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Check {
    /// It boots.
    Initializing,
    /// It cannot be reached, and since when.
    Impaired(Option<Timestamp>),
}

/// What the checks of a region's instances say, of those that are not well.
pub(crate) async fn checks(site: &Site) -> Result<BTreeMap<MachineId, Check>, Error> {
    let mut found = BTreeMap::new();
    let asked = [
        ("instance-status.status", ["impaired", "initializing"].as_slice()),
        ("system-status.status", ["impaired"].as_slice()),
    ];
    for (name, values) in asked {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        let filter = Filter::builder().name(name).set_values(Some(values)).build();
        for status in all(site, filter).await? {
            let Some(id) = status.instance_id() else { continue };
            if let Some(check) = check(&status) {
                found.insert(MachineId::new(id), check);
            }
        }
    }
    Ok(found)
}

async fn all(site: &Site, filter: Filter) -> Result<Vec<InstanceStatus>, Error> {
    let asked = DescribeInstanceStatusInputBuilder::default().filters(filter).max_results(PAGE);
    paged(PAGES, |page| async {
        let answer = asked.clone().set_next_token(page).send_with(&site.ec2).await;
        let answer = answer.map_err(|error| read(Asked::Read, error))?;
        Ok((answer.instance_statuses.unwrap_or_default(), answer.next_token))
    })
    .await
}

fn check(status: &InstanceStatus) -> Option<Check> {
    let both = [status.system_status(), status.instance_status()];
    let is = |wanted: SummaryStatus| {
        let mut both = both.iter().flatten();
        both.any(|summary| summary.status() == Some(&wanted))
    };
    if is(SummaryStatus::Impaired) {
        let since = |summary: &&InstanceStatusSummary| {
            let details = summary.details().iter();
            details.filter_map(|detail| time(detail.impaired_since()?)).min()
        };
        return Some(Check::Impaired(both.iter().flatten().filter_map(since).min()));
    }
    is(SummaryStatus::Initializing).then_some(Check::Initializing)
}

/// What that makes of a machine that EC2 calls running.
pub(crate) fn heed(machine: &mut Machine, check: Option<&Check>, now: Timestamp) {
    if machine.state != MachineState::Running {
        return;
    }
    match check {
        Some(Check::Initializing) => machine.state = MachineState::Pending,
        Some(Check::Impaired(since)) => {
            let long = |since: Timestamp| now.duration_since(since).as_secs() >= IMPAIRED_FOR;
            if since.is_none_or(long) {
                machine.state = MachineState::Failed;
                let words = "EC2 status checks: impaired";
                machine.cause = Some(Cause::new(CauseKind::Unwell, words));
            }
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_sdk_ec2::primitives::DateTime;
    use aws_sdk_ec2::types::InstanceStatusDetails;

    fn status(system: SummaryStatus, instance: SummaryStatus, since: i64) -> InstanceStatus {
        let detail = InstanceStatusDetails::builder().impaired_since(DateTime::from_secs(since));
        let summary = |status: SummaryStatus| {
            InstanceStatusSummary::builder().status(status).details(detail.clone().build()).build()
        };
        InstanceStatus::builder()
            .instance_id("i-1")
            .system_status(summary(system))
            .instance_status(summary(instance))
            .build()
    }

    #[test]
    fn the_worse_of_two_checks_counts() {
        use SummaryStatus::{Impaired, Initializing, InsufficientData, Ok};
        let since = Timestamp::from_second(1000).ok();
        for (system, instance, wanted) in [
            (Ok, Ok, None),
            (Ok, Initializing, Some(Check::Initializing)),
            (Initializing, Initializing, Some(Check::Initializing)),
            (Ok, Impaired, Some(Check::Impaired(since))),
            (Impaired, Ok, Some(Check::Impaired(since))),
            (Impaired, InsufficientData, Some(Check::Impaired(since))),
            (InsufficientData, InsufficientData, None),
        ] {
            assert_eq!(
                check(&status(system.clone(), instance.clone(), 1000)),
                wanted,
                "{system} {instance}"
            );
        }
    }
}
