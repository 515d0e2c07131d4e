//! What a comparison is about and takes for granted, in sentences.

use super::compare_rows::rule;
use crate::args::{CompareArgs, Perf};
use crate::interrupted::Lives;
use crate::text::clean_line;
use fleet_model::{Accelerators, Cloud, Figure, Hedge, Market, Pattern};
use fleet_money::benchmark::Metric;
use fleet_money::compare::{Offer, Way};
use fleet_money::job;
use std::collections::BTreeSet;

/// Minutes until a replacement runs: what the planner takes a launch to need.
pub(crate) const REPLACE_MINUTES: f64 = Hedge::READY_AFTER_SECONDS as f64 / 60.0;

/// What is compared, in a line.
pub(crate) fn title(args: &CompareArgs) -> String {
    let gpus = either(&args.gpu);
    let nodes = match args.nodes {
        1 => String::new(),
        nodes => format!("{nodes} nodes of "),
    };
    let on = args.reference.as_ref().map(|name| format!(" on {name}")).unwrap_or_default();
    format!("{nodes}{} × {gpus}, a job of {} h{on}", args.count, args.hours)
}

/// `H100, A100 or L4`.
pub(crate) fn either(names: &[Pattern]) -> String {
    let names: Vec<&str> = names.iter().map(Pattern::as_str).collect();
    match &names[..] {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => names.join(""),
    }
}

/// What useful work is, in words.
pub(crate) fn perf_words(perf: &Perf) -> String {
    match perf {
        Perf::Published(figure) => format!("Useful work is {}, as published", figure.describe()),
        Perf::Measured(Metric::Training) => {
            "Useful work is training tokens, as measured by examples/benchmark".into()
        }
        Perf::Measured(Metric::Figure(figure)) => {
            let name = match figure {
                Figure::Bandwidth | Figure::Memory => figure.describe().to_owned(),
                Figure::Fp32
                | Figure::Tf32
                | Figure::Bf16
                | Figure::Fp16
                | Figure::Fp8
                | Figure::Int8 => {
                    format!("{} of matrix products", figure.as_str())
                }
            };
            format!("Useful work is {name}, as measured by examples/benchmark")
        }
        Perf::File(path) => format!("Useful work is what {} says", path.display()),
    }
}

/// What the figures take for granted, in sentences.
pub(crate) fn assumptions(
    args: &CompareArgs,
    ways: &[Way],
    lives: &Lives,
    (perf, names): (&str, &BTreeSet<&str>),
) -> Vec<String> {
    let mut said = vec![format!(
        "{perf}. Peaks are not reached: two machines compare as well as their figures do."
    )];
    if matches!(args.perf, Perf::Measured(_) | Perf::File(_)) {
        said = vec![format!("{perf}.")];
    }
    if ways.iter().any(|way| way.picked.market == Market::Spot) {
        said.push(lives.words(ways));
        let nodes = if ways.iter().any(|way| way.picked.machines > 1) {
            " A job needs all its machines; while one is replaced, the others wait and are paid for."
        } else {
            ""
        };
        let notice = if args.save_on_notice {
            " Where the notice is as long as a checkpoint takes (aws 108 s, gcp and azure 27 s), the \
             work is saved then."
        } else {
            ""
        };
        let rules =
            ways.iter().find(|way| way.job.is_some_and(|job| job.expected.interval.is_some()));
        let rules = rules.map(|way| {
            let minutes = |by: fn(f64, f64) -> f64| rule(way, args, by).unwrap_or_default();
            format!(
                " (for {} on {}: {:.0} min; Young's rule says {:.0}, Daly's {:.0})",
                way.picked.accelerator,
                way.picked.place.cloud,
                way.job.and_then(|job| job.expected.interval).unwrap_or_default() * 60.0,
                minutes(job::young),
                minutes(job::daly),
            )
        });
        let rules = rules.unwrap_or_default();
        let aws = |way: &&Way| way.picked.place.cloud == Cloud::Aws;
        let ec2 = match ways.iter().filter(aws).any(|way| way.picked.market == Market::Spot) {
            true => {
                " EC2 does not charge for spot machines that it interrupts in their first hour."
            }
            false => "",
        };
        said.push(format!(
            "Job: a checkpoint takes {} min (--checkpoint-minutes), a restart {} min \
             (--restart-minutes), a replacement {REPLACE_MINUTES} min; `save` is the best interval \
             between checkpoints{rules}.{ec2}{nodes}{notice}",
            args.checkpoint_minutes, args.restart_minutes,
        ));
    }
    if ways.iter().any(|way| way.picked.kind.spans_hosts()) {
        said.push(
            "A TPU slice over several hosts is compared, and not launched: it is no machine."
                .into(),
        );
    }
    if ways.iter().any(|way| way.picked.per_node > 1) {
        said.push(
            "Where no machine has as many accelerators, several make up a node, without the fast \
             link that one board has."
                .into(),
        );
    }
    let asked = u64::from(args.count) * u64::from(args.nodes) * 1000;
    if ways.iter().any(|way| way.picked.per_node == 1 && way.picked.accelerators_milli > asked) {
        said.push(
            "Where no machine has as few accelerators, the smallest is listed, and all of it works."
                .into(),
        );
    }
    for gpu in args.gpu.iter().filter(|gpu| !gpu.has_wildcards()) {
        let more = format!("{}-", Accelerators::canonical(gpu.as_str()).to_uppercase());
        let listed: BTreeSet<&str> =
            ways.iter().map(|way| way.picked.accelerator.as_str()).collect();
        let other = names
            .iter()
            .find(|name| name.to_uppercase().starts_with(&more) && !listed.contains(*name));
        if let Some(other) = other {
            said.push(format!("Not among them: {other}. '{}*' is every size.", gpu.as_str()));
        }
    }
    said.push(match &args.commitments {
        None => "Not in these prices: disks, addresses, traffic and taxes. The catalog has no prices of \
                 commitments, reservations or capacity blocks; --commitments FILE adds those that you know."
            .into(),
        Some(_) => "Not in these prices: disks, addresses, traffic and taxes.".into(),
    });
    said.extend(args.commitments.as_ref().map(|file| committed(&file.display().to_string(), ways)));
    said
}

/// Where prices of commitments come from, and what they leave out.
fn committed(file: &str, ways: &[Way]) -> String {
    let one = |way: &Way| {
        let Offer { instance_type, region, term, until, source, .. } =
            way.picked.offer.as_deref()?;
        let term = term.as_ref().map(|term| format!(", {term}"));
        let until = until.map(|day| format!(", covers until {day}"));
        let source = source.as_ref().map(|source| format!(" ({source})"));
        let parts: Vec<String> = [term, until, source].into_iter().flatten().collect();
        Some(clean_line(&format!("{instance_type} in {region}{}", parts.concat())))
    };
    let all: Vec<String> = ways.iter().filter_map(one).collect();
    if all.is_empty() {
        return format!("{file} has no commitment for these accelerators there.");
    }
    format!(
        "Reserved, at prices of {file}: {}. A commitment is paid for whether it is used or not; these rows \
         count the hours of the job alone.",
        all.join("; ")
    )
}
