//! The ledger of one fleet: its journal, entry by entry, turned into charges with everything that a report
//! asks of them.

use crate::covered::{Covering, Held};
use crate::entry::{Created, Entry, Intended, Prices, Request};
use crate::meter::{self, Charge, Launch};
use crate::quick::QuickMap;
use fleet_model::{
    Cloud, Departure, Extras, Labels, MachineId, Meter, MicroUsd, PoolId, SlotName, Timestamp,
    Worth,
};
use std::collections::BTreeMap;

/// So many price steps are kept before old ones are settled.
const STEPS_KEPT: usize = 4_096;

/// An end that is told later than this after it happened is not taken back.
const SETTLED_AFTER: i64 = 3 * 86_400_000;

/// What a report hears of, in the order of the journal.
pub trait Sink {
    /// A stretch of a machine's life, or of what comes beside it.
    fn charge(&mut self, charge: Charge<'_>, labels: Option<&Labels>);

    /// What capacity is counted in from here on.
    fn counted_in(&mut self, _unit: &str) {}

    /// Capacity that an interruption took, until the slot was filled again.
    fn lost(&mut self, lost: &Lost, until: i64, labels: Option<&Labels>);

    /// A stretch of time in which machines were bought ahead.
    fn held(&mut self, _held: Held<'_>) {}
}

/// Capacity that an interruption took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The machine.
    pub machine: MachineId,
    /// Where it came from.
    pub pool: PoolId,
    /// When it went, in milliseconds since 1970.
    pub at: i64,
    /// What it cost per hour.
    pub hourly: Option<MicroUsd>,
    /// The version of its cloud's labels that it carried.
    pub labels: u32,
}

/// A launch that was about to be sent.
#[derive(Debug, Clone)]
struct Sent {
    pool: PoolId,
    image: Option<String>,
    labels: u32,
    /// What came beside a machine of its pool when it was sent: a spec may ask for another disk since.
    extras: Option<Extras>,
}

/// What is known of a fleet after so many entries.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    meter: Meter,
    sent: QuickMap<Request, Sent>,
    /// By version, from 1.
    labels: BTreeMap<Cloud, Vec<Labels>>,
    worth: QuickMap<PoolId, Worth>,
    lost: BTreeMap<SlotName, Lost>,
    unit: Option<String>,
    covering: Covering,
    surplus: Vec<MachineId>,
}

impl Ledger {
    /// Takes in an entry that was written down at a moment.
    pub fn take(&mut self, entry: Entry, at: Timestamp, sink: &mut impl Sink) {
        match entry {
            Entry::Intended(Intended { request, pool, image }) => {
                let labels = self.labels.get(&pool.place.cloud).map_or(0, Vec::len) as u32;
                let extras = self.worth.get(&pool).and_then(|worth| worth.extras);
                self.sent.insert(request, Sent { pool, image, labels, extras });
            }
            Entry::Refused(request) => {
                self.sent.remove(&request);
            }
            Entry::Created(Created { request, machines, surplus }) => {
                self.surplus.extend(surplus);
                let Some(sent) = self.sent.remove(&request) else { return };
                for new in machines.iter() {
                    self.refilled(new.slot.name, new.launched_at, sink);
                    let pool = new.pool.as_ref().unwrap_or(&sent.pool);
                    let worth = self.worth.get(pool);
                    let extras = match *pool == sent.pool {
                        true => sent.extras,
                        false => worth.and_then(|worth| worth.extras),
                    };
                    let image = sent.image.as_deref();
                    let launch = Launch { pool, image, labels: sent.labels, worth, extras };
                    meter::launched(&mut self.meter, new, launch, None);
                }
            }
            Entry::Asked(slots) => meter::asked(&mut self.meter, &slots, Some(at)),
            Entry::NotEnded(slots) => meter::asked(&mut self.meter, &slots, None),
            Entry::Gone(gone) => {
                for vacated in gone.iter() {
                    let (labels, lost) = (&self.labels, &mut self.lost);
                    let covering = &mut self.covering;
                    meter::gone(&mut self.meter, vacated, at, &mut |charge: Charge<'_>| {
                        if charge.is_machine() && charge.ended == Some(Departure::Interrupted) {
                            let pool = charge.life.pool.clone();
                            let (machine, hourly) = (vacated.machine.clone(), charge.hourly);
                            let went = vacated.at.map_or(charge.to, Timestamp::as_millisecond);
                            let version = charge.labels;
                            let one = Lost { machine, pool, at: went, hourly, labels: version };
                            lost.insert(vacated.slot, one);
                        }
                        let labels =
                            of_version(labels, charge.life.pool.place.cloud, charge.labels);
                        covering.take(charge, labels, sink);
                    });
                }
            }
            Entry::Labels(cloud, labels) => self.labels.entry(cloud).or_default().push(labels),
            Entry::Relabelled(version, slots) => {
                meter::relabelled(&mut self.meter, &slots, version, at);
            }
            Entry::Returned(machine) => {
                self.lost.remove(&machine.slot.name);
                meter::returned(&mut self.meter, &machine);
            }
            Entry::Adopted(machines, version) => {
                for new in machines.iter() {
                    let Some(pool) = &new.pool else { continue };
                    let worth = self.worth.get(pool);
                    // Its disk is not one of ours: nobody knows it until a look tells.
                    let extras = None;
                    let launch = Launch { pool, image: None, labels: version, worth, extras };
                    meter::launched(&mut self.meter, new, launch, Some(at));
                }
            }
            Entry::Released(machines) => {
                let (labels, covering) = (&self.labels, &mut self.covering);
                for one in machines.iter() {
                    meter::released(&mut self.meter, one, at, &mut |charge: Charge<'_>| {
                        let labels =
                            of_version(labels, charge.life.pool.place.cloud, charge.labels);
                        covering.take(charge, labels, sink);
                    });
                }
            }
            Entry::Priced(Prices { prices, commitments, extras }) => {
                if let Some(bought) = commitments {
                    self.covering.bought(&bought, at);
                }
                meter::priced(&mut self.meter, &prices);
                let labels = &self.labels;
                meter::extras_changed(&mut self.meter, &extras, at, &mut |charge: Charge<'_>| {
                    let cloud = charge.life.pool.place.cloud;
                    sink.charge(charge, of_version(labels, cloud, charge.labels));
                });
                if meter::price_steps(&self.meter) > STEPS_KEPT {
                    self.settle(at, sink);
                }
            }
            Entry::Worth(worth) => {
                for one in worth {
                    if self.unit.as_ref() != Some(&one.unit) {
                        sink.counted_in(&one.unit);
                        self.unit = Some(one.unit.clone());
                    }
                    if self.worth.get(&one.pool) != Some(&one) {
                        self.worth.insert(one.pool.clone(), one);
                    }
                }
            }
            Entry::Other => {}
        }
    }

    /// Gives out what machines that run have cost up to a moment, and what waited to learn what commitments
    /// paid for. The ledger is as it was.
    pub fn accrued(&self, now: Timestamp, sink: &mut impl Sink) {
        let mut running = self.covering.beside();
        meter::accrued(&self.meter, now, &mut |charge: Charge<'_>| {
            let labels = of_version(&self.labels, charge.life.pool.place.cloud, charge.labels);
            running.take(charge, labels, sink);
        });
        self.covering.settle(&running, now, sink);
    }

    /// Machines that a cloud made and nobody asked for. They are on its bill; the journal does not know for
    /// how long.
    pub fn surplus(&self) -> &[MachineId] {
        &self.surplus
    }

    fn settle(&mut self, at: Timestamp, sink: &mut impl Sink) {
        let before = Timestamp::from_millisecond(at.as_millisecond() - SETTLED_AFTER);
        let (labels, covering) = (&self.labels, &mut self.covering);
        meter::settle(&mut self.meter, before.unwrap_or(at), &mut |charge: Charge<'_>| {
            let labels = of_version(labels, charge.life.pool.place.cloud, charge.labels);
            covering.take(charge, labels, sink);
        });
    }

    fn refilled(&mut self, slot: SlotName, at: Timestamp, sink: &mut impl Sink) {
        if let Some(lost) = self.lost.remove(&slot) {
            let labels = of_version(&self.labels, lost.pool.place.cloud, lost.labels);
            sink.lost(&lost, at.as_millisecond(), labels);
        }
    }
}

/// The labels of a version; 0 is from before there was a record of them.
fn of_version(
    labels: &BTreeMap<Cloud, Vec<Labels>>,
    cloud: Cloud,
    version: u32,
) -> Option<&Labels> {
    labels.get(&cloud)?.get((version as usize).checked_sub(1)?)
}
