//! `fleet catalog import | refresh | list | show`.

use crate::args::{CatalogCommand, Format, ListArgs};
use crate::context::{Context, catalog_file};
use crate::exit::Exit;
use crate::fail::{Answer, Failure, Place};
use crate::out::Out;
use crate::output::catalog::CatalogImport;
use crate::output::document;
use crate::output::words::Time;
use crate::render::catalog::{list_document, markdown, show, show_document, table};
use crate::style::{ADD, DIM};
use crate::text::{thousands, when};
use fleet_catalog::{Query, similar};
use fleet_model::{Catalog, Pattern};
use fleet_provider::with_causes;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Runs `fleet catalog …`.
pub(crate) fn run(context: &Context, command: &CatalogCommand, out: &mut Out) -> Answer {
    match command {
        CatalogCommand::Import { dir } => import(context, dir, out),
        CatalogCommand::Refresh(args) => super::block_on(super::refresh::run(context, args, out)),
        CatalogCommand::List(args) => list(context, args, out),
        CatalogCommand::Show { name } => one(context, name, out),
    }
}

/// The file that an import or a refresh writes.
pub(super) fn kept_in(context: &Context) -> Answer<PathBuf> {
    match context.global.catalog.as_deref() {
        Some("embedded") => Err(Failure::new("the embedded catalog cannot be replaced")
            .at("--catalog")
            .hint("leave the flag out, or name a file")
            .exit(Exit::Usage)),
        Some(file) => Ok(PathBuf::from(file)),
        None => catalog_file().ok_or_else(|| {
            Failure::new("there is no folder for catalogs")
                .hint("set HOME or FLEET_CATALOG, or name a file with --catalog")
        }),
    }
}

fn import(context: &Context, dir: &Path, out: &mut Out) -> Answer {
    // The messages name the file and what was expected in it.
    let (catalog, report) =
        fleet_catalog::import(dir).map_err(|cause| Failure::new(with_causes(&cause)))?;
    let file = kept_in(context)?;
    fleet_catalog::save(&catalog, &file).or_fail("cannot keep the catalog", file.display())?;
    if context.global.output == Format::Json {
        let body = CatalogImport {
            file: file.display().to_string(),
            as_of: Time(catalog.as_of),
            lines: report.lines().into(),
            types: catalog.kinds.len() as u64,
            places: catalog.places.len() as u64,
            offers: report.offers().into(),
        };
        out.json(&document(Exit::Done, body))?;
        return Ok(Exit::Done);
    }
    out.text(&report);
    out.text(format!(
        "\n{ADD}imported{ADD:#} {} types in {} places, {} offers, into {}",
        thousands(catalog.kinds.len() as u64),
        thousands(catalog.places.len() as u64),
        thousands(report.offers().into()),
        file.display()
    ));
    Ok(Exit::Done)
}

/// What the catalog is, as the last line of every list.
fn about(catalog: &Catalog, shown: usize, found: usize) -> String {
    let more = if shown < found {
        format!("{} of {}; -n 0 shows all. ", thousands(shown as u64), thousands(found as u64))
    } else {
        format!("{} found. ", thousands(found as u64))
    };
    format!("{DIM}{more}Prices as of {}, {}{DIM:#}", when(catalog.as_of), catalog.source)
}

fn list(context: &Context, args: &ListArgs, out: &mut Out) -> Answer {
    let catalog = context.catalog()?;
    let ListArgs { gpu, provider, region, kind, family, market, min_vcpus, min_memory_gib, .. } =
        args;
    let query = Query {
        gpu: gpu.clone(),
        cloud: *provider,
        region: region.clone(),
        types: kind.clone(),
        family: family.clone(),
        market: *market,
        min_vcpus: *min_vcpus,
        min_memory_gib: *min_memory_gib,
        sort: args.sort,
        ..Query::default()
    };
    let lines = fleet_catalog::list(&catalog, &query);
    let shown = if args.limit == 0 { lines.len() } else { args.limit.min(lines.len()) };
    match context.global.output {
        Format::Json => out.json(&document(Exit::Done, list_document(&catalog, &lines)))?,
        Format::Markdown => out.text(markdown(&lines[..shown]).trim_end()),
        Format::Text if lines.is_empty() => out.text(nothing(&catalog, args)),
        Format::Text => {
            out.text(table(&lines[..shown]).trim_end());
            out.text(format!("\n{}", about(&catalog, shown, lines.len())));
        }
    }
    Ok(Exit::Done)
}

/// An empty list is most often a slip of the fingers.
fn nothing(catalog: &Catalog, args: &ListArgs) -> String {
    let said = "nothing in the catalog matches";
    let near = |pattern: &Option<Pattern>, names: BTreeSet<&str>| {
        let pattern = pattern.as_ref()?;
        let known = names.iter().any(|name| pattern.matches(name));
        let near =
            if known { None } else { similar(pattern.as_str(), names).first().copied()?.into() };
        near.map(|near: &str| format!("{said}; did you mean `{near}`?"))
    };
    near(&args.gpu, fleet_catalog::accelerator_names(catalog))
        .or_else(|| near(&args.region, fleet_catalog::region_names(catalog)))
        .unwrap_or_else(|| format!("{said}; leave a filter out, or use `*` in it"))
}

fn one(context: &Context, name: &str, out: &mut Out) -> Answer {
    let catalog = context.catalog()?;
    let shown = fleet_catalog::show(&catalog, name).map_err(|unknown| {
        let near: Vec<String> = unknown.similar.iter().map(|name| format!("`{name}`")).collect();
        let hint = if near.is_empty() {
            "`fleet catalog list --type 'p5*'` lists types".to_owned()
        } else {
            format!("did you mean {}?", near.join(" or "))
        };
        Failure::new(unknown.to_string()).hint(hint)
    })?;
    match context.global.output {
        Format::Json => out.json(&document(Exit::Done, show_document(&catalog, &shown)))?,
        Format::Text | Format::Markdown => {
            out.text(show(&shown).trim_end());
            out.text(format!("\n{}", about(&catalog, shown.offers.len(), shown.offers.len())));
        }
    }
    Ok(Exit::Done)
}
