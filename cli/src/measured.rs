//! What commands measure.

use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::render::status::Status;
use fleet_controller::metrics::{
    Around, Build, ELSEWHERE, FAILED, Figures, GOES_ON, Metrics, SETTLED, plain,
};
use fleet_model::FleetName;
use fleet_run::Converged;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Nothing measured yet.
pub(crate) fn metrics() -> Arc<Metrics> {
    let build = Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: env!("FLEET_COMMIT").to_owned(),
        features: env!("FLEET_FEATURES").to_owned(),
    };
    Arc::new(Metrics::new(build, crate::traces::current))
}

/// The file that node_exporter's textfile collector reads.
pub(crate) struct Textfile {
    path: PathBuf,
    pub(crate) metrics: Arc<Metrics>,
    seen: Mutex<BTreeMap<FleetName, Figures>>,
}

impl Textfile {
    /// Counts on from what the last run left there.
    pub(crate) fn begin(path: &Path) -> Answer<Self> {
        let textfile =
            Textfile { path: path.to_owned(), metrics: metrics(), seen: Mutex::default() };
        match std::fs::read_to_string(path) {
            Ok(earlier) => textfile.metrics.count_on(&earlier),
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {}
            // Before anything is changed: a run that cannot say what it did should not begin.
            Err(cause) => return Err(textfile.unusable("read", &cause)),
        }
        Ok(textfile)
    }

    /// A fleet was looked after, or was not.
    pub(crate) fn reconciled(
        &self,
        fleet: &FleetName,
        converged: Result<&Converged, &Failure>,
        took: Duration,
    ) {
        let result = match converged {
            Ok(converged) if converged.goes_on() => GOES_ON,
            Ok(_) => SETTLED,
            Err(failure) if failure.exit == Exit::LeaseHeld => ELSEWHERE,
            Err(_) => FAILED,
        };
        self.metrics.reconciled(fleet, result, took);
        let Ok(Converged { last: Some(last), seen: Some(inputs), .. }) = converged else { return };
        let status = Status::new(inputs, &last.report).document();
        let figures = Figures::of(inputs, &last.report, &status);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(fleet.clone(), figures);
    }

    /// Writes the file in one step: a reader meanwhile sees the old one or the new one.
    pub(crate) fn write<'a>(
        self,
        fleets: impl Iterator<Item = &'a FleetName>,
        specs_refused: bool,
    ) -> Answer<()> {
        let known: BTreeSet<FleetName> = fleets.cloned().collect();
        let count = known.len();
        let around = Around { specs_refused, fleets: count, mine: count, replicas: 1 };
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let text = plain(&self.metrics.open_metrics(&known, seen.iter(), around));
        drop(seen);
        let folder = match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            Some(_) | None => Path::new("."),
        };
        let fail = |cause: std::io::Error| self.unusable("write", &cause);
        let mut file = readable(tempfile::Builder::new().prefix(".fleet-"))
            .tempfile_in(folder)
            .map_err(fail)?;
        file.write_all(text.as_bytes()).map_err(fail)?;
        file.persist(&self.path).map_err(|error| fail(error.error))?;
        Ok(())
    }

    fn unusable(&self, what: &str, cause: &std::io::Error) -> Failure {
        Failure::new(format!("cannot {what} the file with metrics: {cause}"))
            .at(format!("--metrics-textfile {}", self.path.display()))
            .hint("name a file in a folder that this user may write to")
    }
}

/// Collecting is somebody else's work.
fn readable<'a, 'b, 'c>(
    file: &'c mut tempfile::Builder<'a, 'b>,
) -> &'c mut tempfile::Builder<'a, 'b> {
    #[cfg(unix)]
    file.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    file
}
