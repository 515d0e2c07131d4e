//! Answers to questions about signals, remembered between runs: a plan that is made twice in a row asks
//! once, and one whose question fails knows the last answer.
//!
//! How long an answer holds is in the table of signals. A cache and nothing more: what cannot be read is
//! not there, and what cannot be written is not kept on disk.

use crate::Error;
use fleet_model::{SignalSource, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The number that the file begins with.
const FORMAT: u32 = 1;

/// What is in the file: answers by source and question.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remembered {
    format_version: u32,
    signals: BTreeMap<SignalSource, BTreeMap<String, Entry>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    at: Timestamp,
    answer: Value,
}

/// One question to a cloud.
type Key = (SignalSource, String);

/// Answers of a run, and of earlier ones if there is a file for them.
#[derive(Debug, Default)]
pub struct Answers {
    path: Option<PathBuf>,
    known: Mutex<Option<Remembered>>,
    /// Fleets are looked at side by side: what one asks, the others wait for.
    asking: Mutex<HashMap<Key, Arc<futures::lock::Mutex<()>>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Answers {
    /// Remembered in a file; by default, for as long as the process runs.
    pub fn at(path: PathBuf) -> Self {
        Answers { path: Some(path), ..Answers::default() }
    }

    /// The answer to a question: one that holds still, else a new one, else the last one that is not too
    /// old to stand in. `question` says everything that the answer depends on, the account included.
    pub async fn ask<T, F>(
        &self,
        source: SignalSource,
        question: &str,
        now: Timestamp,
        ask: impl FnOnce() -> F + Send,
    ) -> Result<T, Error>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, Error>> + Send,
    {
        let turn = lock(&self.asking).entry((source, question.to_owned())).or_default().clone();
        let _alone = turn.lock().await;
        if let Some((answer, _)) = self.fresh(source, question, now) {
            return Ok(answer);
        }
        match ask().await {
            Ok(answer) => {
                self.keep(source, [(question.to_owned(), &answer)], now);
                Ok(answer)
            }
            Err(error) => {
                let (answer, as_of) = self.last(source, question, now).ok_or(error.clone())?;
                tracing::debug!(%source, %error, %as_of, "the last answer stands in");
                Ok(answer)
            }
        }
    }

    /// An answer that holds still, and when it was given.
    pub fn fresh<T: DeserializeOwned>(
        &self,
        source: SignalSource,
        question: &str,
        now: Timestamp,
    ) -> Option<(T, Timestamp)> {
        self.find(source, question, now, source.row().holds)
    }

    /// The last answer, if it is not too old to stand in for one that does not come.
    pub fn last<T: DeserializeOwned>(
        &self,
        source: SignalSource,
        question: &str,
        now: Timestamp,
    ) -> Option<(T, Timestamp)> {
        self.find(source, question, now, source.row().stands_in)
    }

    fn find<T: DeserializeOwned>(
        &self,
        source: SignalSource,
        question: &str,
        now: Timestamp,
        longest: Duration,
    ) -> Option<(T, Timestamp)> {
        let mut known = lock(&self.known);
        let known = known.get_or_insert_with(|| self.read());
        let Entry { at, answer } = known.signals.get(&source)?.get(question)?;
        if !is_within(*at, now, longest) {
            return None;
        }
        Some((T::deserialize(answer).ok()?, *at))
    }

    /// Keeps answers that were given now.
    pub fn keep<'a, T: Serialize + 'a>(
        &self,
        source: SignalSource,
        answers: impl IntoIterator<Item = (String, &'a T)>,
        now: Timestamp,
    ) {
        let mut known = lock(&self.known);
        let known = known.get_or_insert_with(Remembered::default);
        // Another process may have written since.
        for (source, theirs) in self.read().signals {
            let ours = known.signals.entry(source).or_default();
            for (question, entry) in theirs {
                if ours.get(&question).is_none_or(|our| our.at < entry.at) {
                    ours.insert(question, entry);
                }
            }
        }
        let here = known.signals.entry(source).or_default();
        for (question, answer) in answers {
            // A map whose keys are no text would be such an answer; ours are all plain.
            let Ok(answer) = serde_json::to_value(answer) else { continue };
            here.insert(question, Entry { at: now, answer });
        }
        for (source, entries) in &mut known.signals {
            entries.retain(|_, entry| is_within(entry.at, now, source.row().stands_in));
        }
        let Some(path) = &self.path else { return };
        known.format_version = FORMAT;
        if let Err(error) = write(path, known) {
            tracing::debug!(%error, path = %path.display(), "answers are not remembered");
        }
    }

    fn read(&self) -> Remembered {
        let file = self.path.as_ref().and_then(|path| std::fs::read(path).ok());
        let file = file.and_then(|text| serde_json::from_slice::<Remembered>(&text).ok());
        file.filter(|file| file.format_version == FORMAT).unwrap_or_default()
    }
}

/// Whether an answer is younger than some time. A clock that was set back makes answers of the future,
/// which prove nothing.
fn is_within(at: Timestamp, now: Timestamp, longest: Duration) -> bool {
    let age = now.duration_since(at);
    !age.is_negative() && age.unsigned_abs() < longest
}

/// Written beside and moved into place, so that nobody reads half of it.
fn write(path: &Path, file: &Remembered) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    beside.write_all(&serde_json::to_vec(file)?)?;
    beside.persist(path).map(|_| ()).map_err(|error| error.error)
}

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
