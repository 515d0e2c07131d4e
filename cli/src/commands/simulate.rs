//! `fleet simulate`: recorded spot markets, replayed against the planner.

use crate::args::{Format, SimulateArgs};
use crate::context::{Context, DEFAULT_SPEC};
use crate::exit::Exit;
use crate::fail::{Answer, Failure, Place};
use crate::out::Out;
use crate::render::simulate;
use fleet_model::Desired;
use fleet_replay::{Compared, Named, Setup, Trace, compare, overall};
use std::path::PathBuf;

/// Runs `fleet simulate`.
pub(crate) fn run(context: &Context, args: &SimulateArgs, out: &mut Out) -> Answer {
    let (policies, files) = policies(&context.global.policy);
    let paths = context.paths(&args.spec.specs)?;
    let loaded = context.load(&paths, &files)?;
    let traces = Trace::load_all(&args.traces).map_err(|cause| {
        Failure::new(cause.to_string()).hint(
            "a recording is a folder with trace.json, capacity.csv and price.csv, or a folder of \
             JSON files of the public spot-traces set",
        )
    })?;
    let mut failed = Vec::new();
    let mut documents = Vec::new();
    for fleet in &loaded.fleets {
        let desired = &fleet.desired;
        let setup = setup(desired, args)?;
        let compared: Vec<Compared> = traces
            .iter()
            .map(|trace| compare(&trace.shuffled(args.seed), &setup, desired, &policies))
            .collect();
        let means = overall(&compared);
        match context.global.output {
            Format::Text => out.text(simulate::text(desired, &setup, &compared, &means)),
            Format::Markdown => out.text(simulate::markdown(desired, &compared, &means)),
            Format::Json => documents.push(simulate::document(desired, &setup, &compared, &means)),
        }
        if let Some(file) = &args.chart {
            let rows: Vec<_> = means.iter().map(|(row, _)| *row).collect();
            let title = format!("{} on {}", desired.fleet, args.traces.display());
            std::fs::write(file, fleet_replay::chart::svg(&title, &rows))
                .or_fail("cannot write the chart", file.display())?;
            out.aside(format!("chart written to {}", file.display()));
        }
        for one in &compared {
            for gate in args.fail_if.iter().filter(|gate| gate.fails(&one.rows[0].measures)) {
                failed.push(format!("{} on {}: {}", desired.fleet, one.recording, gate.text()));
            }
        }
    }
    if context.global.output == Format::Json {
        // One fleet is the rule; its document stands alone.
        match documents.as_slice() {
            [one] => out.json(one)?,
            all => out.json(&simulate::several(all))?,
        }
    }
    if failed.is_empty() {
        return Ok(Exit::Done);
    }
    Err(Failure::new(failed.join("; ")).at("--fail-if"))
}

/// `--policy` names policies to compare; what is no such name is a file.
fn policies(named: &[PathBuf]) -> (Vec<Named>, Vec<PathBuf>) {
    let mut policies = Vec::new();
    let mut files = Vec::new();
    for name in named {
        match name.to_str() {
            Some("all") => policies.extend(Named::ALL),
            Some(word) if Named::parse(word).is_some() => policies.extend(Named::parse(word)),
            Some(_) | None => files.push(name.clone()),
        }
    }
    if policies.is_empty() {
        policies.push(Named::Engine);
    }
    (policies, files)
}

/// The recording's machines count for one unit each.
fn setup(desired: &Desired, args: &SimulateArgs) -> Answer<Setup> {
    /// A recording says how many of a few dozen machines a zone would carry.
    const MOST: u64 = 10_000;
    let machines = |milli: u64| milli.div_ceil(1000);
    let target = machines(desired.capacity.target.0);
    if target == 0 || target > MOST {
        return Err(Failure::new(format!(
            "fleet {} wants {target} units; a recording can be asked for 1 to {MOST}",
            desired.fleet
        ))
        .at(DEFAULT_SPEC)
        .hint("every machine of a recording counts for one unit"));
    }
    let delay = u32::try_from(args.delay.as_secs()).unwrap_or(u32::MAX).clamp(1, 86_400);
    let base = machines(desired.capacity.on_demand.0).min(target);
    Ok(Setup { target: target as u32, base: base as u32, delay_seconds: delay })
}
