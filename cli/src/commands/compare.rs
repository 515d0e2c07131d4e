//! `fleet compare`: accelerators of all clouds, by what a job on them costs.

use crate::args::{CompareArgs, Format, Perf};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure, Place};
use crate::interrupted::{Lives, Rate, RateBasis};
use crate::out::Out;
use crate::output::compare as output;
use crate::output::document;
use crate::output::words::{Time, usd};
use crate::performance;
use crate::render::compare::{Compared, chart, markdown, text};
use crate::text::{clean_line, count};
use fleet_catalog::similar;
use fleet_model::{Accelerators, Catalog, Chip, Figure, Hedge, Market, Pattern};
use fleet_money::benchmark::Metric;
use fleet_money::chart::bars;
use fleet_money::compare::{
    Absent, Basis, Found, Measure, Useful, Wanted, Way, Work, accelerator_name, pick, ways,
};
use fleet_money::job;
use fleet_money::performance::Table;
use std::collections::BTreeSet;
use std::path::Path;

/// Minutes until a replacement runs: what the planner takes a launch to need.
const REPLACE_MINUTES: f64 = Hedge::READY_AFTER_SECONDS as f64 / 60.0;

/// Runs `fleet compare`.
pub(crate) fn run(context: &Context, args: &CompareArgs, out: &mut Out) -> Answer {
    let catalog = context.catalog()?;
    let names = names(&catalog);
    let gpus: Vec<Pattern> =
        args.gpu.iter().map(|gpu| known(&names, gpu, "--gpu")).collect::<Answer<_>>()?;
    let measure = measure(&args.perf, &catalog)?;
    let wanted = Wanted {
        gpus,
        clouds: args.provider.clone(),
        regions: args.regions.clone(),
        count: args.count,
        nodes: args.nodes,
    };
    let found = pick(&catalog, &wanted);
    if found.picked.is_empty() {
        return Err(nothing(&catalog, &found, args));
    }
    let reference = args.reference.as_deref().map(|name| reference(&names, name, &measure, args));
    let work = Work {
        hours: args.hours,
        reference: reference.transpose()?,
        checkpoint: args.checkpoint_minutes / 60.0,
        restore: args.restart_minutes / 60.0,
        replace: REPLACE_MINUTES / 60.0,
        save_on_notice: args.save_on_notice,
    };
    let lives = Lives::of(context, &catalog, args)?;
    let ways = ways(&found.picked, &work, &measure, &|picked| lives.rate(picked).per_hour);
    let (title, perf) = (title(args), perf_words(&args.perf));
    let assumptions = assumptions(args, &ways, &lives, (&perf, &names));
    let compared = Compared {
        catalog: &catalog,
        found: &found,
        ways: &ways,
        measure: &measure,
        perf: &perf,
        title: &title,
        assumptions: &assumptions,
    };
    let csv = args.csv.as_deref();
    match context.global.output {
        Format::Text | Format::Markdown if csv == Some(Path::new("-")) => {
            out.raw(table(&compared, &lives, args).as_bytes());
        }
        Format::Text => out.text(text(&compared)),
        Format::Markdown => out.text(markdown(&compared)),
        Format::Json => out.json(&document(Exit::Done, body(&compared, &lives, args)))?,
    }
    if let Some(file) = csv.filter(|file| *file != Path::new("-")) {
        std::fs::write(file, table(&compared, &lives, args))
            .or_fail("cannot write the table", file.display())?;
        out.aside(format!("table written to {}", file.display()));
    }
    if let Some(file) = &args.chart {
        std::fs::write(file, bars(&chart(&compared)))
            .or_fail("cannot write the chart", file.display())?;
        out.aside(format!("chart written to {}", file.display()));
    }
    Ok(Exit::Done)
}

/// What `--gpu` can mean: accelerators and chips in the catalog.
fn names(catalog: &Catalog) -> BTreeSet<&str> {
    let coarse = fleet_catalog::accelerator_names(catalog);
    let fine = catalog.kinds.iter().filter_map(|kind| accelerator_name(kind));
    coarse.into_iter().chain(fine).collect()
}

/// An accelerator by any of its names, or an error with what was meant.
fn known(names: &BTreeSet<&str>, gpu: &Pattern, flag: &str) -> Answer<Pattern> {
    let text = gpu.as_str();
    let tpu = format!("tpu-{text}");
    let candidates = [
        text,
        Accelerators::canonical(text),
        // Google's own name for the v5e counts chips; people write `v5e` for it.
        if text.eq_ignore_ascii_case("tpu-v5litepod") { "tpu-v5e" } else { &tpu },
    ];
    for candidate in candidates {
        let pattern = Pattern::new(candidate);
        if names.iter().any(|name| pattern.matches(name)) {
            return Ok(pattern);
        }
    }
    let near: Vec<String> =
        similar(text, names.iter().copied()).iter().map(|name| format!("`{name}`")).collect();
    let hint = if near.is_empty() {
        let all: Vec<&str> = names.iter().copied().collect();
        format!("the catalog has {}", all.join(", "))
    } else {
        format!("did you mean {}?", near.join(" or "))
    };
    Err(Failure::new(format!("no cloud in the catalog has the accelerator `{text}`"))
        .at(flag)
        .hint(hint)
        .exit(Exit::Usage))
}

/// What useful work is.
fn measure(perf: &Perf, catalog: &Catalog) -> Answer<Measure> {
    match perf {
        Perf::Published(figure) => Ok(Measure::Published(*figure)),
        Perf::Measured(metric) => {
            let file = performance::file()?;
            let results = performance::load(&file)?;
            if results.is_empty() {
                return Err(Failure::new("nothing is measured yet")
                    .at(performance::shown(&file))
                    .hint("run examples/benchmark on a machine, and add what it prints with `fleet benchmark add`"));
            }
            Ok(Measure::Measured(*metric, results))
        }
        Perf::File(path) => {
            let text = performance::text_of(path, "cannot read the figures")?;
            let table = Table::parse(&text).map_err(|error| {
                Failure::new(error.what.clone())
                    .at(format!("{}:{}", path.display(), error.line))
                    .hint(error.hint)
                    .exit(Exit::Usage)
            })?;
            if !catalog.kinds.iter().any(|kind| table.of(kind).is_some()) {
                let what = "the table names no accelerator and no type of the catalog";
                return Err(Failure::new(what)
                    .at(path.display())
                    .hint("names are those of `fleet catalog list`: H100, p5.48xlarge, 'g6.*'")
                    .exit(Exit::Usage));
            }
            Ok(Measure::Own(table))
        }
    }
}

/// What so many of an accelerator do in an hour.
fn reference(
    names: &BTreeSet<&str>,
    name: &str,
    measure: &Measure,
    args: &CompareArgs,
) -> Answer<f64> {
    let pattern = known(names, &Pattern::new(name), "--reference")?;
    let none = || {
        Failure::new(format!(
            "there is no figure for `{name}`, so nobody knows what its hours mean"
        ))
        .at("--reference")
        .hint("name another accelerator, or another figure with --perf")
        .exit(Exit::Usage)
    };
    let chip = Chip::named(pattern.as_str()).ok_or_else(none)?;
    let count = args.count.saturating_mul(1000);
    let kind = fleet_model::InstanceKind {
        cloud: fleet_model::Cloud::Aws,
        name: chip.name.into(),
        resources: fleet_model::Resources {
            vcpus: None,
            memory_mib: None,
            architecture: fleet_model::Architecture::X86_64,
            accelerators: Some(Accelerators {
                name: Some(chip.name.to_owned()),
                ..Accelerators::named(chip.accelerator, count)
            }),
            local_disk: None,
            generation: None,
        },
    };
    let useful = measure.of(&kind).ok_or_else(none)?;
    Ok(useful.units.as_f64() * f64::from(args.nodes))
}

/// Nothing was found: what stands in the way.
fn nothing(catalog: &Catalog, found: &Found, args: &CompareArgs) -> Failure {
    let what = format!("no machine with {} is sold at a known price there", either(&args.gpu));
    let regions = fleet_catalog::region_names(catalog);
    let unknown = args
        .regions
        .iter()
        .find(|region| !region.has_wildcards() && !regions.iter().any(|name| region.matches(name)));
    let hint = match unknown {
        Some(region) => {
            let near = similar(region.as_str(), regions.iter().copied());
            let near = near.first().map(|name| format!(": did you mean `{name}`?"));
            format!("no cloud has a region `{}`{}", region.as_str(), near.unwrap_or_default())
        }
        None if found.absent.iter().any(|one| one.3 == Absent::Unpriced) => {
            "the catalog has no price for it; `fleet catalog refresh` asks the clouds".into()
        }
        None => "leave --regions or --provider out".into(),
    };
    Failure::new(what).hint(hint).exit(Exit::Usage)
}

fn title(args: &CompareArgs) -> String {
    let gpus = either(&args.gpu);
    let nodes = match args.nodes {
        1 => String::new(),
        nodes => format!("{nodes} nodes of "),
    };
    let on = args.reference.as_ref().map(|name| format!(" on {name}")).unwrap_or_default();
    format!("{nodes}{} × {gpus}, a job of {} h{on}", args.count, args.hours)
}

/// `H100, A100 or L4`.
fn either(names: &[Pattern]) -> String {
    let names: Vec<&str> = names.iter().map(Pattern::as_str).collect();
    match &names[..] {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => names.join(""),
    }
}

/// What useful work is, in words.
fn perf_words(perf: &Perf) -> String {
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
fn assumptions(
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
            " All machines of a job must live; whoever waits for a replacement is paid for."
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
        said.push(format!(
            "Job: a checkpoint takes {} min (--checkpoint-minutes), a restart {} min \
             (--restart-minutes), a replacement {REPLACE_MINUTES} min; `save` is the best interval \
             between checkpoints{rules}. EC2 does not charge for spot machines that it interrupts in their \
             first hour.{nodes}{notice}",
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
    said.push(
        "Not in these prices: disks, addresses, traffic and taxes. The catalog has no prices of \
         commitments, reservations or capacity blocks."
            .into(),
    );
    said
}

fn useful(useful: &Useful, perf: &Perf) -> output::Useful {
    let figure = match perf {
        Perf::Published(figure) | Perf::Measured(Metric::Figure(figure)) => *figure,
        Perf::Measured(Metric::Training) | Perf::File(_) => Figure::Bf16,
    };
    let said = |chip: &Chip| (Some(chip.grade), chip.source_of(figure).to_owned());
    let (basis, (grade, source)) = match useful.basis {
        Basis::Published(chip) => (output::Basis::Published, said(chip)),
        Basis::NotMeasured(chip) => (output::Basis::PublishedInstead, said(chip)),
        Basis::Measured(at) => (output::Basis::Measured, (None, format!("benchmark of {at}"))),
        Basis::Own => {
            let file = match perf {
                Perf::File(path) => path.display().to_string(),
                Perf::Published(_) | Perf::Measured(_) => String::new(),
            };
            (output::Basis::Own, (None, file))
        }
    };
    let grade = grade.map(|grade| grade.as_str().to_owned());
    output::Useful { units: useful.units.as_f64(), basis, grade, source }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The interval between checkpoints by a rule of thumb, in minutes.
fn rule(way: &Way, args: &CompareArgs, rule: fn(f64, f64) -> f64) -> Option<f64> {
    let rate = way.rate * f64::from(way.picked.machines);
    (rate > 0.0).then(|| rule(args.checkpoint_minutes / 60.0, rate) * 60.0)
}

fn one(way: &Way, rate: Rate, args: &CompareArgs) -> output::Way {
    let picked = &way.picked;
    let job = way.job.map(|job| output::Job {
        work_hours: job.work_hours,
        expected_hours: finite(job.expected.hours),
        interruptions: finite(job.expected.interruptions),
        checkpoint_every_minutes: job.expected.interval.map(|hours| hours * 60.0),
        young_minutes: rule(way, args, job::young),
        daly_minutes: rule(way, args, job::daly),
        free_machine_hours: job.free_hours,
        cost_usd: job.cost.map(usd),
        per_useful_usd: job.per_useful.map(usd),
    });
    let basis = match rate.basis {
        RateBasis::OnDemand => output::RateBasis::OnDemand,
        RateBasis::Learned { .. } => output::RateBasis::Learned,
        RateBasis::Prior => output::RateBasis::Prior,
        RateBasis::Said => output::RateBasis::Said,
    };
    output::Way {
        accelerator: picked.accelerator.clone(),
        provider: picked.place.cloud.into(),
        region: picked.place.region.to_string(),
        r#type: picked.kind.name.to_string(),
        market: picked.market.into(),
        machines: picked.machines,
        machines_per_node: picked.per_node,
        accelerators: picked.accelerators_milli as f64 / 1000.0,
        hourly_usd: usd(way.hourly),
        accelerator_hourly_usd: way.per_accelerator.map(usd),
        committed_hourly_usd: None,
        useful: way.useful.as_ref().map(|one| useful(one, &args.perf)),
        interruptions: output::Rate { per_hour: way.rate, basis },
        job,
    }
}

fn body(compared: &Compared<'_>, lives: &Lives, args: &CompareArgs) -> output::Compare {
    let absent = compared.found.absent.iter().map(|(accelerator, cloud, market, why)| {
        let why = match why {
            Absent::Unpriced => output::AbsentWhy::Unpriced,
            Absent::NotSold => output::AbsentWhy::NotSold,
        };
        let (provider, market) = ((*cloud).into(), (*market).into());
        output::Absent { accelerator: accelerator.clone(), provider, market, why }
    });
    let perf = match &args.perf {
        Perf::Published(figure) => figure.as_str().to_owned(),
        Perf::Measured(Metric::Figure(figure)) => format!("measured:{figure}"),
        Perf::Measured(Metric::Training) => "measured:training".into(),
        Perf::File(path) => path.display().to_string(),
    };
    output::Compare {
        source: compared.catalog.source.to_string(),
        as_of: Time(compared.catalog.as_of),
        job: output::JobAsked {
            count: args.count,
            nodes: args.nodes,
            hours: args.hours,
            reference: args.reference.clone(),
            checkpoint_minutes: args.checkpoint_minutes,
            restart_minutes: args.restart_minutes,
            replace_minutes: REPLACE_MINUTES,
            save_on_notice: args.save_on_notice,
        },
        perf,
        useful_unit: compared.measure.scale().name.to_owned(),
        ways: compared.ways.iter().map(|way| one(way, lives.rate(&way.picked), args)).collect(),
        absent: absent.collect(),
        assumptions: compared.assumptions.to_vec(),
    }
}

/// Everything as CSV. Unknown is an empty cell.
fn table(compared: &Compared<'_>, lives: &Lives, args: &CompareArgs) -> String {
    let mut out = String::from(
        "accelerator,provider,region,type,market,machines,accelerators,hourlyUsd,\
         acceleratorHourlyUsd,usefulUnits,interruptionsPerMachineHour,workHours,expectedHours,\
         interruptions,checkpointEveryMinutes,costUsd,perUsefulUsd,usefulUnit,pricesAsOf\n",
    );
    let cell = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value}"));
    for way in compared.ways {
        let row = one(way, lives.rate(&way.picked), args);
        let job = row.job.as_ref();
        let cells = [
            quoted(&row.accelerator),
            way.picked.place.cloud.to_string(),
            quoted(&row.region),
            quoted(&row.r#type),
            way.picked.market.to_string(),
            row.machines.to_string(),
            row.accelerators.to_string(),
            row.hourly_usd.to_string(),
            cell(row.accelerator_hourly_usd),
            cell(row.useful.as_ref().map(|useful| useful.units)),
            row.interruptions.per_hour.to_string(),
            cell(job.map(|job| job.work_hours)),
            cell(job.and_then(|job| job.expected_hours)),
            cell(job.and_then(|job| job.interruptions)),
            cell(job.and_then(|job| job.checkpoint_every_minutes)),
            cell(job.and_then(|job| job.cost_usd)),
            cell(job.and_then(|job| job.per_useful_usd)),
            compared.measure.scale().name.to_owned(),
            compared.catalog.as_of.to_string(),
        ];
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

/// A cell that holds anything. A name of a catalog must not become a formula of a spreadsheet.
fn quoted(text: &str) -> String {
    let text = clean_line(text);
    let safe = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text };
    if safe.contains([',', '"']) { format!("\"{}\"", safe.replace('"', "\"\"")) } else { safe }
}

/// How many machines of how many fleets taught us something.
pub(crate) fn seen(interruptions: u64, machine_hours: f64) -> String {
    format!("{} in {machine_hours:.0} machine-hours", count(interruptions, "interruption"))
}
