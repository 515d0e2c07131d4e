//! A change of template on its way through a fleet: which machines are replaced now, and what it waits for.
//!
//! The journal keeps the wave that is under way, so that every run goes on with the same machines. A wave
//! ends when its old machines are gone, and they go when enough others are ready.

use crate::clock::{opens, window_open};
use crate::decide::seams;
use crate::holdings::{Holding, Inventory, Standing};
use crate::record::guards::{failures, with_early_ends};
use crate::record::{begun, step};
use fleet_model::{
    Cloud, Digest, Group, HaltCause, Hold, Inputs, MachineId, Part, Recorded, Rollout, RolloutNews,
    RolloutState, RolloutWait, SlotId, TemplateSet, Units, UpdateStrategy, Why,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What a look at a rollout comes to.
#[derive(Default)]
pub(crate) struct Turn {
    /// What is to be written down.
    pub(crate) news: Vec<RolloutNews>,
    /// What it waits for.
    pub(crate) hold: Option<Hold>,
}

/// Looks how far a change of template has come, and marks the machines that are to be replaced now.
pub(crate) fn turn(inputs: &Inputs, inventory: &mut Inventory, budget: Units) -> Turn {
    if inputs.limits.destroy_all {
        return Turn::default();
    }
    let templates = inventory.templates.clone();
    let old: Vec<usize> = outdated(inventory);
    let recorded = inputs.recorded.rollout.as_ref();
    if old.is_empty() {
        return finished(recorded, inventory, &templates);
    }
    if inputs.desired.capacity.target.is_zero() {
        // Nothing is replaced where nothing is wanted, and a wave is no way around the limit on destroys.
        return Turn::default();
    }
    let mut turn = Turn::default();
    let mut rollout = match recorded {
        Some(rollout) if is_this(rollout, inventory, &old, &templates) => rollout.clone(),
        _ => begin(inputs, inventory, &old, &templates, &mut turn),
    };
    if let Some(why) = failed(inputs, inventory, &templates, &rollout)
        && matches!(rollout.state, RolloutState::Going | RolloutState::Paused)
    {
        tell(&mut rollout, &mut turn.news, RolloutNews::Halted { why }, inputs);
    }
    if let RolloutState::Halted { why } = &rollout.state {
        inventory.keep_old = true;
        turn.hold = hold(inventory, &old, RolloutWait::Halt { why: why.clone() });
        return turn;
    }
    let waits = advance(inputs, inventory, &old, &mut rollout, budget, &mut turn.news);
    for at in old.iter().copied() {
        let holding = &mut inventory.holdings[at];
        if rollout.wave.contains(&holding.slot) && is_replaceable(holding) {
            holding.standing = Standing::ToReplace;
            holding.leaving = Why::TemplateChanged;
        }
    }
    inventory.level = rollout.level.clone();
    turn.hold = waits.and_then(|waits| hold(inventory, &old, waits));
    turn
}

/// Machines of an older template that stand.
fn outdated(inventory: &Inventory) -> Vec<usize> {
    let holdings = inventory.holdings.iter().enumerate();
    holdings.filter(|(_, h)| h.old_template && h.standing.stands()).map(|(at, _)| at).collect()
}

fn new(inventory: &Inventory) -> impl Iterator<Item = &Holding> {
    inventory.holdings.iter().filter(|h| !h.old_template && h.machine.is_some())
}

/// Whether a wave may replace a machine.
fn is_replaceable(holding: &Holding) -> bool {
    matches!(holding.standing, Standing::Good | Standing::Disallowed(_))
}

/// New machines that are launching, and those whose checks fail.
fn not_ready(inventory: &Inventory) -> (u32, u32) {
    let counted = || new(inventory).filter(|holding| holding.standing.counts());
    let launching = counted().filter(|holding| holding.starting).count() as u32;
    (launching, counted().filter(|holding| holding.failing).count() as u32)
}

fn hold(inventory: &Inventory, old: &[usize], waits: RolloutWait) -> Option<Hold> {
    let updated = new(inventory).filter(|holding| holding.standing.counts()).count() as u32;
    Some(Hold::Rollout { updated, left: old.len() as u32, waits })
}

/// Whether the rollout on record is the one to the present templates, and is not over.
fn is_this(
    rollout: &Rollout,
    inventory: &Inventory,
    old: &[usize],
    templates: &BTreeMap<Cloud, Digest>,
) -> bool {
    let mut clouds = old.iter().map(|at| inventory.holdings[*at].pool.place.cloud);
    rollout.state != RolloutState::Done
        && clouds.all(|cloud| rollout.to.get(&cloud) == templates.get(&cloud))
}

/// Nothing is old any more.
fn finished(
    recorded: Option<&Rollout>,
    inventory: &Inventory,
    templates: &BTreeMap<Cloud, Digest>,
) -> Turn {
    let Some(rollout) = recorded.filter(|rollout| rollout.state != RolloutState::Done) else {
        return Turn::default();
    };
    let is_to = rollout.to.iter().all(|(cloud, to)| templates.get(cloud) == Some(to));
    let (launching, failing) = not_ready(inventory);
    if is_to && launching + failing > 0 {
        let wave = rollout.waves + 1;
        let waits = RolloutWait::Ready { wave, launching, failing };
        return Turn { news: Vec::new(), hold: hold(inventory, &[], waits) };
    }
    // What was begun and is no longer wanted is over as well.
    let last = (is_to && !rollout.wave.is_empty()).then_some(RolloutNews::WaveDone);
    Turn { news: last.into_iter().chain([RolloutNews::Done]).collect(), hold: None }
}

/// A new rollout: it returns to what a whole fleet was last ready with, if it is undone.
fn begin(
    inputs: &Inputs,
    inventory: &Inventory,
    old: &[usize],
    templates: &BTreeMap<Cloud, Digest>,
    turn: &mut Turn,
) -> Rollout {
    let mut seen: BTreeMap<Cloud, BTreeMap<Digest, u32>> = BTreeMap::new();
    for holding in old.iter().map(|at| &inventory.holdings[*at]) {
        let Some(template) = holding.template else { continue };
        *seen.entry(holding.pool.place.cloud).or_default().entry(template).or_default() += 1;
    }
    let to: TemplateSet = seen.keys().filter_map(|c| Some((*c, *templates.get(c)?))).collect();
    let recorded: &Recorded = &inputs.recorded;
    let before = recorded.rollout.as_ref().map(|rollout| &rollout.from);
    let from = |(cloud, seen): (&Cloud, &BTreeMap<Digest, u32>)| {
        let undone = recorded.undone.as_ref().and_then(|undone| undone.good.get(cloud));
        let known = before.and_then(|before| before.get(cloud));
        let most = seen.iter().max_by_key(|(_, count)| **count).map(|(template, _)| *template)?;
        // One that is returned to is the best that there is.
        let template = match undone.filter(|good| to.get(cloud) == Some(good)) {
            Some(good) => *good,
            None if seen.len() == 1 => most,
            None => known.copied().unwrap_or(most),
        };
        Some((*cloud, template))
    };
    let from: TemplateSet = seen.iter().filter_map(from).collect();
    turn.news.push(RolloutNews::Began { from: from.clone(), to: to.clone() });
    begun(from, to, inputs.now)
}

/// News, and what it makes of the rollout.
fn tell(rollout: &mut Rollout, all: &mut Vec<RolloutNews>, news: RolloutNews, inputs: &Inputs) {
    step(rollout, &news, inputs.now);
    all.push(news);
}

/// New machines that failed since the rollout began.
fn failed(
    inputs: &Inputs,
    inventory: &Inventory,
    templates: &BTreeMap<Cloud, Digest>,
    rollout: &Rollout,
) -> Option<HaltCause> {
    if !inputs.desired.updates.health_gate || seams::failed_wave_is_ignored() {
        return None;
    }
    let sick = inventory.sick.is_some();
    let is_bad = |holding: &&Holding| match holding.standing {
        Standing::Failed(_) => true,
        _ => sick && holding.failing,
    };
    let bad: Vec<&Holding> = new(inventory).filter(is_bad).collect();
    let all = failures(&inputs.recorded, &inventory.failed, inputs.now);
    let all = with_early_ends(all, &inputs.recorded, &inventory.vacate, inputs.now);
    let rows = all.values().flatten().filter(|row| {
        templates.get(&row.cloud) == Some(&row.template) && row.last >= rollout.since
    });
    let ended: u32 = rows.map(|row| row.count).sum();
    let failed = ended.max(bad.len() as u32);
    let slot = bad.first().map(|holding| holding.slot.name);
    let of =
        |machine: &MachineId| inventory.failed.iter().find(|failed| failed.machine == *machine);
    let first = bad.first().and_then(|holding| of(holding.machine.as_ref()?));
    let words = first.map(|one| one.cause.words.escape_debug().to_string()).unwrap_or_default();
    (failed > 0).then_some(HaltCause { failed, slot, words })
}

/// Goes on with the wave under way, or begins the next one. Tells what it waits for.
fn advance(
    inputs: &Inputs,
    inventory: &Inventory,
    old: &[usize],
    rollout: &mut Rollout,
    budget: Units,
    news: &mut Vec<RolloutNews>,
) -> Option<RolloutWait> {
    let updates = &inputs.desired.updates;
    let (launching, failing) = if updates.health_gate { not_ready(inventory) } else { (0, 0) };
    let ready = RolloutWait::Ready { wave: rollout.waves + 1, launching, failing };
    if !rollout.wave.is_empty() {
        let left = old.iter().any(|at| rollout.wave.contains(&inventory.holdings[*at].slot));
        let short = updates.health_gate && is_short(inputs, inventory, &rollout.level);
        if left || short || launching + failing > 0 {
            return Some(ready);
        }
        tell(rollout, news, RolloutNews::WaveDone, inputs);
    }
    if rollout.state == RolloutState::Paused {
        return Some(RolloutWait::Person);
    }
    if inventory.sick.is_some() || launching + failing > 0 {
        return Some(ready);
    }
    let pause = Duration::from_secs(updates.pause_seconds.into());
    let until = rollout.wave_done.and_then(|at| at.checked_add(pause).ok());
    if let Some(until) = until.filter(|until| *until > inputs.now) {
        return Some(RolloutWait::Pause { until });
    }
    if !seams::may_begin(window_open(&updates.windows, inputs.now)) {
        return Some(RolloutWait::Window { opens: opens(&updates.windows, inputs.now) });
    }
    let slots = next_wave(inputs, inventory, old, rollout.waves, budget);
    if slots.is_empty() {
        // Nobody sees them yet, or their region does not answer.
        let unlisted = old.iter().filter(|at| inventory.holdings[**at].starting).count() as u32;
        return Some(RolloutWait::Ready { wave: rollout.waves + 1, launching: unlisted, failing });
    }
    let level: BTreeMap<Group, Units> =
        Group::ALL.into_iter().map(|group| (group, counted(inventory, group))).collect();
    tell(rollout, news, RolloutNews::WaveBegan { slots, level }, inputs);
    Some(RolloutWait::Ready { wave: rollout.waves + 1, launching: 0, failing: 0 })
}

/// What a group holds, what is to be replaced of it included: that serves until it is.
fn counted(inventory: &Inventory, group: Group) -> Units {
    let ours = inventory.holdings.iter().filter(|holding| holding.slot.name.group == group);
    let serves =
        |holding: &&Holding| holding.standing.counts() || holding.standing == Standing::ToReplace;
    ours.filter(serves).map(|holding| holding.weight).sum()
}

/// Whether a group holds less than when the wave began, and than it should.
fn is_short(inputs: &Inputs, inventory: &Inventory, level: &BTreeMap<Group, Units>) -> bool {
    level.iter().any(|(group, level)| {
        counted(inventory, *group) < (*level).min(inputs.desired.capacity.of(*group))
    })
}

/// The oldest of the old machines, as many as may be replaced at once.
fn next_wave(
    inputs: &Inputs,
    inventory: &Inventory,
    old: &[usize],
    waves: u32,
    budget: Units,
) -> BTreeSet<SlotId> {
    let updates = &inputs.desired.updates;
    let touchable = old.iter().copied().filter(|at| is_replaceable(&inventory.holdings[*at]));
    let mut order: Vec<usize> = touchable.collect();
    order.sort_by_key(|at| {
        let holding = &inventory.holdings[*at];
        (holding.launched_at, holding.slot)
    });
    let all = updates.strategy == UpdateStrategy::Recreate || seams::waves_are_unbounded();
    let canary = waves == 0 && updates.canary > 0;
    let mut taken = Units(0);
    let mut wave = BTreeSet::new();
    for at in order {
        let holding = &inventory.holdings[at];
        let room = match (all, canary) {
            (true, _) => true,
            (false, true) => wave.len() < updates.canary as usize,
            (false, false) => taken + holding.weight <= budget || wave.is_empty(),
        };
        if !room {
            break;
        }
        taken += holding.weight;
        wave.insert(holding.slot);
    }
    wave
}

/// What a part of the target comes to, where one machine counts for so much.
pub(crate) fn part(part: Part, target: Units, one: Units) -> Units {
    match part {
        Part::Machines(count) => Units(one.0.saturating_mul(count.into())),
        Part::Share(share) => Units(share.floor_of(target.0)),
    }
}
