//! Logs on stderr: `tracing` events in spans whose fields a collector can read.

use crate::args::LogFormat;
use crate::fail::{Answer, Failure};
use std::io;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::{EnvFilter, fmt};

/// Starts logging. `level` is a level or a filter such as `info,fleet_run=debug`.
pub(crate) fn start(level: &str, format: LogFormat) -> Answer<()> {
    let filter = EnvFilter::try_new(level).map_err(|_| {
        Failure::new(format!("`{level}` is no log level"))
            .at("--log")
            .hint("use error, warn, info, debug, trace, or a filter like `info,fleet_run=debug`")
            .exit(crate::exit::Exit::Usage)
    })?;
    // `log_internal_errors` would print to a stderr that may be closed, and panic there.
    let builder = fmt().with_env_filter(filter).with_writer(io::stderr).log_internal_errors(false);
    let started = match format {
        LogFormat::Text => builder.with_target(false).with_ansi(false).try_init(),
        LogFormat::Json => builder
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .with_span_list(false)
            .with_span_events(FmtSpan::CLOSE)
            .try_init(),
    };
    started.map_err(|cause| Failure::new(format!("cannot start logging: {cause}")))
}
