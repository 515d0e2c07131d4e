//! One world: clouds, a store, chance, a trace and a judge. Everything that happens passes here.

use crate::chance::Chance;
use crate::judge::Judge;
use crate::market::CATALOG;
use crate::process::Process;
use crate::trace::Trace;
use crate::weather::{Counts, Kind, LAST, Weather};
use fleet_model::{Cloud, Desired, Timestamp, Token};
use fleet_sim::{Preset, Settings, Sim};
use object_store::memory::InMemory;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// A world under way.
pub(crate) struct World {
    pub(crate) sim: Sim,
    /// What the store really holds.
    pub(crate) disk: Arc<InMemory>,
    began: Instant,
    inner: Mutex<Inner>,
}

/// What changes hands all the time.
pub(crate) struct Inner {
    pub(crate) chance: Chance,
    /// For kinds of faults that came later.
    pub(crate) later: Chance,
    /// For deeds of people that came later.
    pub(crate) deeds: Chance,
    /// And for those that came last.
    last: Chance,
    /// And for the true habits of clouds.
    pub(crate) habits: Chance,
    /// And for how a fleet is kept right.
    pub(crate) upkeep: Chance,
    /// And for what changes by the clock and by a person's word.
    pub(crate) clockwork: Chance,
    pub(crate) seed: u64,
    /// The storm is over: machines are well, and checks tell the truth.
    pub(crate) calm: bool,
    pub(crate) weather: Weather,
    pub(crate) judge: Judge,
    pub(crate) counts: Counts,
    /// Launches of which a sending never arrived.
    pub(crate) lost_before: BTreeSet<Token>,
    /// Nothing can be written.
    pub(crate) disk_full: bool,
    /// What is judged now must not be disturbed: no cloud falls silent.
    pub(crate) sheltered: bool,
    /// Where the fleet may stand.
    pub(crate) clouds: Vec<Cloud>,
    /// Processes that may be running.
    pub(crate) running: Vec<Weak<Process>>,
    trace: Trace,
    processes: u32,
}

impl World {
    pub(crate) fn new(
        seed: u64,
        (mut chance, mut later): (Chance, Chance),
        wish: &Desired,
        keep_trace: bool,
    ) -> Arc<Self> {
        let preset = if chance.percent(50) { Preset::Calm } else { Preset::Lifelike };
        let settings = Settings { seed, preset, latency: Duration::ZERO };
        let (mut last, mut habits) = (Chance::last(seed), Chance::habits(seed));
        let weather = Weather::draw(&mut chance, &mut later, &mut last, &mut habits);
        let sim = Sim::on_tokio_time(settings, CATALOG.clone());
        let world = Arc::new(World {
            sim,
            disk: Arc::new(InMemory::new()),
            began: Instant::now(),
            inner: Mutex::new(Inner {
                chance,
                later,
                deeds: Chance::deeds(seed),
                last,
                habits,
                upkeep: Chance::upkeep(seed),
                clockwork: Chance::clockwork(seed),
                seed,
                calm: false,
                weather,
                judge: Judge::new(preset == Preset::Calm),
                counts: Counts::new(),
                lost_before: BTreeSet::new(),
                disk_full: false,
                sheltered: false,
                clouds: wish.placement.clouds.iter().map(|rule| rule.cloud).collect(),
                running: Vec::new(),
                trace: Trace::new(keep_trace),
                processes: 0,
            }),
        });
        let faults = world.lock().weather.names();
        world.trace(format_args!("world {seed} {preset} faults={faults}"));
        world
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The true time, which no process knows exactly.
    pub(crate) fn now(&self) -> Timestamp {
        self.sim.now().unwrap_or(Timestamp::UNIX_EPOCH)
    }

    pub(crate) fn seed(&self) -> u64 {
        self.lock().seed
    }

    /// Time passed in this world.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Writes one line down.
    pub(crate) fn trace(&self, line: fmt::Arguments<'_>) {
        let at = self.elapsed().as_millis();
        self.lock().trace.add(at, line);
    }

    /// What was written down, if it was kept, and the fingerprint of it.
    pub(crate) fn traced(&self) -> (String, u64) {
        self.lock().trace.taken()
    }

    /// Whether a fault of a kind happens now. If so it is counted.
    pub(crate) fn strikes(&self, kind: Kind) -> bool {
        let mut inner = self.lock();
        let rate = inner.weather.rate;
        if inner.sheltered && kind == Kind::LostAnswer {
            return false;
        }
        inner.weather.has(kind) && inner.chance.percent(rate) && {
            *inner.counts.entry(kind).or_default() += 1;
            true
        }
    }

    /// The same for kinds that came later or last, not counted yet.
    pub(crate) fn strikes_later(&self, kind: Kind) -> bool {
        let inner = &mut *self.lock();
        let chance = if LAST.contains(&kind) { &mut inner.last } else { &mut inner.later };
        inner.weather.has(kind) && chance.percent(inner.weather.rate)
    }

    /// Notes that a fault happened.
    pub(crate) fn count(&self, kind: Kind) {
        *self.lock().counts.entry(kind).or_default() += 1;
    }

    pub(crate) fn below(&self, limit: u64) -> u64 {
        self.lock().chance.below(limit)
    }

    /// Some time up to `most`.
    pub(crate) fn up_to(&self, most: Duration) -> Duration {
        Duration::from_millis(self.below(most.as_millis() as u64 + 1))
    }

    /// Processes that somebody waits for, also those that are dead or stand still.
    pub(crate) fn running(&self) -> Vec<Arc<Process>> {
        let mut inner = self.lock();
        inner.running.retain(|process| process.strong_count() > 0);
        inner.running.iter().filter_map(Weak::upgrade).collect()
    }

    pub(crate) fn next_process(&self) -> u32 {
        let mut inner = self.lock();
        inner.processes += 1;
        inner.processes
    }

    /// Looks at the clouds' own truth and judges it. Called after everything that happens.
    pub(crate) fn look(&self) {
        let now = self.now();
        let truth = self.sim.machines().unwrap_or_default();
        let surplus = self.sim.surplus().unwrap_or_default();
        let orphans = self.sim.orphans().unwrap_or_default();
        let mut inner = self.lock();
        let known = inner.judge.violations.len();
        inner.judge.look(now, &truth, &surplus, orphans);
        drop(inner);
        self.tell(known);
    }

    /// Lets the judge see something, and writes down what it finds wrong.
    pub(crate) fn judge<T>(&self, see: impl FnOnce(&mut Judge) -> T) -> T {
        let now = self.now();
        let mut inner = self.lock();
        inner.judge.now = now;
        let known = inner.judge.violations.len();
        let answer = see(&mut inner.judge);
        drop(inner);
        self.tell(known);
        answer
    }

    fn tell(&self, known: usize) {
        let new: Vec<String> =
            self.lock().judge.violations[known..].iter().map(ToString::to_string).collect();
        for words in new {
            self.trace(format_args!("VIOLATION {words}"));
        }
    }

    /// Whether something is wrong already: nothing more is to be learned from this world.
    pub(crate) fn is_broken(&self) -> bool {
        !self.lock().judge.violations.is_empty()
    }
}
