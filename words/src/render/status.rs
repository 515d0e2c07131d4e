//! The machines of a fleet: what is there, how old it is, what it costs, what nobody can see.

use super::attention::attention;
use super::columns::{Columns, left, right};
use super::{place, plan_text};
use crate::machines::{Line, lines};
use crate::output::common::{gaps, in_doubt, said, unplaced};
use crate::output::reach::Access;
use crate::output::status::{FleetStatus, GroupStatus, Machine, StatusCost};
use crate::output::words::{Time, usd};
use crate::style::{BOLD, DIM, WARN};
use crate::text::{age, clean_line, count, markdown, monthly, price, when};
use fleet_model::{
    Cloud, CostKind, Group, GroupLine, Inputs, InstanceType, MicroUsd, PoolId, PoolLine, Report,
    Timestamp, Units,
};
use std::collections::{BTreeMap, BTreeSet};

/// One fleet and what is known of it.
pub struct Status<'a> {
    inputs: &'a Inputs,
    report: &'a Report,
    lines: Vec<Line>,
}

impl<'a> Status<'a> {
    /// Puts together what the clouds list and what the journal holds for silent scopes.
    pub fn new(inputs: &'a Inputs, report: &'a Report) -> Self {
        let lines = lines(inputs, None);
        Status { inputs, report, lines }
    }

    /// What the machines cost, with their disks, addresses and traffic.
    fn hourly(&self) -> MicroUsd {
        let machines: MicroUsd = self.lines.iter().filter_map(|line| line.price).sum();
        let beside = self.report.cost_lines.iter().filter(|line| line.kind != CostKind::Machine);
        machines + beside.map(|line| line.change.before).sum::<MicroUsd>()
    }

    /// What a machine of each type counts for.
    fn weights(&self) -> BTreeMap<(Cloud, &InstanceType), Units> {
        let of =
            |line: &'a PoolLine| ((line.pool.place.cloud, &line.pool.instance_type), line.weight);
        self.report.pools.iter().map(of).collect()
    }

    /// For people. `each`: one line per machine, not per pool.
    pub fn text(&self, each: bool) -> String {
        let Report { unit, groups, .. } = self.report;
        let have: Units = groups.iter().map(|line| line.before).sum();
        let wanted: Units = groups.iter().map(|line| line.wanted).sum();
        let name = clean_line(self.inputs.desired.fleet.as_str());
        let of = if wanted.is_zero() { String::new() } else { format!(" of {wanted}") };
        let mut out = format!(
            "{BOLD}fleet {name}{BOLD:#}: {have}{of} {unit} in {}, {} per hour, {} per month\n",
            count(self.lines.len() as u64, "machine"),
            self.hourly(),
            monthly(self.hourly()),
        );
        let mut table = Columns::default();
        table.styled(DIM, [left("group"), right("wanted"), right("there"), right("machines")]);
        for line in groups {
            let there = right(line.before.to_string());
            let machines = self.lines.iter().filter(|l| l.slot.name.group == line.group).count();
            table.row([
                left(format!("{} ({})", line.group, line.group.market())),
                right(line.wanted.to_string()),
                if line.before < line.wanted { there.style(WARN) } else { there },
                right(machines.to_string()),
            ]);
        }
        out.push('\n');
        out.push_str(&table.render("  "));
        if !self.lines.is_empty() {
            out.push('\n');
            out.push_str(&if each { self.machines() } else { self.pools() }.render("  "));
        }
        out.push_str(&attention(self.report));
        let blocks = self.inputs.recorded.blocks.iter().map(|block| block.until);
        let blocks: Vec<Timestamp> = blocks.filter(|until| *until > self.inputs.now).collect();
        if let Some(last) = blocks.iter().max() {
            out.push_str(&format!(
                "\n  {DIM}{} not retried yet after a refusal, the last until {}{DIM:#}\n",
                count(blocks.len() as u64, "pool"),
                when(*last)
            ));
        }
        out
    }

    fn pools(&self) -> Columns {
        let weights = self.weights();
        let mut sums: BTreeMap<(Group, &PoolId, &str), Vec<&Line>> = BTreeMap::new();
        for line in &self.lines {
            let key = (line.slot.name.group, &line.pool, line.state());
            sums.entry(key).or_default().push(line);
        }
        let mut table = Columns::without(&["oldest", "market", "each/h", "state"]);
        table.styled(
            DIM,
            [
                right("n"),
                left("type"),
                left("where"),
                left("market"),
                left("state"),
                left("oldest"),
                right("each/h"),
                right(self.report.unit.as_str()),
            ],
        );
        for ((_, pool, state), lines) in sums {
            let oldest = lines.iter().map(|line| line.launched_at).min();
            let prices: BTreeSet<_> = lines.iter().map(|line| line.price).collect();
            let each = match (prices.first(), prices.last()) {
                (Some(low), Some(high)) if low != high => {
                    format!("{}–{}", price(*low), price(*high))
                }
                (low, _) => price(low.copied().flatten()),
            };
            let units = weights
                .get(&(pool.place.cloud, &pool.instance_type))
                .map(|w| Units(w.0.saturating_mul(lines.len() as u64)));
            let bad = !matches!(state, "running" | "pending");
            table.row([
                right(lines.len().to_string()),
                left(clean_line(pool.instance_type.as_str())),
                left(place(&pool.place)),
                left(pool.market.as_str()),
                if bad { left(state).style(WARN) } else { left(state) },
                left(oldest.map_or_else(String::new, |at| age(at, self.inputs.now))),
                right(each),
                right(units.map_or_else(|| "?".into(), |units| units.to_string())),
            ]);
        }
        table
    }

    fn machines(&self) -> Columns {
        let mut table = Columns::without(&["age", "market", "$/h", "where", "type", "address"]);
        let heads = ["slot", "machine", "type", "where", "market", "state", "age", "address"];
        table.styled(DIM, heads.map(left).into_iter().chain([right("$/h")]));
        for line in &self.lines {
            table.row([
                left(line.slot.to_string()),
                left(clean_line(line.id.as_str())),
                left(clean_line(line.pool.instance_type.as_str())),
                left(place(&line.pool.place)),
                left(line.pool.market.as_str()),
                left(line.state()),
                left(age(line.launched_at, self.inputs.now)),
                left(line.address(false).map_or_else(|| "-".into(), |ip| ip.to_string())),
                right(price(line.price)),
            ]);
        }
        table
    }

    /// For programs.
    pub fn document(&self) -> FleetStatus {
        let Report { unit, groups, cost, .. } = self.report;
        let group = |line: &GroupLine| GroupStatus {
            group: line.group.into(),
            wanted: line.wanted.as_f64(),
            have: line.before.as_f64(),
        };
        FleetStatus {
            fleet: self.inputs.desired.fleet.to_string(),
            uid: self.inputs.recorded.uid.as_ref().map(ToString::to_string),
            taken_at: Time(self.inputs.observed.taken_at),
            unit: (*unit).into(),
            settled: plan_text::is_settled(self.report),
            groups: groups.iter().map(group).collect(),
            machines: self.lines.iter().map(machine).collect(),
            cost: StatusCost {
                hourly_usd: usd(self.hourly()),
                monthly_usd: usd(self.hourly().per_month()),
                hourly_limit_usd: cost.hourly_limit.map(usd),
            },
            unplaced: unplaced(&self.report.unplaced),
            held: said(&self.report.held),
            in_doubt: in_doubt(&self.report.in_doubt),
            gaps: gaps(&self.report.gaps),
            notices: said(&self.report.notices),
        }
    }

    /// For comments.
    pub fn markdown(&self) -> String {
        let mut out = format!(
            "### Fleet `{}`\n\n{}, {} per hour\n\n",
            markdown(self.inputs.desired.fleet.as_str()),
            count(self.lines.len() as u64, "machine"),
            self.hourly()
        );
        out.push_str("| slot | machine | type | where | market | state | $/h |\n");
        out.push_str("|---|---|---|---|---|---|--:|\n");
        for line in &self.lines {
            out.push_str(&format!(
                "| {} | `{}` | {} | {} | {} | {} | {} |\n",
                line.slot,
                clean_line(line.id.as_str()).replace(['`', '|'], ""),
                markdown(line.pool.instance_type.as_str()),
                markdown(&place(&line.pool.place)),
                line.pool.market,
                line.state(),
                price(line.price)
            ));
        }
        for gap in &self.report.gaps {
            out.push_str(&format!("\n- {} {}", markdown(&gap.scope.to_string()), gap.cause));
        }
        out
    }
}

fn machine(line: &Line) -> Machine {
    Machine {
        id: line.id.to_string(),
        provider: line.pool.place.cloud.into(),
        region: line.pool.place.region.to_string(),
        zone: line.pool.place.zone.to_string(),
        r#type: line.pool.instance_type.to_string(),
        market: line.pool.market.into(),
        state: line.state.into(),
        slot: line.slot.to_string(),
        group: line.slot.name.group.into(),
        hourly_usd: line.price.map(usd),
        launched_at: Time(line.launched_at),
        interruption_at: line.notice.map(|notice| Time(notice.at)),
        access: Access::of(line),
    }
}
