//! Walks a policy through a recording and measures what came of it.
//!
//! Each sample: capacity moves, and what exceeds it is interrupted, youngest first; then some rounds
//! of requests, each granted as far as there is room; on-demand is always granted; everything that
//! runs is billed, cold starts included; a machine is ready some samples after its grant.

use crate::trace::Trace;

/// What is asked of a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setup {
    /// Machines wanted.
    pub target: u32,
    /// Of those, on demand throughout.
    pub base: u32,
    /// From a grant until the machine is ready.
    pub delay_seconds: u32,
}

impl Setup {
    /// Machines wanted, some of them on demand throughout, ready after five minutes.
    pub fn new(target: u32, base: u32) -> Self {
        Setup { target, base: base.min(target), delay_seconds: 300 }
    }
}

/// The part of the beginning that is not measured.
const WARM_UP_SECONDS: u32 = 3600;

/// What a policy may know at a moment.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Number of the sample.
    pub sample: usize,
    /// Hours from one sample to the next.
    pub hours: f64,
    /// Samples from a grant until a machine is ready.
    pub delay: usize,
    /// Machines wanted in all.
    pub fleet: u32,
    /// Machines that spot, or what stands in for it, has to serve.
    pub target: u32,
    /// The region of each zone.
    pub regions: &'a [String],
    /// Price per hour of each zone now.
    pub price: &'a [f64],
    /// What a machine costs per hour on demand.
    pub on_demand_price: f64,
    /// Machines held in each zone, by the sample of their grant, oldest first.
    pub held: &'a [Vec<usize>],
    /// The same on demand, the base apart.
    pub on_demand: &'a [usize],
    /// Machines interrupted in each zone at this sample.
    pub interrupted: &'a [u32],
    /// Which round of requests this is, and how many there are.
    pub round: u32,
    /// See `round`.
    pub rounds: u32,
    /// Room in each zone now. Only for policies that are given this privilege.
    pub room: &'a [u32],
}

impl View<'_> {
    /// Spot machines held, ready or not.
    pub fn running(&self) -> u32 {
        self.held.iter().map(|zone| zone.len() as u32).sum()
    }

    /// Spot machines that are ready.
    pub fn ready(&self) -> u32 {
        self.held.iter().map(|zone| ready(zone, self.sample, self.delay)).sum()
    }
}

impl View<'_> {
    /// On-demand machines that are ready.
    pub fn on_demand_ready(&self) -> u32 {
        ready(self.on_demand, self.sample, self.delay)
    }
}

fn ready(granted: &[usize], sample: usize, delay: usize) -> u32 {
    granted.iter().filter(|&&at| at + delay <= sample).count() as u32
}

/// A request: so many machines from a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// Which zone.
    pub zone: usize,
    /// How many.
    pub count: u32,
}

/// What a policy does at the end of a sample.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rest {
    /// How many on-demand machines should run, the base apart.
    pub on_demand: u32,
    /// Spot machines to end, youngest first.
    pub release: Vec<Ask>,
}

/// Something that decides.
pub trait Policy {
    /// What to ask for in this round. Nothing: the rounds of this sample are over.
    fn ask(&mut self, view: &View<'_>) -> Vec<Ask>;
    /// What came of a request.
    fn answer(&mut self, ask: Ask, granted: u32);
    /// What else to do once the requests of a sample are answered.
    fn rest(&mut self, view: &View<'_>) -> Rest;
}

/// What came of a policy.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measures {
    /// Relative to the whole target on demand.
    pub cost: f64,
    /// Share of samples in which nothing was missing.
    pub availability: f64,
    /// Share of wanted machine-hours that were ready.
    pub delivered: f64,
    /// Machine-hours that were ready and wanted.
    pub unit_hours: f64,
    /// Interruptions per hundred spot machine-hours.
    pub interruptions_per_100h: f64,
    /// Mean length of a shortage.
    pub recover_minutes: f64,
}

impl Measures {
    /// Cost, with a missing machine-hour at `value` on-demand hours.
    pub fn j(&self, value: f64) -> f64 {
        self.cost + value * (1.0 - self.delivered)
    }
}

/// The market as it stands.
struct Market<'a> {
    trace: &'a Trace,
    delay: usize,
    held: Vec<Vec<usize>>,
    on_demand: Vec<usize>,
    interrupted: Vec<u32>,
    room: Vec<u32>,
}

impl Market<'_> {
    fn view(&self, setup: &Setup, sample: usize, round: u32, rounds: u32) -> View<'_> {
        View {
            sample,
            hours: self.trace.hours(),
            delay: self.delay,
            fleet: setup.target,
            target: setup.target - setup.base,
            regions: &self.trace.regions,
            price: &self.trace.price[sample],
            on_demand_price: self.trace.on_demand,
            held: &self.held,
            on_demand: &self.on_demand,
            interrupted: &self.interrupted,
            round,
            rounds,
            room: &self.room,
        }
    }

    fn move_capacity(&mut self, sample: usize) {
        for (zone, held) in self.held.iter_mut().enumerate() {
            let carries = self.trace.capacity[sample][zone] as usize;
            self.interrupted[zone] = held.len().saturating_sub(carries) as u32;
            held.truncate(carries);
            self.room[zone] = (carries - held.len()) as u32;
        }
    }

    fn grant(&mut self, ask: Ask, sample: usize) -> u32 {
        let (Some(held), Some(room)) = (self.held.get_mut(ask.zone), self.room.get_mut(ask.zone))
        else {
            return 0;
        };
        let granted = ask.count.min(*room);
        *room -= granted;
        held.extend(std::iter::repeat_n(sample, granted as usize));
        granted
    }

    fn settle(&mut self, rest: &Rest, sample: usize) {
        for ask in &rest.release {
            let Some(held) = self.held.get_mut(ask.zone) else { continue };
            let stay = held.len().saturating_sub(ask.count as usize);
            self.room[ask.zone] += (held.len() - stay) as u32;
            held.truncate(stay);
        }
        self.on_demand.resize(rest.on_demand as usize, sample);
    }
}

/// Sums over the measured samples.
#[derive(Default)]
struct Tally {
    samples: u32,
    dollars: f64,
    delivered: u64,
    full: u32,
    interruptions: u32,
    spot_samples: u64,
    shortages: u32,
    short_samples: u32,
    short_now: bool,
}

impl Tally {
    fn add(&mut self, market: &Market<'_>, setup: &Setup, sample: usize) {
        let wanted = setup.target - setup.base;
        let running = market.held.iter().zip(&market.trace.price[sample]);
        let spot: f64 = running.map(|(held, price)| held.len() as f64 * price).sum();
        let paid_in_full = f64::from(setup.base) + market.on_demand.len() as f64;
        let spot_ready: u32 =
            market.held.iter().map(|held| ready(held, sample, market.delay)).sum();
        let got = (spot_ready + ready(&market.on_demand, sample, market.delay)).min(wanted);
        self.samples += 1;
        self.dollars += spot + paid_in_full * market.trace.on_demand;
        self.delivered += u64::from(got + setup.base);
        self.interruptions += market.interrupted.iter().sum::<u32>();
        self.spot_samples += market.held.iter().map(|held| held.len() as u64).sum::<u64>();
        let short = got < wanted;
        self.full += u32::from(!short);
        self.short_samples += u32::from(short);
        self.shortages += u32::from(short && !self.short_now);
        self.short_now = short;
    }

    fn measures(&self, trace: &Trace, setup: &Setup) -> Measures {
        let samples = f64::from(self.samples.max(1));
        let wanted = samples * f64::from(setup.target.max(1));
        let spot_hours = self.spot_samples as f64 * trace.hours();
        let per = |sum: f64, of: f64| if of > 0.0 { sum / of } else { 0.0 };
        Measures {
            cost: self.dollars / (wanted * trace.on_demand),
            availability: f64::from(self.full) / samples,
            delivered: self.delivered as f64 / wanted,
            unit_hours: self.delivered as f64 * trace.hours(),
            interruptions_per_100h: per(f64::from(self.interruptions) * 100.0, spot_hours),
            recover_minutes: per(
                f64::from(self.short_samples) * trace.hours() * 60.0,
                f64::from(self.shortages),
            ),
        }
    }
}

/// Samples from a grant until a machine is ready.
pub fn delay_samples(trace: &Trace, setup: &Setup) -> usize {
    setup.delay_seconds.div_ceil(trace.interval_seconds) as usize
}

/// Rounds of requests in one sample: one a minute, five at most.
pub fn rounds(trace: &Trace) -> u32 {
    (trace.interval_seconds / 60).clamp(1, 5)
}

/// The first sample that is measured.
pub fn first_measured(trace: &Trace) -> usize {
    WARM_UP_SECONDS.div_ceil(trace.interval_seconds) as usize
}

/// Walks a policy through a recording.
pub fn judge(trace: &Trace, setup: &Setup, policy: &mut dyn Policy) -> Measures {
    judge_watched(trace, setup, policy, &|| {})
}

/// The same, and tells of every sample that is done.
pub fn judge_watched(
    trace: &Trace,
    setup: &Setup,
    policy: &mut dyn Policy,
    sampled: &dyn Fn(),
) -> Measures {
    let zones = trace.zones.len();
    let mut market = Market {
        trace,
        delay: delay_samples(trace, setup),
        held: vec![Vec::new(); zones],
        on_demand: Vec::new(),
        interrupted: vec![0; zones],
        room: vec![0; zones],
    };
    let rounds = rounds(trace);
    let mut tally = Tally::default();
    for sample in 0..trace.samples() {
        market.move_capacity(sample);
        for round in 0..rounds {
            let asks = policy.ask(&market.view(setup, sample, round, rounds));
            if asks.is_empty() {
                break;
            }
            for ask in asks {
                let granted = market.grant(ask, sample);
                policy.answer(ask, granted);
            }
        }
        let rest = policy.rest(&market.view(setup, sample, rounds, rounds));
        market.settle(&rest, sample);
        if sample >= first_measured(trace) {
            tally.add(&market, setup, sample);
        }
        sampled();
    }
    tally.measures(trace, setup)
}
