//! `fleet simulate`: recorded spot markets, replayed against the planner.

use crate::args::{Format, SimulateArgs};
use crate::context::{Context, DEFAULT_SPEC};
use crate::exit::Exit;
use crate::fail::{Answer, Failure, Place};
use crate::out::Out;
use crate::output::document;
use crate::output::simulate::Simulate;
use crate::render::simulate::{self, Replay, assumptions};
use crate::text::clean_line;
use fleet_model::Desired;
use fleet_replay::{
    Compared, Named, Setup, Trace, calibrations, compare_watched, overall, replaced,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::path::PathBuf;
use std::time::Duration;

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
    let traces: Vec<Trace> = traces.iter().map(|trace| trace.shuffled(args.seed)).collect();
    let samples: usize = traces.iter().map(Trace::samples).sum();
    let progress = progress(loaded.fleets.len() * policies.len() * samples);
    let mut failed = Vec::new();
    let mut fleets = Vec::new();
    for fleet in &loaded.fleets {
        let desired = &fleet.desired;
        let setup = setup(desired, args)?;
        let compared: Vec<Compared> = traces
            .iter()
            .map(|trace| {
                progress.set_message(clean_line(&format!("{} on {}", desired.fleet, trace.name)));
                compare_watched(trace, &setup, desired, &policies, &|| progress.inc(1))
            })
            .collect();
        let means = overall(&compared, args.penalty);
        let calibrations = calibrations(&compared);
        let replay = Replay {
            desired,
            setup: &setup,
            traces: &traces,
            compared: &compared,
            means: &means,
            penalty: args.penalty,
            calibrations: &calibrations,
            show_calibrations: args.calibration,
            assumed: &assumptions(desired, &setup, &traces, args.penalty, args.seed),
            replaced: &replaced(desired, &traces),
        };
        progress.suspend(|| {
            match context.global.output {
                Format::Text => out.text(simulate::text(&replay)),
                Format::Markdown => out.text(simulate::markdown(&replay)),
                Format::Json => fleets.push(simulate::document(&replay)),
            }
            out.flush();
        });
        if let Some(file) = &args.chart {
            let rows: Vec<_> = means.iter().map(|(row, _)| *row).collect();
            let title = format!("{} on {}", desired.fleet, args.traces.display());
            std::fs::write(file, fleet_replay::chart::svg(&title, &rows, &calibrations))
                .or_fail("cannot write the chart", file.display())?;
            progress.suspend(|| out.aside(format!("chart written to {}", file.display())));
        }
        for one in &compared {
            for gate in args.fail_if.iter().filter(|gate| gate.fails(&one.rows[0].measures)) {
                failed.push(format!("{} on {}: {}", desired.fleet, one.recording, gate.text()));
            }
        }
    }
    progress.finish_and_clear();
    let exit = if failed.is_empty() { Exit::Done } else { Exit::Failed };
    if exit == Exit::Failed {
        out.aside(Failure::new(failed.join("; ")).at("--fail-if"));
    }
    if context.global.output == Format::Json {
        out.json(&document(exit, Simulate { fleets, failed }))?;
    }
    Ok(exit)
}

/// A bar on a terminal; nothing elsewhere. A replay of a year takes minutes.
fn progress(steps: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
    let style =
        ProgressStyle::with_template("replaying {bar:32} {percent}%, {eta} remaining {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
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
    let notice = args.notice.unwrap_or_default();
    Ok(Setup { target: target as u32, base: base as u32, delay_seconds: delay, notice })
}
