//! `fleet controller`: reconciles for ever.

use crate::args::ControllerArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::out::Out;
use crate::output::controller::Standing;
use crate::output::document;
use crate::runs::holder_with;
use crate::watch::stop_on_signal;
use async_trait::async_trait;
use fleet_controller::door::Door;
use fleet_controller::source::{Branch, Folder, Repository, Source};
use fleet_controller::{Controller, Ground, Settings};
use fleet_model::{Catalog, FleetName, digest};
use fleet_spec::Loaded;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// How often simulated time moves on.
pub(crate) const STEP: Duration = Duration::from_millis(200);

/// What the controller asks of the command.
pub(crate) struct Here {
    pub(crate) context: Context,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) replica: String,
}

#[async_trait]
impl Ground for Here {
    fn specs(&self, folder: &Path) -> Answer<Loaded> {
        self.context.sound(&[folder.to_owned()], &self.catalog)
    }

    async fn admit(&self, fleet: &FleetName) -> Answer<()> {
        self.context.same_kind(fleet).await
    }

    fn holder(&self, commit: Option<&str>) -> String {
        holder_with(&format!("controller, replica {}", self.replica), commit)
    }
}

/// Runs `fleet controller`.
pub(crate) async fn run(context: &Context, args: &ControllerArgs, out: &mut Out) -> Answer {
    let catalog = context.catalog()?;
    let replica = replica(args)?;
    let mut source = source(context, args, &replica)?;
    let engine = context.engine(catalog.clone(), [])?;
    let global = context.global.clone();
    let ground =
        Here { context: Context { global }, catalog: catalog.clone(), replica: replica.clone() };
    let settings = Settings {
        engine,
        ground: Arc::new(ground),
        replica,
        every: args.every,
        alarms_every: args.notices_every,
        market_every: args.market_every,
        at_once: args.at_once,
        acts: !args.dry_run,
        metrics: crate::measured::metrics(),
    };
    let stop = stop_on_signal(|text| tracing::info!("{text}"));
    let controller = Arc::new(Controller::new(settings, stop));
    if args.once {
        controller.once(&mut source).await;
        let overview = controller.overview();
        let refused = controller.board.refused();
        let failed = overview.fleets.iter().any(|fleet| fleet.standing == Standing::Failed);
        let exit = match (&refused, failed) {
            (Some(_), _) => Exit::SpecInvalid,
            (None, true) => Exit::Failed,
            (None, false) => Exit::Done,
        };
        out.json(&document(exit, overview))?;
        return Ok(exit);
    }
    if context.global.sim && args.speed != 0.0 {
        pass_time(context, catalog, args.speed)?;
    }
    if args.listen != "none" {
        serve(&controller, args).await?;
    }
    controller.run(source).await;
    Ok(Exit::Done)
}

/// Serves pages, API and metrics for as long as the process lives.
async fn serve(controller: &Arc<Controller>, args: &ControllerArgs) -> Answer<()> {
    let (listener, door) = crate::door::listen(&args.listen, &args.door).await?;
    if let Ok(address) = listener.local_addr() {
        tracing::info!(%address, "listening");
    }
    serve_on(controller, listener, door);
    Ok(())
}

/// The same behind any door.
pub(crate) fn serve_on(controller: &Arc<Controller>, listener: TcpListener, door: Door) {
    let (controller, stopping) = (controller.clone(), controller.clone());
    tokio::spawn(async move {
        let stop = async move {
            while !stopping.is_stopping() {
                tokio::time::sleep(STEP).await;
            }
        };
        if let Err(error) = fleet_controller::serve_behind(door, controller, listener, stop).await {
            tracing::error!(%error, "the server ended");
        }
    });
}

/// Lets simulated time pass, as fast as is asked for.
fn pass_time(context: &Context, catalog: Arc<Catalog>, speed: f64) -> Answer<()> {
    let sim = context.sim(catalog)?;
    let step = STEP.as_secs_f64() * speed;
    let step = Duration::try_from_secs_f64(step).map_err(|_| {
        Failure::new(format!("{speed} is no speed"))
            .at("--speed")
            .hint("0 stops the clock")
            .exit(Exit::Usage)
    })?;
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(STEP);
        loop {
            ticks.tick().await;
            if let Err(error) = sim.advance(step) {
                tracing::warn!(%error, "simulated time stands still");
            }
        }
    });
    Ok(())
}

fn source(context: &Context, args: &ControllerArgs, replica: &str) -> Answer<Source> {
    let path = PathBuf::from(&args.source);
    if path.exists() {
        return Ok(Source::Folder(Folder::new(path)));
    }
    let is_address =
        args.source.contains("://") || args.source.contains('@') && args.source.contains(':');
    if !is_address || args.source.starts_with('-') {
        return Err(Failure::new("there is no such folder, and it is no address of a repository")
            .at(&args.source)
            .hint("name a folder with specs, or a URL such as https://example.org/fleets.git")
            .exit(Exit::Usage));
    }
    let local = !context.global.state.contains("://");
    let state = if local { PathBuf::from(&context.global.state) } else { ".fleet".into() };
    let name = digest("fleet/repository/1", [args.source.as_bytes(), args.branch.as_bytes()]);
    let caches = state.join("controller").join("git").join(name.to_string());
    forget_the_dead(&caches);
    let cache = caches.join(replica);
    let branch = Branch {
        url: args.source.clone(),
        branch: args.branch.clone(),
        path: args.path.clone().unwrap_or_default(),
        every: args.fetch_every,
    };
    Ok(Source::Git(Repository::new(branch, cache)))
}

/// Removes the commits that processes of this machine kept and that run no more: a replica without a name of its own
/// is called after its process, so nobody else would.
fn forget_the_dead(caches: &Path) {
    let running = Path::new("/proc");
    // Without a list of processes nobody knows which of them run.
    if !running.join("self").exists() {
        return;
    }
    let prefix = format!("{}-", plain_host());
    for cache in std::fs::read_dir(caches).into_iter().flatten().flatten() {
        let name = cache.file_name();
        let process =
            name.to_str().and_then(|name| name.strip_prefix(&prefix)?.parse::<u32>().ok());
        if process.is_some_and(|process| !running.join(process.to_string()).exists()) {
            let _ = std::fs::remove_dir_all(cache.path());
        }
    }
}

/// What may stand in the name of a replica.
fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

/// The name of this machine, as far as it may stand in the name of a replica.
fn plain_host() -> String {
    crate::runs::host().chars().map(|c| if plain(c) { c } else { '-' }).take(40).collect()
}

/// The name of this replica: letters, digits and hyphens, because objects are named after it.
fn replica(args: &ControllerArgs) -> Answer<String> {
    match &args.replica {
        Some(name) if !name.is_empty() && name.len() <= 63 && name.chars().all(plain) => {
            Ok(name.clone())
        }
        Some(name) => Err(Failure::new(format!("`{name}` cannot be the name of a replica"))
            .at("--replica")
            .hint("letters, digits and hyphens, at most 63")
            .exit(Exit::Usage)),
        None => Ok(format!("{}-{}", plain_host(), std::process::id())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_of_processes_that_ended_are_removed() {
        let caches = tempfile::tempdir().expect("a folder");
        let host = plain_host();
        // No process has this number: it is above what Linux gives.
        let [dead, own] =
            [4_194_305, std::process::id()].map(|process| format!("{host}-{process}"));
        for name in [&dead, &own, "named-by-hand", "elsewhere-4194305"] {
            std::fs::create_dir(caches.path().join(name)).expect("a folder");
        }
        forget_the_dead(caches.path());
        let left = |name: &str| caches.path().join(name).exists();
        assert!(left(&own) && left("named-by-hand") && left("elsewhere-4194305"));
        assert_eq!(left(&dead), !Path::new("/proc/self").exists());
    }
}
