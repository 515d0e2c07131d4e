//! Traces for OpenTelemetry: one per reconcile of a fleet, a span per request to a cloud or to the store.

use crate::fail::{Answer, Failure};

#[cfg(feature = "otel")]
pub(crate) use sent::{Traces, current};

/// Where traces go: what the command line says, else what the standard variables say.
fn wanted(flag: Option<&str>, set: impl Fn(&str) -> Option<String>) -> Option<Destination> {
    let is = |name: &str, value: &str| set(name).is_some_and(|it| it.eq_ignore_ascii_case(value));
    if let Some(url) = flag {
        return Some(Destination::Named(url.to_owned()));
    }
    if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
        return None;
    }
    let named = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
    let named = named.into_iter().any(|name| set(name).is_some_and(|value| !value.is_empty()));
    named.then_some(Destination::Variables)
}

/// Where traces go.
#[derive(Debug, PartialEq, Eq)]
enum Destination {
    /// To this address.
    Named(String),
    /// As the standard variables say.
    Variables,
}

/// The address that spans are posted to: collectors take them below the one that people know.
fn endpoint(url: &str) -> Answer<String> {
    let is_http = url.starts_with("http://") || url.starts_with("https://");
    let host = url.split_once("://").map_or("", |(_, rest)| rest);
    if !is_http || host.is_empty() || host.starts_with('/') {
        return Err(Failure::new("this is no address that traces can be sent to")
            .at("--otlp")
            .hint("name an OTLP collector over HTTP, such as http://127.0.0.1:4318")
            .exit(crate::exit::Exit::Usage));
    }
    let url = url.trim_end_matches('/');
    Ok(if url.ends_with("/v1/traces") { url.to_owned() } else { format!("{url}/v1/traces") })
}

#[cfg(not(feature = "otel"))]
mod none {
    use super::{Answer, Failure, endpoint, wanted};

    /// Nothing is sent by this build.
    pub(crate) struct Traces;

    impl Traces {
        /// A flag that would do nothing is an error; a variable that others read is not.
        pub(crate) fn begin(flag: Option<&str>) -> Answer<Option<Self>> {
            let Some(url) = flag else {
                let _ = wanted(None, |_| None);
                return Ok(None);
            };
            endpoint(url)?;
            Err(Failure::new("this build sends no traces")
                .at("--otlp")
                .hint("build `fleet` with the feature `otel`, which the default build has")
                .exit(crate::exit::Exit::Usage))
        }
    }

    /// No trace goes on.
    pub(crate) fn current() -> Option<String> {
        None
    }
}
#[cfg(not(feature = "otel"))]
pub(crate) use none::{Traces, current};

#[cfg(feature = "otel")]
mod sent {
    use super::{Answer, Destination, Failure, endpoint, wanted};
    use opentelemetry::trace::{Link, SpanKind, TraceContextExt, TraceId, TracerProvider};
    use opentelemetry::{Context, KeyValue};
    use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
    use opentelemetry_sdk::Resource;
    use opentelemetry_sdk::trace::{
        Sampler, SamplingDecision, SamplingResult, SdkTracerProvider, ShouldSample,
    };
    use std::time::Duration;
    use tracing::{Level, Span, Subscriber};
    use tracing_opentelemetry::OpenTelemetrySpanExt;
    use tracing_subscriber::filter::filter_fn;
    use tracing_subscriber::layer::Layer;
    use tracing_subscriber::registry::LookupSpan;

    /// How long a command that is done waits for its last spans to be taken.
    const FAREWELL: Duration = Duration::from_secs(5);

    type Layered<S> = Box<dyn Layer<S> + Send + Sync>;

    /// Traces that are sent until this goes.
    pub(crate) struct Traces(SdkTracerProvider);

    impl Traces {
        /// `None` if nobody wants any.
        pub(crate) fn begin(flag: Option<&str>) -> Answer<Option<Self>> {
            let set = |name: &str| std::env::var(name).ok();
            let Some(destination) = wanted(flag, set) else { return Ok(None) };
            let exporter = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary);
            let exporter = match destination {
                Destination::Named(url) => exporter.with_endpoint(endpoint(&url)?),
                Destination::Variables => exporter,
            };
            let exporter = exporter.build().map_err(|cause| {
                Failure::new(format!("cannot send traces: {cause}"))
                    .at("--otlp or OTEL_EXPORTER_OTLP_ENDPOINT")
                    .hint("name an OTLP collector over HTTP, such as http://127.0.0.1:4318")
            })?;
            // `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win over this.
            let resource = match std::env::var_os("OTEL_SERVICE_NAME") {
                None => Resource::builder().with_service_name("fleet"),
                Some(_) => Resource::builder(),
            };
            let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
            let provider = SdkTracerProvider::builder()
                .with_batch_exporter(exporter)
                .with_sampler(Sampler::ParentBased(Box::new(Roots)))
                .with_resource(resource.with_attribute(version).build())
                .build();
            Ok(Some(Traces(provider)))
        }

        /// What hands spans on: ours, and none of the libraries below, which show requests and so secrets.
        pub(crate) fn layer<S>(&self) -> Layered<S>
        where
            S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
        {
            let ours = filter_fn(|metadata| {
                metadata.is_span()
                    && metadata.target().starts_with("fleet")
                    && *metadata.level() <= Level::DEBUG
            });
            let layer = tracing_opentelemetry::layer()
                .with_tracer(self.0.tracer("fleet"))
                .with_location(false)
                .with_threads(false);
            layer.with_filter(ours).boxed()
        }
    }

    impl Drop for Traces {
        fn drop(&mut self) {
            // A collector that does not take them does not get them: the work is done and written down.
            let _ = self.0.shutdown_with_timeout(FAREWELL);
        }
    }

    /// The trace that goes on, if it is sent.
    pub(crate) fn current() -> Option<String> {
        let context = Span::current().context();
        let span = context.span();
        let span = span.span_context();
        (span.is_valid() && span.is_sampled()).then(|| span.trace_id().to_string())
    }

    /// A request that belongs to nothing, such as a replica's sign of life every few seconds, is no trace.
    #[derive(Debug, Clone)]
    struct Roots;

    impl ShouldSample for Roots {
        fn should_sample(
            &self,
            _: Option<&Context>,
            _: TraceId,
            _: &str,
            kind: &SpanKind,
            _: &[KeyValue],
            _: &[Link],
        ) -> SamplingResult {
            let decision = match kind {
                SpanKind::Client => SamplingDecision::Drop,
                _ => SamplingDecision::RecordAndSample,
            };
            let (attributes, trace_state) = (Vec::new(), Default::default());
            SamplingResult { decision, attributes, trace_state }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_come_before_variables_and_variables_can_say_no() {
        let set = |pairs: &'static [(&str, &str)]| {
            move |name: &str| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            }
        };
        assert_eq!(wanted(None, set(&[])), None);
        let there = set(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://here:4318")]);
        assert_eq!(wanted(None, there), Some(Destination::Variables));
        let off = set(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "x"), ("OTEL_SDK_DISABLED", "TRUE")]);
        assert_eq!(wanted(None, off), None);
        let none = set(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "x"), ("OTEL_TRACES_EXPORTER", "none")]);
        assert_eq!(wanted(None, none), None);
        assert_eq!(wanted(Some("http://a"), set(&[])), Some(Destination::Named("http://a".into())));
    }

    #[test]
    fn addresses_are_completed_or_refused() {
        let sent = |url: &str| endpoint(url).map_err(|failure| failure.exit);
        assert_eq!(sent("http://a:4318").as_deref(), Ok("http://a:4318/v1/traces"));
        assert_eq!(sent("https://a/otlp/").as_deref(), Ok("https://a/otlp/v1/traces"));
        assert_eq!(sent("http://a/v1/traces").as_deref(), Ok("http://a/v1/traces"));
        for bad in ["", "a:4318", "ftp://a", "http://", "http:///x"] {
            assert_eq!(sent(bad), Err(crate::exit::Exit::Usage), "{bad}");
        }
    }
}
