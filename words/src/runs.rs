//! How runs end, in words.

use crate::exit::Exit;
use crate::fail::Failure;
use crate::text::clean_line;
use fleet_core::{Planned, Stale};
use fleet_model::Inputs;
use fleet_provider::with_causes;
use fleet_run::{JournalError, LeaseError, RunError, StoreError, StoreFault};

/// What a run that ended early means for the person in front of it.
pub fn failed(cause: RunError) -> Failure {
    let failure = Failure::new(with_causes(&cause));
    match cause {
        RunError::Lease(LeaseError::Held { .. }) => failure
            .hint(
                "wait until it is done, or use --lock-wait 5m to wait here; `fleet unlock` is for a \
                 holder that is dead",
            )
            .exit(Exit::LeaseHeld),
        RunError::Stale(Stale::Spec) => failure
            .hint(
                "make a new plan: `fleet plan SPEC --out FILE`. A spec with variables needs the values that \
                 it was planned with: --var and the environment",
            )
            .exit(Exit::PlanStale),
        RunError::Stale(_) => {
            failure.hint("make a new plan: `fleet plan SPEC --out FILE`").exit(Exit::PlanStale)
        }
        RunError::NoProvider { .. } => failure.hint("add --sim to run on simulated clouds"),
        RunError::Store(cause)
        | RunError::Lease(LeaseError::Store(cause))
        | RunError::Journal(JournalError::Store(cause)) => failure.hint(store_hint(&cause)),
        RunError::Journal(JournalError::Damaged { .. }) => failure.hint(
            "nothing was changed; bring that record back from a backup or an older version of the \
             object. Without one: docs/state.md, \"A damaged journal\"",
        ),
        RunError::Journal(JournalError::Fenced { .. }) => {
            failure.hint("the other run continues; `fleet history` shows what each of them did")
        }
        RunError::Unsound { .. } => failure.hint(
            "this is a bug in fleet; please report it with the file of `fleet plan SPEC --save-inputs FILE`",
        ),
        RunError::Leaving { fleet, to } => {
            failure.hint(format!("`fleet rename {fleet} {to}` ends it; until then nothing is changed"))
        }
        RunError::Journal(JournalError::Arriving { fleet, from }) => {
            failure.hint(format!("`fleet rename {from} {fleet}` ends it; until then nothing is changed"))
        }
        RunError::NoSuchFleet { .. } => {
            failure.hint("`fleet status` lists the fleets").exit(Exit::SpecInvalid)
        }
        RunError::NameTaken { .. } => {
            failure.hint("choose another name; two fleets cannot become one").exit(Exit::Usage)
        }
        RunError::InDoubt { .. } => {
            failure.hint("nothing was changed; `fleet apply` finds out").exit(Exit::Unsettled)
        }
        RunError::Lease(LeaseError::Io { .. }) => failure.hint(
            "check the folder of --state and its permissions",
        ),
    }
}

/// That a person wants nothing of a fleet to be changed, while they do.
pub fn kept_as_it_is(inputs: &Inputs) -> Option<Failure> {
    let freeze = inputs.recorded.freeze.as_ref()?;
    let holds = freeze.until.is_none_or(|until| until > inputs.now);
    let fleet = &inputs.desired.fleet;
    holds.then(|| {
        let why = clean_line(&freeze.reason);
        Failure::new(format!("fleet `{fleet}` is frozen by hand ({why})"))
            .hint(format!("`fleet thaw {fleet}` lets it change again"))
            .exit(Exit::Unsettled)
    })
}

/// What to do about a store that does not do its part.
fn store_hint(cause: &StoreError) -> &'static str {
    match cause.fault() {
        StoreFault::NoSuchPlace => "make the bucket or container first, or correct --state",
        StoreFault::Denied => {
            "docs/state.md lists the variables with credentials, and the rights that are needed"
        }
        StoreFault::NoCredentials => "docs/state.md lists the variables with credentials",
        StoreFault::Unreachable => {
            "check the network, and the variables with region or endpoint (docs/state.md)"
        }
        StoreFault::Other => {
            "check that the place of --state exists, and that you may read and write there"
        }
    }
}

/// Whether nothing is left to do, held, unplaced or in doubt.
pub fn verdict(last: &Planned) -> Exit {
    let settled = last.plan.is_empty() && crate::render::plan_text::is_settled(&last.report);
    if settled { Exit::Done } else { Exit::Unsettled }
}
