//! `fleet validate`: everything that can be known without a cloud.

use crate::args::{Format, ValidateArgs};
use crate::context::{Context, invalid};
use crate::exit::Exit;
use crate::fail::Answer;
use crate::filters::{nothing_left, unapproved, unknown_names};
use crate::out::Out;
use crate::output::common::{LeftOut, diagnostics};
use crate::output::document;
use crate::output::validate::{ValidFleet, Validate};
use crate::output::words::usd;
use crate::style::{ADD, BOLD, DIM, WARN};
use crate::text::{clean_line, count, markdown, monthly, thousands};
use fleet_core::eligible;
use fleet_model::{Catalog, Desired};
use fleet_spec::{Broken, Diagnostic, Diagnostics, Loaded, LoadedFleet};

mod effective;

/// Runs `fleet validate`.
pub(crate) fn run(context: &Context, args: &ValidateArgs, out: &mut Out) -> Answer {
    let catalog = context.catalog()?;
    let paths = context.paths(&args.spec.specs)?;
    let options = context.options(&context.global.policy);
    let format = context.global.output;
    let mut loaded = match fleet_spec::load(&paths, &options) {
        Ok(loaded) => loaded,
        Err(problems) => return refuse(&problems, format, out),
    };
    loaded.fleets.sort_by(|a, b| a.desired.fleet.cmp(&b.desired.fleet));
    let mut problems = loaded.warnings.0.clone();
    for fleet in &loaded.fleets {
        match nothing_left(fleet, &catalog).or_else(|| unapproved(fleet, &catalog)) {
            Some(error) => problems.push(error),
            None => problems.extend(unknown(fleet, &catalog)),
        }
    }
    let problems = Diagnostics(problems);
    if problems.has_errors() {
        return refuse(&problems, format, out);
    }
    match format {
        Format::Json => {
            out.json(&document(Exit::Done, body(&loaded, &catalog, &problems, args.show)))?
        }
        Format::Text if args.show => {
            if !problems.is_empty() {
                out.aside(format!("{}\n", problems.render(true).trim_end()));
            }
            effective::text(&loaded.fleets, out);
        }
        Format::Markdown if args.show => {
            out.text("```yaml");
            effective::text(&loaded.fleets, out);
            out.text("```");
        }
        Format::Text => text(&loaded, &catalog, &problems, out),
        Format::Markdown => {
            for fleet in &loaded.fleets {
                let name = markdown(fleet.desired.fleet.as_str());
                out.text(format!(
                    "- ✅ `{name}`: {}",
                    markdown(&summary(&fleet.desired, &catalog))
                ));
            }
            for problem in &problems.0 {
                out.text(format!("- ⚠️ {}", markdown(&problem.message)));
            }
        }
    }
    Ok(Exit::Done)
}

/// Tells warnings beside the result of another command, and which fleets it leaves out as invalid.
/// How the command ends because of them.
pub(crate) fn warn(loaded: &Loaded, format: Format, out: &mut Out) -> Exit {
    if format == Format::Text && !loaded.warnings.is_empty() {
        out.aside(format!("{}\n", loaded.warnings.render(true).trim_end()));
    }
    for broken in &loaded.broken {
        out.aside(broken.problems.render(true).trim_end());
        let fleet =
            broken.fleet.as_ref().map_or_else(String::new, |name| format!("fleet `{name}`"));
        let what = if fleet.is_empty() { "this file".into() } else { fleet };
        out.aside(format!("{WARN}note:{WARN:#} {what} is left out; the others go on\n"));
    }
    if loaded.broken.is_empty() { Exit::Done } else { Exit::SpecInvalid }
}

/// The fleets that are left out, as a list for programs.
pub(crate) fn left_out(broken: &[Broken]) -> Vec<LeftOut> {
    broken.iter().map(LeftOut::broken).collect()
}

/// Names that the catalog does not know, as warnings: another catalog may know them.
fn unknown(fleet: &LoadedFleet, catalog: &Catalog) -> Vec<Diagnostic> {
    let warn = |(path, name, near): (String, String, Option<String>)| {
        let hint = near.map_or_else(
            || "`fleet catalog list` shows what it knows; a newer one can be imported".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        let message = format!("the catalog knows nothing called `{name}`");
        fleet.error_at(&path, message, hint).into_warning()
    };
    unknown_names(fleet, catalog).into_iter().map(warn).collect()
}

fn refuse(problems: &Diagnostics, format: Format, out: &mut Out) -> Answer {
    if format == Format::Json {
        let exit = Exit::SpecInvalid;
        let diagnostics = diagnostics(problems);
        out.json(&document(exit, Validate { valid: false, fleets: Vec::new(), diagnostics }))?;
        return Ok(exit);
    }
    let mut failure = invalid(problems);
    let errors = problems.errors().count() as u64;
    if errors > 1 {
        failure.what = format!("{}\n\n{}", failure.what.trim_end(), count(errors, "error"));
    }
    Err(failure)
}

/// A fleet in one line.
fn summary(desired: &Desired, catalog: &Catalog) -> String {
    let goal = &desired.capacity;
    let mut parts = vec![format!("{} {}", goal.target, goal.unit)];
    match (goal.on_demand.is_zero(), goal.spot.is_zero()) {
        (false, false) => parts.push(format!("{} on-demand + {} spot", goal.on_demand, goal.spot)),
        (true, false) => parts.push("all spot".into()),
        (false, true) => parts.push("all on-demand".into()),
        (true, true) => {}
    }
    let mut clouds: Vec<&str> = Vec::new();
    for rule in &desired.placement.clouds {
        if !clouds.contains(&rule.cloud.as_str()) {
            clouds.push(rule.cloud.as_str());
        }
    }
    parts.push(clouds.join(" "));
    parts.push(desired.placement.strategy.as_str().into());
    if let Some(limit) = desired.budget.hourly {
        parts.push(format!("at most {limit}/h ({}/month)", monthly(limit)));
    }
    let pools = eligible(desired, catalog).offerings.len() as u64;
    parts.push(format!("{} pools to choose from", thousands(pools)));
    parts.join(", ")
}

fn text(loaded: &Loaded, catalog: &Catalog, problems: &Diagnostics, out: &mut Out) {
    for fleet in &loaded.fleets {
        let name = clean_line(fleet.desired.fleet.as_str());
        let file = fleet.file.display();
        out.text(format!("{ADD}ok{ADD:#}  {BOLD}{name}{BOLD:#}  {DIM}{file}{DIM:#}"));
        out.text(crate::text::wrap("    ", &summary(&fleet.desired, catalog)));
        if !fleet.defaults.is_empty() {
            out.text(format!("    over defaults {}", clean_line(&fleet.defaults.join(", "))));
        }
        if !fleet.policies.is_empty() {
            out.text(format!("    under policy {}", clean_line(&fleet.policies.join(", "))));
        }
    }
    for problem in &problems.0 {
        out.text(format!("\n{}", problem.render(true).trim_end()));
    }
    let fleets = count(loaded.fleets.len() as u64, "fleet");
    let policies = loaded.policies.len() as u64;
    let policies = match policies {
        0 => String::new(),
        1 => ", 1 policy".into(),
        n => format!(", {n} policies"),
    };
    let defaults = match loaded.defaults.len() {
        0 => String::new(),
        n => format!(", {}", count(n as u64, "Defaults document")),
    };
    out.text(format!(
        "\n{fleets}{defaults}{policies}, {}",
        count(problems.0.len() as u64, "warning")
    ));
}

fn body(loaded: &Loaded, catalog: &Catalog, problems: &Diagnostics, show: bool) -> Validate {
    let one = |fleet: &LoadedFleet| {
        let goal = &fleet.desired.capacity;
        ValidFleet {
            fleet: fleet.desired.fleet.to_string(),
            file: fleet.file.display().to_string(),
            unit: goal.unit.into(),
            target: goal.target.as_f64(),
            on_demand: goal.on_demand.as_f64(),
            spot: goal.spot.as_f64(),
            strategy: fleet.desired.placement.strategy.into(),
            hourly_limit_usd: fleet.desired.budget.hourly.map(usd),
            pools: eligible(&fleet.desired, catalog).offerings.len() as u64,
            policies: fleet.policies.clone(),
            defaults: fleet.defaults.clone(),
            effective: show.then(|| effective::values(fleet)),
        }
    };
    let fleets = loaded.fleets.iter().map(one).collect();
    Validate { valid: true, fleets, diagnostics: diagnostics(problems) }
}
