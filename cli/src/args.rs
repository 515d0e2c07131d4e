//! The command line.

mod adopt;
mod catalog;
mod compare;
mod controller;
mod cost;
mod door;
mod reach;
mod sim;
mod simulate;
mod ui;

pub(crate) use adopt::{ImportArgs, ReleaseArgs, RenameArgs};
pub(crate) use catalog::{CatalogCommand, ListArgs, RefreshArgs};
pub(crate) use compare::{BenchmarkCommand, CompareArgs, Perf};
pub(crate) use controller::ControllerArgs;
pub(crate) use cost::{
    AnomaliesArgs, CostCommand, CostFormat, ReconcileBillArgs, ReportArgs, Rows, with_formats,
};
pub(crate) use door::{DoorArgs, NewTokenArgs, TokenCommand, TokenRole};
pub(crate) use reach::{
    ConnectArgs, ExecArgs, InventoryArgs, InventoryFormat, LoginArgs, ReplaceArgs, Slot, SshArgs,
};
pub(crate) use sim::{SimCommand, Where};
pub(crate) use simulate::SimulateArgs;
pub(crate) use ui::UiArgs;

use crate::exit;
use crate::review::Rule;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use fleet_model::Timestamp;
use std::path::PathBuf;
use std::time::Duration;

/// Provisions and maintains fleets of machines on several clouds.
///
/// A YAML spec says how much capacity should exist, of what, where and at what price. `fleet`
/// looks at the clouds, plans the difference, and applies it.
#[derive(Debug, Parser)]
#[command(
    name = "fleet",
    version = env!("FLEET_VERSION"),
    long_version = concat!(
        env!("CARGO_PKG_VERSION"),
        "\ncommit ",
        env!("FLEET_COMMIT"),
        "\nfeatures ",
        env!("FLEET_LISTED_FEATURES"),
    ),
    max_term_width = 100,
    after_help = exit::HELP
)]
pub(crate) struct Cli {
    /// Flags that every command knows.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags that every command knows.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Use simulated clouds in place of every provider that the spec names
    #[arg(long, global = true, env = "FLEET_SIM", value_parser = clap::builder::FalseyValueParser::new())]
    pub sim: bool,
    /// State store for journal and leases: a folder, or an s3://, gs:// or az:// URL
    #[arg(
        long,
        global = true,
        env = "FLEET_STATE",
        hide_env_values = true,
        default_value = ".fleet",
        value_name = "URL"
    )]
    pub state: String,
    /// Catalog file to use, or `embedded`
    #[arg(long, global = true, value_name = "FILE")]
    pub catalog: Option<String>,
    /// Policy files that every fleet must comply with, besides those among the specs
    #[arg(long, global = true, value_name = "FILE")]
    pub policy: Vec<PathBuf>,
    /// Value of a variable that a spec declares; wins over the environment
    #[arg(long, global = true, value_name = "NAME=VALUE", value_parser = variable)]
    pub var: Vec<(String, String)>,
    /// Only these fleets
    #[arg(short, long, global = true, value_name = "NAME", value_delimiter = ',')]
    pub fleet: Vec<String>,
    /// How to print the result
    #[arg(short, long, global = true, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub output: Format,
    /// Log level (error, warn, info, debug, trace) or filter; logs go to stderr
    #[arg(long, global = true, env = "FLEET_LOG", value_name = "LEVEL")]
    pub log: Option<String>,
    /// How to write logs
    #[arg(long, global = true, value_enum, env = "FLEET_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// Send traces to this OTLP collector over HTTP, such as http://127.0.0.1:4318
    #[arg(long, global = true, value_name = "URL")]
    pub otlp: Option<String>,
    /// Never use colour (NO_COLOR does the same)
    #[arg(long, global = true)]
    pub no_color: bool,
}

/// `NAME=VALUE`. The value may be empty and hold further `=`.
fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| "write NAME=VALUE, such as REGION=us-east-1".to_owned())?;
    Ok((name.to_owned(), value.to_owned()))
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For comments on pull requests.
    Markdown,
}

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// A line of words.
    Text,
    /// A line of JSON.
    Json,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a starter spec and its schema
    Init(InitArgs),
    /// Check specs: syntax, values, policies, and that at least one pool matches
    Validate(ValidateArgs),
    /// Show what apply would change, and what it would cost
    Plan(PlanArgs),
    /// Make the clouds match the spec
    #[command(after_help = exit::SIGNALS)]
    Apply(ApplyArgs),
    /// Destroy every machine of a fleet
    #[command(after_help = exit::SIGNALS)]
    Destroy(DestroyArgs),
    /// Apply without questions, for cron and timers
    #[command(after_help = exit::SIGNALS)]
    Reconcile(ReconcileArgs),
    /// Reconcile for ever: watch specs, meet interruption notices
    Controller(ControllerArgs),
    /// Show fleets in the browser: state, plan, reasons, history and cost; changes nothing
    Ui(UiArgs),
    /// Make tokens that let in to a controller
    Token {
        /// What to do with tokens.
        #[command(subcommand)]
        command: TokenCommand,
    },
    /// Show the machines of a fleet, pool by pool
    Status(StatusArgs),
    /// Print the machines of fleets for Ansible, ssh, /etc/hosts and other programs
    Inventory(InventoryArgs),
    /// Open a shell on a machine, or run a command there
    Ssh(SshArgs),
    /// Run a command on every machine of a fleet, side by side
    Exec(ExecArgs),
    /// Replace machines of a fleet: launch the successor, then destroy the old one
    Replace(ReplaceArgs),
    /// Explain why each pool is used or not used
    Explain(ExplainArgs),
    /// Show what was done to a fleet, from its journal
    History(HistoryArgs),
    /// List machines that carry our tags and belong to no fleet; changes nothing
    Sweep(SpecArgs),
    /// Show who holds a fleet's lease, and revoke the lease of a dead run
    Unlock(UnlockArgs),
    /// Keep a fleet as it is: nothing is launched, destroyed or relabelled until it is thawed
    Freeze(FreezeArgs),
    /// Let a frozen fleet change again
    Thaw(ThawArgs),
    /// Show how far a change of template has come; pause, resume or undo it
    Rollout {
        /// What to do with it.
        #[command(subcommand)]
        command: RolloutCommand,
    },
    /// Give a fleet another name; its machines and its history stay
    Rename(RenameArgs),
    /// Take machines that exist already into a fleet, by a tag of yours
    Import(ImportArgs),
    /// Let machines of a fleet go without destroying them
    Release(ReleaseArgs),
    /// Show what was spent, and compare it with a bill
    Cost {
        /// What to show.
        #[command(subcommand)]
        command: CostCommand,
    },
    /// Check each cloud's account: identity, regions, permissions, quotas
    Doctor(DoctorArgs),
    /// Import, refresh, list and show instance types and prices
    Catalog {
        /// What to do with the catalog.
        #[command(subcommand)]
        command: CatalogCommand,
    },
    /// Compare accelerators of all clouds by price, and by what a job on them costs
    Compare(CompareArgs),
    /// Keep results of examples/benchmark, for `compare --perf measured`
    Benchmark {
        /// What to do with results.
        #[command(subcommand)]
        command: BenchmarkCommand,
    },
    /// Replay recorded spot markets against the planner and other policies
    Simulate(SimulateArgs),
    /// Control the simulated clouds: time, capacity, faults
    Sim {
        /// What should happen.
        #[command(subcommand)]
        command: SimCommand,
    },
    /// Print the JSON Schema of specs, or of what a command prints with -o json
    Schema(SchemaArgs),
    /// Print completions for a shell
    Completions {
        /// Which shell.
        shell: Shell,
    },
    /// Write the man pages into a folder
    Man {
        /// Where to; made if missing.
        #[arg(default_value = "man")]
        folder: PathBuf,
    },
}

impl Command {
    /// The command's name, for logs and traces.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::Init(_) => "init",
            Command::Validate(_) => "validate",
            Command::Plan(_) => "plan",
            Command::Apply(_) => "apply",
            Command::Destroy(_) => "destroy",
            Command::Reconcile(_) => "reconcile",
            Command::Controller(_) => "controller",
            Command::Ui(_) => "ui",
            Command::Token { .. } => "token",
            Command::Status(_) => "status",
            Command::Inventory(_) => "inventory",
            Command::Ssh(_) => "ssh",
            Command::Exec(_) => "exec",
            Command::Replace(_) => "replace",
            Command::Explain(_) => "explain",
            Command::History(_) => "history",
            Command::Sweep(_) => "sweep",
            Command::Unlock(_) => "unlock",
            Command::Freeze(_) => "freeze",
            Command::Thaw(_) => "thaw",
            Command::Rollout { .. } => "rollout",
            Command::Rename(_) => "rename",
            Command::Import(_) => "import",
            Command::Release(_) => "release",
            Command::Cost { .. } => "cost",
            Command::Doctor(_) => "doctor",
            Command::Catalog { .. } => "catalog",
            Command::Compare(_) => "compare",
            Command::Benchmark { .. } => "benchmark",
            Command::Simulate(_) => "simulate",
            Command::Sim { .. } => "sim",
            Command::Schema(_) => "schema",
            Command::Completions { .. } => "completions",
            Command::Man { .. } => "man",
        }
    }

    /// The command's name as it is typed, for documents.
    pub(crate) fn full_name(&self) -> &'static str {
        match self {
            Command::Catalog { command: CatalogCommand::Import { .. } } => "catalog import",
            Command::Catalog { command: CatalogCommand::Refresh(_) } => "catalog refresh",
            Command::Catalog { command: CatalogCommand::List(_) } => "catalog list",
            Command::Catalog { command: CatalogCommand::Show { .. } } => "catalog show",
            Command::Benchmark { command: BenchmarkCommand::Add { .. } } => "benchmark add",
            Command::Benchmark { command: BenchmarkCommand::List } => "benchmark list",
            Command::Benchmark { command: BenchmarkCommand::Remove { .. } } => "benchmark remove",
            Command::Token { command: TokenCommand::New(_) } => "token new",
            Command::Sim { command: SimCommand::Show } => "sim show",
            Command::Sim { command: SimCommand::Bill } => "sim bill",
            Command::Cost { command: CostCommand::Report(_) } => "cost report",
            Command::Cost { command: CostCommand::Reconcile(_) } => "cost reconcile",
            Command::Cost { command: CostCommand::Anomalies(_) } => "cost anomalies",
            _ => self.name(),
        }
    }
}

/// Whether a command line that makes no sense asks for JSON.
pub(crate) fn asks_for_json(args: impl Iterator<Item = std::ffi::OsString>) -> bool {
    let args: Vec<_> = args.collect();
    let split =
        args.windows(2).any(|two| (two[0] == "-o" || two[0] == "--output") && two[1] == "json");
    split || args.iter().any(|one| one == "-ojson" || one == "-o=json" || one == "--output=json")
}

/// `fleet schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// What to describe: the document of a command, or `error` [default: specs]
    #[arg(value_name = "DOCUMENT", value_parser = clap::builder::PossibleValuesParser::new(crate::output::schema::kinds()))]
    pub document: Option<String>,
}

/// Fleets to look at.
#[derive(Debug, Clone, Args)]
pub(crate) struct FleetArgs {
    /// Files or folders with fleets, or names of fleets [default: fleet.yaml]
    #[arg(value_name = "SPEC|FLEET")]
    pub specs: Vec<PathBuf>,
}

/// `fleet validate`.
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// The specs.
    #[command(flatten)]
    pub spec: SpecArgs,
    /// Print each fleet as it is after Defaults and variables, and where each value comes from
    #[arg(long)]
    pub show: bool,
}

/// Specs to read.
#[derive(Debug, Clone, Args)]
pub(crate) struct SpecArgs {
    /// Files or folders with fleets and policies [default: fleet.yaml]
    #[arg(value_name = "SPEC")]
    pub specs: Vec<PathBuf>,
}

/// `fleet init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The file to write
    #[arg(default_value = "fleet.yaml")]
    pub file: PathBuf,
    /// The fleet's name
    #[arg(long, default_value = "my-fleet")]
    pub name: String,
}

/// `fleet plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub spec: FleetArgs,
    /// Save the plan for `fleet apply FILE`
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Sign the saved plan with a private ed25519 key (PEM)
    #[arg(long, value_name = "KEYFILE", requires = "out")]
    pub sign: Option<PathBuf>,
    /// Exit with 2 if there are changes
    #[arg(long)]
    pub detailed_exitcode: bool,
    /// Show every line of the cost
    #[arg(long)]
    pub details: bool,
    /// Plan the end of fleets that no spec of the folder names
    #[arg(long, conflicts_with = "out")]
    pub prune: bool,
    /// Show what the specs ask for against those at a commit of git, such as origin/main
    #[arg(long, value_name = "REF", conflicts_with = "inputs")]
    pub compare: Option<String>,
    /// Exit with 7 if the change breaks a rule: monthly-increase>500usd, monthly-increase>10%,
    /// hourly-increase>…, monthly>…, hourly>…, new-family, new-region, new-cloud, destroys>3, unplaced,
    /// unpriced, uncounted. >10% and >500usd alone are about monthly-increase. Measured against the specs of --compare, otherwise against what stands now
    #[arg(long, value_name = "RULE")]
    pub fail_if: Vec<Rule>,
    /// Save everything the decision depends on, to replay it later
    #[arg(long, value_name = "FILE")]
    pub save_inputs: Option<PathBuf>,
    /// Decide again from saved inputs, without calling any cloud
    #[arg(long, value_name = "FILE", conflicts_with_all = ["specs", "save_inputs", "out"])]
    pub inputs: Option<PathBuf>,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// A file for a chart. A name that promises another kind of picture is refused: programs would not open it.
pub(crate) fn svg_file(path: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(path);
    match file.extension().map(|kind| kind.to_string_lossy().to_lowercase()).as_deref() {
        None | Some("svg") => Ok(file),
        Some(other) => {
            let named = file.with_extension("svg");
            Err(format!("charts are SVG, not {other}; write {}", named.display()))
        }
    }
}

/// How much one apply may do.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct LimitArgs {
    /// Allow exactly this many machines to be destroyed [default: one in ten, at least one]
    #[arg(long, value_name = "N")]
    pub allow_destroy: Option<u32>,
    /// Accept exactly this many vanished machines as lost
    #[arg(long, value_name = "N")]
    pub accept_loss: Option<u32>,
}

/// `fleet apply`.
#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    /// Files or folders with fleets, or one saved plan [default: fleet.yaml]
    #[arg(value_name = "SPEC|PLAN")]
    pub specs: Vec<PathBuf>,
    /// Apply only a saved plan that one of these public ed25519 keys (PEM) has signed
    #[arg(long, value_name = "PUBKEYFILE", env = "FLEET_REQUIRE_SIGNATURE", value_delimiter = ',')]
    pub require_signature: Vec<PathBuf>,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// Destroy fleets that no spec of the folder names, within the limit on destroys
    #[arg(long)]
    pub prune: bool,
    /// Wait this long for another apply to finish [default: do not wait]
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true,
        value_parser = sim::parse_duration)]
    pub lock_wait: Duration,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// `fleet destroy`.
#[derive(Debug, Args)]
pub(crate) struct DestroyArgs {
    #[command(flatten)]
    pub spec: FleetArgs,
    /// Every fleet that has a journal here
    #[arg(long, conflicts_with_all = ["specs", "fleet"])]
    pub all: bool,
    /// Do not ask for the fleet's name
    #[arg(short, long)]
    pub yes: bool,
    /// Accept exactly this many vanished machines as lost
    #[arg(long, value_name = "N")]
    pub accept_loss: Option<u32>,
    /// Wait this long for another apply to finish [default: do not wait]
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true,
        value_parser = sim::parse_duration)]
    pub lock_wait: Duration,
}

/// `fleet reconcile`.
#[derive(Debug, Args)]
pub(crate) struct ReconcileArgs {
    #[command(flatten)]
    pub spec: FleetArgs,
    /// Destroy fleets that no spec of the folder names, within the limit on destroys
    #[arg(long)]
    pub prune: bool,
    /// Wait this long for another apply to finish [default: do not wait]
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true,
        value_parser = sim::parse_duration)]
    pub lock_wait: Duration,
    /// Write metrics to this file, for node_exporter's textfile collector (its name ends with `.prom`)
    #[arg(long, value_name = "FILE")]
    pub metrics_textfile: Option<PathBuf>,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// `fleet status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub spec: FleetArgs,
    /// One line per machine, not per pool
    #[arg(long)]
    pub machines: bool,
}

/// `fleet explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Files or folders with fleets, or the name of a fleet in fleet.yaml [default: fleet.yaml]
    #[arg(value_name = "SPEC|FLEET")]
    pub specs: Vec<PathBuf>,
    /// Pools to explain, `*` allowed: 'aws/us-east-1/*/p5.*/spot'
    #[arg(long, value_name = "POOL")]
    pub pool: Option<fleet_model::PoolPattern>,
    /// The slot to explain: burst-3
    #[arg(long, value_name = "SLOT", conflicts_with = "pool")]
    pub slot: Option<fleet_model::SlotName>,
    /// How many pools to list
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub top: usize,
}

/// `fleet freeze`.
#[derive(Debug, Args)]
pub(crate) struct FreezeArgs {
    /// The fleet that is to stay as it is
    #[arg(value_name = "FLEET")]
    pub fleet: String,
    /// Why, for everybody who meets it
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub reason: String,
    /// For how long: 4h, 2d [default: until `fleet thaw`]
    #[arg(long = "for", value_name = "TIME", value_parser = sim::parse_duration)]
    pub span: Option<Duration>,
    /// Until when: 2026-12-01T08:00:00Z
    #[arg(long, value_name = "TIME", conflicts_with = "span")]
    pub until: Option<Timestamp>,
    /// Wait this long for another apply to finish [default: do not wait]
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true,
        value_parser = sim::parse_duration)]
    pub lock_wait: Duration,
}

/// `fleet thaw`.
#[derive(Debug, Args)]
pub(crate) struct ThawArgs {
    /// The fleet that may change again
    #[arg(value_name = "FLEET")]
    pub fleet: String,
    /// Wait this long for another apply to finish [default: do not wait]
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true,
        value_parser = sim::parse_duration)]
    pub lock_wait: Duration,
}

/// `fleet rollout`.
#[derive(Debug, Subcommand)]
pub(crate) enum RolloutCommand {
    /// Show how far it has come, from the journal
    Status(RolloutStatusArgs),
    /// Begin no further wave; the one under way is finished
    Pause(RolloutWishArgs),
    /// Go on, also after a stop, and also with a template that was undone
    Resume(RolloutWishArgs),
    /// Return to the last template that the whole fleet was ready with
    Undo(RolloutWishArgs),
}

/// `fleet rollout status`.
#[derive(Debug, Args)]
pub(crate) struct RolloutStatusArgs {
    /// The fleet
    #[arg(value_name = "FLEET")]
    pub fleet: String,
}

/// `fleet rollout pause | resume | undo`.
#[derive(Debug, Args)]
pub(crate) struct RolloutWishArgs {
    /// The fleet
    #[arg(value_name = "FLEET")]
    pub fleet: String,
    /// Wait this long for another apply to finish [default: do not wait]
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true,
        value_parser = sim::parse_duration)]
    pub lock_wait: Duration,
}

/// `fleet unlock`.
#[derive(Debug, Args)]
pub(crate) struct UnlockArgs {
    /// The fleet whose lease is to be revoked
    #[arg(value_name = "FLEET")]
    pub fleet: String,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}

/// `fleet doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub spec: SpecArgs,
    /// Print only the permissions that the spec needs, as a policy for the cloud
    #[arg(long)]
    pub print_policy: bool,
    /// Only this cloud
    #[arg(long, value_name = "CLOUD")]
    pub provider: Option<fleet_model::Cloud>,
}

/// `fleet history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Names of fleets [default: every fleet with a journal]
    #[arg(value_name = "FLEET")]
    pub fleets: Vec<String>,
    /// Only the last N records
    #[arg(short = 'n', long, visible_alias = "limit", value_name = "N")]
    pub last: Option<usize>,
    /// Only what happened since: 24h (ago), or 2026-11-16T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = Since::parse)]
    pub since: Option<Since>,
}

/// A moment in the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    /// This moment.
    At(Timestamp),
    /// So long ago.
    Ago(Duration),
}

impl Since {
    fn parse(text: &str) -> Result<Self, String> {
        let at = text.parse().map(Since::At);
        at.or_else(|_| sim::parse_duration(text).map(Since::Ago)).map_err(|_| {
            format!(
                "`{text}` is neither a duration such as 24h nor a time such as 2026-11-16T08:00:00Z"
            )
        })
    }

    /// The moment, as seen from another.
    pub(crate) fn moment(self, now: Timestamp) -> Timestamp {
        match self {
            Since::At(at) => at,
            Since::Ago(ago) => now.checked_sub(ago).unwrap_or(Timestamp::MIN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_makes_sense() {
        Cli::command().debug_assert();
    }

    /// Every flag, in the commands below one too.
    fn flags(command: &clap::Command, found: &mut Vec<String>) {
        let shown = command.get_arguments().filter(|flag| !flag.is_hide_set());
        found.extend(shown.filter_map(|flag| flag.get_long()).map(|long| format!("--{long}")));
        command.get_subcommands().for_each(|command| flags(command, found));
    }

    #[test]
    fn the_docs_name_every_command_and_flag() {
        let page = include_str!("../../docs/cli.md");
        let mut command = Cli::command();
        command.build();
        let mut wanted = Vec::new();
        flags(&command, &mut wanted);
        let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
        wanted.extend(commands.map(|command| command.get_name().to_owned()));
        wanted.retain(|name| !page.contains(name.as_str()));
        assert!(wanted.is_empty(), "docs/cli.md misses {wanted:?}");
    }
}
