//! `fleet doctor`: is each cloud's account in order for these specs? Changes nothing.

use crate::args::{DoctorArgs, Format};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::out::Out;
use crate::output::doctor::Doctor;
use crate::output::document;
use crate::quotas;
use crate::render::doctor as render;
use fleet_core::eligible;
use fleet_model::{Catalog, Cloud, Desired, FleetName, Offering, PoolId, Template};
use fleet_provider::{
    Clock, Examination, ExamineRequest, Finding, OfferingsRequest, Provider, Verdict,
};
use fleet_run::SystemClock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One fleet on one cloud, looked over.
#[derive(Debug)]
pub(crate) struct Examined {
    /// Whose spec.
    pub fleet: FleetName,
    /// Which cloud.
    pub cloud: Cloud,
    /// What was found.
    pub examination: Examination,
}

/// Runs `fleet doctor`.
pub(crate) async fn run(context: &Context, args: &DoctorArgs, out: &mut Out) -> Answer {
    let catalog = context.catalog()?;
    let loaded = context.specs(&args.spec.specs)?;
    if context.global.sim {
        return simulated(context.global.output, args, out);
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let providers = context.real(&clock);
    let mut all = Vec::new();
    for fleet in &loaded.fleets {
        for cloud in clouds(&fleet.desired, args.provider)? {
            let examination = examine(&fleet.desired, cloud, &catalog, &providers).await;
            all.push(Examined { fleet: fleet.desired.fleet.clone(), cloud, examination });
        }
    }
    if args.print_policy {
        return policy(&all, out);
    }
    let exit = if render::worst(&all) == Some(Verdict::Bad) { Exit::Failed } else { Exit::Done };
    match context.global.output {
        Format::Json => out.json(&document(exit, render::document(&all)))?,
        Format::Markdown => out.text(render::markdown(&all).trim_end()),
        Format::Text => out.text(render::text(&all).trim_end()),
    }
    Ok(exit)
}

fn simulated(format: Format, args: &DoctorArgs, out: &mut Out) -> Answer {
    let words = "simulated clouds need no account: there is nothing to look over";
    if args.print_policy {
        return Err(Failure::new(words).hint("leave --sim out to see what a real account needs"));
    }
    match format {
        Format::Json => {
            let nothing = Doctor { ok: true, simulated: true, fleets: Vec::new() };
            out.json(&document(Exit::Done, nothing))?;
        }
        Format::Text | Format::Markdown => out.text(words),
    }
    Ok(Exit::Done)
}

/// The clouds that a spec names, or the one of them that was asked for.
fn clouds(desired: &Desired, only: Option<Cloud>) -> Answer<BTreeSet<Cloud>> {
    let named: BTreeSet<Cloud> = desired.placement.clouds.iter().map(|rule| rule.cloud).collect();
    match only {
        Some(cloud) if !named.contains(&cloud) => {
            let names: Vec<&str> = named.iter().map(|cloud| cloud.as_str()).collect();
            let words = format!("fleet `{}` does not use {cloud}", desired.fleet);
            Err(Failure::new(words).at("--provider").hint(format!("it uses {}", names.join(", "))))
        }
        Some(cloud) => Ok(BTreeSet::from([cloud])),
        None => Ok(named),
    }
}

async fn examine(
    desired: &Desired,
    cloud: Cloud,
    catalog: &Catalog,
    providers: &BTreeMap<Cloud, Arc<dyn Provider>>,
) -> Examination {
    let Some(provider) = providers.get(&cloud) else {
        let words = format!("this build of fleet cannot reach {cloud}");
        let finding = Finding::new(Verdict::Bad, "provider", words)
            .hint("build it with that cloud's feature, or add --sim to simulate it");
        return Examination { findings: vec![finding], policy: None };
    };
    let mut offerings = eligible(desired, catalog).offerings;
    offerings.retain(|offering| offering.pool.place.cloud == cloud);
    if offerings.is_empty() {
        let words = "the spec allows no pool of this cloud";
        let finding = Finding::new(Verdict::Doubtful, "spec", words)
            .hint("`fleet explain` says what rules each pool out");
        return Examination { findings: vec![finding], policy: None };
    }
    let plain = Template::default();
    let template = desired.templates.get(&cloud).unwrap_or(&plain);
    let pools: Vec<PoolId> = offerings.iter().map(|offering| offering.pool.clone()).collect();
    let mut examination = provider
        .examine(&ExamineRequest {
            pools: &pools,
            everywhere: &pools,
            template,
            fulfilment: desired.placement.fulfilment,
        })
        .await;
    let ignore = desired.placement.ignore_signals;
    let request = OfferingsRequest { pools: &pools, template, goal: desired.capacity, ignore };
    examination.findings.extend(limits(desired, provider.as_ref(), &request, &mut offerings).await);
    examination
}

/// The account's limits, held against what the spec wants.
async fn limits(
    desired: &Desired,
    provider: &dyn Provider,
    request: &OfferingsRequest<'_>,
    offerings: &mut [Offering],
) -> Vec<Finding> {
    match provider.offerings(request).await {
        Ok(offered) => {
            for (offering, quote) in offerings.iter_mut().zip(offered.quotes) {
                offering.quotas = quote.map(|quote| quote.quotas).unwrap_or_default();
            }
            quotas::findings(desired, offerings, &offered.quotas)
        }
        Err(error) => {
            let words = format!("{}: {}", error.code, error.message);
            vec![Finding::new(Verdict::Doubtful, "limits", words)]
        }
    }
}

/// The policy alone, so that it can be piped into a file.
fn policy(all: &[Examined], out: &mut Out) -> Answer {
    let policies: Vec<&str> =
        all.iter().filter_map(|one| one.examination.policy.as_deref()).collect();
    match policies.as_slice() {
        [] => Err(Failure::new("no cloud of these specs has a policy to print")
            .hint("`fleet doctor` without --print-policy says why")),
        [policy] => {
            out.text(crate::text::clean(policy.trim_end()));
            Ok(Exit::Done)
        }
        several => Err(Failure::new(format!("there are {} policies to print", several.len()))
            .hint("name one fleet with --fleet, and one cloud with --provider")),
    }
}
