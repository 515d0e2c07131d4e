//! What a policy that knows the future would pay, if it were never to fall short.
//!
//! A flow of as many units as are wanted, from the first measured sample to the last: at each sample
//! every unit is served by a machine that is ready, in a zone or on demand. Entering a zone costs
//! the cold start, which runs beside the machine that serves meanwhile. The cheapest flow is found
//! by successive shortest paths; all capacities are whole, so it is the linear program's optimum.

use crate::judge::{delay_samples, first_measured};
use crate::{Setup, Trace};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cost relative to the whole target on demand.
pub fn omniscient(trace: &Trace, setup: &Setup) -> f64 {
    let first = first_measured(trace.interval_seconds);
    let samples = trace.samples().saturating_sub(first);
    let wanted = setup.target - setup.base;
    if samples == 0 || setup.target == 0 {
        return 0.0;
    }
    let mut network = network(trace, delay_samples(trace, setup), first);
    let paid = network.flow(wanted);
    let all = f64::from(setup.target) * samples as f64 * micro(trace.on_demand) as f64;
    f64::from(setup.base) / f64::from(setup.target) + paid as f64 / all
}

fn micro(dollars: f64) -> i64 {
    (dollars * 1e6).round() as i64
}

/// Nodes of a sample: the hub, then two for each zone, then one for on-demand.
fn network(trace: &Trace, delay: usize, first: usize) -> Network {
    let zones = trace.zones.len();
    let per_sample = 2 * zones + 2;
    let samples = trace.samples();
    let node = |sample: usize, which: usize| (sample - first) * per_sample + which;
    let mut network = Network::new((samples - first + 1) * per_sample);
    let on_demand = micro(trace.on_demand);
    for sample in first..samples {
        let hub = node(sample, 0);
        let next = node(sample + 1, 0);
        let start = sample.saturating_sub(delay).max(first);
        let bought = node(sample, per_sample - 1);
        network.arc(hub, bought, u32::MAX, on_demand * (sample - start) as i64);
        network.arc(bought, node(sample + 1, per_sample - 1), u32::MAX, on_demand);
        network.arc(bought, next, u32::MAX, on_demand);
        for zone in 0..zones {
            let window = sample.saturating_sub(delay)..=sample;
            let carries = window.map(|s| trace.capacity[s][zone]).min().unwrap_or_default();
            if carries == 0 {
                continue;
            }
            let (enter, leave) = (node(sample, 1 + 2 * zone), node(sample, 2 + 2 * zone));
            let cold: i64 = (start..sample).map(|s| micro(trace.price[s][zone])).sum();
            network.arc(hub, enter, carries, cold);
            network.arc(enter, leave, carries, micro(trace.price[sample][zone]));
            network.arc(leave, node(sample + 1, 1 + 2 * zone), carries, 0);
            network.arc(leave, next, carries, 0);
        }
    }
    // After the last sample everybody is at the end, wherever they were served.
    for which in 1..per_sample {
        network.arc(node(samples, which), node(samples, 0), u32::MAX, 0);
    }
    network.from = node(first, 0);
    network.to = node(samples, 0);
    network
}

/// Arcs come in pairs: each even one and, after it, its way back.
struct Network {
    heads: Vec<Vec<u32>>,
    to_node: Vec<u32>,
    room: Vec<u32>,
    cost: Vec<i64>,
    from: usize,
    to: usize,
}

impl Network {
    fn new(nodes: usize) -> Self {
        Network {
            heads: vec![Vec::new(); nodes],
            to_node: Vec::new(),
            room: Vec::new(),
            cost: Vec::new(),
            from: 0,
            to: 0,
        }
    }

    fn arc(&mut self, from: usize, to: usize, room: u32, cost: i64) {
        for (a, b, room, cost) in [(from, to, room, cost), (to, from, 0, -cost)] {
            self.heads[a].push(self.to_node.len() as u32);
            self.to_node.push(b as u32);
            self.room.push(room);
            self.cost.push(cost);
        }
    }

    /// The cost of sending `units` at the least cost.
    fn flow(&mut self, units: u32) -> i128 {
        let mut potential = vec![0i64; self.heads.len()];
        let (mut left, mut paid) = (units, 0i128);
        while left > 0 {
            let (far, came_by) = self.shortest(&potential);
            let reach = far[self.to];
            if reach == i64::MAX {
                break;
            }
            for (potential, far) in potential.iter_mut().zip(&far) {
                *potential += (*far).min(reach);
            }
            let (sent, cost) = self.send(&came_by, left);
            left -= sent;
            paid += i128::from(cost) * i128::from(sent);
        }
        paid
    }

    /// Reduced distances from the start, and the arc by which each node is reached.
    fn shortest(&self, potential: &[i64]) -> (Vec<i64>, Vec<u32>) {
        let mut far = vec![i64::MAX; self.heads.len()];
        let mut came_by = vec![u32::MAX; self.heads.len()];
        let mut heap = BinaryHeap::from([Reverse((0i64, self.from as u32))]);
        far[self.from] = 0;
        while let Some(Reverse((distance, node))) = heap.pop() {
            let node = node as usize;
            if distance > far[node] {
                continue;
            }
            if node == self.to {
                break;
            }
            for &arc in &self.heads[node] {
                let at = arc as usize;
                let next = self.to_node[at] as usize;
                let reduced = self.cost[at] + potential[node] - potential[next];
                if self.room[at] > 0 && distance + reduced < far[next] {
                    far[next] = distance + reduced;
                    came_by[next] = arc;
                    heap.push(Reverse((far[next], next as u32)));
                }
            }
        }
        (far, came_by)
    }

    /// Sends as much as the path carries; how much, and what one unit costs.
    fn send(&mut self, came_by: &[u32], most: u32) -> (u32, i64) {
        let mut path = Vec::new();
        let mut node = self.to;
        while node != self.from {
            let arc = came_by[node] as usize;
            path.push(arc);
            node = self.to_node[arc ^ 1] as usize;
        }
        let sent = path.iter().map(|arc| self.room[*arc]).min().unwrap_or(0).min(most);
        let mut cost = 0;
        for arc in path {
            self.room[arc] = self.room[arc].saturating_sub(sent);
            self.room[arc ^ 1] = self.room[arc ^ 1].saturating_add(sent);
            cost += self.cost[arc];
        }
        (sent, cost)
    }
}
