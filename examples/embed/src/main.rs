//! The engine as a library: load a spec, look, plan, apply, on simulated clouds in memory.
//!
//! `cargo run -p fleet-example-embed -- fleet-specs/quickstart.yaml`

use fleet_core::plan;
use fleet_model::{Action, Cloud, Limits};
use fleet_provider::Provider;
use fleet_run::{Engine, Fresh, Progress, Reach, Stop, Store};
use fleet_sim::{Settings, Sim};
use fleet_spec::LoadOptions;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let spec = std::env::args().nth(1).unwrap_or("fleet-specs/quickstart.yaml".into());
    run(&spec, &mut std::io::stdout()).await
}

/// Applies every fleet of a spec and says what it did.
async fn run(spec: &str, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    // What should exist. Errors come all at once, each with its place and a hint.
    let loaded = fleet_spec::load(&[spec.into()], &LoadOptions::default())
        .map_err(|problems| problems.render(false))?;

    // Where it could stand, and on what clouds. A real program keeps its state in a folder or a
    // bucket (`Store::open`) and its providers are those of real clouds.
    let catalog = Arc::new(fleet_catalog::embedded());
    let sim = Sim::in_memory(Settings::default(), catalog.clone());
    let providers: BTreeMap<Cloud, Arc<dyn Provider>> =
        Cloud::ALL.into_iter().map(|cloud| (cloud, sim.provider(cloud))).collect();
    let engine = Engine::new(Store::in_memory(), providers, sim.clock(), catalog, Fresh::Derived);

    for fleet in &loaded.fleets {
        let name = &fleet.desired.fleet;
        // From here on nobody else changes this fleet.
        let silent = |_: Progress| {};
        let session = engine.begin(&fleet.desired, "example", Duration::ZERO, &silent).await?;
        let inputs = session.gather(Limits::default()).await?;
        let planned = plan(&inputs);
        for step in &planned.plan.steps {
            let verb = match step.action {
                Action::Create(_) => '+',
                Action::Destroy(_) => '-',
            };
            writeln!(out, "{verb} {:>3}  {}", step.action.count(), step.action.pool())?;
        }
        writeln!(out, "{name}: {} per hour", planned.report.cost.hourly_after)?;

        let first = (inputs, planned);
        let converged =
            session.converge("example", first, Reach::Spec, &Stop::default(), &silent).await?;
        session.finish().await?;
        let created: u32 = converged.rounds.iter().map(|round| round.created).sum();
        let left = converged.last.map_or(0, |last| last.plan.steps.len());
        writeln!(out, "{name}: {created} machines launched, {left} steps left")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::run;

    #[tokio::test]
    async fn the_quickstart_converges() {
        let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fleet-specs/quickstart.yaml");
        let mut out = Vec::new();
        run(spec, &mut out).await.expect("it runs");
        let out = String::from_utf8(out).expect("text");
        assert!(out.contains(" machines launched, 0 steps left"), "{out}");
    }
}
