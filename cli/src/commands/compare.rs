//! `fleet compare`: accelerators of all clouds, by what a job on them costs.

use crate::args::{CompareArgs, Format, Perf};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure, Place};
use crate::interrupted::Lives;
use crate::out::Out;
use crate::output::document;
use crate::performance;
use crate::render::compare::{Compared, chart, markdown, text};
use crate::render::compare_rows::{body, table};
use crate::render::compare_words::{REPLACE_MINUTES, assumptions, either, perf_words, title};
use crate::text::clean_line;
use fleet_catalog::similar;
use fleet_model::{Accelerators, Catalog, Chip, Pattern};
use fleet_money::chart::bars;
use fleet_money::compare::{
    Absent, Found, Measure, Offer, Wanted, Work, accelerator_name, offers, pick, pick_committed,
    ways,
};
use fleet_money::performance::Table;
use std::collections::BTreeSet;
use std::path::Path;

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
    let mut found = pick(&catalog, &wanted);
    if let Some(file) = &args.commitments {
        let offers = commitments(file)?;
        let (picked, unknown) = pick_committed(&catalog, &wanted, &offers);
        found.picked.extend(picked);
        for offer in unknown {
            out.aside(format!(
                "{}:{}: the catalog has no {} on {} in {}",
                file.display(),
                offer.line,
                clean_line(offer.instance_type.as_str()),
                offer.cloud,
                clean_line(&offer.region)
            ));
        }
    }
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

/// Prices of commitments, as the user knows them.
fn commitments(file: &Path) -> Answer<Vec<Offer>> {
    let text = performance::text_of(file, "cannot read the prices of commitments")?;
    offers(&text).map_err(|error| {
        Failure::new(error.what.clone())
            .at(format!("{}:{}", file.display(), error.line))
            .hint(error.hint)
            .exit(Exit::Usage)
    })
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
