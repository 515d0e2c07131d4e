//! `fleet catalog refresh`: a cloud's own word of today, put into the catalog.

use super::catalog::kept_in;
use crate::args::{Format, RefreshArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure, Place};
use crate::out::Out;
use crate::output::catalog::CatalogRefresh;
use crate::output::document;
use crate::output::words::{Time, names};
use crate::style::{ADD, DIM, WARN};
use crate::text::{age, clean_line, count, thousands, when};
use fleet_catalog::{Merged, Sold};
use fleet_model::{Catalog, Timestamp};
use fleet_provider::{Class, Clock, Error, Listed, PriceListRequest};
use fleet_run::SystemClock;
use std::path::Path;
use std::sync::Arc;

/// Runs `fleet catalog refresh`.
pub(crate) async fn run(context: &Context, args: &RefreshArgs, out: &mut Out) -> Answer {
    let RefreshArgs { provider: cloud, region: regions } = args;
    if context.global.sim {
        return Err(Failure::new("simulated clouds sell what the catalog says")
            .hint("leave --sim out to ask the real cloud"));
    }
    let file = kept_in(context)?;
    // A file that is named and not there yet begins with the embedded catalog.
    let before = match context.global.catalog.as_deref() {
        Some(named) if !Path::new(named).exists() => Arc::new(fleet_catalog::embedded()),
        _ => context.catalog()?,
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let Some(provider) = context.real(&clock).remove(cloud) else {
        return Err(Failure::new(format!("this build of fleet cannot reach {cloud}"))
            .hint("build it with that cloud's feature"));
    };
    let listed = provider.price_list(&PriceListRequest { regions }).await.map_err(failed)?;
    let listed: Vec<Sold> = listed.into_iter().map(sold).collect();
    let now = clock.now();
    let (catalog, merged) = fleet_catalog::merge(&before, *cloud, regions, &listed, now);
    if merged.offers == 0 {
        return Err(Failure::new(format!("{cloud} lists nothing in these regions"))
            .hint("the catalog stays as it was; `fleet doctor` looks the account over"));
    }
    fleet_catalog::save(&catalog, &file).or_fail("cannot keep the catalog", file.display())?;
    match context.global.output {
        Format::Json => out.json(&document(Exit::Done, body(&catalog, &merged, &file)))?,
        Format::Text | Format::Markdown => text(&catalog, &merged, &file, now, out),
    }
    Ok(Exit::Done)
}

/// The two crates do not know each other.
fn sold(listed: Listed) -> Sold {
    let Listed { kind, place, on_demand, spot, has_spot } = listed;
    Sold { kind, place, on_demand, spot, has_spot }
}

fn failed(error: Error) -> Failure {
    let failure = Failure::new(format!("the price list cannot be read: {error}"));
    match error.class {
        Class::Auth => failure.hint("`fleet doctor` says who you are and what is missing"),
        Class::Invalid | Class::Refused { .. } => {
            failure.hint("check --region; the catalog stays as it was")
        }
        Class::Retry { .. }
        | Class::Capacity { .. }
        | Class::Quota { .. }
        | Class::Unknown
        | Class::Freeze => failure.hint("try again later; the catalog stays as it was"),
    }
}

fn text(catalog: &Catalog, merged: &Merged, file: &Path, now: Timestamp, out: &mut Out) {
    let Merged {
        regions,
        unlisted,
        types_new,
        types_changed,
        places_new,
        offers_new,
        offers_gone,
        offers,
        on_demand_changed,
        on_demand_kept,
        unpriced,
        spot_changed,
        spot_kept,
    } = merged;
    let names = |set: &std::collections::BTreeSet<String>| {
        clean_line(&set.iter().cloned().collect::<Vec<_>>().join(", "))
    };
    out.text(format!(
        "{ADD}refreshed{ADD:#} {} in {}: {}",
        count(*offers, "offer"),
        count(regions.len() as u64, "region"),
        names(regions)
    ));
    let lines = [
        ("types", format!("{types_new} new, {types_changed} changed")),
        ("places", format!("{places_new} new")),
        (
            "offers",
            format!(
                "{} new, {} gone",
                thousands((*offers_new).into()),
                thousands((*offers_gone).into())
            ),
        ),
        (
            "on-demand prices",
            format!(
                "{} changed, {} unpriced",
                thousands((*on_demand_changed).into()),
                thousands((*unpriced).into())
            ),
        ),
        ("spot prices", format!("{} changed", thousands((*spot_changed).into()))),
    ];
    for (what, words) in lines {
        out.text(format!("  {what:17} {words}"));
    }
    let kept = [(on_demand_kept, "on-demand"), (spot_kept, "spot")];
    for (number, what) in kept.into_iter().filter(|(number, _)| **number > 0) {
        let prices = count(*number, &format!("{what} price"));
        out.aside(format!(
            "{WARN}warning:{WARN:#} {prices} could not be read: those of the catalog stand"
        ));
    }
    if !unlisted.is_empty() {
        out.aside(format!(
            "{WARN}warning:{WARN:#} nothing was listed in {}: kept as before",
            names(unlisted)
        ));
    }
    let oldest = if catalog.as_of == now {
        "all facts are of now".to_owned()
    } else {
        format!("the oldest facts are {} old, of {}", age(catalog.as_of, now), when(catalog.as_of))
    };
    out.text(format!("{DIM}kept in {}; {oldest}{DIM:#}", file.display()));
}

fn body(catalog: &Catalog, merged: &Merged, file: &Path) -> CatalogRefresh {
    CatalogRefresh {
        file: file.display().to_string(),
        as_of: Time(catalog.as_of),
        source: catalog.source.to_string(),
        regions: names(&merged.regions),
        unlisted_regions: names(&merged.unlisted),
        offers: merged.offers,
        offers_new: merged.offers_new,
        offers_gone: merged.offers_gone,
        types_new: merged.types_new,
        types_changed: merged.types_changed,
        places_new: merged.places_new,
        on_demand_changed: merged.on_demand_changed,
        on_demand_kept: merged.on_demand_kept,
        unpriced: merged.unpriced,
        spot_changed: merged.spot_changed,
        spot_kept: merged.spot_kept,
    }
}
