//! What is held, as data.

use crate::holdings::leftovers::Leftover;
use crate::holdings::standing::Standing;
use fleet_model::{
    Cloud, Digest, Extras, FailedMachine, Group, HealthNews, Hold, Labelled, MachineId, MicroUsd,
    Notice, PoolId, Readopt, SlotId, Timestamp, Units, Vacated, Why,
};
use std::collections::BTreeMap;

/// A slot that is filled, or may be.
#[derive(Debug, Clone)]
pub(crate) struct Holding {
    pub(crate) slot: SlotId,
    /// `None` while the launch is in doubt.
    pub(crate) machine: Option<MachineId>,
    pub(crate) pool: PoolId,
    /// The number of its pool among those of the inventory: what is the same for a pool is asked once.
    pub(crate) nth_pool: u32,
    pub(crate) weight: Units,
    /// Price of the machine alone.
    pub(crate) price: Option<MicroUsd>,
    /// What comes beside.
    pub(crate) extras: Extras,
    /// Whether a commitment pays for it.
    pub(crate) covered: bool,
    pub(crate) launched_at: Timestamp,
    pub(crate) standing: Standing,
    pub(crate) old_template: bool,
    /// The template it was made from; `None` while the launch is in doubt.
    pub(crate) template: Option<Digest>,
    /// Its end was asked for before, and is not seen yet: first to be asked for again.
    pub(crate) ending: bool,
    /// The version of its cloud's labels that it carries.
    pub(crate) labels: u32,
    /// It was launched, and is not ready yet.
    pub(crate) starting: bool,
    /// Its checks fail, or it is unhealthy and stays all the same.
    pub(crate) failing: bool,
    /// Its cloud did not show it in this look.
    pub(crate) unseen: bool,
    /// Why it goes once its successor is ready, where its standing says that it does.
    pub(crate) leaving: Why,
}

impl Holding {
    /// Whether it is of use now.
    pub(crate) fn is_ready(&self) -> bool {
        !self.starting && !self.failing && !self.unseen
    }

    /// What it adds to the bill per hour, as far as that is known.
    pub(crate) fn bill(&self) -> MicroUsd {
        self.own_bill().unwrap_or_default() + self.beside()
    }

    /// What the machine alone adds to the bill; `None` if nobody knows its price.
    pub(crate) fn own_bill(&self) -> Option<MicroUsd> {
        // A machine that is shut down is not paid for, only its disk.
        let free = self.covered || self.standing == Standing::Stopped;
        if free { Some(MicroUsd(0)) } else { self.price }
    }

    /// What comes beside as long as it stands like this.
    pub(crate) fn extras(&self) -> Extras {
        match self.standing {
            Standing::Stopped => self.extras.when_stopped(),
            Standing::Good
            | Standing::Disallowed(_)
            | Standing::ToReplace
            | Standing::Fixed
            | Standing::Failed(_)
            | Standing::CameBack
            | Standing::Interrupted
            | Standing::Ending => self.extras,
        }
    }

    /// What is known of that, per hour.
    pub(crate) fn beside(&self) -> MicroUsd {
        self.extras().known()
    }

    /// What one pays for it with all that comes beside; `None` if nobody knows its price.
    pub(crate) fn full_price(&self) -> Option<MicroUsd> {
        self.own_bill().map(|price| price + self.beside())
    }
}

/// Everything held, and what was noticed on the way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inventory {
    /// In the order of slots.
    pub(crate) holdings: Vec<Holding>,
    /// In how many pools they stand, at most.
    pub(crate) pools: u32,
    /// The fingerprint of each cloud's template.
    pub(crate) templates: BTreeMap<Cloud, Digest>,
    /// Slots whose machine is gone.
    pub(crate) vacate: Vec<Vacated>,
    /// What their clouds say of machines that are gone.
    pub(crate) gone_words: BTreeMap<MachineId, String>,
    /// Machines that are seen to be failed for the first time.
    pub(crate) failed: Vec<FailedMachine>,
    /// Machines that were written down as gone and have their slot again.
    pub(crate) readopt: Vec<Readopt>,
    /// Machines whose checks pass or fail, and did not before.
    pub(crate) health: HealthNews,
    /// So many are unhealthy that none is replaced.
    pub(crate) sick: Option<Hold>,
    /// What each group held when the wave under way began: it is not to hold less for it.
    pub(crate) level: BTreeMap<Group, Units>,
    /// A change of template stopped by itself: of what is too many, the new machines go first.
    pub(crate) keep_old: bool,
    /// Machines that their cloud takes back and whose work was not asked to end yet.
    pub(crate) drain: Vec<Labelled>,
    /// What machines that are gone left behind. Their slots stay theirs.
    pub(crate) leftovers: Vec<Leftover>,
    pub(crate) notices: Vec<Notice>,
    /// Machines recorded as live, and how many of them nobody can account for.
    pub(crate) recorded_live: u32,
    pub(crate) vanished: u32,
    /// Machines that are there, and that nobody sees yet.
    pub(crate) unseen: u32,
}

/// Positions of holdings, by the pool in which they stand.
pub(crate) fn by_pool<'a>(
    some: impl Iterator<Item = (usize, &'a Holding)>,
) -> BTreeMap<&'a PoolId, Vec<usize>> {
    let mut pools: Vec<Option<(&PoolId, Vec<usize>)>> = Vec::new();
    for (at, holding) in some {
        let nth = holding.nth_pool as usize;
        if pools.len() <= nth {
            pools.resize(nth + 1, None);
        }
        pools[nth].get_or_insert_with(|| (&holding.pool, Vec::new())).1.push(at);
    }
    pools.into_iter().flatten().collect()
}

impl Inventory {
    /// How many machines of what is on record end at a look, unless somebody allows more.
    pub(crate) fn ends_at_once(&self) -> u32 {
        (self.recorded_live / 10).max(1)
    }
}
