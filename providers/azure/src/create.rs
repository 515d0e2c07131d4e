//! Launching: look by name, put, wait for the operation, and clear away what a failure left.
//!
//! The name of a machine is made from the token of its launch, so putting it again finds the same
//! machine. A launch that fails after it was accepted leaves a shell with a name, a disk and an
//! interface; it is deleted before the failure is told, because nobody would look for it later.

use crate::api::{Answer, Api, COMPUTE};
use crate::error::{Asked, refused, silence};
use crate::launch::{Found, body};
use crate::machines::{is_coming, is_shell, machine};
use crate::names::{self, MACHINES};
use crate::operation::{End, wait};
use crate::trace::{Seen, seek};
use crate::wire::Vm;
use crate::{power, terminate};
use fleet_model::{CauseKind, Machine, Market, SlotId};
use fleet_provider::evidence::UNKNOWN_REFUSAL;
use fleet_provider::{Class, CreateRequest, Created, Error};
use reqwest::Method;
use std::time::Duration;

/// How often a machine that is being made by somebody else with our name is looked at, and for how
/// long.
const OFTEN: Duration = Duration::from_secs(5);
const TIMES: u32 = 36;

/// After a failure that we know nothing of, and nothing is left: not at once again.
const LATER: Duration = Duration::from_secs(30);

/// How often a machine that was accepted and is not there is looked for again. One that lives may be
/// unknown for a moment.
const GLIMPSES: u32 = 6;

/// A spot machine that is taken back while it is made: its pool has no room.
const TAKEN_BACK: Duration = Duration::from_secs(3600);

/// One launch.
pub(crate) struct Launch<'a> {
    pub(crate) api: &'a Api,
    pub(crate) asked: &'a CreateRequest<'a>,
    pub(crate) slot: SlotId,
    pub(crate) found: Found<'a>,
}

impl Launch<'_> {
    /// Makes the machine, or finds it.
    pub(crate) async fn carry_out(&self) -> Result<Created, Error> {
        if let Some(vm) = self.look().await? {
            self.ours(&vm)?;
            if !is_shell(&vm) {
                return self.settle(vm).await;
            }
            // What a second request with an interface in it does to a shell is nowhere written, so
            // the shell goes first.
            if self.runs(&vm).await? {
                return self.read(&vm);
            }
            if !terminate::delete(self.api, &self.found.plug.group, &vm).await? {
                let words = "what an earlier try left is still being deleted";
                return Err(refused(Class::Retry { after: Some(LATER) }, "Deleting", words));
            }
        }
        let answer = self.put().await;
        let answer = match answer {
            Ok(answer) if (200..300).contains(&answer.status) => answer,
            Ok(answer) => return self.refused(answer.error(self.kind())).await,
            Err(error) => return self.refused(error).await,
        };
        let end = wait(self.api, self.kind(), &answer).await;
        let answered: Vm = answer.json(self.kind())?;
        match end {
            End::Done | End::Open => self.confirm(answered).await,
            End::Failed(error) => Err(self.clear_away(error, Some(&answered)).await),
        }
    }

    fn kind(&self) -> Asked {
        Asked::Launch(self.asked.create.pool.market)
    }

    fn path(&self) -> String {
        let name = names::machine(self.asked.create.token.as_str());
        self.found.plug.group.at(MACHINES, &name)
    }

    async fn look(&self) -> Result<Option<Vm>, Error> {
        self.api.find(&self.path(), COMPUTE).await
    }

    async fn put(&self) -> Result<Answer, Error> {
        let body = body(self.asked, self.slot, &self.found);
        let query = [("api-version", COMPUTE)];
        self.api.send(self.kind(), Method::PUT, &self.path(), &query, Some(&body)).await
    }

    /// A machine of our name that is not ours is for a person.
    fn ours(&self, vm: &Vm) -> Result<(), Error> {
        let create = self.asked.create;
        let machine = machine(vm);
        let owner = machine.as_ref().and_then(|machine| machine.owner.as_ref());
        let same = owner
            .is_some_and(|owner| owner.fleet == *self.asked.fleet && owner.token == create.token);
        if same && machine.is_some_and(|machine| machine.pool() == create.pool) {
            return Ok(());
        }
        let words = format!("{} bears our name and not our tags, size and place", vm.name);
        Err(refused(Class::Freeze, "ForeignMachine", words))
    }

    /// After a refusal: of what the cloud would not do nothing is left, and of what it did we do
    /// not know, we look.
    async fn refused(&self, error: Error) -> Result<Created, Error> {
        match error.class {
            Class::Unknown => match self.look().await {
                Ok(Some(vm)) => {
                    self.ours(&vm)?;
                    self.settle(vm).await
                }
                Ok(None) | Err(_) => Err(error),
            },
            Class::Capacity { .. }
            | Class::Quota { .. }
            | Class::Invalid
            | Class::Refused { .. } => Err(self.clear_away(error, None).await),
            Class::Retry { .. } | Class::Auth | Class::Freeze => Err(error),
        }
    }

    /// Waits for a machine of ours that is there already.
    async fn settle(&self, mut vm: Vm) -> Result<Created, Error> {
        for _ in 0..TIMES {
            if !is_coming(&vm) {
                break;
            }
            self.api.clock.sleep(OFTEN).await;
            match self.look().await {
                Ok(Some(next)) => vm = next,
                // Taken back, given up by somebody else, or a silent cloud.
                Ok(None) | Err(_) => return self.confirm(vm).await,
            }
        }
        if is_shell(&vm) && !self.runs(&vm).await? {
            let words = "the machine was accepted and then failed";
            let error = refused(Class::Retry { after: Some(LATER) }, "ProvisioningFailed", words);
            return Err(self.clear_away(error, Some(&vm)).await);
        }
        self.read(&vm)
    }

    /// Whether something that failed is a machine all the same: it runs, and came up once.
    async fn runs(&self, vm: &Vm) -> Result<bool, Error> {
        let found = power::ask(self.api, &self.found.plug.group, &vm.name).await?;
        let Some(found) = found.filter(|vm| vm.properties.instance_view.is_some()) else {
            return Ok(false);
        };
        let (_, cause) = power::state(&found);
        Ok(cause.is_some_and(|cause| cause.kind == CauseKind::Unwell))
    }

    /// A machine that was accepted, as it is now. One that has gone in the meantime is not told as
    /// made.
    async fn confirm(&self, answered: Vm) -> Result<Created, Error> {
        let Some(known) = machine(&answered) else { return self.read(&answered) };
        for _ in 0..GLIMPSES {
            let group = &self.found.plug.group;
            match seek(self.api, group, &answered.name, known.launched_at).await {
                Ok(Seen::There(vm)) => return self.read(&vm),
                Ok(Seen::Gone { .. }) => {
                    let words = "the machine was accepted, and taken back while it was made";
                    let class = if known.market == Market::Spot {
                        Class::Capacity { block: TAKEN_BACK }
                    } else {
                        Class::Refused { block: UNKNOWN_REFUSAL }
                    };
                    let error = refused(class, "GoneWhileMade", words);
                    return Err(self.clear_away(error, Some(&answered)).await);
                }
                Ok(Seen::Unclear) => self.api.clock.sleep(OFTEN).await,
                // A silent cloud: what was answered stands.
                Err(_) => return self.read(&answered),
            }
        }
        let words = "the machine was accepted, and is not there yet or no more";
        Err(refused(Class::Unknown, "NotThere", words))
    }

    fn read(&self, vm: &Vm) -> Result<Created, Error> {
        let machine: Option<Machine> = machine(vm).filter(|machine| machine.owner.is_some());
        match machine {
            Some(machine) => {
                Ok(Created { machines: vec![machine], shortfall: None, refusals: Vec::new() })
            }
            None => {
                let words = "the answer to a launch cannot be read";
                Err(refused(silence(self.kind()), "UnreadableAnswer", words))
            }
        }
    }

    /// Deletes what a failed launch left behind. Only when nothing is left may the failure be told
    /// as it is: then it is proof that nothing was made. `answered` names the interface, which lists
    /// lack for a while.
    async fn clear_away(&self, error: Error, answered: Option<&Vm>) -> Error {
        let in_doubt = |why: String| {
            let words =
                format!("{}, and what it left cannot be cleared away: {why}", error.message);
            refused(Class::Unknown, &error.code, words)
        };
        let group = &self.found.plug.group;
        match self.look().await {
            Ok(None) => {}
            Ok(Some(vm)) if self.ours(&vm).is_err() => return in_doubt("it is not ours".into()),
            Ok(Some(vm)) if !is_shell(&vm) => return in_doubt("it is not a shell".into()),
            Ok(Some(vm)) => match terminate::delete(self.api, group, &vm).await {
                Ok(true) => {}
                Ok(false) => return in_doubt("it is still being deleted".into()),
                Err(why) => return in_doubt(why.code),
            },
            Err(why) => return in_doubt(why.code),
        }
        if let Some(vm) = answered
            && let Err(why) = terminate::delete_children(self.api, group, vm).await
        {
            return in_doubt(why.code);
        }
        match error.class {
            // The operation has ended and nothing is left: it was a refusal.
            Class::Unknown => Error { class: Class::Refused { block: UNKNOWN_REFUSAL }, ..error },
            Class::Retry { .. }
            | Class::Capacity { .. }
            | Class::Quota { .. }
            | Class::Auth
            | Class::Invalid
            | Class::Refused { .. }
            | Class::Freeze => error,
        }
    }
}
