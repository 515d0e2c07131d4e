//! Many made-up markets: how far the engine is from the best simple policy of each, in hindsight.

use crate::compare::Named;
use crate::judge::judge_in;
use crate::synthetic::{Kind, Synthetic};
use fleet_model::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The engine, and the simple policies that it is held against. None of them sees a zone's room.
pub const POLICIES: [Named; 7] = [
    Named::Engine,
    Named::LowestPrice,
    Named::EvenSpread,
    Named::RoundRobin,
    Named::SpotHedge,
    Named::SpotHedgeSpare,
    Named::OnDemand,
];

/// What a missing machine-hour costs here, in on-demand hours.
pub const PENALTY: u32 = 10;

/// What came of each policy in one market.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// Its number.
    pub number: usize,
    /// What kind it is.
    pub kind: Kind,
    /// Cost plus ten times what was missing, by policy.
    pub j: [f64; POLICIES.len()],
}

impl Played {
    /// How much worse the engine is than the best of the others, as a share. Below nought: better.
    pub fn regret(&self) -> f64 {
        let best = self.j[1..].iter().copied().fold(f64::INFINITY, f64::min);
        self.j[0] / best - 1.0
    }
}

/// A fleet that may stand anywhere, and pays for what is missing.
pub fn anywhere(hedge: Option<Hedge>) -> Desired {
    let mut desired = Desired::nothing("replay".into(), Cloud::ALL, digest("replay", []));
    desired.placement.hedge = hedge;
    desired
}

/// Lets every policy play one market. Kinds take turns.
pub fn play(seed: u64, number: usize) -> Played {
    let kind = Kind::ALL[number % Kind::ALL.len()];
    let market = Synthetic::new(kind, seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
    let Synthetic { trace, setup, .. } = &market;
    let penalty_milli = PENALTY * 1000;
    let desired = anywhere(Some(Hedge::at(penalty_milli)));
    let j = POLICIES.map(|policy| {
        let mut decides = policy.policy(trace, setup, &desired);
        let mut world = market.world();
        let measures = judge_in(trace, world.as_mut(), setup, decides.as_mut(), &|| {});
        measures.j(f64::from(PENALTY))
    });
    Played { number, kind, j }
}

/// Plays the markets from a number on, on every core. In the order of their numbers.
pub fn play_all(seed: u64, from: usize, count: usize) -> Vec<Played> {
    on_every_core(count, |nth| play(seed, from + nth))
}

/// Does some work so many times, on every core. In the order of the numbers that it is given.
pub fn on_every_core<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::with_capacity(count));
    let take = || {
        loop {
            let nth = next.fetch_add(1, Ordering::Relaxed);
            if nth >= count {
                break;
            }
            let done = work(nth);
            if let Ok(mut all) = all.lock() {
                all.push((nth, done));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(take);
        }
    });
    let mut all = all.into_inner().unwrap_or_default();
    all.sort_by_key(|(nth, _)| *nth);
    all.into_iter().map(|(_, done)| done).collect()
}

/// Some markets, summed up.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// How many.
    pub markets: usize,
    /// The mean of [`Played::regret`].
    pub mean_regret: f64,
    /// The worst of it, and the market's number.
    pub worst: (f64, usize),
    /// The share of markets in which the engine is worse than the best by more than 3 and 10 %.
    pub worse: [f64; 2],
    /// The mean of each policy.
    pub mean_j: [f64; POLICIES.len()],
}

/// Sums up. `None` if there is nothing.
pub fn summary<'a>(played: impl Iterator<Item = &'a Played>) -> Option<Summary> {
    let played: Vec<&Played> = played.collect();
    let worst = played.iter().max_by(|a, b| a.regret().total_cmp(&b.regret()))?;
    let markets = played.len();
    let mean = |of: &dyn Fn(&Played) -> f64| {
        played.iter().map(|one| of(one)).sum::<f64>() / markets as f64
    };
    let worse = |than: f64| mean(&|one| f64::from(u8::from(one.regret() > than)));
    Some(Summary {
        markets,
        mean_regret: mean(&Played::regret),
        worst: (worst.regret(), worst.number),
        worse: [worse(0.03), worse(0.10)],
        mean_j: std::array::from_fn(|nth| mean(&|one| one.j[nth])),
    })
}

/// The bounds that docs/placement.md gives for a thousand markets.
pub const MOST_MEAN_REGRET: f64 = 0.02;
/// See [`MOST_MEAN_REGRET`].
pub const MOST_WORSE_BY_TENTH: f64 = 0.15;

impl Summary {
    /// Bounds that do not hold.
    pub fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let mut check = |holds: bool, what: String| {
            if !holds {
                broken.push(what);
            }
        };
        let percent = |share: f64| format!("{:.1}%", share * 100.0);
        let (mean, tenth) = (self.mean_regret, self.worse[1]);
        check(
            mean <= MOST_MEAN_REGRET,
            format!("mean regret {} is above {}", percent(mean), percent(MOST_MEAN_REGRET)),
        );
        check(
            tenth <= MOST_WORSE_BY_TENTH,
            format!(
                "worse by more than 10% in {} of the markets, above {}",
                percent(tenth),
                percent(MOST_WORSE_BY_TENTH)
            ),
        );
        for (policy, j) in POLICIES.iter().zip(self.mean_j).skip(1) {
            let name = policy.as_str();
            check(
                self.mean_j[0] <= j,
                format!("mean J10 {:.3} is above that of {name}, {j:.3}", self.mean_j[0]),
            );
        }
        broken
    }
}
