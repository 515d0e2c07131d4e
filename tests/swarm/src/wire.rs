//! The way from one process to one cloud and back. What is on its way goes on when the process
//! dies; answers are lost, come late, and overtake each other.

use crate::bench::short;
use crate::process::Process;
use crate::weather::Kind;
use async_trait::async_trait;
use fleet_model::{
    Cloud, Create, FleetName, FleetUid, Machine, MachineId, MachineState, Operation, Orphans,
    Readings, Scope, Template, Token, Victim,
};
use fleet_provider::{
    Class, ClearRequest, CreateRequest, Created, DestroyRequest, Destroyed, Error, Listing,
    Offered, OfferingsRequest, Provider, ReadingsRequest, RelabelRequest, TraceRequest, Traced,
};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long a process waits for an answer.
const PATIENCE: Duration = Duration::from_secs(90);

/// A process' way to a cloud.
pub(crate) struct Wire {
    pub(crate) process: Arc<Process>,
    pub(crate) cloud: Arc<dyn Provider>,
}

/// A launch that no longer depends on who sent it.
struct Launch {
    fleet: FleetUid,
    name: FleetName,
    labels: BTreeMap<String, String>,
    create: Create,
    template: Template,
}

impl Launch {
    fn of(request: &CreateRequest<'_>) -> Self {
        Launch {
            fleet: request.fleet.clone(),
            name: request.name.clone(),
            labels: request.labels.clone(),
            create: request.create.clone(),
            template: request.template.clone(),
        }
    }

    fn request(&self) -> CreateRequest<'_> {
        let Launch { fleet, name, labels, create, template } = self;
        CreateRequest { fleet, name, labels, create, template }
    }
}

impl Wire {
    fn silence(&self, asked: Class) -> Error {
        let (code, words) = if self.process.world.strikes(Kind::CapacityWords) {
            // Classified by its status, as adapters do: a 503 says that something is broken.
            ("InsufficientInstanceCapacity", "503: insufficient capacity")
        } else {
            ("RequestTimeout", "no answer in time")
        };
        Error::new(self.cloud.cloud(), asked, code, words)
    }

    /// How long a request or an answer is under way.
    fn way(&self) -> Duration {
        let world = &self.process.world;
        if world.strikes(Kind::Delayed) {
            let most = world.lock().weather.wire;
            return world.up_to(most);
        }
        Duration::from_millis(20 + world.below(400))
    }

    /// Whether a change never arrives.
    fn never_arrives(&self) -> bool {
        let world = &self.process.world;
        let gone = world.strikes_later(Kind::LostRequest);
        if gone {
            world.count(Kind::LostRequest);
        }
        gone
    }

    /// Whether nobody hears what becomes of a launch: it is blurred, or an earlier sending was lost.
    fn goes_unheard(&self, token: &Token, gone: bool) -> bool {
        let world = &self.process.world;
        let mut inner = world.lock();
        let blurred = inner.weather.has(Kind::Blurred) && inner.later.percent(40);
        *inner.counts.entry(Kind::Blurred).or_default() += u64::from(blurred);
        let again = !inner.lost_before.insert(token.clone());
        if !gone && !again {
            inner.lost_before.remove(token);
        }
        blurred || again && inner.later.percent(50)
    }

    /// Sends a change: it goes its way, whatever becomes of the sender.
    async fn change<T: Send + 'static>(
        &self,
        (gone, unheard): (bool, bool),
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let world = &self.process.world;
        if world.strikes(Kind::PauseBeforeSend) {
            let most = world.lock().weather.send_pause;
            let lasting = world.up_to(most);
            // Not a moment longer than the process: another pause would come on top.
            tokio::time::sleep_until(self.process.freeze(lasting)).await;
        }
        let (there, back) = (self.way(), self.way());
        let lost = world.strikes(Kind::LostAnswer) || unheard;
        let (answer, answered) = oneshot::channel();
        tokio::spawn(async move {
            if gone {
                return;
            }
            tokio::time::sleep(there).await;
            let done = work.await;
            tokio::time::sleep(back).await;
            // Whoever waited may be gone.
            let _ = answer.send(done);
        });
        self.process.pass(Kind::CrashAfterSend).await;
        let waited = tokio::time::timeout(PATIENCE, answered).await;
        self.process.awake().await;
        match waited {
            Ok(Ok(answer)) if !lost => answer,
            _ => Err(self.silence(Class::Unknown)),
        }
    }
}

impl Wire {
    /// What a list said, for the trace and the judge.
    fn tell_list(&self, scope: &Scope, answer: &Result<Listing, Error>) {
        let (process, world) = (&self.process, &self.process.world);
        let word = match answer {
            Ok(Listing::Complete(all)) => format!("{} machines", all.len()),
            Ok(Listing::Partial(some, _)) => format!("{} machines, not all", some.len()),
            Err(error) => error.code.clone(),
        };
        world.trace(format_args!("p{} lists {scope}: {word}", process.id));
        world.look();
        world.judge(|judge| judge.told(process.id, scope, answer));
    }
}

impl Wire {
    /// Whether the credentials are for another account, where nothing of ours is.
    fn is_elsewhere(&self) -> bool {
        self.process.is_elsewhere(self.cloud())
    }

    /// What the judge hears when another account is listed: nothing of ours answered.
    fn list_elsewhere(&self, scope: &Scope) -> Listing {
        let silent = Err(self.silence(Class::Auth));
        self.tell_list(scope, &silent);
        Listing::Complete(Vec::new())
    }

    /// A change in another account is one too many, whatever comes of it.
    fn change_elsewhere(&self, does: &str) -> Error {
        let (id, cloud) = (self.process.id, self.cloud());
        let what = format!("p{id} {does} in an account of {cloud} that is not the fleet's");
        self.process.world.judge(|judge| judge.fail('E', what));
        self.silence(Class::Auth)
    }
}

#[async_trait]
impl Provider for Wire {
    fn cloud(&self) -> Cloud {
        self.cloud.cloud()
    }

    async fn offerings(&self, request: &OfferingsRequest<'_>) -> Result<Offered, Error> {
        tokio::time::sleep(Duration::from_millis(50)).await;
        // Prices are the last that is asked for: what comes after is another look.
        self.process.world.judge(|judge| judge.looked(self.process.id));
        self.cloud.offerings(request).await
    }

    async fn readings(&self, request: &ReadingsRequest<'_>) -> Result<Readings, Error> {
        match self.is_elsewhere() {
            true => Ok(Readings::default()),
            false => self.cloud.readings(request).await,
        }
    }

    async fn machines(&self, scope: &Scope) -> Result<Listing, Error> {
        let (process, world) = (&self.process, &self.process.world);
        world.look();
        world.judge(|judge| {
            judge.asks(process.id, scope);
            judge.draws(process.id, scope, Operation::Look, 1);
        });
        tokio::time::sleep(self.way()).await;
        if self.is_elsewhere() {
            return Ok(self.list_elsewhere(scope));
        }
        let mut answer = self.cloud.machines(scope).await;
        tokio::time::sleep(self.way()).await;
        process.awake().await;
        if world.strikes(Kind::LostAnswer) {
            answer = Err(self.silence(Class::Retry { after: None }));
        }
        self.tell_list(scope, &answer);
        answer
    }

    async fn list(&self, scopes: &[Scope]) -> Vec<Result<Listing, Error>> {
        let (process, world) = (&self.process, &self.process.world);
        let Some(first) = scopes.first().filter(|_| self.cloud().lists_whole_accounts()) else {
            return futures::future::join_all(scopes.iter().map(|scope| self.machines(scope)))
                .await;
        };
        world.look();
        world.judge(|judge| {
            scopes.iter().for_each(|scope| judge.asks(process.id, scope));
            // On Azure disks and interfaces are lists of their own.
            let calls = if self.cloud() == Cloud::Azure { 3 } else { 1 };
            judge.draws(process.id, first, Operation::Look, calls);
        });
        tokio::time::sleep(self.way()).await;
        if self.is_elsewhere() {
            return scopes.iter().map(|scope| Ok(self.list_elsewhere(scope))).collect();
        }
        let mut answers = self.cloud.list(scopes).await;
        tokio::time::sleep(self.way()).await;
        process.awake().await;
        let lost = world.strikes(Kind::LostAnswer);
        for (scope, answer) in scopes.iter().zip(&mut answers) {
            if lost {
                *answer = Err(self.silence(Class::Retry { after: None }));
            }
            self.tell_list(scope, answer);
        }
        answers
    }

    async fn trace(&self, request: &TraceRequest<'_>) -> Result<Vec<Traced>, Error> {
        let (process, world) = (&self.process, &self.process.world);
        world.judge(|judge| judge.draws(process.id, request.scope, Operation::Look, 1));
        tokio::time::sleep(self.way()).await;
        if self.is_elsewhere() {
            return Ok(vec![Traced::Gone(None); request.missing.len()]);
        }
        let mut answer = self.cloud.trace(request).await;
        tokio::time::sleep(self.way()).await;
        process.awake().await;
        if world.strikes(Kind::LostAnswer) {
            answer = Err(self.silence(Class::Retry { after: None }));
        }
        let word = match &answer {
            Ok(traced) => {
                let gone = traced.iter().filter(|one| matches!(one, Traced::Gone(_))).count();
                format!("{gone} of {} gone", traced.len())
            }
            Err(error) => error.code.clone(),
        };
        world.trace(format_args!("p{} asks {} by id: {word}", process.id, request.scope));
        answer
    }

    async fn made(&self, request: &CreateRequest<'_>) -> Result<Vec<Machine>, Error> {
        let (process, world) = (&self.process, &self.process.world);
        let (scope, token) = (request.create.pool.place.scope(), &request.create.token);
        world.judge(|judge| judge.draws(process.id, &scope, Operation::Look, 1));
        tokio::time::sleep(self.way()).await;
        if self.is_elsewhere() {
            return Ok(Vec::new());
        }
        let mut answer = self.cloud.made(request).await;
        tokio::time::sleep(self.way()).await;
        process.awake().await;
        if world.strikes(Kind::LostAnswer) {
            answer = Err(self.silence(Class::Retry { after: None }));
        }
        let word = match &answer {
            Ok(machines) => format!("{} machines", machines.len()),
            Err(error) => error.code.clone(),
        };
        let token = short(token.as_str());
        world.trace(format_args!("p{} asks what {token} made: {word}", process.id));
        answer
    }

    async fn identity(&self, scope: &Scope) -> Result<Option<String>, Error> {
        match self.is_elsewhere() {
            true => Ok(Some("another".into())),
            false => self.cloud.identity(scope).await,
        }
    }

    async fn orphans(&self, scope: &Scope) -> Result<Vec<Orphans>, Error> {
        let (process, world) = (&self.process, &self.process.world);
        if self.is_elsewhere() {
            return Ok(Vec::new());
        }
        let mut answer = self.cloud.orphans(scope).await;
        if self.cloud() == Cloud::Azure && world.strikes_later(Kind::ChildLeft) {
            answer = Err(self.silence(Class::Retry { after: None }));
        }
        if let Err(error) = &answer {
            world.trace(format_args!("p{} lists disks in {scope}: {}", process.id, error.code));
        }
        let failed = answer.as_ref().err();
        world.judge(|judge| judge.told_of_children(process.id, scope, failed));
        answer
    }

    async fn clear(&self, request: &ClearRequest<'_>) -> Result<u32, Error> {
        if self.is_elsewhere() {
            return Err(self.change_elsewhere("clears away"));
        }
        let (process, world) = (self.process.clone(), self.process.world.clone());
        world.look();
        world.judge(|judge| {
            judge.draws(process.id, request.scope, Operation::End, 1);
            judge.sends_clear(process.id, request);
        });
        let (fleet, scope) = (request.fleet.clone(), request.scope.clone());
        let orphans: Vec<Orphans> = request.orphans.to_vec();
        let cloud = self.cloud.clone();
        let there = world.clone();
        let answer = self.change((self.never_arrives(), false), async move {
            let request = ClearRequest { fleet: &fleet, scope: &scope, orphans: &orphans };
            let answer = cloud.clear(&request).await;
            there.look();
            answer
        });
        let answer = answer.await;
        let word = answer.as_ref().map_or_else(|error| error.code.clone(), ToString::to_string);
        world.trace(format_args!(
            "p{} clears away after {}: {word}",
            process.id,
            request.orphans.len()
        ));
        answer
    }

    async fn relabel(&self, request: &RelabelRequest<'_>) -> Result<Vec<MachineId>, Error> {
        if self.is_elsewhere() {
            return Err(self.change_elsewhere("changes labels"));
        }
        let (process, world) = (self.process.clone(), self.process.world.clone());
        world.judge(|judge| {
            judge.draws(process.id, request.scope, Operation::End, 1);
            judge.sends_relabel(process.id, request);
        });
        let (fleet, name, scope) =
            (request.fleet.clone(), request.name.clone(), request.scope.clone());
        let (set, remove) = (request.set.clone(), request.remove.clone());
        let machines = request.machines.to_vec();
        let cloud = self.cloud.clone();
        let answer = self.change((self.never_arrives(), false), async move {
            let request = RelabelRequest {
                fleet: &fleet,
                name: &name,
                scope: &scope,
                set: &set,
                remove: &remove,
                machines: &machines,
            };
            cloud.relabel(&request).await
        });
        // Without an answer it may be sent again.
        let answer = answer.await.map_err(|error| match error.class {
            Class::Unknown => self.silence(Class::Retry { after: None }),
            _ => error,
        });
        let word = match &answer {
            Ok(done) => format!("{} of {}", done.len(), request.machines.len()),
            Err(error) => error.code.clone(),
        };
        world.trace(format_args!("p{} changes labels in {}: {word}", process.id, request.scope));
        answer
    }

    async fn create(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        if self.is_elsewhere() {
            return Err(self.change_elsewhere("launches"));
        }
        let (process, world) = (self.process.clone(), self.process.world.clone());
        let token = request.create.token.clone();
        world.trace(format_args!("p{} sends {}", process.id, short(token.as_str())));
        let scope = request.create.pool.place.scope();
        world.judge(|judge| {
            judge.draws(process.id, &scope, Operation::Launch, 1);
            if scope.cloud == Cloud::Aws {
                judge.draws_machines(process.id, &scope, request.create.slots.len() as i64);
            }
            judge.sends_create(process.id, request);
        });
        let launch = Launch::of(request);
        let cloud = self.cloud.clone();
        let idempotent = self.cloud().launches_are_idempotent();
        let twice = idempotent && world.strikes(Kind::Duplicated);
        let gone = self.never_arrives();
        let unheard = self.goes_unheard(&token, gone);
        let (id, there) = (process.id, world.clone());
        let answer = self.change((gone, unheard), async move {
            let answer = cloud.create(&launch.request()).await;
            if twice && answer.is_ok() {
                // A copy that was held up somewhere. Its answer reaches nobody.
                let _ = cloud.create(&launch.request()).await;
            }
            let word = match &answer {
                Ok(created) => format!("{} machines", created.machines.len()),
                Err(error) => error.code.clone(),
            };
            there.trace(format_args!(
                "p{id}'s {} done: {word}",
                short(launch.create.token.as_str())
            ));
            there.look();
            answer
        });
        let answer = answer.await;
        let word = match &answer {
            Ok(created) => format!("{} machines", created.machines.len()),
            Err(error) => error.code.clone(),
        };
        world.trace(format_args!("p{} hears of {}: {word}", process.id, short(token.as_str())));
        if let Ok(created) = &answer {
            let machines = created.machines.iter().map(|machine| machine.id.clone()).collect();
            world.judge(|judge| judge.hears(process.id, &token, machines));
        }
        answer
    }

    async fn destroy(&self, request: &DestroyRequest<'_>) -> Result<Destroyed, Error> {
        if self.is_elsewhere() {
            return Err(self.change_elsewhere("ends machines"));
        }
        let (process, world) = (self.process.clone(), self.process.world.clone());
        world.judge(|judge| {
            judge.draws(process.id, request.scope, Operation::End, 1);
            judge.sends_destroy(process.id, request);
        });
        let (fleet, scope) = (request.fleet.clone(), request.scope.clone());
        let victims: Vec<Victim> = request.victims.to_vec();
        let cloud = self.cloud.clone();
        let (id, there) = (process.id, world.clone());
        let answer = self.change((self.never_arrives(), false), async move {
            let before = there.sim.machines().unwrap_or_default();
            let request = DestroyRequest { fleet: &fleet, scope: &scope, victims: &victims };
            let answer = cloud.destroy(&request).await;
            let after = there.sim.machines().unwrap_or_default();
            let fell = |machine: &&fleet_model::Machine| {
                let stays = |state| matches!(state, MachineState::Pending | MachineState::Running);
                stays(machine.state)
                    && after.iter().find(|m| m.id == machine.id).is_none_or(|m| !stays(m.state))
            };
            // Only what this very call ended: it takes no time in a cloud.
            let ended: Vec<_> = before.iter().filter(fell).cloned().collect();
            let names: Vec<&str> = ended.iter().map(|m| m.id.as_str()).collect();
            there.trace(format_args!("p{id} ended {}", names.join(" ")));
            there.judge(|judge| judge.ended(id, &ended, &victims));
            there.look();
            answer
        });
        let answer = answer.await;
        world.trace(format_args!(
            "p{} hears of {} ends: {}",
            process.id,
            request.victims.len(),
            match &answer {
                Ok(done) => format!("{} ended, {} refused", done.ended.len(), done.refused.len()),
                Err(error) => error.code.clone(),
            }
        ));
        answer
    }
}
