//! A world to look around in: some fleets on simulated clouds that act, and trouble now and then. It lives in a
//! folder of its own and goes with the command.

use super::open;
use crate::args::UiArgs;
use crate::commands::controller::Here;
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Place};
use crate::out::Out;
use crate::watch::{stop_on_signal, to_nobody};
use fleet_controller::source::{Folder, Source};
use fleet_controller::{Controller, Settings};
use fleet_model::{Cloud, Scope};
use fleet_sim::{Area, Sim};
use std::sync::Arc;
use std::time::Duration;

/// The fleets, as they are in `fleet-specs/`.
const SPECS: [(&str, &str); 4] = [
    ("batch-spot.yaml", include_str!("../../../../fleet-specs/batch-spot.yaml")),
    ("inference.yaml", include_str!("../../../../fleet-specs/inference.yaml")),
    ("llm-training.yaml", include_str!("../../../../fleet-specs/llm-training.yaml")),
    ("quickstart.yaml", include_str!("../../../../fleet-specs/quickstart.yaml")),
];

/// How often time moves on.
const TICK: Duration = Duration::from_millis(250);
/// The first day passes in about half a minute, so that charts have something to show; later a minute is a
/// second.
const FIRST_DAY: Duration = Duration::from_secs(600);
const LATER: Duration = Duration::from_secs(15);
/// How long a region is silent, in its own time.
const OUTAGE: Duration = Duration::from_secs(1200);
/// Steps of the first day.
const STEPS_OF_A_DAY: u64 = 144;

pub(super) async fn run(context: &Context, args: &UiArgs, out: &mut Out) -> Answer {
    let folder = tempfile::Builder::new().prefix("fleet-demo-").tempdir();
    let folder =
        folder.or_fail("cannot make a folder for the demo", std::env::temp_dir().display())?;
    let specs = folder.path().join("specs");
    std::fs::create_dir(&specs).or_fail("cannot make a folder for the demo", specs.display())?;
    for (name, text) in SPECS {
        let file = specs.join(name);
        std::fs::write(&file, text).or_fail("cannot write a spec of the demo", file.display())?;
    }
    let mut global = context.global.clone();
    global.sim = true;
    global.state = folder.path().join("state").display().to_string();
    let here = Context { global: global.clone() };
    let catalog = here.catalog()?;
    let sim = here.sim(catalog.clone())?;
    let settings = Settings {
        engine: here.engine(catalog.clone(), [])?,
        ground: Arc::new(Here { context: Context { global }, catalog, replica: "demo".into() }),
        replica: "demo".into(),
        every: Duration::from_secs(300),
        alarms_every: Duration::from_millis(500),
        market_every: Duration::from_secs(2),
        at_once: 8,
        acts: true,
        metrics: crate::measured::metrics(),
    };
    let controller = Arc::new(Controller::new(settings, stop_on_signal(to_nobody)));
    out.aside("A simulated day passes in half a minute; then a second is a minute.");
    open(&controller, args, out).await?;
    let trouble = tokio::spawn(happen(sim));
    controller.run(Source::Folder(Folder::new(specs))).await;
    trouble.abort();
    Ok(Exit::Done)
}

/// Time passes, machines are taken back, and a region falls silent for a while.
async fn happen(sim: Sim) {
    let silent = Scope { cloud: Cloud::Gcp, region: "us-central1".into() };
    let mut ticks = tokio::time::interval(TICK);
    for nth in 1u64.. {
        ticks.tick().await;
        let step = if nth < STEPS_OF_A_DAY { FIRST_DAY } else { LATER };
        let first_day = nth < STEPS_OF_A_DAY;
        let (silent_every, aws_every, azure_every) =
            if first_day { (70, 18, 25) } else { (360, 60, 90) };
        // A fleet is there before anything happens to it.
        let done = sim.advance(step).map(|_| ()).and_then(|()| match nth {
            0..12 => Ok(()),
            _ if nth % silent_every == 0 => sim.outage(Area::from(silent.clone()), Some(OUTAGE)),
            _ if nth % aws_every == 0 => sim.interrupt("aws/*/spot", 2).map(|_| ()),
            _ if nth % azure_every == 0 => sim.interrupt("azure/*/spot", 3).map(|_| ()),
            _ => Ok(()),
        });
        if let Err(error) = done {
            tracing::warn!(%error, "the simulated world stands still");
        }
    }
}
