//! The trait.

use crate::{
    Class, Error, Examination, ExamineRequest, Handover, Listed, PriceListRequest, no_handover,
};
use async_trait::async_trait;
use fleet_model::{
    Access, CapacityGoal, Cause, Cloud, Create, Digest, FleetName, FleetUid, Labelled, Labels,
    Machine, MachineId, MachineState, Orphans, PoolId, Quota, Quote, Readings, Scope, SignalSet,
    SignalSource, SlotId, Template, Timestamp, Victim,
};
use std::collections::{BTreeMap, BTreeSet};

/// A cloud, or its simulated twin.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Which cloud this is.
    fn cloud(&self) -> Cloud;

    /// What pools cost now, how likely they are to be had, and what the account may use.
    ///
    /// Answers `quotes` in the order of `request.pools`. A pool the provider knows nothing of is
    /// `None`: the catalog's price then stands.
    async fn offerings(&self, request: &OfferingsRequest<'_>) -> Result<Offered, Error>;

    /// Every machine in a scope that carries tags of any fleet of ours, live or lately ended.
    ///
    /// `Err` and [`Listing::Partial`] both make the scope a gap. An empty complete list means
    /// that there is nothing.
    async fn machines(&self, scope: &Scope) -> Result<Listing, Error>;

    /// The same for several scopes at once, for clouds that list a whole account in one go.
    ///
    /// One answer per scope, in order. A scope that cannot be listed is an error of its own; the
    /// others are none the worse for it.
    async fn list(&self, scopes: &[Scope]) -> Vec<Result<Listing, Error>> {
        let asked = scopes.iter().map(|scope| self.machines(scope));
        futures::future::join_all(asked).await
    }

    /// What became of machines that a list lacks: each is asked for by its id or name. A list
    /// proves nothing of what is not in it; this does.
    ///
    /// One answer per machine, in order.
    async fn trace(&self, request: &TraceRequest<'_>) -> Result<Vec<Traced>, Error>;

    /// The machines that a launch made and that are there, asked for by the launch's own names or
    /// token where a cloud takes such a question: a list may lack them. Asked before anybody takes a
    /// launch in doubt for one that never happened.
    async fn made(&self, request: &CreateRequest<'_>) -> Result<Vec<Machine>, Error>;

    /// The account, project or subscription behind the credentials in a scope; `None` where a cloud
    /// does not tell. Cheap: asked at every look.
    async fn identity(&self, scope: &Scope) -> Result<Option<String>, Error>;

    /// How machines are reached, as far as lists do not tell. Asked only when somebody wants to reach
    /// them. Clouds whose lists tell all there is have nothing to add.
    async fn addresses(&self, _: &[&Machine]) -> Result<BTreeMap<MachineId, Access>, Error> {
        Ok(BTreeMap::new())
    }

    /// Launches machines, all from one pool, or from any of several if the request names others.
    ///
    /// The same token gives the same machines, however often it is sent. Fewer machines than
    /// asked for is an answer, not an error. Tags are set in the call itself.
    async fn create(&self, request: &CreateRequest<'_>) -> Result<Created, Error>;

    /// Ends machines. One that is already gone counts as ended.
    async fn destroy(&self, request: &DestroyRequest<'_>) -> Result<Destroyed, Error>;

    /// Disks and interfaces in a scope that were made for machines of ours and that no machine uses.
    ///
    /// Asked after [`Provider::machines`], so that nothing of a machine that is not listed is
    /// overlooked. Clouds that cannot leave any behind have none.
    async fn orphans(&self, _: &Scope) -> Result<Vec<Orphans>, Error> {
        Ok(Vec::new())
    }

    /// Clears away what machines left behind, and says of how many nothing is left. Looks first: what
    /// a machine uses, and what carries the tags of others, stays.
    async fn clear(&self, _: &ClearRequest<'_>) -> Result<u32, Error> {
        Ok(0)
    }

    /// Changes labels of machines that run, and says of which. Looks first: one that is not of this fleet
    /// is left alone, and so is every label that the request does not name. Doing it twice does no
    /// harm. Clouds that cannot change labels change none.
    async fn relabel(&self, _: &RelabelRequest<'_>) -> Result<Vec<MachineId>, Error> {
        Ok(Vec::new())
    }

    /// How machines change hands while they run. Clouds that cannot change tags of running machines, and
    /// providers that do not know how yet, say why.
    fn handover(&self) -> Result<&dyn Handover, Error> {
        let why = "fleet cannot change whose machines are on this cloud";
        Err(no_handover(self.cloud(), why))
    }

    /// Puts in order what launches left behind besides machines, and says how many things were
    /// removed. Called when an apply is done; nothing depends on it.
    async fn tidy(&self, _: &TidyRequest<'_>) -> Result<u32, Error> {
        Ok(0)
    }

    /// Machines of ours in these scopes that will be taken back, or that ended without us, as cheaply as the
    /// cloud tells. A hint for whoever runs for ever and asks every few seconds: the next look decides.
    async fn alarms(&self, scopes: &[Scope]) -> Result<BTreeSet<MachineId>, Error> {
        let mut alarmed = BTreeSet::new();
        for listing in self.list(scopes).await {
            let (Listing::Complete(machines) | Listing::Partial(machines, _)) = listing?;
            let troubled = machines.into_iter().filter(|machine| {
                machine.notice.is_some()
                    || !matches!(machine.state, MachineState::Pending | MachineState::Running)
            });
            alarmed.extend(troubled.map(|machine| machine.id));
        }
        Ok(alarmed)
    }

    /// What pools cost now, and how likely they are to be had, as cheaply as the cloud tells. A hint like
    /// [`Provider::alarms`]: asked every few seconds, and the next look decides.
    ///
    /// One answer per pool, in order; `None` where the cloud tells nothing that is both cheap and new.
    async fn market(&self, pools: &[PoolId]) -> Result<Vec<Option<Quote>>, Error> {
        Ok(vec![None; pools.len()])
    }

    /// For the ledger: how prices of pools moved, and when machines ran that are gone. What a cloud does not
    /// tell is left out; the ledger then counts what we noticed ourselves, and says so.
    async fn readings(&self, _: &ReadingsRequest<'_>) -> Result<Readings, Error> {
        Ok(Readings::default())
    }

    /// Looks an account over for `fleet doctor`: who we are, what answers, what we may do, what
    /// is left. Changes nothing. A twin has no account to look over.
    async fn examine(&self, _: &ExamineRequest<'_>) -> Examination {
        Examination::default()
    }

    /// Everything the cloud sells and for how much, for `fleet catalog refresh`.
    async fn price_list(&self, _: &PriceListRequest<'_>) -> Result<Vec<Listed>, Error> {
        let words = "this cloud has no price list to read";
        Err(Error::new(self.cloud(), Class::Invalid, "NoPriceList", words))
    }
}

/// What the ledger wants to know, all of it on this provider's cloud.
#[derive(Debug, Clone, Copy)]
pub struct ReadingsRequest<'a> {
    /// Pools that hold machines whose bill follows the market, and since when changes are wanted.
    pub pools: &'a [(PoolId, Timestamp)],
    /// Machines that are gone, and where they stood.
    pub gone: &'a [(MachineId, Scope)],
}

/// Which pools to quote.
#[derive(Debug, Clone, Copy)]
pub struct OfferingsRequest<'a> {
    /// The pools, all of this provider's cloud, in order.
    pub pools: &'a [PoolId],
    /// How their machines would be made: whether that is possible is part of the answer.
    pub template: &'a Template,
    /// How much is wanted in all: some clouds say how likely that much is to be had.
    pub goal: CapacityGoal,
    /// Signals that nobody wants: they are not asked for.
    pub ignore: SignalSet,
}

impl OfferingsRequest<'_> {
    /// Whether a signal is wanted.
    pub fn wants(&self, source: SignalSource) -> bool {
        !self.ignore.contains(source)
    }
}

/// The answer to [`Provider::offerings`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offered {
    /// One per pool asked for, in the same order.
    pub quotes: Vec<Option<Quote>>,
    /// Known limits. What is not listed is unknown, not zero.
    pub quotas: Vec<Quota>,
}

/// The answer to [`Provider::machines`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing {
    /// Everything there is.
    Complete(Vec<Machine>),
    /// Some of what there is, and what the cloud said of the rest.
    Partial(Vec<Machine>, String),
}

/// Machines that a list lacks, all in one scope.
#[derive(Debug, Clone, Copy)]
pub struct TraceRequest<'a> {
    /// The fleet they belong to.
    pub fleet: &'a FleetUid,
    /// Where they stood.
    pub scope: &'a Scope,
    /// The machines.
    pub missing: &'a [Missing],
}

/// A machine that a list lacks, as the journal knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The cloud's name for it.
    pub machine: MachineId,
    /// The slot it fills.
    pub slot: SlotId,
    /// The pool it came from.
    pub pool: PoolId,
    /// When it was launched: a cloud may not know a young one yet.
    pub launched_at: Timestamp,
}

/// What became of a machine that a list lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Traced {
    /// It is there: the list was wrong.
    There(Box<Machine>),
    /// It is gone for certain, and why, where the cloud tells.
    Gone(Option<Cause>),
    /// Nobody can say yet: it is young, or the cloud did not answer.
    Unknown,
}

/// A launch, with everything the cloud needs to know.
#[derive(Debug, Clone, Copy)]
pub struct CreateRequest<'a> {
    /// The fleet's identity, for the tags.
    pub fleet: &'a FleetUid,
    /// The fleet's name, for the people who read the tags.
    pub name: &'a FleetName,
    /// Labels of the fleet, carried as tags.
    pub labels: &'a BTreeMap<String, String>,
    /// Pool, slots, token and price limit.
    pub create: &'a Create,
    /// How the machines are made.
    pub template: &'a Template,
}

/// The answer to [`Provider::create`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// The machines, each tagged with its slot. More or fewer than asked for is possible.
    pub machines: Vec<Machine>,
    /// Why there are fewer than asked for.
    pub shortfall: Option<Error>,
    /// What single pools said no with, where the request left a choice between several. There may
    /// be some even if every machine was made.
    pub refusals: Vec<(PoolId, Error)>,
}

impl Created {
    /// Everything that was asked for, or what there is of it.
    pub fn all(machines: Vec<Machine>) -> Self {
        Created { machines, shortfall: None, refusals: Vec::new() }
    }
}

/// What an apply is done with, so that what it needed may go.
#[derive(Debug, Clone, Copy)]
pub struct TidyRequest<'a> {
    /// The fleet.
    pub fleet: &'a FleetUid,
    /// Where it has been, all of it on this provider's cloud.
    pub scopes: &'a BTreeSet<Scope>,
    /// The machines that the journal knows, each with its slot.
    pub machines: &'a BTreeMap<MachineId, SlotId>,
    /// Fingerprint of the template that machines are made from now.
    pub template: Digest,
    /// Whether the fleet is gone for good, and everything that was made for it with it.
    pub gone: bool,
}

/// Machines to end, all in one scope.
#[derive(Debug, Clone, Copy)]
pub struct DestroyRequest<'a> {
    /// The fleet they belong to.
    pub fleet: &'a FleetUid,
    /// Where they stand.
    pub scope: &'a Scope,
    /// The machines.
    pub victims: &'a [Victim],
}

/// What machines left behind, all in one scope.
#[derive(Debug, Clone, Copy)]
pub struct ClearRequest<'a> {
    /// The fleet they belonged to.
    pub fleet: &'a FleetUid,
    /// Where it is.
    pub scope: &'a Scope,
    /// What they left.
    pub orphans: &'a [Orphans],
}

/// Labels to change on machines, all in one scope.
#[derive(Debug, Clone, Copy)]
pub struct RelabelRequest<'a> {
    /// The fleet they belong to.
    pub fleet: &'a FleetUid,
    /// Its name, for consoles that show one.
    pub name: &'a FleetName,
    /// Where they stand.
    pub scope: &'a Scope,
    /// Every label of the user's own that they should carry.
    pub set: &'a Labels,
    /// Keys that they should carry no more.
    pub remove: &'a BTreeSet<String>,
    /// The machines.
    pub machines: &'a [Labelled],
}

/// The answer to [`Provider::destroy`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Destroyed {
    /// Ended now or gone before.
    pub ended: Vec<MachineId>,
    /// Left alone: the machine is not what the plan took it for, and why.
    pub refused: Vec<(MachineId, String)>,
}
