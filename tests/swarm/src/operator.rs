//! What people do: plan, apply, apply what was planned before, take down, sweep, edit the spec.

use crate::bench::Bench;
use crate::hooks::WorldHooks;
use crate::market::CATALOG;
use crate::process::{Process, ProcessClock};
use crate::weather::Kind;
use crate::wire::Wire;
use crate::world::World;
use fleet_core::{Planned, plan};
use fleet_model::{
    Action, Cloud, Desired, Event, Hold, Inputs, Limits, Plan, RolloutNews, RolloutState, SlotId,
    SlotName, SlotState,
};
use fleet_provider::Provider;
use fleet_run::{Engine, Fresh, Reach, RunError, Session, Stop, Store};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// No command takes longer than this, whatever goes wrong.
const PATIENCE: Duration = Duration::from_secs(12 * 3600);

/// What a person does about the limits that a plan meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Person {
    /// Leaves it at that.
    Away,
    /// Says the exact number that the plan asks for.
    Agrees,
}

/// How a command ended.
pub(crate) enum Ended {
    Died,
    Failed(RunError),
    Done(Option<Box<Planned>>),
}

/// The engine of a process.
pub(crate) fn engine(process: &Arc<Process>) -> Engine {
    let wire = |cloud: Cloud| -> (Cloud, Arc<dyn Provider>) {
        let far = process.world.sim.provider(cloud);
        (cloud, Arc::new(Wire { process: process.clone(), cloud: far }))
    };
    let providers: BTreeMap<_, _> = Cloud::ALL.into_iter().map(wire).collect();
    let store = Store::over(Arc::new(Bench(process.clone())));
    let clock = Arc::new(ProcessClock(process.clone()));
    let hooks = Arc::new(WorldHooks(process.clone()));
    Engine::new(store, providers, clock, CATALOG.clone(), Fresh::Derived).with_hooks(hooks)
}

/// Runs a command in a process of its own.
pub(crate) async fn command<F, W>(
    world: &Arc<World>,
    desired: &Desired,
    limits: Limits,
    work: F,
) -> Ended
where
    F: FnOnce(Arc<Process>) -> W,
    W: Future<Output = Result<Option<Planned>, RunError>>,
{
    let process = Process::start(world);
    let id = process.id;
    let target = desired.capacity.target;
    world.trace(format_args!("p{id} starts, target {target} all={}", limits.destroy_all));
    world.judge(|judge| judge.begins(id, desired, limits));
    world.lock().running.push(Arc::downgrade(&process));
    let work = tokio::time::timeout(PATIENCE, work(process.clone()));
    let ended = match process.run(work).await {
        None => Ended::Died,
        Some(Err(_)) => {
            world.judge(|judge| judge.fail('O', format!("p{id} never comes to an end")));
            Ended::Died
        }
        Some(Ok(Err(error))) => Ended::Failed(error),
        Some(Ok(Ok(planned))) => Ended::Done(planned.map(Box::new)),
    };
    let word = match &ended {
        Ended::Died => "dead".into(),
        Ended::Failed(error) => error.to_string(),
        Ended::Done(_) => "done".into(),
    };
    world.trace(format_args!("p{id} ends: {word}"));
    if let Ended::Failed(RunError::Unsound { .. }) = &ended {
        world.judge(|judge| judge.fail('O', word));
    }
    world.look();
    ended
}

/// `fleet apply`, or `fleet destroy` with the limits for it.
pub(crate) async fn apply(
    world: &Arc<World>,
    desired: &Desired,
    limits: Limits,
    person: Person,
    wait: Duration,
) -> Ended {
    command(world, desired, limits, |process| async move {
        let engine = engine(&process);
        work(&process, &engine, desired, limits, person, wait).await
    })
    .await
}

/// The work of an apply.
pub(crate) async fn work(
    process: &Arc<Process>,
    engine: &Engine,
    desired: &Desired,
    limits: Limits,
    person: Person,
    wait: Duration,
) -> Result<Option<Planned>, RunError> {
    let session = engine.begin(desired, &process.holder(), wait, &|_| {}).await?;
    let mut inputs = session.gather(limits).await?;
    let mut planned = plan(&inputs);
    judged(process, &planned);
    if person == Person::Agrees {
        agree(&mut inputs.limits, &planned.report.held);
        let limits = inputs.limits;
        process.world.judge(|judge| judge.allows(process.id, limits));
        planned = plan(&inputs);
    }
    carry_out(process, session, inputs, planned).await
}

/// `fleet replace`: a machine that is on record, successor first.
pub(crate) async fn replace(world: &Arc<World>, desired: &Desired, wait: Duration) -> Ended {
    command(world, desired, Limits::default(), |process| async move {
        let engine = engine(&process);
        let session = engine.begin(desired, &process.holder(), wait, &|_| {}).await?;
        let inputs = session.gather(Limits::default()).await?;
        let filled = inputs.recorded.slots.iter().filter_map(|(&name, record)| {
            let filled = matches!(record.state, SlotState::Filled { ending: false, .. });
            filled.then_some(SlotId { name, generation: record.generation })
        });
        let filled: Vec<SlotId> = filled.collect();
        let Some(slot) = process.world.lock().deeds.pick(&filled).copied() else {
            session.finish().await?;
            return Ok(None);
        };
        process.world.trace(format_args!("p{} is to replace {slot}", process.id));
        session.ask(&process.holder(), Event::ReplaceAsked { slots: vec![slot] }).await?;
        let inputs = session.gather(Limits::default()).await?;
        let planned = plan(&inputs);
        judged(&process, &planned);
        let first = (inputs, planned);
        let stop = Stop::default();
        let reach = Reach::Replacements;
        process.world.judge(|judge| judge.waits(process.id));
        let done = session.converge(&process.holder(), first, reach, &stop, &|_| {}).await?;
        session.finish().await?;
        Ok(done.last)
    })
    .await
}

/// `fleet rollout pause | resume | undo`, whichever makes sense.
pub(crate) async fn meddle(world: &Arc<World>, desired: &Desired, wait: Duration) {
    command(world, desired, Limits::default(), |process| async move {
        let engine = engine(&process);
        let recorded = engine.recorded(&desired.fleet).await?;
        let state = recorded.rollout.as_ref().map(|rollout| rollout.state.clone());
        let wish = match process.world.lock().upkeep.below(3) {
            0 if state == Some(RolloutState::Going) => RolloutNews::Paused,
            1 if fleet_core::can_undo(&recorded).is_ok() => RolloutNews::Undone,
            _ if state.is_some() => RolloutNews::Resumed,
            _ => return Ok(None),
        };
        process.world.trace(format_args!("p{} meddles: {wish:?}", process.id));
        let wish = Event::Rollout { news: wish };
        engine.wish(desired, &process.holder(), wait, wish, &|_| {}).await?;
        Ok(None)
    })
    .await;
}

/// Shows a plan to the judge.
fn judged(process: &Process, planned: &Planned) {
    let held = &planned.report.held;
    if !held.is_empty() {
        process.world.trace(format_args!("p{} holds back: {held:?}", process.id));
    }
    for step in &planned.plan.steps {
        if let Action::Destroy(destroy) = &step.action {
            let slots: Vec<String> = destroy.victims.iter().map(|v| v.slot.to_string()).collect();
            let (id, slots) = (process.id, slots.join(" "));
            process.world.trace(format_args!("p{id} means to end {slots}: {:?}", step.why));
        }
    }
    process.world.judge(|judge| judge.check_frozen(process.id, held));
}

/// Says the numbers that the guards ask for.
fn agree(limits: &mut Limits, held: &[Hold]) {
    for hold in held {
        match hold {
            Hold::DestroyLimit { wanted, .. } => limits.allow_destroy = Some(*wanted),
            Hold::Frozen { missing, .. } => limits.accept_loss = Some(*missing),
            Hold::JournalLost { .. }
            | Hold::ByHand { .. }
            | Hold::ManyUnhealthy { .. }
            | Hold::Rollout { .. }
            | Hold::Surge { .. }
            | Hold::WaitingForReplacement { .. }
            | Hold::SuccessorsNotUp { .. }
            | Hold::Budget { .. }
            | Hold::NotSeenYet { .. }
            | Hold::AttemptLimit { .. }
            | Hold::BootFailures { .. }
            | Hold::Gap { .. } => {}
        }
    }
}

async fn carry_out(
    process: &Arc<Process>,
    session: Session<'_>,
    inputs: Inputs,
    planned: Planned,
) -> Result<Option<Planned>, RunError> {
    let stop = Stop::default();
    let first = (inputs, planned);
    // As `fleet apply` does, as `fleet reconcile`, or as `fleet controller`.
    let reach = {
        let mut inner = process.world.lock();
        let patient = inner.calm || inner.upkeep.percent(40);
        match (patient, process.id % 2) {
            (true, _) => Reach::Replacements,
            (false, 0) => Reach::Spec,
            (false, _) => Reach::Look,
        }
    };
    if reach == Reach::Replacements {
        process.world.judge(|judge| judge.waits(process.id));
    }
    let converged = session.converge(&process.holder(), first, reach, &stop, &|_| {}).await?;
    session.finish().await?;
    Ok(converged.last)
}

/// `fleet plan`: looks and decides, changes nothing.
pub(crate) async fn look(world: &Arc<World>, desired: &Desired) -> Ended {
    command(world, desired, Limits::default(), |process| async move {
        let inputs = engine(&process).gather(desired, Limits::default()).await?;
        let planned = plan(&inputs);
        judged(&process, &planned);
        Ok(Some(planned))
    })
    .await
}

/// `fleet sweep`.
pub(crate) async fn sweep(world: &Arc<World>, desired: &Desired) {
    command(world, desired, Limits::default(), |process| async move {
        let sweep = engine(&process).sweep().await?;
        let found: Vec<String> = sweep.orphans.iter().map(|o| o.machine.id.to_string()).collect();
        process.world.trace(format_args!("p{} sweeps: {}", process.id, found.join(" ")));
        Ok(None)
    })
    .await;
}

/// `fleet plan -o file`, some time, perhaps somebody's hand in the file, `fleet apply file`. (L)
pub(crate) async fn apply_saved(world: &Arc<World>, planned: &Desired, applied: &Desired) {
    let Ended::Done(Some(saved)) = look(world, planned).await else { return };
    let journal = world.lock().judge.book.changes;
    let pause = if world.below(4) == 0 { 2 * 3600 } else { 240 };
    tokio::time::sleep(world.up_to(Duration::from_secs(pause))).await;
    world.count(Kind::StalePlan);
    let mut plan = saved.plan;
    let forged = world.below(2) == 0 && forge(&mut plan);
    let begin_journal = world.lock().judge.book.changes;
    let expired = world.now() > plan.premises.expires_at;
    let stale = planned.digest != applied.digest || begin_journal != journal || forged || expired;
    world.trace(format_args!("a saved plan is applied, forged={forged} stale={stale}"));
    command(world, applied, Limits::default(), |process| async move {
        let engine = engine(&process);
        let wait = Duration::from_secs(20);
        let session = engine.begin(applied, &process.holder(), wait, &|_| {}).await?;
        let mut inputs = session.gather(Limits::default()).await?;
        session.verify(&plan, &inputs)?;
        if inputs.recorded.uid.is_none() {
            inputs.uid = plan.uid.clone();
        }
        let fresh = fleet_core::plan(&inputs);
        session.same(&plan, &fresh.plan)?;
        if stale && !plan.steps.is_empty() {
            process.world.judge(|judge| {
                judge.fail('L', format!("a plan is taken that is forged ({forged}) or stale"));
            });
        }
        let first = (inputs, fresh);
        let stop = Stop::default();
        session.converge(&process.holder(), first, Reach::Plan, &stop, &|_| {}).await?;
        session.finish().await?;
        Ok(None)
    })
    .await;
}

/// Alters a plan as somebody might who wants more, fewer or other machines. Whether it did.
fn forge(plan: &mut Plan) -> bool {
    let Some(step) = plan.steps.first_mut() else { return false };
    match &mut step.action {
        Action::Create(create) => {
            let Some(last) = create.slots.last().copied() else { return false };
            let name = SlotName { ordinal: last.name.ordinal + 1, ..last.name };
            create.slots.push(fleet_model::SlotId { name, generation: 0 });
        }
        Action::Destroy(destroy) => {
            let Some(victim) = destroy.victims.first_mut() else { return false };
            victim.machine = "i-somebody-elses".into();
        }
    }
    true
}
