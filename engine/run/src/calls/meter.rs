//! What is measured while fleets are looked after. Nobody listens unless somebody hands a [`Meter`] in.

use fleet_model::{Cloud, Event, FleetName, Recorded};
use fleet_provider::{Class, Error, Listing};
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::Instrument;

/// Hears how long calls took and what journals say. Called in the middle of the work, so it must be quick
/// and must not wait. A method that is not written hears nothing.
pub trait Meter: Send + Sync {
    /// A cloud was asked once, without the wait for a turn and without retries: each of them is a call.
    fn cloud_call(&self, cloud: Cloud, call: &'static str, outcome: &'static str, took: Duration) {
        let _ = (cloud, call, outcome, took);
    }

    /// The store was asked.
    fn store_call(&self, call: &'static str, outcome: &'static str, took: Duration) {
        let _ = (call, outcome, took);
    }

    /// A record was added to a journal.
    fn appended(&self, appended: &Appended<'_>) {
        let _ = appended;
    }

    /// Somebody asked for the lease of a fleet, and got it or did not.
    fn lease_taken(&self, outcome: &'static str, took: Duration) {
        let _ = (outcome, took);
    }
}

/// A record that was added to a journal.
pub struct Appended<'a> {
    /// Whose.
    pub fleet: &'a FleetName,
    /// What it says.
    pub events: &'a [Event],
    /// What was recorded before it.
    pub before: &'a Recorded,
    /// How long the store took to keep it.
    pub took: Duration,
}

/// Whoever measures, if anybody does.
#[derive(Clone, Default)]
pub(crate) struct Measured(Option<Arc<dyn Meter>>);

impl fmt::Debug for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "measured" } else { "not measured" })
    }
}

impl Measured {
    pub(crate) fn by(meter: Arc<dyn Meter>) -> Self {
        Measured(Some(meter))
    }

    pub(crate) fn tell(&self, say: impl FnOnce(&dyn Meter)) {
        if let Some(meter) = &self.0 {
            say(&**meter);
        }
    }

    /// Asks a cloud: a span for whoever traces, and a time for whoever measures.
    pub(crate) async fn cloud<T: Outcome>(
        &self,
        cloud: Cloud,
        call: &'static str,
        asked: impl Future<Output = T>,
    ) -> T {
        let span = tracing::debug_span!(
            "cloud call",
            otel.name = format!("{cloud} {call}"),
            otel.kind = "client",
            provider = cloud.as_str(),
            operation = call,
            outcome = tracing::field::Empty,
        );
        let started = Instant::now();
        let answer = asked.instrument(span.clone()).await;
        let outcome = answer.outcome();
        span.record("outcome", outcome);
        let _in_trace = span.enter();
        self.tell(|meter| meter.cloud_call(cloud, call, outcome, started.elapsed()));
        answer
    }

    /// The same of the store.
    pub(crate) async fn store<T, E>(
        &self,
        call: &'static str,
        asked: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let span = tracing::debug_span!(
            "store call",
            otel.name = format!("store {call}"),
            otel.kind = "client",
            operation = call,
            outcome = tracing::field::Empty,
        );
        let started = Instant::now();
        let answer = asked.instrument(span.clone()).await;
        let outcome = if answer.is_ok() { OK } else { "failed" };
        span.record("outcome", outcome);
        let _in_trace = span.enter();
        self.tell(|meter| meter.store_call(call, outcome, started.elapsed()));
        answer
    }
}

const OK: &str = "ok";

/// An answer in a word of a fixed list.
pub(crate) trait Outcome {
    fn outcome(&self) -> &'static str;
}

impl<T> Outcome for Result<T, Error> {
    fn outcome(&self) -> &'static str {
        self.as_ref().map_or_else(of_error, |_| OK)
    }
}

impl Outcome for Vec<Result<Listing, Error>> {
    /// That of the first scope that did not answer.
    fn outcome(&self) -> &'static str {
        self.iter().find_map(|one| one.as_ref().err()).map_or(OK, of_error)
    }
}

fn of_error(error: &Error) -> &'static str {
    match error.class {
        _ if error.throttled => "throttled",
        Class::Retry { .. } => "retry",
        Class::Capacity { .. } => "capacity",
        Class::Quota { .. } => "quota",
        Class::Auth => "auth",
        Class::Invalid => "invalid",
        Class::Refused { .. } => "refused",
        Class::Unknown => "unknown",
        Class::Freeze => "freeze",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Heard(Mutex<Vec<(Cloud, &'static str, &'static str)>>);

    impl Meter for Heard {
        fn cloud_call(&self, cloud: Cloud, call: &'static str, outcome: &'static str, _: Duration) {
            self.0.lock().expect("a list").push((cloud, call, outcome));
        }
    }

    #[tokio::test]
    async fn every_answer_has_a_word() {
        let heard = Arc::new(Heard::default());
        let measured = Measured::by(heard.clone());
        let mut error = Error::new(Cloud::Aws, Class::Auth, "No", "no");
        let said: Result<(), Error> = Err(error.clone());
        let _ = measured.cloud(Cloud::Aws, "create", async { said }).await;
        error.throttled = true;
        let lists = vec![Ok(Listing::Complete(Vec::new())), Err(error)];
        let _ = measured.cloud(Cloud::Gcp, "list", async { lists }).await;
        let _ = Measured::default().cloud(Cloud::Gcp, "list", async { Ok::<_, Error>(1) }).await;
        let heard = heard.0.lock().expect("a list");
        assert_eq!(*heard, [(Cloud::Aws, "create", "auth"), (Cloud::Gcp, "list", "throttled")]);
    }
}
