//! What was spent, added up by whatever a person asks for.

use crate::Spend;
use crate::calendar::Calendar;
use crate::covered::Held;
use crate::groups::{Groups, Seen};
use crate::ledger::{Lost, Sink};
use crate::meter::Charge;
use fleet_model::{
    Cloud, CostKind, Departure, InstanceType, Labels, MachineId, Market, NoPrice, PoolId,
};
use jiff::civil::Date;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// What a report is grouped by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// A label of the user's own; `team` is one.
    Label(String),
    /// The fleet.
    Fleet,
    /// The pool.
    Pool,
    /// The instance type.
    Type,
    /// How machines are paid for.
    Market,
    /// The cloud.
    Provider,
    /// The region.
    Region,
    /// The day.
    Day,
    /// The month.
    Month,
    /// What it was spent on: machines, disks, public addresses, traffic.
    Kind,
}

impl FromStr for By {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "team" => By::Label("team".into()),
            "fleet" => By::Fleet,
            "pool" => By::Pool,
            "type" => By::Type,
            "market" => By::Market,
            "provider" => By::Provider,
            "region" => By::Region,
            "day" => By::Day,
            "month" => By::Month,
            "kind" => By::Kind,
            _ => match text.strip_prefix("label:") {
                Some(name) if !name.is_empty() => By::Label(name.into()),
                _ => {
                    return Err(
                        "group by team, fleet, pool, type, market, provider, region, day, \
                                month, kind or label:NAME"
                            .into(),
                    );
                }
            },
        })
    }
}

impl By {
    /// What the group is called: a column's head.
    pub fn title(&self) -> &str {
        match self {
            By::Label(name) => name,
            By::Fleet => "fleet",
            By::Pool => "pool",
            By::Type => "type",
            By::Market => "market",
            By::Provider => "provider",
            By::Region => "region",
            By::Day => "day",
            By::Month => "month",
            By::Kind => "kind",
        }
    }
}

/// One part of a group's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Machines that lack the label.
    Without,
    /// Some name.
    Text(Arc<str>),
    /// A pool.
    Pool(PoolId),
    /// A market.
    Market(Market),
    /// A cloud.
    Cloud(Cloud),
    /// A day.
    Day(Date),
    /// A month, by its first day.
    Month(Date),
    /// What it was spent on.
    Kind(CostKind),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Without => f.pad("(none)"),
            Part::Text(text) => f.pad(text),
            Part::Pool(pool) => f.pad(&pool.to_string()),
            Part::Market(market) => f.pad(market.as_str()),
            Part::Cloud(cloud) => f.pad(cloud.as_str()),
            Part::Day(day) => f.pad(&day.to_string()),
            Part::Kind(kind) => f.pad(kind.as_str()),
            Part::Month(day) => f.pad(&format!("{:04}-{:02}", day.year(), day.month())),
        }
    }
}

/// What one group comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// What was spent, as far as prices are known: machines with all that comes beside them.
    pub spent: Spend,
    /// Of that, disks, public addresses and traffic.
    pub beside: Beside,
    /// Of those, what is at the price of another region.
    pub about: Spend,
    /// Milliseconds that machines were billed, or ran free.
    pub ms: u128,
    /// Of those, without a price.
    pub unpriced_ms: u128,
    /// Thousandths of a capacity unit, times milliseconds.
    pub unit_ms: u128,
    /// What was spent on machines whose capacity is on record.
    pub spent_on_units: Spend,
    /// What capacity is counted in, if it is one thing.
    pub unit: Unit,
    /// What the same machines cost on demand, as far as that price is on record.
    pub on_demand: Spend,
    /// What was spent on those themselves.
    pub spent_beside: Spend,
    /// Of what was spent, what is an estimate: the end was not told. Traffic, of which only what is expected is known, is
    /// told apart in `beside`.
    pub estimated: Spend,
    /// What clouds did not ask for: machines that they took back early.
    pub waived: Spend,
    /// Milliseconds that commitments paid for.
    pub covered_ms: u128,
    /// What those would have cost besides, at the prices of their machines.
    pub covered: Spend,
    /// Machines that clouds took back.
    pub interruptions: u64,
    /// Milliseconds until their slots were filled again.
    pub lost_ms: u128,
    /// What that capacity would have cost.
    pub lost: Spend,
}

/// What was spent on what comes beside machines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Beside {
    /// Disks.
    pub disk: Spend,
    /// Public addresses.
    pub address: Spend,
    /// Traffic, as the spec expects it.
    pub egress: Spend,
}

impl Beside {
    /// All of it.
    pub fn total(self) -> Spend {
        let Beside { disk, address, egress } = self;
        disk + address + egress
    }

    fn add(&mut self, other: Beside) {
        let Beside { disk, address, egress } = other;
        self.disk += disk;
        self.address += address;
        self.egress += egress;
    }
}

/// What capacity is counted in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Unit {
    /// Nobody wrote it down.
    #[default]
    Unknown,
    /// One thing.
    One(Arc<str>),
    /// Several, which do not add up.
    Mixed,
}

impl Unit {
    fn join(&mut self, other: &Unit) {
        match (&*self, other) {
            (_, Unit::Unknown) => {}
            (Unit::Unknown, other) => *self = other.clone(),
            (one, other) if one == other => {}
            (_, _) => *self = Unit::Mixed,
        }
    }
}

impl Line {
    /// What was spent on machines themselves.
    pub fn on_machines(&self) -> Spend {
        self.spent.saturating_sub(self.beside.total())
    }

    /// What was saved against on-demand: positive, or what it cost more.
    pub fn saved(&self) -> Option<Saved> {
        (self.on_demand > Spend::default())
            .then(|| Saved::between(self.on_demand, self.spent_beside))
    }

    /// Takes in another group.
    pub fn add(&mut self, other: &Line) {
        let Line {
            spent,
            beside,
            about,
            ms,
            unpriced_ms,
            unit_ms,
            spent_on_units,
            unit,
            on_demand,
            spent_beside,
            estimated,
            waived,
            covered_ms,
            covered,
            interruptions,
            lost_ms,
            lost,
        } = other;
        self.spent += *spent;
        self.beside.add(*beside);
        self.about += *about;
        self.ms += ms;
        self.unpriced_ms += unpriced_ms;
        self.unit_ms += unit_ms;
        self.spent_on_units += *spent_on_units;
        self.unit.join(unit);
        self.on_demand += *on_demand;
        self.spent_beside += *spent_beside;
        self.estimated += *estimated;
        self.waived += *waived;
        self.covered_ms += covered_ms;
        self.covered += *covered;
        self.interruptions += interruptions;
        self.lost_ms += lost_ms;
        self.lost += *lost;
    }
}

/// What was saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    /// So much less was paid.
    Less(Spend),
    /// So much more was paid.
    More(Spend),
}

impl Saved {
    /// What was saved by paying `paid` for what is `worth` so much.
    fn between(worth: Spend, paid: Spend) -> Self {
        match worth >= paid {
            true => Saved::Less(worth.saturating_sub(paid)),
            false => Saved::More(paid.saturating_sub(worth)),
        }
    }
}

/// A machine of which nobody knows what it cost.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unpriced {
    /// The fleet.
    pub fleet: Arc<str>,
    /// The machine.
    pub machine: MachineId,
    /// Where it came from.
    pub pool: PoolId,
}

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The groups, outermost first.
    pub by: Vec<By>,
    /// From here on, in milliseconds since 1970.
    pub from: i64,
    /// Until here.
    pub to: i64,
    /// Where days begin.
    pub calendar: Calendar,
}

impl Question {
    fn by_day(&self) -> bool {
        self.by.iter().any(|by| matches!(by, By::Day | By::Month))
    }

    /// The line that something counts in.
    fn line<'a>(
        &mut self,
        groups: &'a mut Groups,
        fleet: &str,
        (pool, kind): (&PoolId, CostKind),
        labels: Option<&Labels>,
        at: i64,
    ) -> &'a mut Line {
        let day = if self.by_day() { self.calendar.day(at).0 } else { Date::default() };
        let parts = self.by.iter().map(|by| match by {
            By::Label(name) => match labels.and_then(|labels| labels.get(name)) {
                Some(value) => Seen::Text(value),
                None => Seen::Without,
            },
            By::Fleet => Seen::Text(fleet),
            By::Pool => Seen::Pool(pool),
            By::Type => Seen::Text(pool.instance_type.as_str()),
            By::Market => Seen::Market(pool.market),
            By::Provider => Seen::Cloud(pool.place.cloud),
            By::Region => Seen::Text(pool.place.region.as_str()),
            By::Day => Seen::Day(day),
            By::Month => Seen::Month(day.first_of_month()),
            By::Kind => Seen::Kind(kind),
        });
        groups.line(parts)
    }
}

/// The answer, for one fleet or several.
#[derive(Debug, Clone)]
pub struct Tally {
    question: Question,
    fleet: Arc<str>,
    unit: Unit,
    groups: Groups,
    /// Machines without a price, and for how many milliseconds.
    pub unpriced: BTreeMap<Unpriced, u128>,
    /// What no amount counts beside machines: what, why and where, and for how many milliseconds of machines.
    pub uncounted: BTreeMap<(CostKind, NoPrice, Cloud), u128>,
    /// Machines whose end was not told.
    pub estimated: u64,
    /// Disks of which it was not told when they were deleted.
    pub estimated_disks: u64,
    /// What was bought ahead.
    pub commitments: BTreeMap<Bought, Use>,
}

/// Machines that a fleet has bought ahead.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bought {
    /// The fleet.
    pub fleet: Arc<str>,
    /// The cloud.
    pub cloud: Cloud,
    /// The region.
    pub region: String,
    /// The type.
    pub instance_type: InstanceType,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Use {
    /// Milliseconds of machines that it held for.
    pub held_ms: u128,
    /// Of those, milliseconds in which a machine ran that it paid for.
    pub used_ms: u128,
    /// Of those that it held for, milliseconds whose price nobody said.
    pub unpriced_ms: u128,
    /// What it cost, as far as the spec says.
    pub paid: Spend,
    /// Of that, what it cost while it lay unused.
    pub idle: Spend,
    /// What the machines that it paid for cost on demand.
    pub worth: Spend,
}

impl Use {
    /// What it saved against the same machines on demand, after what it cost itself. `None`: the spec does not
    /// say what it cost.
    pub fn saved(&self) -> Option<Saved> {
        (self.unpriced_ms == 0).then(|| Saved::between(self.worth, self.paid))
    }

    /// Takes in another.
    pub fn add(&mut self, other: &Use) {
        let Use { held_ms, used_ms, unpriced_ms, paid, idle, worth } = other;
        self.held_ms += held_ms;
        self.used_ms += used_ms;
        self.unpriced_ms += unpriced_ms;
        self.paid += *paid;
        self.idle += *idle;
        self.worth += *worth;
    }
}

impl Tally {
    /// Nothing yet.
    pub fn new(question: Question) -> Self {
        Tally {
            question,
            fleet: "".into(),
            unit: Unit::default(),
            groups: Groups::default(),
            unpriced: BTreeMap::new(),
            uncounted: BTreeMap::new(),
            estimated: 0,
            estimated_disks: 0,
            commitments: BTreeMap::new(),
        }
    }

    /// What comes next is of this fleet.
    pub fn of_fleet(&mut self, fleet: &str) {
        self.fleet = fleet.into();
        self.unit = Unit::default();
    }

    /// Takes in what another one counted.
    pub fn merge(&mut self, other: Tally) {
        self.groups.merge(&other.groups);
        for (machine, ms) in other.unpriced {
            *self.unpriced.entry(machine).or_default() += ms;
        }
        for (what, ms) in other.uncounted {
            *self.uncounted.entry(what).or_default() += ms;
        }
        self.estimated += other.estimated;
        self.estimated_disks += other.estimated_disks;
        for (bought, used) in other.commitments {
            self.commitments.entry(bought).or_default().add(&used);
        }
    }

    /// Groups in the order of their names, and all of them together.
    pub fn sorted(&self) -> (Vec<(&[Part], &Line)>, Line) {
        let mut lines: Vec<_> = self.groups.iter().collect();
        lines.sort_by(|a, b| a.0.cmp(b.0));
        let mut total = Line::default();
        lines.iter().for_each(|(_, line)| total.add(line));
        (lines, total)
    }

    /// What each group comes to, in no order.
    pub fn lines(&self) -> &[Line] {
        self.groups.lines()
    }

    fn count(&mut self, charge: Charge<'_>, labels: Option<&Labels>) {
        if charge.covered.is_some() {
            let PoolId { place, instance_type, .. } = &charge.life.pool;
            let worth = charge.on_demand().unwrap_or_default();
            self.bought(place.cloud, place.region.name(), instance_type).worth += worth;
        }
        if !charge.is_machine() {
            return self.count_beside(&charge, labels);
        }
        let Tally { question, fleet, unit, groups, .. } = self;
        let of = (&charge.life.pool, charge.kind);
        let line = question.line(groups, fleet, of, labels, charge.from);
        let ms = u128::from(charge.ms());
        line.ms += ms;
        line.interruptions += u64::from(charge.ended == Some(Departure::Interrupted));
        let Some(amount) = charge.amount() else {
            line.unpriced_ms += ms;
            let (machine, pool) = (charge.machine().clone(), charge.life.pool.clone());
            let who = Unpriced { fleet: self.fleet.clone(), machine, pool };
            *self.unpriced.entry(who).or_default() += ms;
            return;
        };
        line.spent += amount;
        if charge.waived
            && let Some(hourly) = charge.hourly
        {
            line.waived += Spend::of(hourly, charge.ms());
        }
        if charge.covered.is_some() {
            line.covered_ms += ms;
            line.covered +=
                charge.hourly.map_or(Spend::default(), |hourly| Spend::of(hourly, charge.ms()));
        }
        if let Some(on_demand) = charge.on_demand() {
            line.on_demand += on_demand;
            line.spent_beside += amount;
        }
        if let Some(units) = charge.life.units {
            line.unit.join(unit);
            line.unit_ms += u128::from(units.0) * ms;
            line.spent_on_units += amount;
        }
        if charge.estimated {
            line.estimated += amount;
            self.estimated += u64::from(charge.ended.is_some());
        }
    }
}

impl Tally {
    /// What comes beside a machine: an amount, and no capacity and no hours of machines.
    fn count_beside(&mut self, charge: &Charge<'_>, labels: Option<&Labels>) {
        let Tally { question, fleet, groups, .. } = self;
        let pool = &charge.life.pool;
        let Some(amount) = charge.amount() else {
            let what = (charge.kind, charge.because, pool.place.cloud);
            *self.uncounted.entry(what).or_default() += u128::from(charge.ms());
            return;
        };
        let line = question.line(groups, fleet, (pool, charge.kind), labels, charge.from);
        line.spent += amount;
        match charge.kind {
            CostKind::Disk => line.beside.disk += amount,
            CostKind::Address => line.beside.address += amount,
            CostKind::Egress => line.beside.egress += amount,
            CostKind::Machine => {}
        }
        if charge.about {
            line.about += amount;
        }
        if charge.life.units.is_some() {
            line.spent_on_units += amount;
        }
        if charge.estimated {
            line.estimated += amount;
            let disk = charge.kind == CostKind::Disk && charge.ended.is_some();
            self.estimated_disks += u64::from(disk);
        }
    }

    fn bought(&mut self, cloud: Cloud, region: &str, instance_type: &InstanceType) -> &mut Use {
        let (fleet, region) = (self.fleet.clone(), region.to_owned());
        let instance_type = instance_type.clone();
        let bought = Bought { fleet, cloud, region, instance_type };
        self.commitments.entry(bought).or_default()
    }
}

impl Sink for Tally {
    fn charge(&mut self, charge: Charge<'_>, labels: Option<&Labels>) {
        let Question { from, to, .. } = self.question;
        // An end without time counts where it lies.
        if charge.from == charge.to {
            if (from..to).contains(&charge.from) {
                self.count(charge, labels);
            }
            return;
        }
        let Some(charge) = charge.split_at(from).1 else { return };
        let Some(mut charge) = charge.split_at(to).0 else { return };
        if !self.question.by_day() {
            return self.count(charge, labels);
        }
        loop {
            let next = self.question.calendar.day(charge.from).1;
            let (today, later) = charge.split_at(next);
            if let Some(today) = today {
                self.count(today, labels);
            }
            match later {
                Some(later) => charge = later,
                None => return,
            }
        }
    }

    fn counted_in(&mut self, unit: &str) {
        self.unit = Unit::One(unit.into());
    }

    fn held(&mut self, held: Held<'_>) {
        let Held { commitment, from, to, used } = held;
        let (from, to) = (from.max(self.question.from), to.min(self.question.to));
        let Some(ms) = u64::try_from(to - from).ok().filter(|ms| *ms > 0) else { return };
        let sum = self.bought(commitment.cloud, &commitment.region, &commitment.instance_type);
        let all = u128::from(ms) * u128::from(commitment.count);
        sum.held_ms += all;
        sum.used_ms += u128::from(ms) * u128::from(used);
        match commitment.hourly {
            Some(hourly) => {
                let each = Spend::of(hourly, ms);
                sum.paid += each * u64::from(commitment.count);
                sum.idle += each * u64::from(commitment.count.saturating_sub(used));
            }
            None => sum.unpriced_ms += all,
        }
    }

    fn lost(&mut self, lost: &Lost, until: i64, labels: Option<&Labels>) {
        let Question { from, to, .. } = self.question;
        let (begun, ended) = (lost.at.max(from), until.min(to));
        let ms = u64::try_from(ended - begun).unwrap_or_default();
        if ms == 0 {
            return;
        }
        let Tally { question, fleet, groups, .. } = self;
        let of = (&lost.pool, CostKind::Machine);
        let line = question.line(groups, fleet, of, labels, begun);
        line.lost_ms += u128::from(ms);
        line.lost += lost.hourly.map_or(Spend::default(), |hourly| Spend::of(hourly, ms));
    }
}
