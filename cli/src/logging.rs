//! Logs on stderr: `tracing` events in spans whose fields a collector can read.

use crate::args::LogFormat;
use crate::fail::{Answer, Failure};
use crate::text::{clean, clean_json};
use crate::traces::Traces;
use std::io::{self, Write};
use tracing::{Level, Metadata};
use tracing_subscriber::filter::{FilterExt, Targets, filter_fn};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

/// Warns of every place in which it finds no credentials. We say once what that means; a filter that
/// names it hears it all the same.
const QUIET: &str = "aws_config=error";

/// Starts logging, and traces where somebody wants them: they are sent until what this gives goes. `level` is a level or a filter such as `info,fleet_run=debug`.
pub(crate) fn start(level: &str, format: LogFormat, otlp: Option<&str>) -> Answer<Option<Traces>> {
    // A directive without a target would be taken for one that silences everything.
    let nameless = level.split(',').any(|part| part.is_empty() || part.starts_with('='));
    let filter = format!("{QUIET},{level}").parse().ok().filter(|_: &Targets| !nameless);
    let filter = filter.ok_or_else(|| {
        Failure::new(format!("`{level}` is no log level"))
            .at("--log")
            .hint("use error, warn, info, debug, trace, or a filter like `info,fleet_run=debug`")
            .exit(crate::exit::Exit::Usage)
    })?;
    let filter = filter.and(filter_fn(may_be_told));
    // `log_internal_errors` would print to a stderr that may be closed, and panic there.
    let layer: Box<dyn Layer<_> + Send + Sync> = match format {
        LogFormat::Text => fmt::layer()
            .log_internal_errors(false)
            .with_target(false)
            .with_ansi(false)
            .with_writer(|| Lines { clean: |line| clean(line).replace('\n', "\\n") })
            .with_filter(filter)
            .boxed(),
        LogFormat::Json => fmt::layer()
            .log_internal_errors(false)
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .with_span_list(false)
            .with_span_events(FmtSpan::CLOSE)
            .with_writer(|| Lines { clean: |line| clean_json(line).into_owned() })
            .with_filter(filter)
            .boxed(),
    };
    let traces = Traces::begin(otlp)?;
    let registry = registry().with(layer);
    #[cfg(feature = "otel")]
    let registry = registry.with(traces.as_ref().map(Traces::layer));
    registry.try_init().map_err(|cause| Failure::new(format!("cannot start logging: {cause}")))?;
    Ok(traces)
}

/// Libraries below us show requests, headers and bodies in their finer logs, and so secrets. Only
/// what they say to everybody is passed on, whatever filter was asked for.
fn may_be_told(event: &Metadata<'_>) -> bool {
    event.target().starts_with("fleet") || *event.level() <= Level::INFO
}

/// Writes each event as one line, made harmless: words of clouds are in it.
struct Lines {
    clean: fn(&str) -> String,
}

impl Write for Lines {
    /// Called once per event, with all of it.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = (self.clean)(text.strip_suffix('\n').unwrap_or(&text));
        writeln!(io::stderr(), "{line}")?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
