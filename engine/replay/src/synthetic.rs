//! Made-up markets, the same for the same seed: what no recording shows, and what is hard on purpose.

use crate::chance::Chance;
use crate::judge::Setup;
use crate::reacting::Reacting;
use crate::trace::Trace;
use crate::world::{Recorded, World};

/// Kinds of markets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Every zone carries what it carries; a short dip a day.
    Calm,
    /// All zones of a region drop together.
    Storms,
    /// A zone is good for hours, then bad for hours, and says nothing of it.
    Regimes,
    /// Capacity follows the hour of the day, region by region.
    Diurnal,
    /// Slots are up and down for times with heavy tails.
    HeavyTails,
    /// Some zones are good until they are chosen.
    Adversarial,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 6] = [
        Kind::Calm,
        Kind::Storms,
        Kind::Regimes,
        Kind::Diurnal,
        Kind::HeavyTails,
        Kind::Adversarial,
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Calm => "calm",
            Kind::Storms => "storms",
            Kind::Regimes => "regimes",
            Kind::Diurnal => "diurnal",
            Kind::HeavyTails => "heavy-tails",
            Kind::Adversarial => "adversarial",
        }
    }
}

/// A made-up market, and what is asked of policies in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Synthetic {
    /// What kind.
    pub kind: Kind,
    /// Zones, prices, and the capacity that nobody's choice changes.
    pub trace: Trace,
    /// 4 to 32 machines, none or a quarter of them on demand.
    pub setup: Setup,
    seed: u64,
}

impl Synthetic {
    /// The market of a seed.
    pub fn new(kind: Kind, seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let target = chance.whole(4, 32);
        let base = if chance.share() < 0.5 { 0 } else { target / 4 };
        let setup = Setup::new(target, base);
        let interval_seconds = [150, 200, 300, 600][chance.whole(0, 3) as usize];
        let samples = (chance.between(12.0, 48.0) * 3600.0 / f64::from(interval_seconds)) as usize;
        let (zones, regions) = places(&mut chance);
        let hours = f64::from(interval_seconds) / 3600.0;
        let on_demand = chance.between(1.0, 12.0);
        let columns = columns(&mut chance, kind, &regions, samples, hours, target - base);
        let prices = prices(&mut chance, zones.len(), samples, hours, on_demand);
        let row = |sample: usize| columns.iter().map(|column| column[sample]).collect();
        let trace = Trace {
            name: format!("{} {seed}", kind.as_str()),
            interval_seconds,
            on_demand,
            zones,
            regions,
            capacity: (0..samples).map(row).collect(),
            price: prices,
            has_prices: true,
        };
        Synthetic { kind, trace, setup, seed }
    }

    /// The market in front of a policy that has done nothing yet.
    pub fn world(&self) -> Box<dyn World + '_> {
        match self.kind {
            Kind::Adversarial => Box::new(Reacting::new(&self.trace, self.seed)),
            Kind::Calm | Kind::Storms | Kind::Regimes | Kind::Diurnal | Kind::HeavyTails => {
                Box::new(Recorded(&self.trace))
            }
        }
    }
}

/// Three to twelve zones, one to four of them in a region.
fn places(chance: &mut Chance) -> (Vec<String>, Vec<String>) {
    let count = chance.whole(3, 12) as usize;
    let (mut zones, mut regions) = (Vec::new(), Vec::new());
    for region in 1.. {
        for letter in ["a", "b", "c", "d"].iter().take(chance.whole(1, 4) as usize) {
            if zones.len() == count {
                return (zones, regions);
            }
            zones.push(format!("made-up-{region}{letter}"));
            regions.push(format!("made-up-{region}"));
        }
    }
    (zones, regions)
}

/// Spot costs a fifth to three fifths of on-demand, and changes now and then by a tenth or so.
fn prices(
    chance: &mut Chance,
    zones: usize,
    samples: usize,
    hours: f64,
    on_demand: f64,
) -> Vec<Vec<f64>> {
    let usual: Vec<f64> = (0..zones).map(|_| chance.between(0.2, 0.6)).collect();
    let mut now = usual.clone();
    let mut all = Vec::with_capacity(samples);
    for _ in 0..samples {
        for (now, usual) in now.iter_mut().zip(&usual) {
            if chance.share() < hours / 4.0 {
                *now = (usual * chance.between(0.85, 1.2)).min(0.95);
            }
        }
        all.push(now.iter().map(|share| share * on_demand).collect());
    }
    all
}

/// Capacity by zone, then by sample.
fn columns(
    chance: &mut Chance,
    kind: Kind,
    regions: &[String],
    samples: usize,
    hours: f64,
    wanted: u32,
) -> Vec<Vec<u32>> {
    // From a fifth of what is wanted to all of it and half as much again.
    let depth: Vec<u32> = regions
        .iter()
        .map(|_| (f64::from(wanted) * chance.between(0.2, 1.5)).ceil().max(1.0) as u32)
        .collect();
    let steady = |zone: usize| vec![depth[zone]; samples];
    let zones = 0..regions.len();
    match kind {
        Kind::Calm | Kind::Adversarial => {
            let mut column = |zone| {
                let mut column = steady(zone);
                dips(chance, &mut column, hours, 24.0, 0.3, (0.0, 0.8));
                column
            };
            zones.map(&mut column).collect()
        }
        Kind::Storms => {
            let mut all: Vec<Vec<u32>> = zones.map(steady).collect();
            let mut first = 0;
            while first < regions.len() {
                let of_region = regions[first..].iter().take_while(|r| **r == regions[first]);
                let last = first + of_region.count();
                // The same storm over each zone of the region.
                let (every, storm) = (chance.between(4.0, 12.0), chance.fork());
                for column in &mut all[first..last] {
                    dips(&mut storm.clone(), column, hours, every, 1.2, (0.0, 0.3));
                }
                for column in &mut all[first..last] {
                    dips(chance, column, hours, 24.0, 0.3, (0.0, 0.8));
                }
                first = last;
            }
            all
        }
        Kind::Regimes => {
            let mut column = |zone| {
                let mut column = steady(zone);
                let mut at = 0.0;
                let mut good = chance.share() < 0.6;
                while at < samples as f64 {
                    let until = at + chance.wait(8.0) / hours;
                    let part = at as usize..(until as usize).min(samples);
                    let every = if good { 40.0 } else { 0.7 };
                    dips(chance, &mut column[part], hours, every, 0.5, (0.0, 0.5));
                    (at, good) = (until, !good);
                }
                column
            };
            zones.map(&mut column).collect()
        }
        Kind::Diurnal => {
            let phase: Vec<f64> = regions.iter().map(|_| chance.share()).collect();
            let mut column = |zone: usize| {
                let first = regions.iter().position(|r| *r == regions[zone]).unwrap_or(zone);
                let (swing, noise) = (chance.between(0.4, 1.0), chance.between(0.02, 0.15));
                (0..samples)
                    .map(|sample| {
                        let day = sample as f64 * hours / 24.0 + phase[first];
                        let level = 1.0 - swing * (0.5 + 0.5 * (day * std::f64::consts::TAU).sin());
                        let level = level + noise * chance.between(-1.0, 1.0);
                        (f64::from(depth[zone]) * level).round().max(0.0) as u32
                    })
                    .collect()
            };
            zones.map(&mut column).collect()
        }
        Kind::HeavyTails => {
            let mut column = |zone: usize| {
                let (up, down) = (chance.between(0.8, 1.3), chance.between(0.9, 1.5));
                let mut column = Vec::with_capacity(samples);
                while column.len() < samples {
                    let part = |hours_long: f64| (hours_long / hours).ceil().min(1e6) as usize;
                    let long = part(chance.heavy(0.3, up));
                    column.extend(std::iter::repeat_n(depth[zone], long.min(samples)));
                    let less = (f64::from(depth[zone]) * chance.between(0.0, 0.7)) as u32;
                    let long = part(chance.heavy(0.1, down));
                    column.extend(std::iter::repeat_n(less, long.min(samples)));
                }
                // It did not begin when we came.
                let from = (chance.share() * 0.5 * (column.len() - samples) as f64) as usize;
                column[from..from + samples].to_vec()
            };
            zones.map(&mut column).collect()
        }
    }
}

/// Lowers a stretch of capacity now and then, for a while, to a share of what it was.
fn dips(
    chance: &mut Chance,
    column: &mut [u32],
    hours: f64,
    every: f64,
    lasts: f64,
    to: (f64, f64),
) {
    let mut at = chance.wait(every) / hours;
    while at < column.len() as f64 {
        let until = at + (chance.wait(lasts) / hours).max(1.0);
        let left = chance.between(to.0, to.1);
        let part = at as usize..(until as usize).clamp(at as usize + 1, column.len());
        for carries in &mut column[part] {
            *carries = (f64::from(*carries) * left) as u32;
        }
        at = until + chance.wait(every) / hours;
    }
}
