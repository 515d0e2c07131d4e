//! The machines of a fleet: what is there, how old it is, what it costs, what nobody can see.

use super::attention::attention;
use super::columns::{Columns, left, right};
use super::{place, plan_text};
use crate::output::common::{gaps, in_doubt, said, unplaced};
use crate::output::status::{FleetStatus, GroupStatus, Machine, StatusCost};
use crate::output::words::{Time, usd};
use crate::style::{BOLD, DIM, WARN};
use crate::text::{age, clean_line, count, markdown, monthly, price, when};
use fleet_model::{
    Group, GroupLine, Inputs, InterruptionNotice, MachineId, MachineState, MicroUsd, PoolId,
    Report, SETTLE_WINDOW, SlotId, SlotState, Timestamp, Units,
};
use std::collections::{BTreeMap, BTreeSet};

/// A machine as a person asks about it.
#[derive(Debug, Clone)]
struct Line {
    id: MachineId,
    pool: PoolId,
    /// `None`: recorded, but its scope did not answer.
    state: Option<MachineState>,
    slot: SlotId,
    price: Option<MicroUsd>,
    launched_at: Timestamp,
    notice: Option<InterruptionNotice>,
}

impl Line {
    fn state(&self) -> &'static str {
        match (self.state, self.notice) {
            (None, _) => "unknown",
            (Some(MachineState::Running), Some(_)) => "interrupted",
            (Some(state), _) => state.as_str(),
        }
    }
}

/// One fleet and what is known of it.
pub(crate) struct Status<'a> {
    inputs: &'a Inputs,
    report: &'a Report,
    lines: Vec<Line>,
}

impl<'a> Status<'a> {
    /// Puts together what the clouds list and what the journal holds for silent scopes.
    pub(crate) fn new(inputs: &'a Inputs, report: &'a Report) -> Self {
        let mut lines = Vec::new();
        let recorded: BTreeMap<&MachineId, Option<MicroUsd>> = inputs
            .recorded
            .slots
            .values()
            .filter_map(|slot| match &slot.state {
                SlotState::Filled { machine, price, .. } => Some((machine, *price)),
                SlotState::Vacant | SlotState::InDoubt { .. } => None,
            })
            .collect();
        for machine in inputs.observed.machines.values().filter(|m| m.state.is_live()) {
            let Some(owner) = machine.owner.as_ref().filter(|o| o.fleet == inputs.uid) else {
                continue;
            };
            lines.push(Line {
                id: machine.id.clone(),
                pool: machine.pool(),
                state: Some(machine.state),
                slot: owner.slot,
                price: machine.price.or(recorded.get(&machine.id).copied().flatten()),
                launched_at: machine.launched_at,
                notice: machine.notice,
            });
        }
        for (name, record) in &inputs.recorded.slots {
            if let SlotState::Filled { machine, pool, launched_at, price, .. } = &record.state
                && !inputs.observed.machines.contains_key(machine)
                && let Some(state) = unlisted(inputs, pool, *launched_at)
            {
                lines.push(Line {
                    id: machine.clone(),
                    pool: pool.clone(),
                    state,
                    slot: SlotId { name: *name, generation: record.generation },
                    price: *price,
                    launched_at: *launched_at,
                    notice: None,
                });
            }
        }
        lines.sort_by(|a, b| (a.slot, &a.id).cmp(&(b.slot, &b.id)));
        Status { inputs, report, lines }
    }

    fn hourly(&self) -> MicroUsd {
        self.lines.iter().filter_map(|line| line.price).sum()
    }

    fn weights(&self) -> BTreeMap<&PoolId, Units> {
        self.report.pools.iter().map(|line| (&line.pool, line.weight)).collect()
    }

    /// For people. `each`: one line per machine, not per pool.
    pub(crate) fn text(&self, each: bool) -> String {
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
            let units = weights.get(pool).map(|w| Units(w.0.saturating_mul(lines.len() as u64)));
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
        let mut table = Columns::without(&["age", "market", "$/h", "where", "type"]);
        let heads = ["slot", "machine", "type", "where", "market", "state", "age"];
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
                right(price(line.price)),
            ]);
        }
        table
    }

    /// For programs.
    pub(crate) fn document(&self) -> FleetStatus {
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
    pub(crate) fn markdown(&self) -> String {
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

/// How a recorded machine stands that no list shows: unknown where the scope is silent, pending
/// while it is too young to be listed. `None`: it is gone.
fn unlisted(inputs: &Inputs, pool: &PoolId, since: Timestamp) -> Option<Option<MachineState>> {
    if !inputs.observed.is_complete(&pool.place.scope()) {
        return Some(None);
    }
    let age = inputs.observed.taken_at.duration_since(since);
    let settled = u64::try_from(age.as_secs()).unwrap_or(0) >= SETTLE_WINDOW.as_secs();
    (!settled).then_some(Some(MachineState::Pending))
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
    }
}
