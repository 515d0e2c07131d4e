//! Walks a policy through a market and measures what came of it.
//!
//! Each sample: capacity moves, and what exceeds it is interrupted, youngest first; then some rounds
//! of requests, each granted as far as there is room; on-demand is always granted; everything that
//! runs is billed, cold starts included; a machine is ready some samples after its grant.
//!
//! A loss may be announced. The notice comes so many seconds before the sample of the loss, which is
//! mostly between two samples. Then a policy that heeds notices is asked once more at that very
//! moment, and what it launches is billed, and becomes ready, from there. From the notice on a zone
//! grants no more than it will carry: a cloud that takes machines back does not hand out others.

use crate::measures::{Measures, Tally};
use crate::notice::{Notice, notice_seconds};
use crate::policy::{Ask, Policy, Rest, View};
use crate::trace::Trace;
use crate::world::{Recorded, World};

/// What is asked of a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setup {
    /// Machines wanted.
    pub target: u32,
    /// Of those, on demand throughout.
    pub base: u32,
    /// From a grant until the machine is ready.
    pub delay_seconds: u32,
    /// How long ahead an interruption is announced.
    pub notice: Notice,
}

impl Setup {
    /// Machines wanted, some of them on demand throughout, ready after five minutes, no notices.
    pub fn new(target: u32, base: u32) -> Self {
        let base = base.min(target);
        Setup { target, base, delay_seconds: 300, notice: Notice::None }
    }
}

/// The part of the beginning that is not measured.
const WARM_UP_SECONDS: u32 = 3600;

/// The market as it stands.
pub(crate) struct Market<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) delay: u64,
    pub(crate) held: Vec<Vec<u64>>,
    pub(crate) on_demand: Vec<u64>,
    notice: u64,
    sample: usize,
    interrupted: Vec<u32>,
    noticed: Vec<u32>,
    carries: Vec<u32>,
    room: Vec<u32>,
}

impl<'a> Market<'a> {
    fn new(trace: &'a Trace, setup: &Setup) -> Self {
        let zones = trace.zones.len();
        let delay = delay_samples(trace, setup) as u64 * u64::from(trace.interval_seconds);
        Market {
            trace,
            delay,
            notice: notice_seconds(trace, setup).into(),
            sample: 0,
            held: vec![Vec::new(); zones],
            on_demand: Vec::new(),
            interrupted: vec![0; zones],
            noticed: vec![0; zones],
            carries: vec![0; zones],
            room: vec![0; zones],
        }
    }

    /// What each zone costs per hour now.
    pub(crate) fn price(&self) -> &'a [f64] {
        &self.trace.price[self.sample]
    }

    fn view(&self, setup: &Setup, now: u64, round: u32) -> View<'_> {
        View {
            sample: self.sample,
            now,
            delay: self.delay,
            notice: self.notice,
            fleet: setup.target,
            target: setup.target - setup.base,
            price: self.price(),
            held: &self.held,
            on_demand: &self.on_demand,
            interrupted: &self.interrupted,
            noticed: &self.noticed,
            round,
            room: &self.room,
        }
    }

    fn move_capacity(&mut self, world: &mut dyn World, sample: usize) {
        self.sample = sample;
        let held: Vec<u32> = self.held.iter().map(|zone| zone.len() as u32).collect();
        world.carries(sample, &held, &mut self.carries);
        for (zone, held) in self.held.iter_mut().enumerate() {
            let carries = self.carries[zone] as usize;
            self.interrupted[zone] = held.len().saturating_sub(carries) as u32;
            held.truncate(carries);
            self.room[zone] = (carries - held.len()) as u32;
        }
    }

    /// Announces what is lost within some samples. Says whether any of it is news.
    fn announce(&mut self, world: &dyn World, samples: usize) -> bool {
        let mut news = false;
        for (zone, held) in self.held.iter().enumerate() {
            let ahead = (self.sample + 1)..=(self.sample + samples);
            let least = ahead.filter_map(|sample| Some(world.foretold(sample)?[zone])).min();
            let least = least.unwrap_or(u32::MAX).min(self.carries[zone]);
            let noticed = (held.len() as u32).saturating_sub(least);
            news |= noticed > self.noticed[zone];
            self.noticed[zone] = noticed;
            self.room[zone] = least.saturating_sub(held.len() as u32);
        }
        news
    }

    fn grant(&mut self, ask: Ask, now: u64) -> u32 {
        let (Some(held), Some(room)) = (self.held.get_mut(ask.zone), self.room.get_mut(ask.zone))
        else {
            return 0;
        };
        let granted = ask.count.min(*room);
        *room -= granted;
        held.extend(std::iter::repeat_n(now, granted as usize));
        granted
    }

    fn settle(&mut self, rest: &Rest, now: u64) {
        let mut release = rest.release.clone();
        release.sort_unstable();
        for machine in release.into_iter().rev() {
            let Some(held) = self.held.get_mut(machine.zone) else { continue };
            if machine.nth < held.len() {
                held.remove(machine.nth);
            }
        }
        self.on_demand.resize(rest.on_demand as usize, now);
    }

    /// Lets a policy ask, and do what else it does.
    fn consult(&mut self, setup: &Setup, policy: &mut dyn Policy, now: u64, rounds: u32) {
        for round in 0..rounds {
            let asks = policy.ask(&self.view(setup, now, round));
            if asks.is_empty() {
                break;
            }
            for ask in asks {
                let granted = self.grant(ask, now);
                policy.answer(ask, granted);
            }
        }
        let rest = policy.rest(&self.view(setup, now, rounds));
        self.settle(&rest, now);
    }
}

/// Samples from a grant until a machine is ready.
pub fn delay_samples(trace: &Trace, setup: &Setup) -> usize {
    setup.delay_seconds.div_ceil(trace.interval_seconds) as usize
}

/// Rounds of requests in one sample: one a minute, five at most.
pub fn rounds(trace: &Trace) -> u32 {
    rounds_in(trace.interval_seconds)
}

fn rounds_in(seconds: u32) -> u32 {
    (seconds / 60).clamp(1, 5)
}

/// The first sample that is measured, with so many seconds from one to the next.
pub fn first_measured(interval_seconds: u32) -> usize {
    WARM_UP_SECONDS.div_ceil(interval_seconds) as usize
}

/// Walks a policy through a recording.
pub fn judge(trace: &Trace, setup: &Setup, policy: &mut dyn Policy) -> Measures {
    judge_in(trace, &mut Recorded(trace), setup, policy, &|| {})
}

/// Walks a policy through a market, and tells of every sample that is done.
pub fn judge_in(
    trace: &Trace,
    world: &mut dyn World,
    setup: &Setup,
    policy: &mut dyn Policy,
    sampled: &dyn Fn(),
) -> Measures {
    let mut market = Market::new(trace, setup);
    let mut tally = Tally::default();
    let interval = trace.interval_seconds;
    let notice = notice_seconds(trace, setup);
    // Every notice falls so long before the next sample. Nought: at a sample.
    let before_next = notice % interval;
    let (known, soon) = ((notice / interval) as usize, notice.div_ceil(interval) as usize);
    for sample in 0..trace.samples() {
        let now = sample as u64 * u64::from(interval);
        let measured = sample >= first_measured(interval);
        market.move_capacity(world, sample);
        if measured {
            tally.lose(&market.interrupted);
        }
        if notice > 0 {
            market.announce(world, known);
        }
        market.consult(setup, policy, now, rounds(trace));
        let until_notice = interval - before_next;
        if measured {
            tally.add(&market, setup, now, until_notice.into());
        }
        if before_next > 0 {
            let at = now + u64::from(until_notice);
            if market.announce(world, soon) && policy.heeds_notices() {
                market.interrupted.fill(0);
                market.consult(setup, policy, at, rounds_in(before_next));
            }
            if measured {
                tally.add(&market, setup, at, before_next.into());
            }
        }
        sampled();
    }
    tally.measures(trace, setup)
}
