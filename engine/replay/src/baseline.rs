//! What others do, for comparison.

use crate::policy::{Ask, Policy, Rest, View};

/// On-demand for what spot did not grant; dropped again when spot is ready.
fn fall_back(view: &View<'_>) -> Rest {
    let missing = view.target.saturating_sub(view.running());
    let unready = view.target.saturating_sub(view.ready());
    let on_demand = missing.max(unready.min(view.on_demand_ready()));
    Rest { on_demand, release: Vec::new() }
}

/// Requests for what is not nought.
fn asks(counts: &[u32]) -> Vec<Ask> {
    let some = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    some.map(|(zone, &count)| Ask { zone, count }).collect()
}

/// The cheapest of some zones; ties by position.
fn cheapest(price: &[f64], zones: impl Iterator<Item = usize>) -> Option<usize> {
    zones.min_by(|a, b| price[*a].total_cmp(&price[*b]))
}

/// Cheapest zone first, the next one on refusal.
#[derive(Debug, Default)]
pub struct LowestPrice {
    refused: Vec<usize>,
}

impl Policy for LowestPrice {
    fn ask(&mut self, view: &View<'_>) -> Vec<Ask> {
        if view.round == 0 {
            self.refused.clear();
        }
        let count = view.target.saturating_sub(view.running());
        let open = (0..view.price.len()).filter(|zone| !self.refused.contains(zone));
        let zone = cheapest(view.price, open).filter(|_| count > 0);
        zone.map(|zone| Ask { zone, count }).into_iter().collect()
    }

    fn answer(&mut self, ask: Ask, granted: u32) {
        if granted < ask.count {
            self.refused.push(ask.zone);
        }
    }

    fn rest(&mut self, view: &View<'_>) -> Rest {
        fall_back(view)
    }
}

/// Each zone its fixed share.
#[derive(Debug, Default)]
pub struct EvenSpread;

impl Policy for EvenSpread {
    fn ask(&mut self, view: &View<'_>) -> Vec<Ask> {
        let zones = view.price.len() as u32;
        let share = |zone: usize| {
            view.target / zones.max(1) + u32::from((zone as u32) < view.target % zones.max(1))
        };
        let short = |zone: usize| share(zone).saturating_sub(view.held[zone].len() as u32);
        (0..view.price.len())
            .map(|zone| Ask { zone, count: short(zone) })
            .filter(|ask| ask.count > 0 && view.round == 0)
            .collect()
    }

    fn answer(&mut self, _: Ask, _: u32) {}

    fn rest(&mut self, view: &View<'_>) -> Rest {
        fall_back(view)
    }
}

/// One zone until it refuses or interrupts, then the next: SkyPilot's failover.
#[derive(Debug, Default)]
pub struct RoundRobin {
    zone: usize,
}

impl Policy for RoundRobin {
    fn ask(&mut self, view: &View<'_>) -> Vec<Ask> {
        let zones = view.price.len();
        if view.round == 0 && view.interrupted.get(self.zone).is_some_and(|n| *n > 0) {
            self.zone += 1;
        }
        self.zone %= zones.max(1);
        let count = view.target.saturating_sub(view.running());
        if count == 0 { Vec::new() } else { vec![Ask { zone: self.zone, count }] }
    }

    fn answer(&mut self, ask: Ask, granted: u32) {
        if granted < ask.count {
            self.zone = ask.zone + 1;
        }
    }

    fn rest(&mut self, view: &View<'_>) -> Rest {
        fall_back(view)
    }
}

/// SkyServe's SpotHedge: a list of active zones, and some machines more than needed.
#[derive(Debug, Default)]
pub struct SpotHedge {
    /// Whether an eighth of the target is held besides.
    pub spare: bool,
    inactive: Vec<usize>,
    zones: usize,
    refused: Vec<usize>,
}

impl SpotHedge {
    /// With an eighth more than needed, or without.
    pub fn new(spare: bool) -> Self {
        SpotHedge { spare, ..SpotHedge::default() }
    }

    fn wanted(&self, view: &View<'_>) -> u32 {
        view.target + if self.spare { view.fleet.div_ceil(8) } else { 0 }
    }

    fn leave(&mut self, zone: usize) {
        if !self.inactive.contains(&zone) {
            self.inactive.push(zone);
        }
        if self.zones.saturating_sub(self.inactive.len()) < 2 {
            self.inactive.clear();
        }
    }
}

impl Policy for SpotHedge {
    fn ask(&mut self, view: &View<'_>) -> Vec<Ask> {
        let zones = view.price.len();
        if view.round == 0 {
            self.refused.clear();
            for zone in 0..zones {
                if view.interrupted[zone] > 0 {
                    self.leave(zone);
                }
            }
        }
        self.zones = zones;
        let mut counts = vec![0u32; zones];
        for _ in view.running()..self.wanted(view) {
            // A zone that refused just now is not asked again before the next sample.
            let open = |zone: &usize| !self.inactive.contains(zone) && !self.refused.contains(zone);
            let active = || (0..zones).filter(open);
            let unused = active().filter(|&zone| view.held[zone].is_empty() && counts[zone] == 0);
            let zone = cheapest(view.price, unused).or_else(|| cheapest(view.price, active()));
            if let Some(zone) = zone {
                counts[zone] += 1;
            }
        }
        asks(&counts)
    }

    fn answer(&mut self, ask: Ask, granted: u32) {
        if granted < ask.count {
            self.leave(ask.zone);
            self.refused.push(ask.zone);
        }
    }

    fn rest(&mut self, view: &View<'_>) -> Rest {
        let on_demand = self.wanted(view).saturating_sub(view.ready()).min(view.target);
        Rest { on_demand, release: Vec::new() }
    }
}

/// EC2's strategies, given the privilege of seeing each zone's room.
#[derive(Debug)]
pub struct SeesRoom {
    /// Whether price decides among the zones with at least half the deepest room.
    pub by_price: bool,
}

impl Policy for SeesRoom {
    fn ask(&mut self, view: &View<'_>) -> Vec<Ask> {
        // One machine after the other, each to what is best with those before it in place.
        let mut room = view.room.to_vec();
        let mut counts = vec![0u32; room.len()];
        for _ in view.running()..view.target {
            let deepest = room.iter().copied().max().unwrap_or_default();
            let least = if self.by_price { deepest.div_ceil(2) } else { deepest };
            let mut deep = (0..room.len()).filter(|zone| deepest > 0 && room[*zone] >= least);
            let best = if self.by_price { cheapest(view.price, deep) } else { deep.next() };
            let Some(zone) = best else { break };
            room[zone] -= 1;
            counts[zone] += 1;
        }
        asks(&counts)
    }

    fn answer(&mut self, _: Ask, _: u32) {}

    fn rest(&mut self, view: &View<'_>) -> Rest {
        fall_back(view)
    }
}

/// No spot at all.
#[derive(Debug, Default)]
pub struct AllOnDemand;

impl Policy for AllOnDemand {
    fn ask(&mut self, _: &View<'_>) -> Vec<Ask> {
        Vec::new()
    }

    fn answer(&mut self, _: Ask, _: u32) {}

    fn rest(&mut self, view: &View<'_>) -> Rest {
        Rest { on_demand: view.target, release: Vec::new() }
    }
}
