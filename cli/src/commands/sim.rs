//! `fleet sim …`: the weather of the simulated clouds.

use crate::args::{Format, SimCommand, Where};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure, Place};
use crate::out::Out;
use crate::output::cost::{SimBill, SimBillLine};
use crate::output::document;
use crate::output::other::{SimDone, SimMachine, SimShow};
use crate::output::words::{Time, names, usd};
use crate::render::columns::{Columns, left, right};
use crate::style::{BOLD, DIM, WARN};
use crate::text::{clean_line, count, span, when};
use fleet_catalog::similar;
use fleet_model::{Catalog, Cloud, CostKind, Machine, Market, MicroUsd, PoolId, PoolPattern};
use fleet_provider::with_causes;
use fleet_sim::{Area, Settings, Sim, SimError};
use std::collections::{BTreeMap, BTreeSet};

/// Runs `fleet sim …`.
pub(crate) fn run(context: &Context, command: &SimCommand, out: &mut Out) -> Answer {
    let catalog = context.catalog()?;
    if let SimCommand::Reset { seed, preset, latency } = command {
        let folder = context.sim_folder();
        let settings = Settings { seed: *seed, preset: *preset, latency: *latency };
        Sim::create(&folder, settings, catalog, true)
            .or_fail("cannot make the simulated clouds anew", folder.display())?;
        let done = format!("simulated clouds begin anew: {preset}, seed {seed}");
        let forgotten = context.forget_simulated()?;
        return told(context, SimDone { done, forgotten }, out);
    }
    let sim = context.sim(catalog.clone())?;
    let said = act(&sim, &catalog, command)?;
    match said {
        Some(done) => told(context, SimDone { done, forgotten: Vec::new() }, out),
        None if matches!(command, SimCommand::Bill) => bill(context, &sim, out),
        None => show(context, &sim, out),
    }
}

/// Tells what was done.
fn told(context: &Context, done: SimDone, out: &mut Out) -> Answer {
    if context.global.output == Format::Json {
        out.json(&document(Exit::Done, done))?;
        return Ok(Exit::Done);
    }
    out.text(&done.done);
    if !done.forgotten.is_empty() {
        out.text(format!("forgot the journals of {}", clean_line(&done.forgotten.join(", "))));
    }
    Ok(Exit::Done)
}

/// Does it, and says what was done; `None` for `show`.
fn act(sim: &Sim, catalog: &Catalog, command: &SimCommand) -> Answer<Option<String>> {
    let lasts = |lasting: &Option<std::time::Duration>| match lasting {
        Some(lasting) => format!("for {}", span(*lasting)),
        None => "until `fleet sim heal`".into(),
    };
    let said = match command {
        SimCommand::Show | SimCommand::Bill | SimCommand::Reset { .. } => return Ok(None),
        SimCommand::Advance { time } => {
            let now = sim.advance(*time).map_err(failed)?;
            format!("{} later: {}", span(*time), when(now))
        }
        SimCommand::Exhaust { pool, room, lasting } => {
            let pools = matching(catalog, pool)?;
            sim.limit_room(pool.clone(), *room, *lasting).map_err(failed)?;
            let how = if *room == 0 { "exhausted".into() } else { format!("with room for {room}") };
            format!("{} {how} {}", count(pools, "pool"), lasts(lasting))
        }
        SimCommand::Interrupt { target, count: some, all } => {
            let some = if *all { usize::MAX } else { *some };
            let hit = sim.interrupt(target, some).map_err(failed)?;
            let names: Vec<&str> = hit.iter().take(5).map(|id| id.as_str()).collect();
            let more = if hit.len() > names.len() { ", …" } else { "" };
            let machines = count(hit.len() as u64, "machine");
            format!("notice given to {machines}: {}{more}", names.join(", "))
        }
        SimCommand::Reclaim { machine } => {
            sim.reclaim(machine).map_err(failed)?;
            format!("{machine} is gone")
        }
        SimCommand::StripTags { machine } => {
            sim.strip_tags(machine).map_err(failed)?;
            format!("{machine} has lost its tags")
        }
        SimCommand::Outage { area, lossy, lasting } => {
            let area = resolve(catalog, area)?;
            let end = lasts(lasting);
            let said = format!("{area} does not answer {end}");
            if *lossy { sim.lossy_outage(area, *lasting) } else { sim.outage(area, *lasting) }
                .map_err(failed)?;
            said
        }
        SimCommand::Throttle { cloud, lasting } => {
            each(*cloud, |cloud| sim.throttle(cloud, *lasting))?;
            format!("{} throttled for {}", named(*cloud), span(*lasting))
        }
        SimCommand::LoseAnswers { cloud, percent } => {
            each(*cloud, |cloud| sim.lose_answers(cloud, *percent))?;
            format!("{percent}% of the answers of {} are lost", named(*cloud))
        }
        SimCommand::PartialLists { area } => {
            let area = resolve(catalog, area)?;
            sim.partial_lists(area.clone()).map_err(failed)?;
            format!("lists of {area} are partial until `fleet sim heal`")
        }
        SimCommand::DelayVisibility { cloud, by } => {
            sim.delay_visibility(*cloud, *by).map_err(failed)?;
            format!("{cloud} lists new machines after {}", span(*by))
        }
        SimCommand::Quota { area, market, vcpus } => {
            let area = resolve(catalog, area)?;
            let region = area.region.clone().ok_or_else(|| {
                Failure::new("a quota holds for one region")
                    .hint(format!("write {}/REGION", area.cloud))
                    .exit(Exit::Usage)
            })?;
            sim.set_quota(area.cloud, region, *market, *vcpus).map_err(failed)?;
            format!("{area} allows {vcpus} vCPUs of {market}")
        }
        SimCommand::Heal => {
            sim.heal().map_err(failed)?;
            "all faults are healed".into()
        }
    };
    Ok(Some(said))
}

fn failed(cause: SimError) -> Failure {
    let failure = Failure::new(with_causes(&cause));
    match cause {
        SimError::NoMatch(_) => failure.hint("`fleet sim show` lists machines and their pools"),
        SimError::Damaged { .. } | SimError::Io { .. } | SimError::Exists(_) => failure,
    }
}

fn named(cloud: Option<Cloud>) -> String {
    cloud.map_or_else(|| "every cloud".into(), |cloud| cloud.to_string())
}

fn each(cloud: Option<Cloud>, act: impl Fn(Cloud) -> Result<(), SimError>) -> Answer<()> {
    Cloud::ALL
        .into_iter()
        .filter(|one| cloud.is_none_or(|cloud| cloud == *one))
        .try_for_each(act)
        .map_err(failed)
}

/// How many pools of the catalog a pattern means. None: most likely a typing error.
fn matching(catalog: &Catalog, pattern: &PoolPattern) -> Answer<u64> {
    let pools = catalog.rows.iter().flat_map(|row| {
        [Market::OnDemand, Market::Spot].map(|market| PoolId {
            place: catalog.place(row).clone(),
            instance_type: catalog.kind(row).name.clone(),
            market,
        })
    });
    match pools.filter(|pool| pattern.matches(pool)).count() as u64 {
        0 => Err(Failure::new(format!("no pool of the catalog matches `{pattern}`")).hint(
            "a pool is cloud/region/zone/type/market, `*` allowed: 'aws/us-east-1/*/p5.*/spot'",
        )),
        pools => Ok(pools),
    }
}

/// The cloud of a region, from the catalog.
fn resolve(catalog: &Catalog, place: &Where) -> Answer<Area> {
    let name = match place {
        Where::Area(area) => match &area.region {
            None => return Ok(area.clone()),
            Some(region) => region.as_str(),
        },
        Where::Region(region) => region,
    };
    let cloud = match place {
        Where::Area(area) => Some(area.cloud),
        Where::Region(_) => None,
    };
    let known = catalog.places.iter().filter(|p| cloud.is_none_or(|cloud| p.cloud == cloud));
    if let Some(found) = known.clone().find(|place| place.region.as_str() == name) {
        return Ok(Area::from(found.scope()));
    }
    let failure = Failure::new(format!("the catalog has no region `{name}`"));
    let regions: BTreeSet<&str> = known.map(|place| place.region.as_str()).collect();
    Err(match similar(name, regions).first() {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint("write us-east-1, aws/us-east-1 or aws"),
    })
}

fn show(context: &Context, sim: &Sim, out: &mut Out) -> Answer {
    let settings = sim.settings().map_err(failed)?;
    let faults = sim.faults().map_err(failed)?;
    let machines: Vec<Machine> =
        sim.machines().map_err(failed)?.into_iter().filter(|m| m.state.is_live()).collect();
    let now = sim.clock().now();
    if context.global.output == Format::Json {
        let body = SimShow {
            now: Time(now),
            seed: settings.seed,
            preset: settings.preset.to_string(),
            faults: names(&faults),
            machines: machines.iter().map(machine).collect(),
        };
        out.json(&document(Exit::Done, body))?;
        return Ok(Exit::Done);
    }
    let (preset, seed) = (settings.preset, settings.seed);
    out.text(format!("{BOLD}simulated clouds{BOLD:#}: {}, {preset}, seed {seed}", when(now)));
    for fault in &faults {
        out.text(format!("  {WARN}fault{WARN:#}  {fault}"));
    }
    let mut pools: BTreeMap<(PoolId, &str), u64> = BTreeMap::new();
    for machine in &machines {
        *pools.entry((machine.pool(), machine.state.as_str())).or_default() += 1;
    }
    let mut table = Columns::default();
    table.styled(DIM, [right("n"), left("pool"), left("state")]);
    for ((pool, state), n) in &pools {
        table.row([right(n.to_string()), left(pool.to_string()), left(*state)]);
    }
    if pools.is_empty() {
        out.text("no machines");
    } else {
        out.text(table.render("  ").trim_end());
    }
    Ok(Exit::Done)
}

/// Shows what the clouds ask for.
fn bill(context: &Context, sim: &Sim, out: &mut Out) -> Answer {
    let lines = sim.bill().map_err(failed)?;
    let now = sim.clock().now();
    let sum = |lines: &mut dyn Iterator<Item = &fleet_sim::Billed>| {
        let sum: u128 = lines.filter_map(|line| line.micro_usd_ms).sum();
        MicroUsd(u64::try_from((sum + 1_800_000) / 3_600_000).unwrap_or(u64::MAX))
    };
    let total = sum(&mut lines.iter());
    if context.global.output == Format::Json {
        let one = |line: &fleet_sim::Billed| SimBillLine {
            machine: line.machine.to_string(),
            kind: line.kind.into(),
            fleet: line.fleet.to_string(),
            pool: line.pool.to_string(),
            from: Time(line.from),
            until: Time(line.until),
            running: line.running,
            free: line.free,
            cost_usd: line.amount().map(usd),
        };
        let lines = lines.iter().map(one).collect();
        let body = SimBill { now: Time(now), total_usd: usd(total), lines };
        out.json(&document(Exit::Done, body))?;
        return Ok(Exit::Done);
    }
    out.text(format!("{BOLD}bill of the simulated clouds{BOLD:#} until {}", when(now)));
    type Of<'a> = (&'a str, Cloud, CostKind);
    let mut groups: BTreeMap<Of<'_>, Vec<&fleet_sim::Billed>> = BTreeMap::new();
    for line in &lines {
        let of = (line.fleet.as_str(), line.pool.place.cloud, line.kind);
        groups.entry(of).or_default().push(line);
    }
    let mut table = Columns::default();
    table.styled(
        DIM,
        [
            left("fleet"),
            left("cloud"),
            left("for"),
            right("machines"),
            right("free"),
            right("cost"),
        ],
    );
    for ((fleet, cloud, kind), lines) in &groups {
        let free = lines.iter().filter(|line| line.free).count();
        let cost = match lines.iter().all(|line| line.micro_usd_ms.is_none()) {
            true => "?".to_owned(),
            false => sum(&mut lines.iter().copied()).to_string(),
        };
        let machines = lines.len().to_string();
        let free = if free == 0 { String::new() } else { free.to_string() };
        let fleet = clean_line(fleet);
        let (cloud, kind) = (cloud.as_str(), kind.as_str());
        table.row([
            left(fleet),
            left(cloud),
            left(kind),
            right(machines),
            right(free),
            right(cost),
        ]);
    }
    if !groups.is_empty() {
        let machines = lines.iter().filter(|line| line.kind == CostKind::Machine).count();
        let cells = [
            left("total"),
            left(""),
            left(""),
            right(machines.to_string()),
            right(""),
            right(total.to_string()),
        ];
        table.styled(BOLD, cells);
    }
    match groups.is_empty() {
        true => out.text("no machines"),
        false => out.text(table.render("  ").trim_end()),
    }
    if !groups.is_empty() {
        let text = "no traffic: simulated machines send nothing, and what a spec expects is in reports alone";
        out.text(format!("{DIM}{text}{DIM:#}"));
    }
    if lines.iter().any(|line| line.micro_usd_ms.is_none()) {
        out.text("? these clouds do not know: the image decides how large a disk is, a subnet whether there is an address");
    }
    Ok(Exit::Done)
}

fn machine(machine: &Machine) -> SimMachine {
    let owner = machine.owner.as_ref();
    SimMachine {
        id: machine.id.to_string(),
        provider: machine.place.cloud.into(),
        region: machine.place.region.to_string(),
        zone: machine.place.zone.to_string(),
        r#type: machine.instance_type.to_string(),
        market: machine.market.into(),
        state: Some(machine.state).into(),
        fleet: owner.map(|owner| owner.name.to_string()),
        slot: owner.map(|owner| owner.slot.to_string()),
        hourly_usd: machine.price.map(usd),
        launched_at: Time(machine.launched_at),
        interruption_at: machine.notice.map(|notice| Time(notice.at)),
    }
}
