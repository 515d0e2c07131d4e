//! Q: a change of template begins with its canary, keeps to its budget and its windows, waits until new
//! machines are ready, stops when they fail, and an undo returns to what was there before.

use super::Judge;
use fleet_model::{
    Cloud, Create, Desired, Digest, Event, FallbackStep, Group, MachineId, MachineState, MoveWhy,
    Part, RolloutNews, SlotId, SlotName, TemplateSet, Timestamp, Unit, UpdateStrategy,
};
use std::collections::{BTreeMap, BTreeSet};

/// Two clocks may differ by this much, in seconds, and a look may be so old.
const SLACK: i64 = 900;

/// What the journal says of changes of template, in the judge's own words.
#[derive(Debug, Default)]
pub(crate) struct Rollouts {
    /// The template of each machine.
    pub(super) made_from: BTreeMap<MachineId, Digest>,
    to: TemplateSet,
    from: TemplateSet,
    waves: u32,
    pub(super) wave: BTreeSet<SlotId>,
    /// What each group held when it began, in machines.
    level: BTreeMap<Group, u64>,
    /// Old machines that were ended for it.
    ended: BTreeSet<MachineId>,
    /// Machines that a change of template ended: it has limits of its own.
    pub(super) replaced: BTreeSet<MachineId>,
    /// New machines that are on record as failed since it began.
    failed: BTreeSet<MachineId>,
    /// What is undone, and what holds in its place.
    undone: Option<(TemplateSet, TemplateSet)>,
    /// When on-demand took the place of spot, truly.
    fell_back: Option<Timestamp>,
    /// Machines that ran once, in truth, and when they last did.
    ran: BTreeMap<MachineId, Timestamp>,
    /// Machines whose checks passed once.
    passed: BTreeSet<MachineId>,
    /// Machines whose checks fail, and since when, truly.
    pub(super) failing: BTreeMap<MachineId, Timestamp>,
}

impl Judge {
    /// A check of a machine was made.
    pub(crate) fn checked(&mut self, machine: &MachineId, passes: bool) {
        let now = self.now;
        let known = &mut self.rollouts;
        if passes {
            known.passed.insert(machine.clone());
            known.failing.remove(machine);
        } else {
            known.failing.entry(machine.clone()).or_insert(now);
        }
    }

    /// Notes machines that are up.
    pub(super) fn note_running(&mut self) {
        let up = self.truth.iter().filter(|machine| machine.state == MachineState::Running);
        let up: Vec<MachineId> = up.map(|machine| machine.id.clone()).collect();
        let now = self.now;
        self.rollouts.ran.extend(up.into_iter().map(|id| (id, now)));
    }

    /// Judges an event before it is in the book.
    pub(super) fn check_rollouts(&mut self, process: u32, event: &Event, at: Timestamp) {
        let Some(desired) = self.processes.get(&process).map(|facts| facts.desired.clone()) else {
            return;
        };
        match event {
            Event::CreateIntended { create } => self.check_undone(&desired, create),
            Event::Moving { moving } if moving.why == MoveWhy::BackToSpot => {
                self.check_return(&desired);
            }
            Event::Fallback { step: FallbackStep::Began { .. } } => {
                self.rollouts.fell_back = Some(self.now);
            }
            Event::Rollout { news: RolloutNews::WaveBegan { slots, .. } } => {
                self.check_wave(process, &desired, slots, at);
            }
            Event::DestroyIntended { slots, .. } => {
                let all = self.processes.get(&process).map(|facts| facts.limits.destroy_all);
                if all == Some(false) {
                    self.check_gate(process, &desired, slots);
                }
                self.check_sick(process, slots);
            }
            _ => {}
        }
        self.note_rollout(event);
        self.note_health(process, event);
    }

    fn note_rollout(&mut self, event: &Event) {
        let templates: BTreeMap<MachineId, Digest> = match event {
            Event::Created { token, machines, .. } => {
                let intent = self.book.intents.get(token);
                let template = intent.map(|intent| intent.create.template);
                let of = |new: &fleet_model::NewMachine| Some((new.machine.clone(), template?));
                machines.iter().filter_map(of).collect()
            }
            Event::Readopted { machine, template } => {
                BTreeMap::from([(machine.machine.clone(), *template)])
            }
            _ => BTreeMap::new(),
        };
        let known = &mut self.rollouts;
        known.made_from.extend(templates);
        match event {
            Event::Failed { failed } => {
                let new = failed.iter().filter(|one| {
                    let template = known.made_from.get(&one.machine);
                    template.is_some_and(|template| known.to.values().any(|to| to == template))
                });
                let new: Vec<MachineId> = new.map(|one| one.machine.clone()).collect();
                known.failed.extend(new);
            }
            Event::Rollout { news } => match news {
                RolloutNews::Began { from, to } => {
                    (known.from, known.to) = (from.clone(), to.clone());
                    known.waves = 0;
                    known.ended.clear();
                    known.wave.clear();
                    known.failed.clear();
                }
                RolloutNews::WaveBegan { slots, level } => {
                    known.wave = slots.clone();
                    known.level =
                        level.iter().map(|(group, units)| (*group, units.0 / 1000)).collect();
                }
                RolloutNews::WaveDone => {
                    known.waves += 1;
                    known.wave.clear();
                }
                RolloutNews::Halted { .. } | RolloutNews::Done => known.wave.clear(),
                RolloutNews::Paused => {}
                RolloutNews::Resumed => {
                    known.failed.clear();
                    known.undone = None;
                }
                RolloutNews::Undone => {
                    known.wave.clear();
                    known.undone = Some((known.to.clone(), known.from.clone()));
                }
            },
            _ => {}
        }
    }

    /// Nobody goes back to spot before it held for as long as it should.
    fn check_return(&mut self, desired: &Desired) {
        let (Some(rule), Some(since)) = (desired.fallback, self.rollouts.fell_back) else { return };
        let after = self.now.duration_since(since).as_secs();
        if after + SLACK < i64::from(rule.return_after_seconds) && !self.blurred {
            self.fail('Q', format!("machines go back to spot {after} s after they left it"));
        }
    }

    /// What is launched while a template is undone has the one before it.
    fn check_undone(&mut self, desired: &Desired, create: &Create) {
        let Some((bad, good)) = &self.rollouts.undone else { return };
        let cloud = create.pool.place.cloud;
        let (Some(bad), Some(good)) = (bad.get(&cloud), good.get(&cloud)) else { return };
        let (bad, good) = (*bad, *good);
        if template(desired, cloud) == bad && create.template != good {
            self.fail('Q', format!("{} is launched from a template that was undone", create.token));
        }
    }

    fn check_wave(
        &mut self,
        process: u32,
        desired: &Desired,
        slots: &BTreeSet<SlotId>,
        at: Timestamp,
    ) {
        let updates = &desired.updates;
        if updates.health_gate && !self.rollouts.failed.is_empty() {
            self.fail('Q', "a wave begins after new machines failed");
        }
        let windows = &updates.windows;
        let near = |seconds: i64| {
            let moment = at + jiff::SignedDuration::from_secs(seconds);
            windows.iter().any(|window| is_open(window, moment))
        };
        // A clock that was set may have been right when it was looked at.
        if !windows.is_empty() && !self.blurred && ![-SLACK, 0, SLACK].into_iter().any(near) {
            self.fail('Q', format!("a wave begins at {at}, outside of its windows"));
        }
        if updates.strategy == UpdateStrategy::Recreate || desired.capacity.unit != Unit::Instances
        {
            return;
        }
        let first = self.rollouts.waves == 0 && updates.canary > 0;
        let Some(goals) = self.processes.get(&process).map(|facts| self.goals(facts)) else {
            return;
        };
        let target = goals.most.target.0 / 1000;
        let most = match first {
            true => u64::from(updates.canary),
            false => {
                budget(updates.max_surge, target, 1) + budget(updates.max_unavailable, target, 0)
            }
        };
        if slots.len() as u64 > most.max(1) {
            self.fail('Q', format!("a wave replaces {} machines, and may {most}", slots.len()));
        }
    }

    /// Old machines go when new ones were ready, or when enough is there without them.
    fn check_gate(&mut self, process: u32, desired: &Desired, slots: &[SlotId]) {
        let updates = &desired.updates;
        let all = self.of_wave(slots);
        self.rollouts.replaced.extend(all);
        // What does not work goes for its own reasons.
        let runs = |slot: &&SlotId| {
            let filled = self.book.filled.get(&slot.name);
            filled.is_some_and(|filled| {
                let mut truth = self.truth.iter();
                let up = truth.any(|m| m.id == filled.machine && m.state == MachineState::Running);
                up && !self.rollouts.failing.contains_key(&filled.machine)
            })
        };
        let slots: Vec<SlotId> = slots.iter().filter(runs).copied().collect();
        let slots = slots.as_slice();
        let of_wave = slots.iter().filter(|slot| self.rollouts.wave.contains(slot)).count() as u32;
        if of_wave == 0 {
            return;
        }
        let machines = self.of_wave(slots);
        self.rollouts.ended.extend(machines);
        if !updates.health_gate
            || updates.strategy == UpdateStrategy::Recreate
            || desired.capacity.unit != Unit::Instances
        {
            return;
        }
        let Some(group) = slots.first().map(|slot| slot.name.group) else { return };
        let Some(facts) = self.processes.get(&process) else { return };
        let (goal, looked_from) = (self.goals(facts).least, facts.looked_from);
        let target = goal.target.0 / 1000;
        let missing = budget(updates.max_unavailable, target, 0);
        // A fleet that is short when a wave begins is not to have less for it.
        let level = |group: &Group| self.rollouts.level.get(group).copied().unwrap_or(u64::MAX);
        let wanted = (goal.of(group).0 / 1000).min(level(&group));
        let held = Group::ALL.iter().map(level).fold(0, u64::saturating_add);
        let target = target.min(held);
        let checked = !desired.health.probes.is_empty();
        let known = &self.rollouts;
        let new = known.made_from.iter().filter(|(machine, template)| {
            let is_new = known.to.values().any(|to| to == *template);
            is_new
                && known.ran.contains_key(*machine)
                && (!checked || known.passed.contains(*machine))
        });
        let new = new.count() as u64;
        let leaving: BTreeSet<SlotName> = slots.iter().map(|slot| slot.name).collect();
        // Whoever changed its tags, it serves.
        let serves = |id: &MachineId| {
            // One that was lost, or whose checks began to fail, since the process looked served then.
            let fails = known.failing.get(id).is_some_and(|since| *since < looked_from);
            let ready = !checked || known.passed.contains(id) && !fails;
            ready && known.ran.get(id).is_some_and(|last| *last >= looked_from)
        };
        let stay: Vec<SlotName> = self
            .book
            .filled
            .iter()
            .filter(|(name, filled)| !leaving.contains(name) && serves(&filled.machine))
            .map(|(name, _)| *name)
            .collect();
        let left = stay.iter().filter(|name| name.group == group).count() as u64;
        // What one group has beyond its share, the other need not have.
        let short = left + missing < wanted && stay.len() as u64 + missing < target;
        let ended = known.ended.len() as u64;
        if ended > new + missing && short {
            self.fail(
                'Q',
                format!("{ended} old machines end, {new} new ones were ready, {left} of {wanted} are left"),
            );
        }
    }

    /// Machines of the wave under way, by slot.
    fn of_wave(&self, slots: &[SlotId]) -> Vec<MachineId> {
        let machines = slots.iter().filter(|slot| self.rollouts.wave.contains(slot));
        let machines = machines.filter_map(|slot| self.book.filled.get(&slot.name));
        machines.map(|filled| filled.machine.clone()).collect()
    }
}

pub(super) fn template(desired: &Desired, cloud: Cloud) -> Digest {
    desired.templates.get(&cloud).cloned().unwrap_or_default().digest()
}

/// What a part of the target comes to in machines.
fn budget(part: Part, target: u64, least: u64) -> u64 {
    match part {
        Part::Machines(count) => count.into(),
        Part::Share(share) => share.floor_of(target).max(least),
    }
}

/// Windows of the swarm open at even hours, on the hour: no code of the engine reads them here.
fn is_open(window: &fleet_model::Window, moment: Timestamp) -> bool {
    let second = moment.as_second().rem_euclid(2 * 3600);
    second < i64::from(window.lasts_seconds)
}
