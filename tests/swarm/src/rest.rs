//! O: when nothing goes wrong any more, everything comes to rest, soon, and stays there. D: and
//! then nothing is left that nobody keeps track of.

use crate::clockwork;
use crate::operator::{self, Ended, Person};
use crate::world::World;
use fleet_core::Planned;
use fleet_model::{
    CauseKind, Desired, Hold, Limits, MachineId, Notice, Rejection, RolloutWait, Step, Timestamp,
    Why,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Reconciles that a calm world may take, and those with pools that said no.
const USUAL: u32 = 3;
const MOST: u32 = 10;

/// Ends the storm, and sees to it that the world comes to rest.
pub(crate) async fn come_to_rest(world: &Arc<World>, wish: &Desired) {
    world.trace(format_args!("calm"));
    let _ = world.sim.heal();
    let calm = world.now();
    {
        let mut inner = world.lock();
        inner.weather.clear();
        inner.calm = true;
        inner.disk_full = false;
    }
    // Requests that are under way arrive; leases of the dead run out.
    tokio::time::sleep(Duration::from_secs(600)).await;
    world.look();
    let ahead = world.lock().judge.book.ahead_until(world.now());
    if let Some(ahead) = ahead {
        let left = ahead.duration_since(world.now()).unsigned_abs();
        tokio::time::sleep(left + Duration::from_secs(10)).await;
        world.look();
    }
    clockwork::let_it_run(world, wish).await;
    if world.is_broken() {
        return;
    }
    end_what_people_must_end(world);
    let mut last = None;
    // What is wanted, and how often that changed meanwhile.
    let (mut wanted, mut changes) = (world.judge(|judge| judge.as_of_now(wish)), 0);
    let mut pools = BTreeSet::new();
    // Plans that left a part of a replacement to the next apply.
    let mut spread = 0;
    for reconcile in 1.. {
        let wait = Duration::from_secs(60);
        operator::apply(world, wish, Limits::default(), Person::Agrees, wait).await;
        end_what_people_must_end(world);
        // What is being ended takes its time to go.
        tokio::time::sleep(Duration::from_secs(120)).await;
        world.look();
        let before = world.judge(|judge| judge.as_of_now(wish));
        let was_short = world.judge(|judge| judge.is_short(&before));
        let Ended::Done(Some(planned)) = operator::look(world, wish).await else {
            world.judge(|judge| judge.fail('O', "in calm weather a plan fails"));
            return;
        };
        if world.is_broken() {
            return;
        }
        let now = world.judge(|judge| judge.as_of_now(wish));
        if now.capacity != wanted.capacity || now.capacity != before.capacity {
            (wanted, changes) = (now, changes + USUAL);
            if changes > MOST * USUAL {
                // Its target changes faster than its clouds answer.
                return;
            }
            continue;
        }
        if world.lock().judge.book.last_block > calm {
            // A market that is short of its own accord is no calm weather: what can be had is had.
            finish(world, &wanted, &planned, was_short).await;
            return;
        }
        let (blocked, until) = blocked(&planned);
        pools.extend(blocked);
        let sick = |hold: &Hold| matches!(hold, Hold::ManyUnhealthy { .. });
        if planned.report.held.iter().any(sick) {
            // A person has to look at the template.
            return;
        }
        if rests(&planned) && until.is_none() {
            finish(world, &wanted, &planned, was_short).await;
            return;
        }
        // Spot machines are taken back in calm weather, too.
        let truth = world.sim.machines().unwrap_or_default();
        let taken = truth.iter().filter(|m| m.notice.is_some_and(|notice| notice.at > calm));
        // So do machines fail that never came up: their cloud calls them failed long after the storm.
        let failed = world.judge(|judge| judge.failed_since(calm));
        // What the last apply destroyed is on record until the next one.
        let forgets = planned.plan.steps.is_empty() && planned.plan.has_news();
        spread += u32::from(planned.report.held.iter().any(spreads_out));
        // What did not come up in time is seen long after the storm, and machines go back to spot a few
        // at a time.
        let late = |step: &&Step| {
            let unready = Why::Failed { kind: CauseKind::NotReady };
            // A fleet that weighs what is missing ends what is no longer allowed one after the other, each once
            // its successor is ready.
            let weighed = wish.placement.hedge.is_some();
            let in_turn = weighed && matches!(step.why, Why::PoolNotAllowed { .. });
            step.why == unready || in_turn || matches!(step.why, Why::Moved { .. })
        };
        spread += u32::from(planned.plan.steps.iter().any(|step| late(&step)));
        let usual = USUAL + pools.len() as u32 + taken.count() as u32 + failed;
        let usual = usual.min(MOST);
        let most = (usual + spread).min(2 * MOST) + u32::from(forgets) + changes;
        if reconcile >= most {
            // A replacement that budget, surge and the limit on destroys spread over applies goes on.
            let moves = |step: &Step| matches!(step.why, Why::Moved { .. });
            if planned.report.held.iter().any(spreads_out) || planned.plan.steps.iter().any(moves) {
                return;
            }
            last = Some(planned);
            break;
        }
        if let Some(until) = until {
            let left = until.duration_since(world.now()).unsigned_abs();
            tokio::time::sleep(left + Duration::from_secs(60)).await;
        }
    }
    let left = last.map(|planned| describe(&planned)).unwrap_or_default();
    world.judge(|judge| judge.fail('O', format!("does not come to rest: {left}")));
}

/// Whether nothing is left to do.
fn rests(planned: &Planned) -> bool {
    planned.plan.steps.is_empty()
        && !planned.plan.has_news()
        && planned.plan.clear.is_empty()
        && planned.plan.relabel.is_empty()
        && planned.report.in_doubt.is_empty()
        && planned.report.gaps.is_empty()
        && planned.report.held.iter().all(is_all_that_can_be_done)
}

/// Whether a plan holds back what nobody can have: the spec's own limits forbid it.
fn is_all_that_can_be_done(hold: &Hold) -> bool {
    match hold {
        Hold::WaitingForReplacement { .. } | Hold::SuccessorsNotUp { .. } | Hold::Budget { .. } => {
            true
        }
        // A person has to say how it goes on, or the window to open.
        Hold::Rollout { waits, .. } => !matches!(waits, RolloutWait::Pause { .. }),
        Hold::DestroyLimit { .. }
        | Hold::Surge { .. }
        | Hold::Frozen { .. }
        | Hold::JournalLost { .. }
        | Hold::ByHand { .. }
        | Hold::ManyUnhealthy { .. }
        | Hold::NotSeenYet { .. }
        | Hold::AttemptLimit { .. }
        | Hold::BootFailures { .. }
        | Hold::Gap { .. } => false,
    }
}

fn is_gap(hold: &Hold) -> bool {
    matches!(hold, Hold::Gap { .. })
}

/// Whether a hold spreads a replacement over several applies.
fn spreads_out(hold: &Hold) -> bool {
    match hold {
        Hold::WaitingForReplacement { .. }
        | Hold::SuccessorsNotUp { .. }
        | Hold::Surge { .. }
        | Hold::Rollout { .. }
        | Hold::DestroyLimit { .. } => true,
        Hold::Budget { .. }
        | Hold::ManyUnhealthy { .. }
        | Hold::Frozen { .. }
        | Hold::JournalLost { .. }
        | Hold::ByHand { .. }
        | Hold::NotSeenYet { .. }
        | Hold::AttemptLimit { .. }
        | Hold::BootFailures { .. }
        | Hold::Gap { .. } => false,
    }
}

/// Pools that said no and are missed, and until when the last of them does.
fn blocked(planned: &Planned) -> (BTreeSet<String>, Option<Timestamp>) {
    let reasons = planned.report.unplaced.iter().flat_map(|short| &short.because);
    let blocks = reasons.filter_map(|(reason, _)| match reason {
        Rejection::Blocked { scope, until, .. } => Some((format!("{scope:?}"), *until)),
        _ => None,
    });
    let mut blocks: Vec<_> = blocks.collect();
    // Groups that were tried too often, or failed too often, rest for a while as well.
    blocks.extend(planned.report.held.iter().filter_map(|hold| match hold {
        Hold::AttemptLimit { slot, until, .. } => Some((slot.to_string(), *until)),
        Hold::BootFailures { group, until, .. } => Some((group.to_string(), *until)),
        _ => None,
    }));
    let last = blocks.iter().map(|(_, until)| *until).max();
    (blocks.into_iter().map(|(scope, _)| scope).collect(), last)
}

fn describe(planned: &Planned) -> String {
    let report = &planned.report;
    format!(
        "{} steps ({:?}), {} to forget, {} to clear away, {} to label, {} in doubt, held {:?}, \
         unplaced {:?}",
        planned.plan.steps.len(),
        planned.plan.steps.iter().map(|step| &step.why).collect::<Vec<_>>(),
        planned.plan.vacate.len(),
        planned.plan.clear.len(),
        planned.plan.relabel.len(),
        report.in_doubt.len(),
        report.held,
        report.unplaced,
    )
}

/// What is left to people by design: machines that nobody asked for, and those whose tags others
/// changed. The engine reports them and leaves them alone.
fn end_what_people_must_end(world: &World) {
    let surplus = world.judge(|judge| judge.surplus());
    let touched: Vec<MachineId> = world.lock().judge.touched.iter().cloned().collect();
    for id in surplus.iter().chain(&touched) {
        // Most are gone already.
        let _ = world.sim.reclaim(id);
    }
    world.look();
}

/// The fleet is at rest: is it what was asked for, and is nothing lost? A machine that is given notice
/// after the last look began is nobody's fault.
async fn finish(world: &Arc<World>, wish: &Desired, planned: &Planned, was_short: bool) {
    let reported: BTreeSet<MachineId> = planned
        .report
        .notices
        .iter()
        .filter_map(|notice| match notice {
            Notice::NotRecorded { machine, .. } | Notice::Surplus { machine } => {
                Some(machine.clone())
            }
            _ => None,
        })
        .collect();
    world.judge(|judge| judge.check_orphans(&reported));
    let held = !planned.report.held.iter().all(is_all_that_can_be_done);
    let all_done = planned.plan.steps.is_empty() && planned.report.unplaced.is_empty() && !held;
    if was_short && all_done {
        world.judge(|judge| judge.check_enough(wish));
    }
    if planned.plan.is_empty() && planned.report.held.is_empty() {
        world.judge(|judge| judge.check_not_too_much(wish));
    }
    world.judge(|judge| judge.check_nothing_left());
    if !planned.report.held.iter().any(is_gap) && planned.plan.is_empty() {
        let carried = |id: &MachineId| world.sim.labels(id).ok().flatten();
        world.judge(|judge| judge.check_labels(&wish.labels, carried));
    }
    let open = world.lock().judge.book.open().count();
    if open > 0 {
        world.judge(|judge| judge.fail('O', format!("{open} launches are never settled")));
    }
}
