//! The engine's own policy.

use crate::judge::{Ask, Policy, Rest, View};
use fleet_core::market::belief::Belief;
use fleet_core::market::portfolio::{Choice, Need, portfolio};

/// scratch
#[derive(Debug, Clone)]
pub struct Params { pub v: f64, pub sigma_hours: f64, pub refuse: f64, pub phi: f64 , pub window: f64}
impl Default for Params { fn default() -> Self { Params { v: 10.0, sigma_hours: 3.0, refuse: 0.3, phi: 0.0, window: 1.0 } } }

/// The engine's own policy.
#[derive(Debug, Default)]
pub struct Ours {
    /// scratch
    pub params: Params,
    beliefs: Vec<Belief>,
    full: Vec<bool>,
    answers: Vec<(Ask, u32)>,
    counts: Vec<u32>,
}

impl Ours {
    fn choices(&self, view: &View<'_>, new: bool) -> Vec<Choice> {
        let now = view.sample as f64 * view.hours;
        let window = view.delay as f64 * view.hours * self.params.window;
        let cold = view.delay as f64 * view.hours;
        let left = f64::from(view.rounds.saturating_sub(view.round).max(1));
        (0..view.price.len()).map(|zone| {
            let belief = &self.beliefs[zone];
            let held = view.held[zone].len();
            let price = view.price[zone];
            let most = if new && !self.full[zone] { held + view.target as usize } else { held };
            let mut stays = Vec::new(); let mut extra = Vec::new();
            for k in 0..most {
                let s = belief.stays(k, now, window);
                let up = belief.up(k, now);
                if k >= held && up < 0.02 { break; }
                stays.push(s);
                let hazard = (1.0 - s) / window;
                let mut e = hazard * (cold * price + self.params.phi * view.on_demand_price);
                if k >= held {
                    e += price * cold / self.params.sigma_hours + self.params.refuse * view.on_demand_price * (1.0 - up) / left;
                }
                extra.push(e);
            }
            Choice { price, held: held as u32, stays, extra }
        }).collect()
    }
    fn need(&self, view: &View<'_>) -> Need {
        Need { wanted: view.target, on_demand: view.on_demand_price, missing: self.params.v * view.on_demand_price }
    }
}

impl Policy for Ours {
    fn ask(&mut self, view: &View<'_>) -> Vec<Ask> {
        let zones = view.price.len();
        let now = view.sample as f64 * view.hours;
        if view.round == 0 {
            self.beliefs.resize(zones, Belief::default());
            self.full = vec![false; zones];
            for zone in 0..zones {
                let held = view.held[zone].len() as u32;
                let lost = view.interrupted[zone];
                if lost > 0 { self.beliefs[zone].interrupted(now, held + lost, held); self.full[zone] = true; }
                else { self.beliefs[zone].alive(now, held); }
            }
        }
        self.learn(now);
        self.counts = view.held.iter().map(|h| h.len() as u32).collect();
        let plan = portfolio(&self.choices(view, true), self.need(view), 0);
        plan.counts.iter().enumerate().filter(|(z, n)| **n > self.counts[*z])
            .map(|(zone, n)| Ask { zone, count: n - self.counts[zone] }).collect()
    }

    fn answer(&mut self, ask: Ask, granted: u32) {
        self.answers.push((ask, granted));
    }

    fn rest(&mut self, view: &View<'_>) -> Rest {
        let now = view.sample as f64 * view.hours;
        self.learn(now);
        let plan = portfolio(&self.choices(view, false), self.need(view), 0);
        let mut ready = view.ready();
        let od_ready = view.on_demand_ready();
        let mut release = Vec::new();
        for (zone, &n) in plan.counts.iter().enumerate() {
            let mut count = 0;
            for &granted in view.held[zone].iter().rev().take(view.held[zone].len() - n as usize) {
                if granted + view.delay > view.sample { count += 1; continue; }
                if ready + od_ready.min(plan.on_demand) > view.target { ready -= 1; count += 1; } else { break; }
            }
            if count > 0 { release.push(Ask { zone, count }); }
        }
        let bridge = view.target.saturating_sub(ready).min(od_ready);
        Rest { on_demand: plan.on_demand.max(bridge), release }
    }
}

impl Ours {
    fn learn(&mut self, now: f64) {
        for (ask, granted) in std::mem::take(&mut self.answers) {
            let held = self.counts[ask.zone];
            self.counts[ask.zone] += granted;
            if granted < ask.count {
                self.beliefs[ask.zone].exactly(now, held + granted, held + ask.count);
                self.full[ask.zone] = true;
            } else {
                self.beliefs[ask.zone].alive(now, held + granted);
            }
        }
    }
}
