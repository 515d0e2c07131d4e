//! Looking: every scope is asked, and answers in full or is a gap.
//!
//! A list proves nothing of what is not in it. Machines of the journal that a list lacks are asked for
//! one by one before anybody takes them for gone.

use crate::engine::Engine;
use crate::retry::{Patience, retrying};
use fleet_core::SETTLE_WINDOW;
use fleet_model::bugs::{self, Bug};
use fleet_model::{
    AccountKey, FleetUid, Gap, GapCause, Machine, MachineId, Observed, Operation, Recorded,
    Remains, Scope, SlotId, SlotState,
};
use fleet_provider::{Class, Error, Listing, Missing, Provider, TraceRequest, Traced};
use futures::{StreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Machines in a scope, and what is there without one.
type Seen = (Vec<Machine>, Vec<Remains>);

/// Machines that a list lacks, and what became of them.
type Trace = (Scope, Vec<Missing>, Result<Vec<Traced>, Error>);

/// Accounts and scopes asked at once.
const ASKED_AT_ONCE: usize = 32;

impl Engine {
    /// Asks every scope for its machines, and for those of the journal that its list lacks.
    pub(crate) async fn observe(&self, scopes: BTreeSet<Scope>, recorded: &Recorded) -> Observed {
        // Before the first question: what is launched from here on may be missing from an answer.
        let taken_at = self.clock.earliest();
        let mut observed = Observed {
            taken_at,
            machines: BTreeMap::new(),
            complete: BTreeSet::new(),
            gaps: Vec::new(),
            glimpsed: BTreeMap::new(),
            gone: BTreeMap::new(),
            accounts: BTreeMap::new(),
            remains: BTreeMap::new(),
        };
        let mut accounts: BTreeMap<AccountKey, Vec<Scope>> = BTreeMap::new();
        for scope in scopes {
            accounts.entry(AccountKey::of(&scope)).or_default().push(scope);
        }
        let looks: Vec<AccountLook> = stream::iter(accounts)
            .map(|(key, scopes)| self.look_at_account(key, scopes, recorded))
            .buffer_unordered(ASKED_AT_ONCE)
            .collect()
            .await;
        let by_id = |machine: Machine| (machine.id.clone(), machine);
        for AccountLook { key, account, scopes } in looks {
            observed.accounts.extend(account.map(|account| (key, account)));
            for (scope, answer) in scopes {
                match answer {
                    Ok((machines, remains)) => {
                        observed.complete.insert(scope);
                        observed.machines.extend(machines.into_iter().map(by_id));
                        let remains = remains.into_iter().map(|left| (left.machine.clone(), left));
                        observed.remains.extend(remains);
                    }
                    Err(Unseen { gap, glimpsed }) => {
                        observed.gaps.push(gap);
                        observed.glimpsed.extend(glimpsed.into_iter().map(by_id));
                    }
                }
            }
        }
        self.trace_missing(&mut observed, recorded).await;
        observed.gaps.sort_by(|a, b| a.scope.cmp(&b.scope));
        observed
    }

    async fn look_at_account(
        &self,
        key: AccountKey,
        scopes: Vec<Scope>,
        recorded: &Recorded,
    ) -> AccountLook {
        let all = |cause: GapCause, detail: &str| {
            let gap = |scope: Scope| {
                let detail = detail.to_owned();
                (scope.clone(), Err(Gap { scope, cause, detail }.into()))
            };
            scopes.iter().cloned().map(gap).collect::<Vec<_>>()
        };
        let Some(provider) = self.providers.get(&key.cloud).cloned() else {
            let scopes = all(GapCause::NotAllowed, "no provider is configured");
            return AccountLook { key, account: None, scopes };
        };
        let account = match self.account_behind(&provider, &scopes).await {
            Ok(account) => account,
            Err(error) => {
                let scopes = all(cause(&error), &error.to_string());
                return AccountLook { key, account: None, scopes };
            }
        };
        if let (Some(known), Some(account)) = (recorded.accounts.get(&key), &account)
            && known != account
            && !bugs::on(Bug::OtherAccountIgnored)
        {
            let words = format!(
                "the fleet runs in {}, these credentials are for {}",
                known.escape_debug(),
                account.escape_debug()
            );
            let scopes = all(GapCause::OtherAccount, &words);
            return AccountLook { key, account: None, scopes };
        }
        let scopes = self.look(&provider, scopes).await;
        AccountLook { key, account, scopes }
    }

    /// Which account the credentials are for, where the cloud tells.
    async fn account_behind(
        &self,
        provider: &Arc<dyn Provider>,
        scopes: &[Scope],
    ) -> Result<Option<String>, Error> {
        let Some(first) = scopes.first() else { return Ok(None) };
        let seed = fleet_model::digest("account/1", [first.to_string().as_bytes()]).as_u64();
        retrying(&self.clock, &self.budget, seed, Patience::Look, || provider.identity(first)).await
    }

    /// Lists the scopes of one account, in as few calls as its cloud allows.
    async fn look(
        &self,
        provider: &Arc<dyn Provider>,
        scopes: Vec<Scope>,
    ) -> Vec<(Scope, Result<Seen, Unseen>)> {
        let mut answers = Vec::new();
        let mut asked = Vec::new();
        for scope in scopes {
            match self.open_breaker(&scope, Operation::Look) {
                Some(open) => {
                    let cause = GapCause::BreakerOpen;
                    let gap = Gap { scope: scope.clone(), cause, detail: open.words };
                    answers.push((scope, Err(gap.into())));
                }
                None => asked.push(scope),
            }
        }
        let Some(first) = asked.first().cloned() else { return answers };
        let names: Vec<String> = asked.iter().map(Scope::to_string).collect();
        let seed = fleet_model::digest("look/1", names.iter().map(|n| n.as_bytes())).as_u64();
        // A scope that answered is not asked again because another one did not.
        let done = tokio::sync::Mutex::new(BTreeMap::<Scope, (Listing, Vec<Remains>)>::new());
        let failed = tokio::sync::Mutex::new(BTreeMap::<Scope, Error>::new());
        let glimpsed = tokio::sync::Mutex::new(BTreeMap::<Scope, Vec<Machine>>::new());
        let _ = retrying(&self.clock, &self.budget, seed, Patience::Look, || async {
            let mut done = done.lock().await;
            let left: Vec<Scope> =
                asked.iter().filter(|scope| !done.contains_key(scope)).cloned().collect();
            match first.cloud.lists_whole_accounts() {
                true => self.limits.turn(&first, Operation::Look).await,
                false => {
                    for scope in &left {
                        self.limits.turn(scope, Operation::Look).await;
                    }
                }
            }
            let listings = provider.list(&left).await;
            let mut worst = None;
            let (mut failed, mut glimpsed) = (failed.lock().await, glimpsed.lock().await);
            failed.clear();
            for (scope, listing) in left.into_iter().zip(listings) {
                let listing = self.paced(&scope, Operation::Look, listing);
                let seen = match listing {
                    // Afterwards: what a machine leaves that is not listed any more is there by now.
                    Ok(listing) => {
                        let remains = provider.remains(&scope).await;
                        let remains = self.paced(&scope, Operation::Look, remains);
                        if remains.is_err() {
                            let (Listing::Complete(seen) | Listing::Partial(seen, _)) = &listing;
                            glimpsed.insert(scope.clone(), seen.clone());
                        }
                        remains.map(|remains| (listing, remains))
                    }
                    Err(error) => Err(error),
                };
                match seen {
                    Ok(seen) => {
                        done.insert(scope, seen);
                    }
                    Err(error) => {
                        let retry = matches!(error.class, Class::Retry { .. });
                        if retry || worst.is_none() {
                            worst = Some(error.clone());
                        }
                        failed.insert(scope, error);
                    }
                }
            }
            match worst {
                Some(error) => Err(error),
                None => Ok(()),
            }
        })
        .await;
        let (mut done, mut failed) = (done.into_inner(), failed.into_inner());
        let mut glimpsed = glimpsed.into_inner();
        for scope in asked {
            let answer = match (done.remove(&scope), failed.remove(&scope)) {
                (Some(seen), _) => Ok(seen),
                (None, Some(error)) => Err(error),
                (None, None) => {
                    let words = "the provider did not say anything of this scope";
                    Err(Error::new(scope.cloud, Class::Unknown, "NoAnswer", words))
                }
            };
            // Not worth a record: the next run finds out by looking.
            let _ = self.note_end(&scope, Operation::Look, &answer);
            let read = read(&scope, answer).map_err(|mut unseen| {
                unseen.glimpsed.extend(glimpsed.remove(&scope).unwrap_or_default());
                unseen
            });
            answers.push((scope, read));
        }
        answers
    }

    /// Asks for machines of the journal that complete lists lack.
    async fn trace_missing(&self, observed: &mut Observed, recorded: &Recorded) {
        let Some(fleet) = &recorded.uid else { return };
        let mut missing: BTreeMap<Scope, Vec<Missing>> = BTreeMap::new();
        for (&name, record) in &recorded.slots {
            let SlotState::Filled { machine, pool, launched_at, .. } = &record.state else {
                continue;
            };
            let scope = pool.place.scope();
            if !observed.complete.contains(&scope) || observed.machines.contains_key(machine) {
                continue;
            }
            let slot = SlotId { name, generation: record.generation };
            missing.entry(scope).or_default().push(Missing {
                machine: machine.clone(),
                slot,
                pool: pool.clone(),
                launched_at: *launched_at,
            });
        }
        let traces: Vec<Trace> = stream::iter(missing)
            .map(|(scope, missing)| async move {
                let answer = self.trace(fleet, &scope, &missing).await;
                (scope, missing, answer)
            })
            .buffer_unordered(ASKED_AT_ONCE)
            .collect()
            .await;
        for (scope, missing, answer) in traces {
            let taken = match take_traces(observed, fleet, &scope, &missing, answer) {
                Ok(0) => Ok(()),
                Ok(_) => self.look_at_remains(observed, &scope).await,
                Err(gap) => Err(gap),
            };
            if let Err(gap) = taken {
                observed.complete.remove(&scope);
                observed.machines.retain(|_, machine| machine.place.scope() != scope);
                observed.gaps.push(gap);
            }
        }
    }

    /// What machines left that went after the scope was asked for disks, and before they were asked for
    /// by id: their disks were in use when they were listed.
    async fn look_at_remains(&self, observed: &mut Observed, scope: &Scope) -> Result<(), Gap> {
        let Some(provider) = self.providers.get(&scope.cloud) else { return Ok(()) };
        if !scope.cloud.leaves_children() {
            return Ok(());
        }
        let seed = fleet_model::digest("remains/1", [scope.to_string().as_bytes()]).as_u64();
        let remains = retrying(&self.clock, &self.budget, seed, Patience::Look, || async {
            self.limits.turn(scope, Operation::Look).await;
            self.paced(scope, Operation::Look, provider.remains(scope).await)
        })
        .await
        .map_err(|error| {
            let detail = error.to_string();
            Gap { scope: scope.clone(), cause: cause(&error), detail }
        })?;
        observed.remains.extend(remains.into_iter().map(|left| (left.machine.clone(), left)));
        Ok(())
    }

    async fn trace(
        &self,
        fleet: &FleetUid,
        scope: &Scope,
        missing: &[Missing],
    ) -> Result<Vec<Traced>, Error> {
        let Some(provider) = self.providers.get(&scope.cloud) else {
            return Ok(vec![Traced::Unknown; missing.len()]);
        };
        let seed = fleet_model::digest("trace/1", [scope.to_string().as_bytes()]).as_u64();
        let request = TraceRequest { fleet, scope, missing };
        retrying(&self.clock, &self.budget, seed, Patience::Look, || async {
            self.limits.turn(scope, Operation::Look).await;
            self.paced(scope, Operation::Look, provider.trace(&request).await)
        })
        .await
    }
}

/// What one account answered.
struct AccountLook {
    key: AccountKey,
    account: Option<String>,
    scopes: Vec<(Scope, Result<Seen, Unseen>)>,
}

/// A scope that did not answer in full, and what it showed all the same.
struct Unseen {
    gap: Gap,
    glimpsed: Vec<Machine>,
}

impl From<Gap> for Unseen {
    fn from(gap: Gap) -> Self {
        Unseen { gap, glimpsed: Vec::new() }
    }
}

/// Notes what became of machines that a list lacks, and says how many are gone. A gap if that shows
/// that the list is wrong, or if nobody can say.
fn take_traces(
    observed: &mut Observed,
    fleet: &FleetUid,
    scope: &Scope,
    missing: &[Missing],
    answer: Result<Vec<Traced>, Error>,
) -> Result<usize, Gap> {
    let gap = |cause, detail: String| Gap { scope: scope.clone(), cause, detail };
    let traced = answer.map_err(|error| gap(cause(&error), error.to_string()))?;
    let mut hidden: Vec<&MachineId> = Vec::new();
    let mut gone = 0;
    for (missing, traced) in missing.iter().zip(traced) {
        let age = observed.taken_at.duration_since(missing.launched_at);
        let young = age < jiff::SignedDuration::try_from(SETTLE_WINDOW).unwrap_or_default();
        match traced {
            Traced::Gone(cause) => {
                gone += 1;
                observed.gone.insert(missing.machine.clone(), cause);
            }
            Traced::There(machine) => {
                // One without our tags is rightly missing from a list by tags.
                let ours = machine.owner.as_ref().is_some_and(|owner| owner.fleet == *fleet);
                if !young && ours {
                    hidden.push(&missing.machine);
                }
                observed.machines.insert(machine.id.clone(), *machine);
            }
            Traced::Unknown if young => {}
            Traced::Unknown => {
                let words = format!("nobody can say what became of {}", missing.machine);
                return Err(gap(GapCause::PartialList, words));
            }
        }
    }
    // A list that lacks machines which are there may hide others, which nobody knows to ask for.
    match hidden.first() {
        None => Ok(gone),
        Some(first) => {
            let words = match hidden.len() {
                1 => format!("its list lacks {first}, which is there"),
                n => format!("its list lacks {n} machines that are there, {first} among them"),
            };
            Err(gap(GapCause::ListWrong, words))
        }
    }
}

fn read(scope: &Scope, answer: Result<(Listing, Vec<Remains>), Error>) -> Result<Seen, Unseen> {
    let gap = |cause, detail: String| Gap { scope: scope.clone(), cause, detail };
    match answer {
        Ok((Listing::Complete(machines), remains)) => Ok((machines, remains)),
        Ok((Listing::Partial(some, _), left)) if bugs::on(Bug::PartialListTakenForWhole) => {
            Ok((some, left))
        }
        Err(_) if bugs::on(Bug::SilenceIsEmpty) => Ok((Vec::new(), Vec::new())),
        // What a partial list shows decides nothing: what it hides could change every decision.
        Ok((Listing::Partial(glimpsed, detail), _)) => {
            let gap = gap(GapCause::PartialList, detail.escape_debug().to_string());
            Err(Unseen { gap, glimpsed })
        }
        Err(error) => Err(gap(cause(&error), error.to_string()).into()),
    }
}

fn cause(error: &Error) -> GapCause {
    match error.class {
        Class::Auth => GapCause::NotAllowed,
        Class::Retry { .. } if error.throttled => GapCause::Throttled,
        Class::Retry { .. }
        | Class::Capacity { .. }
        | Class::Quota { .. }
        | Class::Invalid
        | Class::Refused { .. }
        | Class::Unknown
        | Class::Freeze => GapCause::Unreachable,
    }
}
