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
use crate::terminate;
use crate::wire::Vm;
use fleet_model::{Machine, SlotId};
use fleet_provider::{Class, CreateRequest, Created, Error};
use reqwest::Method;
use std::time::Duration;

/// How often a machine that is being made by somebody else with our name is looked at, and for how
/// long.
const OFTEN: Duration = Duration::from_secs(5);
const TIMES: u32 = 36;

/// After a failure that we know nothing of, and nothing is left: not at once again.
const LATER: Duration = Duration::from_secs(30);

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
            // Putting a shell again tries again; everything else is there.
            if !is_shell(&vm) {
                return self.settle(vm).await;
            }
        }
        let answer = self.put().await;
        let answer = match answer {
            Ok(answer) if (200..300).contains(&answer.status) => answer,
            Ok(answer) => return self.refused(answer.error(self.kind())).await,
            Err(error) => return self.refused(error).await,
        };
        match wait(self.api, self.kind(), &answer).await {
            End::Done => self.made(answer.json(self.kind())?).await,
            End::Open => self.read(&answer.json(self.kind())?),
            End::Failed(error) => Err(self.clear_away(error).await),
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
            | Class::Refused { .. } => Err(self.clear_away(error).await),
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
                // A launch that was given up by somebody else, or a silent cloud.
                Ok(None) | Err(_) => break,
            }
        }
        if is_shell(&vm) {
            let words = "the machine was accepted and then failed";
            let error = refused(Class::Retry { after: Some(LATER) }, "ProvisioningFailed", words);
            return Err(self.clear_away(error).await);
        }
        self.read(&vm)
    }

    /// A machine that is up, as it is now.
    async fn made(&self, answered: Vm) -> Result<Created, Error> {
        match self.look().await {
            Ok(Some(vm)) => self.read(&vm),
            // Not listed yet, or a silent cloud: what was answered stands.
            Ok(None) | Err(_) => self.read(&answered),
        }
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
    /// as it is: then it is proof that nothing was made.
    async fn clear_away(&self, error: Error) -> Error {
        let in_doubt = |why: String| {
            let words =
                format!("{}, and what it left cannot be cleared away: {why}", error.message);
            refused(Class::Unknown, &error.code, words)
        };
        match self.look().await {
            Ok(None) => {}
            Ok(Some(vm)) if self.ours(&vm).is_err() => return in_doubt("it is not ours".into()),
            Ok(Some(vm)) if !is_shell(&vm) => return in_doubt("it is not a shell".into()),
            Ok(Some(vm)) => {
                match terminate::delete(self.api, &self.found.plug.group, &vm.name).await {
                    Ok(true) => {}
                    Ok(false) => return in_doubt("it is still going".into()),
                    Err(why) => return in_doubt(why.code),
                }
            }
            Err(why) => return in_doubt(why.code),
        }
        match error.class {
            // The operation has ended and nothing is left: the cloud may be asked again.
            Class::Unknown => Error { class: Class::Retry { after: Some(LATER) }, ..error },
            _ => error,
        }
    }
}
