//! Asking the scopes of an account for their machines, in as few calls as its cloud allows.

use crate::calls::{AccountLook, Known, Patience, Seen, Unseen};
use crate::engine::Engine;
use crate::observe::seams;
use fleet_model::{AccountKey, Gap, GapCause, Machine, Operation, Orphans, Scope};
use fleet_provider::{Class, Error, Listing, Provider};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Engine {
    /// Asks one account. `known` are the accounts in which those who ask have machines, if any.
    pub(super) async fn look_at_account(
        &self,
        key: AccountKey,
        scopes: &[Scope],
        known: Known,
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
        let account = match self.account_behind(&provider, scopes).await {
            Ok(account) => account,
            Err(error) => {
                let scopes =
                    scopes.iter().map(|scope| (scope.clone(), Err(gap(scope, &error).into())));
                let scopes = scopes.collect();
                return AccountLook { key, account: None, scopes };
            }
        };
        // Whoever asks, it is another account: there is nothing to see for them.
        if let Some(account) = &account
            && !known.is_empty()
            && known.iter().all(|known| known.as_ref().is_some_and(|known| known != account))
        {
            let scopes = all(GapCause::OtherAccount, "another account");
            return AccountLook { key, account: Some(account.clone()), scopes };
        }
        let scopes = self.look(&provider, scopes.to_vec()).await;
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
        let asked = || self.calls.measured.cloud(first.cloud, "identity", provider.identity(first));
        self.calls.retrying(seed, Patience::Look, asked).await
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
            match self.calls.open_breaker(&scope, Operation::Look) {
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
        let done = tokio::sync::Mutex::new(BTreeMap::<Scope, (Listing, Vec<Orphans>)>::new());
        let failed = tokio::sync::Mutex::new(BTreeMap::<Scope, Error>::new());
        let glimpsed = tokio::sync::Mutex::new(BTreeMap::<Scope, Vec<Machine>>::new());
        let _ = self
            .calls
            .retrying(seed, Patience::Look, || async {
                let mut done = done.lock().await;
                let left: Vec<Scope> =
                    asked.iter().filter(|scope| !done.contains_key(scope)).cloned().collect();
                match first.cloud.lists_whole_accounts() {
                    true => self.calls.limits.turn(&first, Operation::Look).await,
                    false => {
                        for scope in &left {
                            self.calls.limits.turn(scope, Operation::Look).await;
                        }
                    }
                }
                let asked = provider.list(&left);
                let listings = self.calls.measured.cloud(first.cloud, "list", asked).await;
                let mut worst = None;
                let (mut failed, mut glimpsed) = (failed.lock().await, glimpsed.lock().await);
                failed.clear();
                for (scope, listing) in left.into_iter().zip(listings) {
                    let listing = self.calls.paced(&scope, Operation::Look, listing);
                    let seen = match listing {
                        // Afterwards: what a machine leaves that is not listed any more is there by now.
                        Ok(listing) => {
                            let asked = provider.orphans(&scope);
                            let orphans =
                                self.calls.measured.cloud(scope.cloud, "orphans", asked).await;
                            let orphans = self.calls.paced(&scope, Operation::Look, orphans);
                            if orphans.is_err() {
                                let (Listing::Complete(seen) | Listing::Partial(seen, _)) =
                                    &listing;
                                glimpsed.insert(scope.clone(), seen.clone());
                            }
                            orphans.map(|orphans| (listing, orphans))
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
            let _ = self.calls.note_end(&scope, Operation::Look, &answer);
            let read = read(&scope, answer).map_err(|mut unseen| {
                unseen.glimpsed.extend(glimpsed.remove(&scope).unwrap_or_default());
                unseen
            });
            answers.push((scope, read));
        }
        answers
    }
}

fn read(scope: &Scope, answer: Result<(Listing, Vec<Orphans>), Error>) -> Result<Seen, Unseen> {
    match seams::as_said(answer) {
        Ok((Listing::Complete(machines), orphans)) => Ok((machines, orphans)),
        // What a partial list shows decides nothing: what it hides could change every decision.
        Ok((Listing::Partial(glimpsed, detail), _)) => {
            let (scope, cause) = (scope.clone(), GapCause::PartialList);
            let gap = Gap { scope, cause, detail: detail.escape_debug().to_string() };
            Err(Unseen { gap, glimpsed })
        }
        Err(error) => Err(gap(scope, &error).into()),
    }
}

/// A scope that did not answer, and why.
pub(super) fn gap(scope: &Scope, error: &Error) -> Gap {
    let cause = match error.class {
        Class::Auth if error.lacks_setup() => GapCause::NoCredentials,
        Class::Auth => GapCause::NotAllowed,
        Class::Retry { .. } if error.throttled => GapCause::Throttled,
        Class::Retry { .. }
        | Class::Capacity { .. }
        | Class::Quota { .. }
        | Class::Invalid
        | Class::Refused { .. }
        | Class::Unknown
        | Class::Freeze => GapCause::Unreachable,
    };
    // Where nobody was asked, the words are our own.
    let detail = match cause {
        GapCause::NoCredentials => error.message.clone(),
        _ => error.to_string(),
    };
    Gap { scope: scope.clone(), cause, detail }
}
