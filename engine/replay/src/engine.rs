//! The engine's own policy: the production planner and its record, in front of a recording.
//!
//! Each round is a reconcile: look, plan, obey, write down. The recording plays the cloud. What is
//! decided, and what is learned from the answers, is decided and learned by `fleet-core` alone.

use crate::calibration::{Forecast, HORIZONS};
use crate::judge::{Setup, delay_samples};
use crate::policy::{Ask, Held, Policy, Rest, View};
use crate::trace::Trace;
use fleet_core::market::belief::Chance;
use fleet_core::market::foreseen;
use fleet_core::{fold, plan_alone};
use fleet_model::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// When recordings begin. Any moment will do.
const START: i64 = 1_700_000_000;

/// A fleet of the engine in front of a recording.
pub struct Engine {
    inputs: Inputs,
    /// The spot pool of each zone, and its position among the offerings.
    pools: Vec<(PoolId, usize)>,
    /// Machines in each zone, oldest first, as the judge counts them.
    spot: Vec<Vec<MachineId>>,
    /// Machines on demand in place of spot, oldest first.
    on_demand: Vec<MachineId>,
    /// What was asked for in this round, by zone.
    pending: BTreeMap<usize, Vec<Create>>,
    /// The plan of the last round, if it asks for no spot: what remains is to carry it out.
    settled: Option<Plan>,
    made: u64,
    /// What was predicted of machines held, in the second half of the recording.
    forecasts: Vec<Forecast>,
    forecast_from: usize,
}

impl Engine {
    /// A fleet as a spec wants it; the recording's zones stand in for clouds and families. It is hedged
    /// if the spec says what is missing costs, and not otherwise.
    pub fn new(trace: &Trace, setup: &Setup, desired: &Desired) -> Self {
        let mut desired = desired.clone();
        let (target, base) = (u64::from(setup.target), u64::from(setup.base));
        desired.capacity = CapacityGoal {
            unit: Unit::Instances,
            target: Units::whole(target),
            on_demand: Units::whole(base),
            spot: Units::whole(target - base),
        };
        desired.instances = InstanceRules::default();
        desired.placement.weights = Vec::new();
        desired.budget = Budget::default();
        // Recordings begin at no certain moment.
        desired.schedule = Vec::new();
        desired.expires = None;
        // A machine is ready when the judge says so: some whole samples after its launch.
        let ready_after_seconds = delay_samples(trace, setup) as u32 * trace.interval_seconds;
        let hedge = desired.placement.hedge;
        // Every sample is a look, and nothing is lost between two of them.
        desired.placement.hedge =
            hedge.map(|hedge| Hedge { ready_after_seconds, ..hedge.watched() });
        let offerings = offerings(trace);
        let pools = (0..trace.zones.len()).map(|zone| pool(trace, zone, Market::Spot));
        let at = |pool: &PoolId| offerings.iter().position(|o| o.pool == *pool).unwrap_or_default();
        let pools = pools.map(|pool| at(&pool));
        let pools: Vec<(PoolId, usize)> =
            pools.map(|at| (offerings[at].pool.clone(), at)).collect();
        let now = moment(0);
        let uid: FleetUid = "replay".into();
        let inputs = Inputs {
            recorded: Recorded { uid: Some(uid.clone()), ..Recorded::default() },
            uid,
            desired,
            observed: Observed {
                complete: offerings.iter().map(|o| o.pool.place.scope()).collect(),
                ..Observed::nothing(now)
            },
            offerings,
            rejected: Vec::new(),
            held_pools: BTreeMap::new(),
            quotas: Vec::new(),
            beliefs: Beliefs::new(),
            signals: std::collections::BTreeMap::new(),
            limits: Limits::default(),
            now,
        };
        Engine {
            inputs,
            spot: vec![Vec::new(); pools.len()],
            pools,
            on_demand: Vec::new(),
            pending: BTreeMap::new(),
            settled: None,
            made: 0,
            forecasts: Vec::new(),
            forecast_from: usize::MAX,
        }
    }

    /// The same, and it writes down what it expects of its machines in the second half of the recording.
    pub fn foretelling(trace: &Trace, setup: &Setup, desired: &Desired) -> Self {
        Engine { forecast_from: trace.samples() / 2, ..Engine::new(trace, setup, desired) }
    }

    /// What was predicted of machines held, in the second half of the recording.
    pub fn into_forecasts(self) -> Vec<Forecast> {
        self.forecasts
    }

    /// What is gone, what will be, and what things cost now.
    fn look(&mut self, view: &View<'_>) {
        let now = moment(view.now);
        self.inputs.now = now;
        self.inputs.observed.taken_at = now;
        for (zone, &lost) in view.interrupted.iter().enumerate() {
            let held = &mut self.spot[zone];
            for id in held.split_off(held.len().saturating_sub(lost as usize)) {
                if let Some(machine) = self.inputs.observed.machines.get_mut(&id) {
                    machine.state = MachineState::Terminated;
                }
            }
            let spared = held.len().saturating_sub(view.noticed[zone] as usize);
            for id in &held[spared..] {
                if let Some(machine) = self.inputs.observed.machines.get_mut(id) {
                    let kind = NoticeKind::Interruption;
                    let at = moment(view.now + view.notice);
                    machine.notice.get_or_insert(InterruptionNotice { at, kind });
                }
            }
            let at = self.pools[zone].1;
            self.inputs.offerings[at].price = Some(micro(view.price[zone]));
        }
    }

    /// Writes down what is thought of the machines held, except of those whose loss is known.
    fn forecast(&mut self, view: &View<'_>) {
        if view.sample < self.forecast_from {
            return;
        }
        let counts = self.spot.iter().zip(view.noticed);
        let counts = counts.map(|(held, noticed)| held.len().saturating_sub(*noticed as usize));
        let held: Vec<(usize, u32)> =
            counts.map(|count| count as u32).enumerate().filter(|(_, count)| *count > 0).collect();
        let pools = held.iter().map(|&(zone, count)| (&self.pools[zone].0, count));
        let foreseen = foreseen(&self.inputs, pools, HORIZONS);
        for ((zone, _), [soon, later]) in held.into_iter().zip(foreseen) {
            for (slot, pair) in soon.into_iter().zip(later).enumerate() {
                let lost = <[Chance; 2]>::from(pair).map(|chance| 1.0 - chance.stays);
                self.forecasts.push(Forecast { sample: view.sample, zone, slot, lost });
            }
        }
    }

    /// Plans, allowing what the plan itself asks to end: a recording has nobody to ask.
    fn plan(&mut self) -> Plan {
        let plan = plan_alone(&self.inputs);
        let gone = plan.vacate.clone();
        for vacated in &gone {
            self.inputs.observed.machines.remove(&vacated.machine);
        }
        if !gone.is_empty() {
            self.note(Event::Vacated { gone });
        }
        if let Some(step) = plan.fallback {
            self.note(Event::Fallback { step });
        }
        if let Some(pools) = plan.cheaper.clone() {
            self.note(Event::Cheaper { pools });
        }
        if let Some(moving) = plan.moving.clone() {
            self.note(Event::Moving { moving });
        }
        plan
    }

    /// Plans once the rounds of requests are over: no more spot at this moment.
    fn plan_without_spot(&mut self) -> Plan {
        let before = self.inputs.recorded.blocks.clone();
        let closed: Vec<Block> =
            self.pools.iter().map(|(pool, _)| self.block(pool.clone())).collect();
        self.inputs.recorded.blocks.extend(closed);
        let planned = self.plan();
        self.inputs.recorded.blocks = before;
        planned
    }

    fn note(&mut self, event: Event) {
        fold(&mut self.inputs.recorded, &event, self.inputs.now);
    }

    /// Writes down a launch of which the first `got` machines came.
    fn launch(&mut self, create: &Create, got: usize) -> Vec<MachineId> {
        self.note(Event::CreateIntended { create: create.clone() });
        let now = self.inputs.now;
        let mut machines = Vec::new();
        for &slot in create.slots.iter().take(got) {
            self.made += 1;
            let id = MachineId::new(format!("m{:08}", self.made));
            self.inputs.observed.machines.insert(id.clone(), machine(&id, create, slot, now));
            let price = create.price;
            machines.push(NewMachine { slot, machine: id, launched_at: now, price, pool: None });
        }
        let ids = machines.iter().map(|new| new.machine.clone()).collect();
        let missing: Vec<SlotId> = create.slots.iter().skip(got).copied().collect();
        let short = !missing.is_empty();
        let token = create.token.clone();
        let surplus = Vec::new();
        self.note(Event::Created { token, machines, missing, surplus, no_room: false });
        if short {
            let block = self.block(create.pool.clone());
            self.note(Event::Blocked { block });
        }
        ids
    }

    /// Not to be asked again at this sample.
    fn block(&self, pool: PoolId) -> Block {
        let until = Timestamp::from_second(self.inputs.now.as_second() + 1);
        Block {
            scope: BlockScope::Pool { pool },
            until: until.unwrap_or(Timestamp::MAX),
            code: "no-capacity".into(),
        }
    }

    /// Ends machines at once.
    fn destroy(&mut self, destroy: &Destroy) {
        let slots = destroy.victims.iter().map(|victim| victim.slot).collect();
        self.note(Event::DestroyIntended { pool: destroy.pool.clone(), slots });
        let mut gone = Vec::new();
        for victim in &destroy.victims {
            self.inputs.observed.machines.remove(&victim.machine);
            let (slot, machine) = (victim.slot.name, victim.machine.clone());
            gone.push(Vacated {
                slot,
                machine,
                how: Departure::Ended,
                started: None,
                at: None,
                deleted: None,
            });
        }
        self.note(Event::Vacated { gone });
    }
}

impl Policy for Engine {
    fn ask(&mut self, view: &View<'_>) -> Vec<Ask> {
        if view.round == 0 {
            self.look(view);
        }
        let planned = self.plan();
        self.pending.clear();
        for step in &planned.steps {
            let Action::Create(create) = &step.action else { continue };
            let zone = self.pools.iter().position(|(pool, _)| *pool == create.pool);
            if let Some(zone) = zone {
                self.pending.entry(zone).or_default().push(create.clone());
            }
        }
        self.settled = self.pending.is_empty().then_some(planned);
        let asked = |creates: &Vec<Create>| creates.iter().map(|c| c.slots.len() as u32).sum();
        self.pending.iter().map(|(&zone, all)| Ask { zone, count: asked(all) }).collect()
    }

    fn answer(&mut self, ask: Ask, granted: u32) {
        let mut left = granted as usize;
        for create in self.pending.remove(&ask.zone).unwrap_or_default() {
            let got = left.min(create.slots.len());
            left -= got;
            let ids = self.launch(&create, got);
            self.spot[ask.zone].extend(ids);
        }
    }

    fn rest(&mut self, view: &View<'_>) -> Rest {
        let planned = self.settled.take().unwrap_or_else(|| self.plan_without_spot());
        let mut release = Vec::new();
        let before = self.spot.clone();
        for step in &planned.steps {
            match &step.action {
                Action::Create(create) => {
                    let ids = self.launch(create, create.slots.len());
                    if create.slots.iter().any(|slot| slot.name.group == Group::Burst) {
                        self.on_demand.extend(ids);
                    }
                }
                Action::Destroy(destroy) => {
                    self.destroy(destroy);
                    let gone = |id: &MachineId| destroy.victims.iter().any(|v| v.machine == *id);
                    self.on_demand.retain(|id| !gone(id));
                    for (zone, held) in self.spot.iter_mut().enumerate() {
                        let all = before[zone].iter().enumerate().filter(|(_, id)| gone(id));
                        release.extend(all.map(|(nth, _)| Held { zone, nth }));
                        held.retain(|id| !gone(id));
                    }
                }
            }
        }
        self.forecast(view);
        Rest { on_demand: self.on_demand.len() as u32, release }
    }

    fn heeds_notices(&self) -> bool {
        true
    }
}

fn moment(seconds: u64) -> Timestamp {
    Timestamp::from_second(START + seconds as i64).unwrap_or(Timestamp::MAX)
}

fn micro(dollars: f64) -> MicroUsd {
    MicroUsd((dollars * 1e6).round() as u64)
}

/// The pool of a zone. AWS regions end in a dash and a number; what does not is taken for Google's.
pub(crate) fn pool(trace: &Trace, zone: usize, market: Market) -> PoolId {
    let region = &trace.regions[zone];
    let aws = region.rsplit('-').next().is_some_and(|last| last.parse::<u32>().is_ok());
    let cloud = if aws { Cloud::Aws } else { Cloud::Gcp };
    PoolId {
        place: Place {
            cloud,
            region: region.as_str().into(),
            zone: trace.zones[zone].as_str().into(),
        },
        instance_type: "recorded".into(),
        market,
    }
}

fn offerings(trace: &Trace) -> Vec<Offering> {
    let mut all: Vec<Offering> = Vec::new();
    for zone in 0..trace.zones.len() {
        // Names that are copies of one another are compared at a glance.
        let mut zones_pool = pool(trace, zone, Market::Spot);
        if let Some(first) = all.iter().map(|one| &one.pool).find(|one| {
            (one.place.cloud, &one.place.region)
                == (zones_pool.place.cloud, &zones_pool.place.region)
        }) {
            zones_pool.place.region = first.place.region.clone();
        }
        if let Some(first) = all.first() {
            zones_pool.instance_type = first.pool.instance_type.clone();
        }
        for market in [Market::Spot, Market::OnDemand] {
            let pool = PoolId { market, ..zones_pool.clone() };
            let resources = Resources {
                vcpus: None,
                memory_mib: None,
                architecture: Architecture::X86_64,
                accelerators: None,
                local_disk: None,
                generation: None,
            };
            let (cloud, name) = (pool.place.cloud, pool.instance_type.clone());
            let price = match market {
                Market::Spot => trace.price[0][zone],
                Market::OnDemand | Market::Reserved => trace.on_demand,
            };
            all.push(Offering {
                pool,
                kind: Arc::new(InstanceKind { cloud, name, resources }),
                price: Some(micro(price)),
                on_demand: Some(micro(trace.on_demand)),
                // Recordings are of prices alone.
                extras: Default::default(),
                signals: Signals::default(),
                image: None,
                refusal: None,
                quotas: Vec::new(),
            });
        }
    }
    all.sort_by(|a, b| a.pool.cmp(&b.pool));
    all
}

fn machine(id: &MachineId, create: &Create, slot: SlotId, now: Timestamp) -> Machine {
    Machine {
        id: id.clone(),
        place: create.pool.place.clone(),
        instance_type: create.pool.instance_type.clone(),
        market: create.pool.market,
        state: MachineState::Running,
        launched_at: now,
        price: create.price,
        owner: Some(Ownership {
            fleet: "replay".into(),
            name: "replay".into(),
            slot,
            token: create.token.clone(),
            template: create.template,
        }),
        notice: None,
        cause: None,
        access: Default::default(),
    }
}
