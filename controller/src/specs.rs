//! Specs come into force all together, or not at all.

use crate::Controller;
use crate::board::{Refused, Specs};
use crate::notify::Rule;
use crate::source::{Revision, Source, short};
use fleet_core::{Pruning, prunes};
use fleet_model::{Desired, FleetName, digest};
use fleet_spec::Loaded;
use fleet_words::fail::{Answer, Failure, within};
use fleet_words::runs::failed;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Fleets that no spec names are looked for so often, if no other spec comes: that lists the whole store.
const CENSUS_EVERY: Duration = Duration::from_secs(600);

impl Controller {
    /// Follows a source for as long as this is polled.
    pub(crate) async fn follow(self: &Arc<Self>, source: &mut Source) {
        loop {
            self.read(source).await;
            source.changed().await;
        }
    }

    /// Reads a source once.
    pub(crate) async fn read(self: &Arc<Self>, source: &mut Source) {
        let key = digest("fleet/source/1", [source.name().as_bytes()]).to_string();
        let (commit, read) = match source.latest().await {
            Ok(revision) => (revision.commit.clone(), self.load(revision).await),
            Err(failure) => (None, Err(failure)),
        };
        match read {
            Ok(specs) => {
                if let Some(commit) = &specs.commit
                    && self.board.specs().commit != specs.commit
                {
                    // So that a replica that starts while a later commit is bad knows where to begin.
                    if let Err(error) = self.engine.store().note(&key, commit).await {
                        tracing::warn!(%error, "cannot write down which commit is good");
                    }
                    source.forget_all_but(&[commit]);
                }
                self.adopt(specs);
            }
            Err(why) => {
                self.refuse(commit, why);
                if self.board.specs().since.is_none() {
                    self.begin_with_the_last_good(source, &key).await;
                }
            }
        }
    }

    /// A replica that starts on a bad commit takes the last good one.
    async fn begin_with_the_last_good(self: &Arc<Self>, source: &mut Source, key: &str) {
        let Ok(Some(commit)) = self.engine.store().noted(key).await else { return };
        let Some(found) = source.at(&commit).await else { return };
        let specs = match found {
            Ok(revision) => self.load(revision).await,
            Err(failure) => Err(failure),
        };
        match specs {
            Ok(specs) => {
                let refused = self.board.refused();
                self.adopt(specs);
                self.board.refuse(refused.map(|refused| (*refused).clone()));
            }
            Err(failure) => {
                tracing::warn!(
                    commit = short(&commit),
                    error = failure.told().0,
                    "cannot go back to it"
                );
            }
        }
    }

    /// Whether fleets that no spec names are looked for again: that lists the whole store.
    fn census_is_due(&self) -> bool {
        let last = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_none_or(|last| last.elapsed() >= CENSUS_EVERY)
    }

    async fn load(self: &Arc<Self>, revision: Revision) -> Answer<Specs> {
        let Revision { folder, root, commit } = revision;
        let root = root.unwrap_or_default();
        let whole = folder.is_dir();
        let ground = self.ground.clone();
        let read = move || match ground.unspecified()? {
            Some(fleets) => Ok(Err(fleets)),
            None => ground.specs(&folder).map(Ok),
        };
        let loaded = tokio::task::spawn_blocking(read).await;
        let loaded: Answer<Result<Loaded, Vec<Desired>>> =
            loaded.map_err(|_| Failure::new("reading the specs failed"))?;
        let loaded = match loaded.map_err(|failure| failure.within(&root))? {
            Ok(loaded) => loaded,
            Err(fleets) => {
                // Without a spec there is no file, and nothing says that anything is to go.
                let fleets = fleets
                    .into_iter()
                    .map(|one| (one.fleet.clone(), (Arc::new(one), PathBuf::new())))
                    .collect();
                return Ok(Specs {
                    fleets,
                    commit,
                    since: Some(self.time()),
                    unmanaged: BTreeMap::new(),
                    notify: Vec::new(),
                });
            }
        };
        let pruning = Pruning {
            asked: loaded.policies.iter().any(|policy| policy.prune),
            whole,
            readable: loaded.is_complete(),
        };
        if let (true, Some(file)) = (pruning.asked, loaded.doubtful.first()) {
            let file = within(&root, file);
            tracing::warn!(file = %file.display(), "nothing is pruned: this file is empty or no text");
        }
        let notify = rules(&loaded);
        let fleets = loaded.fleets.into_iter().map(|fleet| {
            let file = within(&root, &fleet.file);
            (fleet.desired.fleet.clone(), (Arc::new(fleet.desired), file))
        });
        let mut fleets: BTreeMap<_, _> = fleets.collect();
        let unmanaged = if whole { self.census(&fleets).await? } else { BTreeMap::new() };
        if prunes(pruning) {
            let pruned = unmanaged.keys().map(|fleet| {
                let nothing = Desired::without_spec(fleet.clone(), self.engine.clouds());
                (fleet.clone(), (Arc::new(nothing), PathBuf::new()))
            });
            fleets.extend(pruned.collect::<Vec<_>>());
        }
        Ok(Specs { fleets, commit, since: Some(self.time()), unmanaged, notify })
    }

    /// Fleets with machines that no spec names. Specs that name the fleets that are in force already change nothing
    /// about it, so for a while what was found is good enough.
    async fn census<T>(
        &self,
        named: &BTreeMap<FleetName, T>,
    ) -> Answer<BTreeMap<FleetName, usize>> {
        let specs = self.board.specs();
        let before = specs.fleets.keys().filter(|fleet| !specs.unmanaged.contains_key(*fleet));
        if specs.since.is_some() && !self.census_is_due() && before.eq(named.keys()) {
            return Ok(specs.unmanaged.clone());
        }
        let unmanaged = self.unmanaged(named).await?;
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        Ok(unmanaged)
    }

    /// Fleets with machines that none of these names.
    async fn unmanaged<T>(
        &self,
        named: &BTreeMap<FleetName, T>,
    ) -> Answer<BTreeMap<FleetName, usize>> {
        let known = self.engine.fleets().await.map_err(failed)?;
        let mut unmanaged = BTreeMap::new();
        for fleet in fleet_core::unmanaged(known, &named.keys().collect::<Vec<_>>()) {
            // A journal that cannot be read is another command's story.
            let machines = self.engine.standing(&fleet).await.unwrap_or_default();
            if machines > 0 {
                unmanaged.insert(fleet, machines);
            }
        }
        Ok(unmanaged)
    }

    /// Puts specs in force. Fleets whose spec changed are looked at at once.
    fn adopt(&self, specs: Specs) {
        let before = self.board.specs();
        let same = |fleet: &FleetName, desired: &Desired| {
            before.fleets.get(fleet).is_some_and(|(known, _)| **known == *desired)
        };
        let changed: Vec<FleetName> = specs
            .fleets
            .iter()
            .filter(|(fleet, (desired, _))| !same(fleet, desired))
            .map(|(fleet, _)| fleet.clone())
            .collect();
        let names: BTreeSet<FleetName> = specs.fleets.keys().cloned().collect();
        let gone = before.fleets.keys().any(|fleet| !names.contains(fleet));
        let same = changed.is_empty() && !gone && before.notify == specs.notify;
        if same && before.since.is_some() && before.commit == specs.commit {
            if self.board.refused().is_some() {
                tracing::info!("specs are good again, and nothing changed");
                self.board.refuse(None);
            }
            return;
        }
        let commit = specs.commit.as_deref().map(short);
        tracing::info!(fleets = names.len(), changed = changed.len(), commit, "specs are in force");
        self.board.adopt(specs);
        let now = self.now();
        let mut agenda = self.agenda();
        agenda.keep(&names, now);
        changed.iter().for_each(|fleet| agenda.wake(fleet, now));
        drop(agenda);
        self.wake.notify_one();
    }

    fn refuse(&self, commit: Option<String>, why: Failure) {
        let known = self.board.refused();
        if known.is_some_and(|known| known.commit == commit && known.why == why) {
            return;
        }
        let (what, place, _) = why.told();
        let commit_named = commit.as_deref().map(short);
        tracing::error!(
            commit = commit_named,
            place,
            "specs are refused, what was in force stays: {what}"
        );
        self.board.refuse(Some(Refused { commit, since: self.time(), why }));
    }
}

/// The rules of policies on who is told of what, each with the fleets that it is about.
fn rules(loaded: &Loaded) -> Vec<Rule> {
    let of_policy = |policy: &fleet_spec::Policy| {
        let name = policy.name.clone();
        let under = loaded.fleets.iter().filter(|fleet| fleet.policies.contains(&policy.name));
        let under: Vec<&FleetName> = under.map(|fleet| &fleet.desired.fleet).collect();
        let rules = policy.notify.iter().map(|rule| {
            let meant = |fleet: &&&FleetName| {
                let mut patterns = rule.fleets.iter();
                rule.fleets.is_empty() || patterns.any(|pattern| pattern.matches(fleet.as_str()))
            };
            let fleets = under.iter().filter(meant).map(|fleet| (*fleet).clone()).collect();
            Rule { policy: name.clone(), rule: Arc::new(rule.clone()), fleets }
        });
        rules.collect::<Vec<_>>()
    };
    loaded.policies.iter().flat_map(of_policy).collect()
}
