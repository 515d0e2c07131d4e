//! What the journal says: every slot we ever filled, every request in doubt, every pool that said no.

use crate::{
    AccountKey, Beliefs, CapacityGoal, Cloud, Commitment, CostKind, Create, Digest, Extras,
    FleetName, FleetUid, Group, InterruptionNotice, Labels, MachineId, Market, MicroUsd, Place,
    PoolId, PricedAt, Region, Rollout, SignalRecords, SlotHealth, SlotId, SlotName, Spent,
    SpotRecord, Strategy, Template, TemplateFields, Timestamp, Token, Uncounted, Undone, Word,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A machine that the journal says is there.
#[derive(Debug, Clone, Copy)]
pub struct OnRecord<'a> {
    /// The slot that it fills.
    pub slot: SlotId,
    /// Which machine.
    pub machine: &'a MachineId,
    /// The pool that it is from.
    pub pool: &'a PoolId,
}

/// The journal of one fleet, folded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Recorded {
    /// The fleet's identity; `None` before the first apply.
    pub uid: Option<FleetUid>,
    /// Number of the last journal record that was folded in.
    pub seq: u64,
    /// How many events changed what is recorded here: a saved plan stands on this number.
    pub changes: u64,
    /// When a round last began: just before, somebody looked at every machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked: Option<Timestamp>,
    /// Every slot that was ever filled or tried.
    pub slots: BTreeMap<SlotName, SlotRecord>,
    /// Requests sent, or about to be sent, whose outcome we do not know.
    pub in_doubt: BTreeMap<Token, Attempt>,
    /// Machines that a cloud made and nobody asked for.
    pub surplus: BTreeSet<MachineId>,
    /// Machines that were written down as gone and not by our doing, lately. One that comes back is
    /// ours still.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub departed: BTreeMap<MachineId, Departed>,
    /// Machines that will be taken back, as somebody on them said.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub told: BTreeMap<MachineId, InterruptionNotice>,
    /// The last epoch of the lease.
    pub epoch: u64,
    /// Pools, and wider scopes, that said no, and until when we do not ask again.
    pub blocks: Vec<Block>,
    /// What was seen of spot pools.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub beliefs: Beliefs,
    /// What the clouds' signals last said of pools when machines were launched there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub heard: BTreeMap<PoolId, HeardAt>,
    /// How well each signal foretold what happened.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub signals: SignalRecords,
    /// The account behind each cloud when the fleet first launched there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub accounts: BTreeMap<AccountKey, String>,
    /// The labels that launches on each cloud carry.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<Cloud, LabelsRecord>,
    /// The templates that machines on record were made from: what each sets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub templates: BTreeMap<Digest, TemplateFields>,
    /// The same templates, whole but for their user data.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kept_templates: BTreeMap<Digest, Template>,
    /// The last change of template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<Rollout>,
    /// Templates that a person does not want.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone: Option<Undone>,
    /// The strategy by which pools were last chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// What the fleet was last meant to hold, when nothing stood beyond it: a lower target is a wish of
    /// the user's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<CapacityGoal>,
    /// A person wants nothing to be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freeze: Option<Freeze>,
    /// The name that the fleet was given last. A journal under another name than this is being moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed: Option<FleetName>,
    /// Machines that were let go and run on. Where a cloud keeps our tags on them, these say nothing.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub released: BTreeSet<MachineId>,
    /// Prices of pools that hold machines, as last written down: what the bill follows.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub priced: BTreeMap<PoolId, PricedAt>,
    /// What the spec said is bought ahead, as last written down: what the bill follows too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commitments: Vec<Commitment>,
    /// What was seen of the spot market as a whole: losses, refusals, and the fallback to on-demand.
    #[serde(skip_serializing_if = "SpotRecord::is_empty")]
    pub spot: SpotRecord,
    /// What machines that are gone have cost.
    #[serde(skip_serializing_if = "Spent::is_empty")]
    pub spent: Spent,
    /// What their disks, addresses and traffic have cost, as far as that is known.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub spent_beside: BTreeMap<CostKind, Spent>,
    /// What no amount of those counts, and until when there was such a thing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<UncountedUntil>,
    /// What comes beside machines of the pools that the last round launches from.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extras: BTreeMap<PoolId, Extras>,
    /// Machines that never came up, or ended right after their launch and not by our doing: for each
    /// group a row per template. (Under another name than when there was one row for all.)
    #[serde(rename = "bootFailures", skip_serializing_if = "BTreeMap::is_empty")]
    pub early_ends: BTreeMap<Group, Vec<EarlyEnds>>,
}

impl Recorded {
    /// The machines on record.
    pub fn machines(&self) -> impl Iterator<Item = OnRecord<'_>> {
        self.slots.iter().filter_map(|(&name, record)| match &record.state {
            SlotState::Filled { machine, pool, .. } => {
                let slot = SlotId { name, generation: record.generation };
                Some(OnRecord { slot, machine, pool })
            }
            SlotState::InDoubt { .. } | SlotState::Vacant => None,
        })
    }

    /// Machines with the template of the last rollout, and without.
    pub fn rolled_out(&self) -> (u64, u64) {
        let Some(rollout) = &self.rollout else { return (0, 0) };
        let (mut updated, mut left) = (0, 0);
        for record in self.slots.values() {
            let SlotState::Filled { pool, template, ending: false, .. } = &record.state else {
                continue;
            };
            match rollout.to.get(&pool.place.cloud) {
                Some(to) if to == template => updated += 1,
                Some(_) => left += 1,
                None => {}
            }
        }
        (updated, left)
    }

    /// Machines on record: what each costs that is not in `spent` and `spent_beside` yet.
    pub fn running(&self) -> impl Iterator<Item = Unsettled<'_>> {
        self.slots.values().filter_map(|record| match &record.state {
            SlotState::Filled {
                pool, launched_at, price, extras, extras_since, adopted, ..
            } => {
                let (since, price) = self.unsettled(pool, *launched_at, *price);
                let since = adopted.map_or(since, |adopted| since.max(adopted));
                let extras_since = extras_since.unwrap_or(*launched_at);
                Some(Unsettled { pool, since, price, extras: *extras, extras_since })
            }
            SlotState::Vacant | SlotState::InDoubt { .. } => None,
        })
    }

    /// From when on a machine of a pool is not in `spent`, and its price per hour since then. One that somebody else
    /// launched is not counted before it was adopted.
    pub fn unsettled(
        &self,
        pool: &PoolId,
        launched_at: Timestamp,
        price: Option<MicroUsd>,
    ) -> (Timestamp, Option<MicroUsd>) {
        match self.priced.get(pool) {
            Some(last) if last.since > launched_at => (last.since, Some(last.price)),
            Some(_) | None => (launched_at, price),
        }
    }
}

/// Something that no amount counts, because nobody can tell its price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UncountedUntil {
    /// What, why, on which cloud and of how many machines that are gone.
    #[serde(flatten)]
    pub what: Uncounted,
    /// When the last of them was gone; a row for each day.
    pub until: Timestamp,
}

/// What a machine on record costs, from when it is not in a sum yet.
#[derive(Debug, Clone, Copy)]
pub struct Unsettled<'a> {
    /// The pool that it is from.
    pub pool: &'a PoolId,
    /// Since when its price is not in `spent`.
    pub since: Timestamp,
    /// Price per hour since then.
    pub price: Option<MicroUsd>,
    /// What comes beside; `None`: nobody wrote it down.
    pub extras: Option<Extras>,
    /// Since when that is not in `spent_beside`.
    pub extras_since: Timestamp,
}

/// A person wants nothing of a fleet to be changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Freeze {
    /// Why.
    pub reason: String,
    /// Since when.
    pub since: Timestamp,
    /// Until when; `None`: until somebody thaws it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// What the clouds' signals said of a pool, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeardAt {
    /// When a launch was decided on it.
    pub at: Timestamp,
    /// Each source's word.
    pub words: Vec<Word>,
}

/// The labels and tags of the user's own that machines of a cloud carry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelsRecord {
    /// How often they changed: each machine is on record with the version that it carries. Machines
    /// from before there was a record of labels carry version 0.
    pub version: u32,
    /// What launches carry now.
    pub now: Labels,
    /// Keys that earlier versions had, and this one does not.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub former: BTreeSet<String>,
}

/// What is known of one slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SlotRecord {
    /// The generation that fills the slot, or that will fill it next.
    pub generation: u32,
    /// How often that generation was tried and refused. Part of the token, so that a new try is a
    /// new request; it rises only on proof that the last try made nothing.
    pub attempt: u32,
    /// How it stands.
    pub state: SlotState,
    /// When it was last tried, oldest first; times that bound nothing any more are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Timestamp>,
    /// When tries of it were refused for want of capacity and for nothing else, oldest first. They are
    /// not among `tried`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Timestamp>,
}

/// A machine that was written down as gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Departed {
    /// The slot it filled.
    pub slot: SlotId,
    /// The pool it came from.
    pub pool: PoolId,
    /// When it was launched.
    pub launched_at: Timestamp,
    /// The price it was launched at.
    pub price: Option<MicroUsd>,
    /// The template it was made from.
    pub template: Digest,
    /// What came beside it, if that was written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extras: Option<Extras>,
    /// Since when it was of the fleet, if somebody else launched it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted: Option<Timestamp>,
    /// When it was written down as gone.
    pub at: Timestamp,
}

/// Machines of a group and a template that ended right after their launch, in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EarlyEnds {
    /// How many.
    pub count: u32,
    /// When the last was seen.
    pub last: Timestamp,
    /// Where they stood: templates are a cloud's own.
    pub cloud: Cloud,
    /// The template they were made from: another one may do better.
    pub template: Digest,
}

/// How a slot stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "is")]
#[expect(clippy::large_enum_variant, reason = "nearly every slot is filled")]
pub enum SlotState {
    /// Nobody fills it: refused, or its machine is observed to be gone.
    Vacant,
    /// A request for it is in doubt.
    InDoubt {
        /// Which request.
        token: Token,
    },
    /// A machine fills it.
    Filled {
        /// Which machine.
        machine: MachineId,
        /// From which pool.
        pool: PoolId,
        /// When it was launched.
        launched_at: Timestamp,
        /// The price it was launched at: history is not re-priced from today's catalog.
        price: Option<MicroUsd>,
        /// The template it was made from.
        template: Digest,
        /// Ending was asked for, and is not yet observed.
        ending: bool,
        /// Its cloud said that it does not work.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
        /// The version of its cloud's labels that it carries.
        #[serde(default, skip_serializing_if = "is_zero")]
        labels: u32,
        /// A person asked for its replacement.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        replace: bool,
        /// What is known of its checks.
        #[serde(default, skip_serializing_if = "SlotHealth::is_unknown")]
        health: SlotHealth,
        /// The work on it was asked to end.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        drained: bool,
        /// What comes beside its price. `None`: nobody wrote it down.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extras: Option<Extras>,
        /// Since when, where that is later than its launch: what was before is in `spent_beside`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extras_since: Option<Timestamp>,
        /// Since when it is of the fleet, if somebody else launched it: what was before is no cost of ours.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        adopted: Option<Timestamp>,
    },
}

/// A request in doubt: what was to be sent, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// The request, resolved: a repeat sends exactly this.
    pub create: Create,
    /// The version of its cloud's labels that it carries.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub labels: u32,
    /// What comes beside a machine of the pool that it names first, if that was written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extras: Option<Extras>,
    /// When it was written down.
    pub intended_at: Timestamp,
    /// When it was last about to be sent: from here on counts the time after which absence proves
    /// that nothing was made.
    pub last_sent: Timestamp,
}

fn is_zero(version: &u32) -> bool {
    *version == 0
}

/// A scope that said no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    /// What is blocked.
    pub scope: BlockScope,
    /// Until when.
    pub until: Timestamp,
    /// The cloud's code.
    pub code: String,
}

/// How wide a refusal reaches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum BlockScope {
    /// One pool has no capacity.
    Pool {
        /// Which.
        pool: PoolId,
    },
    /// A quota of a region and market is used up.
    Quota {
        /// The cloud.
        cloud: Cloud,
        /// The region.
        region: Region,
        /// The market.
        market: Market,
    },
    /// A limit that several types share is used up, in a region and market.
    Class {
        /// The cloud.
        cloud: Cloud,
        /// The region.
        region: Region,
        /// The market.
        market: Market,
        /// The types, by [`Cloud::limit_class`].
        class: String,
    },
    /// Everything in a zone: its subnet has no addresses left.
    Zone {
        /// Which.
        place: Place,
    },
    /// A region refuses us.
    Region {
        /// The cloud.
        cloud: Cloud,
        /// The region.
        region: Region,
    },
    /// An account refuses us, in all its regions: altogether, or one market or class of types.
    Account {
        /// The cloud.
        cloud: Cloud,
        /// The account that the spec names; `None`: the one that the credentials are for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<String>,
        /// Only this market.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        market: Option<Market>,
        /// Only these types, by [`Cloud::limit_class`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        class: Option<String>,
    },
    /// The cloud refuses us altogether.
    Cloud {
        /// Which.
        cloud: Cloud,
    },
    /// A breaker is open: one kind of request failed in a region several times in a row.
    Breaker {
        /// The cloud.
        cloud: Cloud,
        /// The region.
        region: Region,
        /// The kind of request.
        operation: Operation,
    },
}

/// A kind of request to a cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Operation {
    /// Listing machines.
    Look,
    /// Launching machines.
    Launch,
    /// Ending machines.
    End,
}

impl Operation {
    /// The requests in plain words.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Look => "looks",
            Operation::Launch => "launches",
            Operation::End => "ends",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl BlockScope {
    /// Whether a pool is inside.
    pub fn covers(&self, pool: &PoolId) -> bool {
        match self {
            BlockScope::Pool { pool: blocked } => blocked == pool,
            BlockScope::Quota { cloud, region, market } => {
                *cloud == pool.place.cloud && *region == pool.place.region && *market == pool.market
            }
            BlockScope::Class { cloud, region, market, class } => {
                *cloud == pool.place.cloud
                    && *region == pool.place.region
                    && *market == pool.market
                    && *class == cloud.limit_class(&pool.instance_type)
            }
            BlockScope::Zone { place } => *place == pool.place,
            BlockScope::Region { cloud, region } => {
                *cloud == pool.place.cloud && *region == pool.place.region
            }
            BlockScope::Account { cloud, account, market, class } => {
                *cloud == pool.place.cloud
                    && account.as_deref() == pool.place.region.account()
                    && market.is_none_or(|market| market == pool.market)
                    && class
                        .as_ref()
                        .is_none_or(|class| *class == cloud.limit_class(&pool.instance_type))
            }
            BlockScope::Cloud { cloud } => *cloud == pool.place.cloud,
            // Only launches are kept from a pool: looks and ends have nothing to do with it.
            BlockScope::Breaker { cloud, region, operation } => {
                *operation == Operation::Launch
                    && *cloud == pool.place.cloud
                    && *region == pool.place.region
            }
        }
    }
}
