//! Capacity blocks: reservations with an end, at which EC2 takes its machines.
//!
//! "Monitor Capacity Blocks using EventBridge": forty minutes before a block ends EC2 warns of it, and ten
//! minutes later it begins to terminate what runs there. The event names the block and not the machines,
//! and a queue keeps it for minutes. The block itself says when it ends, so it is asked.

use crate::error::{Asked, read};
use crate::machines::time;
use crate::pages::paged;
use crate::session::Site;
use aws_sdk_ec2::operation::describe_capacity_reservations::builders::DescribeCapacityReservationsInputBuilder;
use aws_sdk_ec2::types::{CapacityReservation, Instance, InstanceLifecycleType};
use fleet_model::{InterruptionNotice, MachineId, NoticeKind, Timestamp};
use fleet_provider::Error;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long before its end a block is spoken of.
const WARNED: Duration = Duration::from_secs(40 * 60);
/// How long before its end machines go.
const TAKEN: Duration = Duration::from_secs(30 * 60);

/// More pages than a fleet has blocks.
const PAGES: usize = 100;

/// Which machines stand in which block.
pub(crate) fn of_machines(instances: &[Instance]) -> BTreeMap<MachineId, String> {
    let in_block = instances.iter().filter(|instance| {
        instance.instance_lifecycle() == Some(&InstanceLifecycleType::CapacityBlock)
    });
    in_block
        .filter_map(|instance| {
            let block = instance.capacity_reservation_id()?.to_owned();
            Some((MachineId::new(instance.instance_id()?), block))
        })
        .collect()
}

/// Blocks of a region that are about to end.
pub(crate) async fn ending(
    site: &Site,
    blocks: BTreeSet<String>,
    now: Timestamp,
) -> Result<BTreeMap<String, InterruptionNotice>, Error> {
    let asked = DescribeCapacityReservationsInputBuilder::default();
    let asked = asked.set_capacity_reservation_ids(Some(blocks.into_iter().collect()));
    let found: Vec<CapacityReservation> = paged(PAGES, |page| async {
        let answer = asked.clone().set_next_token(page).send_with(&site.ec2).await;
        let answer = answer.map_err(|error| read(Asked::Read, error))?;
        Ok((answer.capacity_reservations.unwrap_or_default(), answer.next_token))
    })
    .await?;
    let notice = |block: &CapacityReservation| {
        let id = block.capacity_reservation_id()?.to_owned();
        Some((id, notice(time(block.end_date()?)?, now)?))
    };
    Ok(found.iter().filter_map(notice).collect())
}

/// The warning of a block, once EC2 gives it.
fn notice(end: Timestamp, now: Timestamp) -> Option<InterruptionNotice> {
    let warned = end.checked_sub(WARNED).ok()?;
    let at = end.checked_sub(TAKEN).ok()?;
    (now >= warned).then_some(InterruptionNotice { at, kind: NoticeKind::Interruption })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_warns_forty_minutes_ahead_and_takes_half_an_hour_ahead() {
        let at = |minutes: i64| Timestamp::from_second(minutes * 60).expect("a moment");
        assert_eq!(notice(at(100), at(59)), None);
        let told = notice(at(100), at(60)).expect("a notice");
        assert_eq!((told.at, told.kind), (at(70), NoticeKind::Interruption));
    }

    #[test]
    fn only_machines_in_a_block_are_asked_about() {
        let instance = |id: &str, lifecycle: Option<InstanceLifecycleType>| {
            let built = Instance::builder().instance_id(id).capacity_reservation_id("cr-1");
            built.set_instance_lifecycle(lifecycle).build()
        };
        let all = [
            instance("i-1", Some(InstanceLifecycleType::CapacityBlock)),
            instance("i-2", None),
            instance("i-3", Some(InstanceLifecycleType::Spot)),
        ];
        let found: Vec<(MachineId, String)> = of_machines(&all).into_iter().collect();
        assert_eq!(found, [(MachineId::new("i-1"), "cr-1".to_owned())]);
    }
}
