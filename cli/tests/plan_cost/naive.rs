//! The cost of a plan by hand: machine by machine, in floating dollars, with a table of its own.

use crate::specs::Wish;
use fleet_model::{Action, Catalog, Group, Machine, Market, Plan, PoolId, Unit};
use std::collections::BTreeMap;

/// One amount for one machine.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) tier: &'static str,
    pub(crate) cloud: &'static str,
    /// In the words of the report.
    pub(crate) part: &'static str,
    before: f64,
    after: f64,
}

/// Everything that was calculated.
#[derive(Debug, Default)]
pub(crate) struct Known {
    all: Vec<Standing>,
    /// Things without a price, after.
    pub(crate) uncounted: u32,
}

impl Known {
    pub(crate) fn before(&self, of: impl Fn(&Standing) -> bool) -> f64 {
        self.all.iter().filter(|one| of(one)).map(|one| one.before).sum()
    }

    pub(crate) fn after(&self, of: impl Fn(&Standing) -> bool) -> f64 {
        self.all.iter().filter(|one| of(one)).map(|one| one.after).sum()
    }
}

/// A machine that stands before, after, or both.
struct One<'a> {
    pool: PoolId,
    group: Group,
    price: Option<f64>,
    /// The spec that it was made from.
    made_by: &'a Wish,
    before: bool,
    after: bool,
}

/// Calculates what a plan costs, from its steps, the machines that stand and the rows of the catalog.
pub(crate) fn naive(
    catalog: &Catalog,
    standing: &[Machine],
    plan: &Plan,
    first: &Wish,
    now: &Wish,
) -> Known {
    let mut prices = Prices { catalog, known: BTreeMap::new() };
    let mut machines: Vec<One<'_>> = Vec::new();
    for machine in standing {
        let destroyed = plan.steps.iter().any(|step| match &step.action {
            Action::Destroy(destroy) => destroy.victims.iter().any(|v| v.machine == machine.id),
            Action::Create(_) => false,
        });
        let group = machine.owner.as_ref().expect("an owner").slot.name.group;
        let pool = machine.pool();
        let price = prices.of(&pool);
        machines.push(One { pool, group, price, made_by: first, before: true, after: !destroyed });
    }
    for step in &plan.steps {
        let Action::Create(create) = &step.action else { continue };
        for slot in &create.slots {
            let (pool, group) = (create.pool.clone(), slot.name.group);
            let price = prices.of(&pool);
            machines.push(One { pool, group, price, made_by: now, before: false, after: true });
        }
    }
    let mut known = Known::default();
    let (paid_before, paid_after) =
        (covered(&machines, now, |one| one.before), covered(&machines, now, |one| one.after));
    let shares = |there: fn(&One<'_>) -> bool| {
        let there = machines.iter().filter(|one| there(one));
        let weights: f64 = there.map(|one| weight(catalog, &one.pool, now.unit)).sum();
        weights.max(now.target as f64)
    };
    let (shares_before, shares_after) = (shares(|one| one.before), shares(|one| one.after));
    for (at, one) in machines.iter().enumerate() {
        let (cloud, region) = (one.pool.place.cloud.as_str(), one.pool.place.region.as_str());
        let tier = match (one.group, one.pool.market) {
            (Group::Base, _) => "base",
            (Group::Burst, Market::Spot) => "burst",
            (Group::Burst, _) => "fallback",
        };
        let mut add =
            |part: &'static str, hourly: Option<f64>, before: bool, after: bool| match hourly {
                Some(hourly) => known.all.push(Standing {
                    tier,
                    cloud,
                    part,
                    before: if before { hourly } else { 0.0 },
                    after: if after { hourly } else { 0.0 },
                }),
                None => known.uncounted += u32::from(one.after),
            };
        let (free_before, free_after) = (paid_before.contains(&at), paid_after.contains(&at));
        // A machine that a commitment pays for has no price to be missed.
        add("machines", one.price, one.before && !free_before, one.after && !free_after);
        add("disks", disk(one.made_by, &one.pool), one.before, one.after);
        add("public addresses", address(one.made_by, &one.pool), one.before, one.after);
        let weight = weight(catalog, &one.pool, now.unit);
        let part = |shares: f64| traffic(now, cloud, region, weight / shares);
        add("traffic", part(shares_after), false, one.after);
        add("traffic", part(shares_before).or(Some(0.0)), one.before, false);
    }
    known
}

/// Prices that were looked up: a look goes through the whole list.
struct Prices<'a> {
    catalog: &'a Catalog,
    known: BTreeMap<PoolId, Option<f64>>,
}

impl Prices<'_> {
    fn of(&mut self, pool: &PoolId) -> Option<f64> {
        let catalog = self.catalog;
        *self.known.entry(pool.clone()).or_insert_with(|| listed(catalog, pool))
    }
}

/// The price of a machine in the catalog, row by row.
fn listed(catalog: &Catalog, pool: &PoolId) -> Option<f64> {
    let mut found = None;
    for row in &catalog.rows {
        let (place, kind) =
            (&catalog.places[row.place as usize], &catalog.kinds[row.kind as usize]);
        if *place == pool.place && kind.cloud == pool.place.cloud && kind.name == pool.instance_type
        {
            found = match pool.market {
                Market::Spot => row.spot,
                Market::OnDemand | Market::Reserved => row.on_demand,
            };
        }
    }
    found.map(|price| price.0 as f64 / 1e6)
}

/// Positions of the machines that the commitment pays for: the dearest.
fn covered(machines: &[One<'_>], wish: &Wish, there: impl Fn(&One<'_>) -> bool) -> Vec<usize> {
    let Some((region, kind, count)) = wish.committed else { return Vec::new() };
    let mut fitting: Vec<usize> = (0..machines.len())
        .filter(|at| {
            let one = &machines[*at];
            there(one)
                && one.pool.market == Market::OnDemand
                && one.pool.place.cloud.as_str() == "aws"
                && one.pool.place.region.as_str() == region
                && one.pool.instance_type.as_str() == kind
        })
        .collect();
    fitting.sort_by(|a, b| machines[*b].price.partial_cmp(&machines[*a].price).expect("prices"));
    fitting.truncate(count as usize);
    fitting
}

/// How much of the target a machine is.
fn weight(catalog: &Catalog, pool: &PoolId, unit: &str) -> f64 {
    let kind = catalog
        .kinds
        .iter()
        .find(|kind| kind.cloud == pool.place.cloud && kind.name == pool.instance_type)
        .expect("a kind");
    let unit = match unit {
        "vcpus" => return f64::from(kind.resources.vcpus.expect("vCPUs")),
        "gpus" => Unit::Gpus,
        _ => return 1.0,
    };
    assert_eq!(unit, Unit::Gpus);
    f64::from(kind.resources.accelerators.as_ref().expect("GPUs").count_milli) / 1000.0
}

/// Dollars per hour for the boot disk, from the table in docs/prices.md.
fn disk(wish: &Wish, pool: &PoolId) -> Option<f64> {
    let cloud = wish.on(pool.place.cloud.as_str()).expect("a cloud of the spec");
    let machine = pool.instance_type.as_str();
    let kind = match (cloud.name, cloud.disk_type) {
        ("lambda", _) => return Some(0.0),
        (_, Some(kind)) => kind,
        ("aws", None) => "gp3",
        ("gcp", None) if machine.starts_with("n4-") => "hyperdisk-balanced",
        ("gcp", None) => "pd-balanced",
        (_, None) => "StandardSSD_LRS",
    };
    let gib = cloud.disk_gib? as f64;
    let tier =
        |tiers: &[(f64, f64)]| tiers.iter().find(|(size, _)| gib <= *size).map(|tier| tier.1);
    let month = match kind {
        "gp3" => 0.08 * gib,
        "gp2" => 0.10 * gib,
        "pd-standard" => 0.04 * gib,
        "pd-balanced" => 0.10 * gib,
        "pd-ssd" => 0.17 * gib,
        // $0.075 a GiB of the next power of two, from 4 to 4,096.
        "StandardSSD_LRS" => 0.075 * (gib.max(4.0) as u64).next_power_of_two() as f64,
        "Premium_LRS" => tier(&[
            (32.0, 5.28),
            (64.0, 10.21),
            (128.0, 19.71),
            (256.0, 38.02),
            (512.0, 73.22),
            (1024.0, 135.17),
        ])?,
        "Standard_LRS" => tier(&[
            (32.0, 1.54),
            (64.0, 3.01),
            (128.0, 5.89),
            (256.0, 11.33),
            (512.0, 21.76),
            (1024.0, 40.96),
        ])?,
        _ => return None,
    };
    Some(month / 730.0)
}

/// Dollars per hour for the public address.
fn address(wish: &Wish, pool: &PoolId) -> Option<f64> {
    let cloud = wish.on(pool.place.cloud.as_str()).expect("a cloud of the spec");
    match (cloud.name, cloud.own_network, pool.market) {
        ("aws", false, _) => Some(0.005),
        ("aws", true, _) => None,
        ("gcp", false, Market::Spot) => Some(0.0025),
        ("gcp", false, _) => Some(0.005),
        _ => Some(0.0),
    }
}

/// Dollars per hour for the part of the traffic that a machine has.
fn traffic(wish: &Wish, cloud: &str, region: &str, share: f64) -> Option<f64> {
    let machine = format!("{cloud}/{region}");
    let month = |gib: Option<u64>| gib.unwrap_or(0) as f64 * 730.0 / 24.0;
    let (out, back) = (month(wish.egress), month(wish.returned));
    let dollars = match wish.data {
        None => send(&machine, "", out)?,
        Some(data) => send(data, &machine, out)? + send(&machine, data, back)?,
    };
    Some(dollars / 730.0 * share)
}

/// What it costs to send so many GiB from a place to another; to nowhere in particular: the internet.
fn send(from: &str, to: &str, gib: f64) -> Option<f64> {
    if gib == 0.0 || from == to {
        return Some(0.0);
    }
    let (cloud, region) = from.split_once('/').expect("a place");
    let (to_cloud, to_region) = to.split_once('/').unwrap_or_default();
    let inside = cloud == to_cloud;
    let north = |region: &str| {
        ["us", "eu", "northamerica", "westus", "eastus", "westeurope"]
            .iter()
            .any(|start| region.starts_with(start))
    };
    let bands = |bands: &[(f64, f64)]| {
        let (mut left, mut sum) = (gib, 0.0);
        for (size, price) in bands {
            let here = left.min(*size);
            sum += here * price;
            left -= here;
        }
        (left <= 0.0).then_some(sum)
    };
    let rest = f64::INFINITY;
    match (cloud, inside) {
        ("lambda", _) => Some(0.0),
        ("aws", true) => match (region, to_region) {
            ("us-east-1", "us-east-2") | ("us-east-2", "us-east-1") => Some(0.01 * gib),
            ("ap-northeast-1", _) => Some(0.09 * gib),
            ("sa-east-1", _) => Some(0.138 * gib),
            _ if north(region) => Some(0.02 * gib),
            _ => None,
        },
        ("aws", false) => match region {
            "ap-northeast-1" => bands(&[(10_240.0, 0.114)]),
            "sa-east-1" => bands(&[(10_240.0, 0.15)]),
            _ if north(region) => {
                bands(&[(10_240.0, 0.09), (40_960.0, 0.085), (102_400.0, 0.07), (rest, 0.05)])
            }
            _ => None,
        },
        ("gcp", true) => {
            let part = |region: &str| region.split('-').next().unwrap_or_default().to_owned();
            let (a, b) = (part(region), part(to_region));
            match (a.as_str(), b.as_str()) {
                ("southamerica", _) | (_, "southamerica") => Some(0.14 * gib),
                ("us", "us") | ("europe", "europe") => Some(0.02 * gib),
                _ => Some(0.08 * gib),
            }
        }
        ("gcp", false) => bands(&[(1_024.0, 0.12), (9_216.0, 0.11), (rest, 0.08)]),
        ("azure", false) if north(region) => {
            bands(&[(10_240.0, 0.0875), (40_960.0, 0.083), (102_400.0, 0.07), (rest, 0.05)])
        }
        _ => None,
    }
}
