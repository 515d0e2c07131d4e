//! `fleet simulate`: recorded spot markets, replayed against the planner.

use crate::args::{Format, SimulateArgs};
use crate::context::Context;
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
use fleet_spec::LoadedFleet;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs `fleet simulate`.
pub(crate) fn run(context: &Context, args: &SimulateArgs, out: &mut Out) -> Answer {
    let (policies, files) = policies(&context.global.policy)?;
    let paths = context.paths(&args.spec.specs)?;
    let loaded = context.load(&paths, &files)?;
    let setups =
        loaded.fleets.iter().map(|fleet| setup(fleet, args)).collect::<Answer<Vec<_>>>()?;
    let traces = Trace::load_all(&args.traces)
        .map_err(|error| Failure::new(error.what()).at(error.place()).hint(error.hint()))?;
    let traces: Vec<Trace> = traces.iter().map(|trace| trace.shuffled(args.seed)).collect();
    let samples: usize = traces.iter().map(Trace::samples).sum();
    let progress = progress(loaded.fleets.len() * policies.len() * samples);
    let mut failed = Vec::new();
    let mut fleets = Vec::new();
    for (fleet, setup) in loaded.fleets.iter().zip(&setups) {
        let desired = &fleet.desired;
        let compared: Vec<Compared> = traces
            .iter()
            .map(|trace| {
                progress.set_message(clean_line(&format!("{} on {}", desired.fleet, trace.name)));
                compare_watched(trace, setup, desired, &policies, &|| progress.inc(1))
            })
            .collect();
        let means = overall(&compared, args.penalty);
        let calibrations = calibrations(&compared);
        let replay = Replay {
            desired,
            setup,
            traces: &traces,
            compared: &compared,
            means: &means,
            penalty: args.penalty,
            calibrations: &calibrations,
            show_calibrations: args.calibration,
            assumed: &assumptions(desired, setup, &traces, &policies, args),
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
        if let Some(file) =
            args.chart.as_deref().map(|file| chart(file, desired, loaded.fleets.len()))
        {
            let rows: Vec<_> = means.iter().map(|(row, _)| *row).collect();
            let title = format!("{} on {}", desired.fleet, args.traces.display());
            std::fs::write(&file, fleet_replay::chart::svg(&title, &rows, &calibrations))
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

/// The file of a fleet's chart: of several fleets, each has its own.
fn chart(file: &Path, desired: &Desired, fleets: usize) -> PathBuf {
    if fleets == 1 {
        return file.to_owned();
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}-{}.svg", desired.fleet))
}

/// `--policy` names policies to compare; what is no such name is a file.
fn policies(named: &[PathBuf]) -> Answer<(Vec<Named>, Vec<PathBuf>)> {
    let mut policies = Vec::new();
    let mut files = Vec::new();
    for name in named {
        match name.to_str() {
            Some("all") => policies.extend(Named::ALL),
            Some(word) => match Named::parse(word) {
                Some(policy) => policies.push(policy),
                None if is_file(name) => files.push(name.clone()),
                None => return Err(no_policy(word)),
            },
            None => files.push(name.clone()),
        }
    }
    if policies.is_empty() {
        policies.push(Named::Engine);
    }
    Ok((policies, files))
}

/// Whether this may be a file: it is there, or looks like one.
fn is_file(word: &Path) -> bool {
    word.exists() || word.extension().is_some() || word.components().count() > 1
}

/// A word that is neither a policy nor a file.
fn no_policy(word: &str) -> Failure {
    let words = || Named::ALL.iter().map(|policy| policy.as_str()).chain(["all"]);
    let names = words().collect::<Vec<_>>().join(", ");
    let meant = match fleet_catalog::similar(word, words()).first() {
        Some(near) => format!("did you mean `{near}`? "),
        None => String::new(),
    };
    Failure::new(format!("there is no policy `{word}`, and no file of that name"))
        .at("--policy")
        .hint(format!("{meant}Policies to compare: {names}"))
        .exit(Exit::Usage)
}

/// The recording's machines count for one unit each.
fn setup(fleet: &LoadedFleet, args: &SimulateArgs) -> Answer<Setup> {
    /// A recording says how many of a few dozen machines a zone would carry.
    const MOST: u64 = 10_000;
    let machines = |milli: u64| milli.div_ceil(1000);
    let desired = &fleet.desired;
    let target = machines(desired.capacity.target.0);
    if target == 0 || target > MOST {
        let place = fleet.place_of("spec.capacity.target");
        return Err(Failure::new(format!(
            "fleet `{}` wants {target} units; a recording can be asked for 1 to {MOST}",
            desired.fleet
        ))
        .at(place.map_or_else(|| fleet.file.display().to_string(), |place| place.to_string()))
        .hint("every machine of a recording counts for one unit"));
    }
    let base = machines(desired.capacity.on_demand.0).min(target);
    let notice = args.notice.unwrap_or_default();
    let delay_seconds = args.delay.as_secs() as u32;
    Ok(Setup { target: target as u32, base: base as u32, delay_seconds, notice })
}
