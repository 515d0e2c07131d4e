//! One module per command.

mod apply;
mod benchmark;
mod catalog;
mod compare;
mod completions;
mod controller;
mod cost;
mod destroy;
mod doctor;
mod exec;
mod explain;
mod freeze;
mod history;
mod import;
mod init;
mod inventory;
mod man;
mod plan;
mod reconcile;
mod refresh;
mod release;
mod rename;
mod replace;
mod rollout;
mod schema;
mod sim;
mod simulate;
mod ssh;
mod status;
mod sweep;
mod token;
mod ui;
mod unlock;
mod validate;

pub(crate) use doctor::Examined;
pub(crate) use status::tell_of_silence;

use crate::args::{Cli, Command, Global, LogFormat};
use crate::context::Context;
use crate::fail::{Answer, Failure};
use crate::logging;
use crate::out::Out;
use crate::traces::Traces;
use std::future::Future;
use std::time::Duration;

/// Runs a command.
pub(crate) fn run(cli: Cli, out: &mut Out) -> Answer {
    let Cli { global, command } = cli;
    let _traces = start_logging(&global, &command)?;
    let span = match command {
        // It never ends, and each of its reconciles is a trace of its own.
        Command::Controller(_) => tracing::Span::none(),
        _ => tracing::info_span!("command", otel.name = command.name(), sim = global.sim),
    };
    let _entered = span.enter();
    let context = Context { global };
    match &command {
        Command::Init(args) => init::run(&context, args, out),
        Command::Validate(args) => validate::run(&context, args, out),
        Command::Plan(args) => block_on(plan::run(&context, args, out)),
        Command::Apply(args) => block_on(apply::run(&context, args, out)),
        Command::Destroy(args) => block_on(destroy::run(&context, args, out)),
        Command::Reconcile(args) => block_on(reconcile::run(&context, args, out)),
        Command::Controller(args) => block_on(controller::run(&context, args, out)),
        Command::Ui(args) => block_on(ui::run(&context, args, out)),
        Command::Token { command } => token::run(&context, command, out),
        Command::Status(args) => block_on(status::run(&context, args, out)),
        Command::Inventory(args) => block_on(inventory::run(&context, args, out)),
        Command::Ssh(args) => {
            let command = block_on(ssh::find(&context, args, out))?;
            ssh::become_it(command, out)
        }
        Command::Exec(args) => exec::run(&context, args, out),
        Command::Replace(args) => block_on(replace::run(&context, args, out)),
        Command::Explain(args) => block_on(explain::run(&context, args, out)),
        Command::History(args) => block_on(history::run(&context, args, out)),
        Command::Sweep(args) => block_on(sweep::run(&context, args, out)),
        Command::Unlock(args) => block_on(unlock::run(&context, args, out)),
        Command::Freeze(args) => block_on(freeze::freeze(&context, args, out)),
        Command::Thaw(args) => block_on(freeze::thaw(&context, args, out)),
        Command::Rollout { command } => block_on(rollout::run(&context, command, out)),
        Command::Rename(args) => block_on(rename::run(&context, args, out)),
        Command::Import(args) => block_on(import::run(&context, args, out)),
        Command::Release(args) => block_on(release::run(&context, args, out)),
        Command::Cost { command } => block_on(cost::run(&context, command, out)),
        Command::Doctor(args) => block_on(doctor::run(&context, args, out)),
        Command::Catalog { command } => catalog::run(&context, command, out),
        Command::Compare(args) => compare::run(&context, args, out),
        Command::Benchmark { command } => benchmark::run(&context, command, out),
        Command::Simulate(args) => simulate::run(&context, args, out),
        Command::Sim { command } => sim::run(&context, command, out),
        Command::Schema(args) => schema::run(args, out),
        Command::Completions { shell } => completions::run(*shell, out),
        Command::Man { folder } => man::run(folder, out),
    }
}

/// Our own warnings: what libraries warn of is for those who ask.
const OURS: &str = "off,fleet=warn";

/// Logs are for trouble by default. `reconcile` runs where nobody looks, so its log is JSON.
fn start_logging(global: &Global, command: &Command) -> Answer<Option<Traces>> {
    let (level, format) = match command {
        Command::Reconcile(_) => ("warn", LogFormat::Json),
        Command::Controller(_) => ("warn,fleet=info", LogFormat::Json),
        _ => (OURS, LogFormat::Text),
    };
    let (level, format) =
        (global.log.as_deref().unwrap_or(level), global.log_format.unwrap_or(format));
    logging::start(level, format, global.otlp.as_deref())
}

/// Files that are read and written at once; tokio's own limit of 512 threads is memory without use.
const FILES_AT_ONCE: usize = 16;

/// A thread that nobody needs ends so soon. Work goes round among all that there are, so with tokio's ten seconds some
/// files a second would keep alive all that one busy moment needed.
const IDLE_THREAD: Duration = Duration::from_secs(1);

pub(crate) fn block_on<T>(command: impl Future<Output = Answer<T>>) -> Answer<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(FILES_AT_ONCE)
        .thread_keep_alive(IDLE_THREAD)
        .build()
        .map_err(|cause| Failure::new(format!("cannot start: {cause}")))?;
    let answer = runtime.block_on(command);
    // A request that hangs must not keep a finished command from ending.
    runtime.shutdown_background();
    answer
}
