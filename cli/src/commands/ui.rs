//! `fleet ui`: the pages of the controller on the local state, without a controller.

mod demo;

use crate::args::UiArgs;
use crate::commands::controller::{STEP, serve_on};
use crate::context::{Context, DEFAULT_SPEC};
use crate::door::listen_here;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::fleets::every;
use crate::out::Out;
use crate::runs::failed;
use crate::watch::{stop_on_signal, to_nobody};
use async_trait::async_trait;
use fleet_controller::source::{Folder, Source};
use fleet_controller::{Controller, Ground, Settings};
use fleet_model::{Catalog, Desired, FleetName};
use fleet_spec::Loaded;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// What pages are made from: specs, or journals alone.
struct Local {
    context: Context,
    catalog: Arc<Catalog>,
    /// Empty: journals.
    specs: Vec<PathBuf>,
}

#[async_trait]
impl Ground for Local {
    fn specs(&self, _folder: &Path) -> Answer<Loaded> {
        let loaded = self.context.sound(&self.specs, &self.catalog)?;
        let fleets: Vec<&Desired> = loaded.fleets.iter().map(|fleet| &fleet.desired).collect();
        // Real clouds know nothing of simulated machines, and the other way round.
        Handle::current().block_on(self.context.same_kinds(&fleets))?;
        Ok(loaded)
    }

    fn unspecified(&self) -> Answer<Option<Vec<Desired>>> {
        if !self.specs.is_empty() {
            return Ok(None);
        }
        let fleets = Handle::current().block_on(every(&self.context))?;
        let all: Vec<&Desired> = fleets.iter().collect();
        Handle::current().block_on(self.context.same_kinds(&all))?;
        Ok(Some(fleets))
    }

    async fn admit(&self, fleet: &FleetName) -> Answer<()> {
        Err(Failure::new(format!("`fleet ui` looks at `{fleet}` and changes nothing")))
    }

    fn holder(&self, _commit: Option<&str>) -> String {
        "fleet ui".into()
    }
}

/// Runs `fleet ui`.
pub(crate) async fn run(context: &Context, args: &UiArgs, out: &mut Out) -> Answer {
    if args.demo {
        return demo::run(context, args, out).await;
    }
    let catalog = context.catalog()?;
    let specs = chosen(context, args).await?;
    let every = args.every.unwrap_or(Duration::from_secs(if context.global.sim { 3 } else { 30 }));
    let watched = match specs.split_first() {
        Some((first, others)) => Folder::with_others(first.clone(), others),
        None => Folder::new(PathBuf::from(&context.global.state).join("fleets")),
    };
    let engine = context.engine(catalog.clone(), [])?;
    let global = context.global.clone();
    let ground = Local { context: Context { global }, catalog, specs };
    let settings = Settings {
        engine,
        ground: Arc::new(ground),
        replica: "ui".into(),
        every,
        alarms_every: every.max(Duration::from_secs(5)),
        market_every: every.max(Duration::from_secs(15)),
        at_once: 32,
        acts: false,
        metrics: crate::measured::metrics(),
    };
    let controller = Arc::new(Controller::new(settings, stop_on_signal(to_nobody)));
    open(&controller, args, out).await?;
    let stopping = controller.clone();
    tokio::select! {
        () = controller.run(Source::Folder(watched)) => {}
        () = keep_looking(&controller, every) => {}
        () = stopped(&stopping) => {}
    }
    Ok(Exit::Done)
}

/// The specs that are named, or the one that is there; none if journals are to be shown.
async fn chosen(context: &Context, args: &UiArgs) -> Answer<Vec<PathBuf>> {
    if let Some(missing) = args.specs.iter().find(|path| !path.exists()) {
        return Err(Failure::new("there is no such file or folder")
            .at(missing.display())
            .hint("name specs, or none to see every fleet that has a journal")
            .exit(Exit::Usage));
    }
    if !args.specs.is_empty() {
        return Ok(args.specs.clone());
    }
    if Path::new(DEFAULT_SPEC).exists() {
        return Ok(vec![DEFAULT_SPEC.into()]);
    }
    let known = context.journals()?.fleets().await.map_err(failed)?;
    if known.is_empty() {
        return Err(Failure::new(format!(
            "there is no {DEFAULT_SPEC} here, and no fleet in {}",
            context.state()
        ))
        .hint("write a first spec with `fleet init`, or look around with `fleet ui --demo`"));
    }
    Ok(Vec::new())
}

/// Serves the pages, says where, and shows them.
async fn open(controller: &Arc<Controller>, args: &UiArgs, out: &mut Out) -> Answer<()> {
    let (listener, door) = listen_here(&args.listen).await?;
    let address = listener.local_addr().map_err(|cause| Failure::new(cause.to_string()))?;
    serve_on(controller, listener, door);
    out.text(format!("http://{address}/"));
    out.aside("Interrupt to end.");
    if !args.no_open {
        show(&format!("http://{address}/"));
    }
    Ok(())
}

/// Asks the desktop for a browser. Where there is none, the address is enough.
fn show(address: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = Stdio::null;
    let asked =
        Command::new(program).arg(address).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    match asked {
        // It ends by itself; somebody has to take note of that.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(cause) => tracing::debug!(%cause, "no browser was opened"),
    }
}

/// Looks at every fleet now and then, by the clock on the wall: simulated time may stand still.
async fn keep_looking(controller: &Controller, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        for fleet in controller.board.specs().fleets.keys() {
            controller.look_at(fleet);
        }
    }
}

/// Nothing is under way that would have to be finished: it ends at once.
async fn stopped(controller: &Controller) {
    while !controller.is_stopping() {
        tokio::time::sleep(STEP).await;
    }
}
