//! `fleet benchmark add | list | remove`.

use crate::args::{BenchmarkCommand, Format};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::out::Out;
use crate::output::compare::{Benchmark, benchmark_document};
use crate::output::titled;
use crate::performance;
use crate::render::compare::{benchmarks, benchmarks_markdown};
use crate::style::{ADD, REMOVE, WARN};
use crate::text::{clean_line, count, when};
use fleet_model::Catalog;
use fleet_money::benchmark::{BenchmarkResult, WrongType};
use std::path::{Path, PathBuf};

/// Runs `fleet benchmark …`.
pub(crate) fn run(context: &Context, command: &BenchmarkCommand, out: &mut Out) -> Answer {
    let file = performance::file()?;
    let results = performance::load(&file)?;
    match command {
        BenchmarkCommand::Add { files, kind } => {
            add(context, (&file, results), (files, kind.as_deref()), out)
        }
        BenchmarkCommand::List => {
            let none = "no results yet; run examples/benchmark on a machine, and add what it \
                        prints with `fleet benchmark add`";
            match context.global.output {
                Format::Json => {
                    out.json(&titled("benchmark list", Exit::Done, document(&file, &results)))?
                }
                Format::Markdown => out.text(benchmarks_markdown(&results).trim_end()),
                Format::Text if results.is_empty() => out.text(none),
                Format::Text => out.text(benchmarks(&results).trim_end()),
            }
            Ok(Exit::Done)
        }
        BenchmarkCommand::Remove { number } => remove(context, (&file, results), *number, out),
    }
}

fn document(file: &Path, results: &[BenchmarkResult]) -> Benchmark {
    benchmark_document(file, results)
}

/// Adds all files, or none of them. What is there already is not added twice.
fn add(
    context: &Context,
    (file, mut results): (&Path, Vec<BenchmarkResult>),
    (files, kind): (&[PathBuf], Option<&str>),
    out: &mut Out,
) -> Answer {
    let catalog = context.catalog()?;
    let mut said = Vec::new();
    for path in files {
        let text = performance::text_of(path, "cannot read the result")?;
        let mut result = BenchmarkResult::parse(&text).map_err(|cause| {
            Failure::new(format!("the result cannot be added: {cause}"))
                .at(path.display())
                .hint("a result is what examples/benchmark/benchmark.py prints; --type names its machine type")
        })?;
        if let Some(kind) = kind {
            result.instance_type = Some(kind.to_owned());
        }
        if let Err(wrong) = result.check_type(&catalog) {
            out.aside(doubt(&catalog, &result, wrong, path)?);
        }
        let line = format!("{} of {}", clean_line(&result.subject()), when(result.at));
        if results.contains(&result) {
            said.push(format!("{line} is there already"));
        } else {
            said.push(format!("{ADD}added{ADD:#} {line}"));
            results.push(result);
        }
    }
    performance::save(file, results.clone())?;
    if context.global.output == Format::Json {
        out.json(&titled("benchmark add", Exit::Done, document(file, &results)))?;
        return Ok(Exit::Done);
    }
    said.iter().for_each(|line| out.text(line));
    let all = count(results.len() as u64, "result");
    let file = performance::shown(file);
    out.text(format!("{all} in {file}; `fleet compare --perf measured` uses them"));
    Ok(Exit::Done)
}

/// What to say of a result of a type that the catalog does not know. One of another machine is refused: it would
/// be used as if it had been measured on that type.
fn doubt(
    catalog: &Catalog,
    result: &BenchmarkResult,
    wrong: WrongType,
    path: &Path,
) -> Result<String, Failure> {
    let name = result.instance_type.as_deref().unwrap_or_default();
    let refuse = |what: String| {
        Failure::new(format!("the result cannot be added: {what}"))
            .at(path.display())
            .hint("--type names the machine that was measured; without it the result counts for its accelerator")
    };
    let shown = clean_line(name);
    match wrong {
        WrongType::NoAccelerator => Err(refuse(format!("`{shown}` has no accelerator"))),
        WrongType::Other { measured, has } => {
            Err(refuse(format!("it is of {measured}, and `{shown}` has {}", clean_line(&has))))
        }
        WrongType::Unknown => {
            let names = catalog.kinds.iter().map(|kind| kind.name.as_str());
            let near = match fleet_catalog::similar(name, names).first() {
                Some(near) => format!("; did you mean `{near}`?"),
                None => String::new(),
            };
            Ok(format!("{WARN}warning{WARN:#}: the catalog does not know `{shown}`{near}"))
        }
    }
}

fn remove(
    context: &Context,
    (file, mut results): (&Path, Vec<BenchmarkResult>),
    number: usize,
    out: &mut Out,
) -> Answer {
    let Some(at) = number.checked_sub(1).filter(|at| *at < results.len()) else {
        return Err(Failure::new(format!("there is no result {number}"))
            .hint(match results.len() {
                0 => "the table is empty".to_owned(),
                last => format!("`fleet benchmark list` shows the numbers, 1 to {last}"),
            })
            .exit(Exit::Usage));
    };
    let gone = results.remove(at);
    performance::save(file, results.clone())?;
    if context.global.output == Format::Json {
        out.json(&titled("benchmark remove", Exit::Done, document(file, &results)))?;
    } else {
        let line = format!("{} of {}", clean_line(&gone.subject()), when(gone.at));
        out.text(format!("{REMOVE}removed{REMOVE:#} {line}"));
    }
    Ok(Exit::Done)
}
