//! The fleet on pieces of the recordings, held against simple policies: what a fleet has to expect that nobody tuned
//! anything for.
//!
//! `cargo run --release -p fleet-replay --example pieces -- ../shared/data/traces [PIECES] [PENALTY]`

use fleet_model::Hedge;
use fleet_replay::contest::{anywhere, on_every_core};
use fleet_replay::{Named, Setup, Trace, judge};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// The recordings, and the most machines that make sense in each.
const RECORDINGS: [(&str, u32); 4] =
    [("h100-gcp13", 48), ("v100-9z", 16), ("v100-4n", 8), ("r5-3z", 8)];
/// The fleet first, then both SpotHedges.
const POLICIES: [Named; 6] = [
    Named::Engine,
    Named::SpotHedge,
    Named::SpotHedgeSpare,
    Named::RoundRobin,
    Named::LowestPrice,
    Named::EvenSpread,
];
/// As much worse than SpotHedge as a fleet should never be.
const TOO_MUCH: f64 = 1.03;

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

/// A recording cut down to some zones and days, and a fleet for it.
fn piece(recordings: &[Trace], nth: usize) -> (Trace, Setup) {
    let mut dice = Dice(nth as u64 * 7919 + 12345);
    // The first numbers of neighbours are alike.
    for _ in 0..5 {
        dice.below(2);
    }
    let which = nth % RECORDINGS.len();
    let trace = recordings[which].shuffled(dice.below(1000) as u64 + 1);
    let zones = trace.zones.len();
    let least = zones.min(3);
    let keep = least + dice.below(zones - least + 1);
    let days = dice.one_of(&[0.75, 2.0, 4.0, 7.0]);
    let samples = ((days * 24.0 / trace.hours()) as usize).min(trace.samples());
    let from = dice.below(trace.samples() - samples + 1);
    let mut trace = trace.part(from, from + samples);
    trace.zones.truncate(keep);
    trace.regions.truncate(keep);
    trace.capacity.iter_mut().for_each(|row| row.truncate(keep));
    trace.price.iter_mut().for_each(|row| row.truncate(keep));
    let target = dice.one_of(&[2, 3, 4, 6, 8, 12, 16, 24, 48]).min(RECORDINGS[which].1);
    let base = if dice.below(3) == 0 { target / 4 } else { 0 };
    let delay_seconds = dice.one_of(&[180, 300, 300, 480]);
    (trace, Setup { delay_seconds, ..Setup::new(target, base) })
}

/// What came of each policy on a piece.
struct Played {
    name: String,
    what: String,
    j: Vec<f64>,
    lost: Vec<f64>,
}

impl Played {
    fn new((trace, setup): &(Trace, Setup), penalty: u32) -> Self {
        let desired = anywhere(Some(Hedge::at(penalty * 1000)));
        let all = POLICIES.iter().map(|policy| {
            let mut policy = policy.policy(trace, setup, &desired);
            judge(trace, setup, policy.as_mut())
        });
        let all: Vec<_> = all.collect();
        let hours = trace.samples() as f64 * trace.hours();
        let Setup { target, base, .. } = setup;
        let zones = trace.zones.len();
        Played {
            name: trace.name.clone(),
            what: format!("{zones} zones, {hours:.0} h, {target} machines, {base} on demand"),
            j: all.iter().map(|measures| measures.j(f64::from(penalty))).collect(),
            lost: all.iter().map(|measures| measures.interruptions_per_100h).collect(),
        }
    }

    /// Against the better SpotHedge.
    fn over_spothedge(&self) -> f64 {
        self.j[0] / self.j[1].min(self.j[2])
    }

    fn over_best(&self) -> f64 {
        self.j[0] / self.j[1..].iter().copied().fold(f64::INFINITY, f64::min)
    }
}

fn line(name: &str, all: &[&Played]) -> String {
    let count = all.len().max(1) as f64;
    let mean = |of: &dyn Fn(&Played) -> f64| all.iter().map(|one| of(one)).sum::<f64>() / count;
    let ratio = |of: &dyn Fn(&Played) -> f64| mean(&|one| of(one).ln()).exp();
    let worse = all.iter().filter(|one| one.over_spothedge() > TOO_MUCH).count();
    format!(
        "{name:<12} over SpotHedge {:.3}, over the best {:.3}, {worse} of {} worse by more than 3 %; \
         lost per 100 h {:.1}, SpotHedge {:.1} and {:.1}\n",
        ratio(&Played::over_spothedge),
        ratio(&Played::over_best),
        all.len(),
        mean(&|one| one.lost[0]),
        mean(&|one| one.lost[1]),
        mean(&|one| one.lost[2]),
    )
}

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().unwrap_or_else(|| "../shared/data/traces".into());
    let numbers: Vec<u32> = args.filter_map(|word| word.parse().ok()).collect();
    let (pieces, penalty) =
        (numbers.first().copied().unwrap_or(160), numbers.get(1).copied().unwrap_or(10));
    let load = |(name, _): &(&str, u32)| Trace::load(&Path::new(&folder).join(name));
    let recordings: Result<Vec<Trace>, _> = RECORDINGS.iter().map(load).collect();
    let recordings = recordings.expect("the recordings");
    let all = on_every_core(pieces as usize, |nth| Played::new(&piece(&recordings, nth), penalty));
    let mut text = String::new();
    let mut by_name: BTreeMap<&str, Vec<&Played>> = BTreeMap::new();
    all.iter().for_each(|one| by_name.entry(&one.name).or_default().push(one));
    for (name, of) in &by_name {
        text.push_str(&line(name, of));
    }
    text.push_str(&line("all", &all.iter().collect::<Vec<_>>()));
    for one in all.iter().filter(|one| one.over_spothedge() > TOO_MUCH) {
        let _ = writeln!(text, "  {:.3} {}, {}", one.over_spothedge(), one.name, one.what);
    }
    let _ = std::io::stdout().write_all(text.as_bytes());
}
