//! Looking: every scope is asked, and answers in full or is a gap.

use crate::engine::Engine;
use crate::retry::{Patience, retrying};
use fleet_model::bugs::{self, Bug};
use fleet_model::{Gap, GapCause, Machine, Observed, Operation, Remains, Scope};
use fleet_provider::{Class, Error, Listing};
use futures::{StreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};

/// Machines in a scope, and what is there without one.
type Seen = (Vec<Machine>, Vec<Remains>);

/// Scopes asked at once.
const SCOPES_AT_ONCE: usize = 32;

impl Engine {
    /// Asks every scope for its machines.
    pub(crate) async fn observe(&self, scopes: BTreeSet<Scope>) -> Observed {
        // Before the first question: what is launched from here on may be missing from an answer.
        let taken_at = self.clock.earliest();
        let answers: Vec<(Scope, Result<Seen, Gap>)> = stream::iter(scopes)
            .map(|scope| async move {
                let answer = self.look(&scope).await;
                (scope, answer)
            })
            .buffer_unordered(SCOPES_AT_ONCE)
            .collect()
            .await;
        let mut observed = Observed {
            taken_at,
            machines: BTreeMap::new(),
            complete: BTreeSet::new(),
            gaps: Vec::new(),
            gone: BTreeMap::new(),
            accounts: BTreeMap::new(),
            remains: BTreeMap::new(),
        };
        for (scope, answer) in answers {
            match answer {
                Ok((machines, remains)) => {
                    observed.complete.insert(scope);
                    observed.machines.extend(machines.into_iter().map(|m| (m.id.clone(), m)));
                    let remains = remains.into_iter().map(|left| (left.machine.clone(), left));
                    observed.remains.extend(remains);
                }
                Err(gap) => observed.gaps.push(gap),
            }
        }
        observed.gaps.sort_by(|a, b| a.scope.cmp(&b.scope));
        observed
    }

    async fn look(&self, scope: &Scope) -> Result<Seen, Gap> {
        let gap = |cause, detail: String| Gap { scope: scope.clone(), cause, detail };
        let Some(provider) = self.providers.get(&scope.cloud) else {
            return Err(gap(GapCause::NotAllowed, "no provider is configured".into()));
        };
        if let Some(open) = self.open_breaker(scope, Operation::Look) {
            return Err(gap(GapCause::BreakerOpen, open.words));
        }
        let seed = fleet_model::digest("look/1", [scope.to_string().as_bytes()]).as_u64();
        let answer = retrying(&self.clock, &self.budget, seed, Patience::Look, || async {
            self.limits.turn(scope, Operation::Look).await;
            let listing = self.paced(scope, Operation::Look, provider.machines(scope).await)?;
            // Afterwards: what a machine leaves that is not listed any more is there by now.
            let remains = self.paced(scope, Operation::Look, provider.remains(scope).await)?;
            Ok((listing, remains))
        })
        .await;
        // Not worth a record: the next run finds out by looking.
        let _ = self.note_end(scope, Operation::Look, &answer);
        match answer {
            Ok((Listing::Complete(machines), remains)) => Ok((machines, remains)),
            Ok((Listing::Partial(some, _), left)) if bugs::on(Bug::PartialListTakenForWhole) => {
                Ok((some, left))
            }
            Err(_) if bugs::on(Bug::SilenceIsEmpty) => Ok((Vec::new(), Vec::new())),
            // What a partial list shows is not used: what it hides could change every decision.
            Ok((Listing::Partial(_, detail), _)) => {
                Err(gap(GapCause::PartialList, detail.escape_debug().to_string()))
            }
            Err(error) => Err(gap(cause(&error), error.to_string())),
        }
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
