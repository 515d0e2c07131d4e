//! A folder of specs, watched by the kernel, and read again now and then in case it says nothing.

use super::Revision;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;

/// Editors write a file in several steps: what comes so soon after belongs to it.
const QUIET: Duration = Duration::from_millis(200);
/// Network file systems do not tell: everything is read again so often.
const ANYWAY: Duration = Duration::from_secs(30);
/// And so often where the kernel cannot watch at all.
const UNWATCHED: Duration = Duration::from_secs(2);

/// A folder, or one file.
pub struct Folder {
    path: PathBuf,
    /// Kept for its thread; without one, time alone says when to look.
    _watcher: Option<RecommendedWatcher>,
    changes: mpsc::Receiver<()>,
}

impl Folder {
    /// Watches a path. One that cannot be watched is read every two seconds.
    pub fn new(path: PathBuf) -> Self {
        Self::with_others(path, &[])
    }

    /// Watches others besides: a change to any of them is a change.
    pub fn with_others(path: PathBuf, others: &[PathBuf]) -> Self {
        let (told, changes) = mpsc::channel(1);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading is no change, and it is what we do ourselves.
            if event.is_ok_and(|event| !event.kind.is_access()) {
                // Full: somebody is told already.
                let _ = told.try_send(());
            }
        });
        let watcher = watcher.and_then(|mut watcher| {
            for one in std::iter::once(&path).chain(others) {
                watcher.watch(one, RecursiveMode::Recursive)?;
            }
            Ok(watcher)
        });
        if let Err(cause) = &watcher {
            tracing::warn!(path = %path.display(), %cause, "cannot watch; reading every two seconds");
        }
        Folder { path, _watcher: watcher.ok(), changes }
    }

    pub(super) fn latest(&self) -> Revision {
        Revision { folder: self.path.clone(), root: None, commit: None }
    }

    pub(super) async fn changed(&mut self) {
        let anyway = if self._watcher.is_some() { ANYWAY } else { UNWATCHED };
        if let Ok(Some(())) = tokio::time::timeout(anyway, self.changes.recv()).await {
            while let Ok(Some(())) = tokio::time::timeout(QUIET, self.changes.recv()).await {}
        } else if self._watcher.is_none() {
            tokio::time::sleep(UNWATCHED).await;
        }
    }
}
