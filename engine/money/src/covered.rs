//! Which time of which machines commitments paid for.
//!
//! A journal says what was bought ahead, and when that was written down. Which machine is covered is not a
//! property of a machine: as on a bill, and as in a plan, of those that match at a moment the dearest are. So
//! charges of such machines wait until all of them are known, and are then cut where cover begins and ends.

use crate::ledger::Sink;
use crate::meter::Charge;
use fleet_model::{
    Cloud, Commitment, CostKind, Departure, Group, InstanceType, Labels, MicroUsd, NoPrice,
    OpenLife, PoolId, SlotId, Timestamp,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What pays for a machine that is covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cover {
    /// What the commitment costs for each machine and hour, used or not. `None`: nobody said.
    pub hourly: Option<MicroUsd>,
}

/// A stretch of time in which a commitment held, and how much of it was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held<'a> {
    /// Which.
    pub commitment: &'a Commitment,
    /// Milliseconds since 1970.
    pub from: i64,
    /// The first that it is not about.
    pub to: i64,
    /// Machines that it paid for.
    pub used: u32,
}

/// What was bought ahead, and charges of machines that it may have paid for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Covering {
    /// What held from each moment on, oldest first.
    held: Vec<(i64, Vec<Commitment>)>,
    waiting: Vec<Waiting>,
}

/// A charge that waits for the others of its time.
#[derive(Debug, Clone)]
struct Waiting {
    life: OpenLife,
    version: u32,
    labels: Option<Labels>,
    from: i64,
    to: i64,
    hourly: Option<MicroUsd>,
    waived: bool,
    estimated: bool,
    ended: Option<Departure>,
}

impl Waiting {
    fn new(charge: Charge<'_>, labels: Option<&Labels>) -> Self {
        let Charge {
            life,
            kind: _,
            labels: version,
            from,
            to,
            hourly,
            about: _,
            because: _,
            waived,
            estimated,
            ended,
            covered: _,
        } = charge;
        let (life, labels) = (life.clone(), labels.cloned());
        Waiting { life, version, labels, from, to, hourly, waived, estimated, ended }
    }

    /// A part of it, with what paid for it.
    fn give(&self, from: i64, to: i64, covered: Option<Cover>, sink: &mut impl Sink) {
        let ended = self.ended.filter(|_| to == self.to);
        let Waiting { life, version, hourly, waived, estimated, .. } = self;
        let (labels, hourly, waived, estimated) = (*version, *hourly, *waived, *estimated);
        let (kind, about, because) = (CostKind::Machine, false, NoPrice::Machine);
        let part = Charge {
            life,
            kind,
            labels,
            from,
            to,
            hourly,
            about,
            because,
            waived,
            estimated,
            ended,
            covered,
        };
        sink.charge(part, self.labels.as_ref());
    }

    /// The dearest first, then as plans have it.
    fn rank(&self) -> (Reverse<Option<MicroUsd>>, Group, Timestamp, SlotId) {
        let OpenLife { slot, launched_at, .. } = &self.life;
        (Reverse(self.hourly), slot.name.group, *launched_at, *slot)
    }
}

/// What machines have in common that one commitment pays for.
type Kind<'a> = (Cloud, &'a str, &'a InstanceType);

fn kind_of(commitment: &Commitment) -> Kind<'_> {
    (commitment.cloud, &commitment.region, &commitment.instance_type)
}

impl Covering {
    /// From a moment on, this is bought ahead, and nothing else.
    pub(crate) fn bought(&mut self, commitments: &[Commitment], at: Timestamp) {
        self.held.push((at.as_millisecond(), commitments.to_vec()));
    }

    /// Whether a commitment may have paid for machines of a pool.
    fn concerns(&self, pool: &PoolId) -> bool {
        self.held.iter().any(|(_, list)| list.iter().any(|one| one.is_for(pool)))
    }

    /// Gives a charge on, or keeps it until all are known.
    pub(crate) fn take(
        &mut self,
        charge: Charge<'_>,
        labels: Option<&Labels>,
        sink: &mut impl Sink,
    ) {
        // A commitment pays for the machine alone.
        let may = !self.held.is_empty() && charge.is_machine() && charge.ms() > 0;
        match may && self.concerns(&charge.life.pool) {
            true => self.waiting.push(Waiting::new(charge, labels)),
            false => sink.charge(charge, labels),
        }
    }

    /// Gives out everything that waits, with `running` beside it. Nothing is forgotten.
    pub(crate) fn settle(&self, running: &Covering, now: Timestamp, sink: &mut impl Sink) {
        let kinds: BTreeSet<Kind<'_>> =
            self.held.iter().flat_map(|(_, list)| list.iter().map(kind_of)).collect();
        let mut waiting: BTreeMap<Kind<'_>, Vec<&Waiting>> = BTreeMap::new();
        for one in self.waiting.iter().chain(&running.waiting) {
            let PoolId { place, instance_type, .. } = &one.life.pool;
            let kind = (place.cloud, place.region.name(), instance_type);
            waiting.entry(kind).or_default().push(one);
        }
        for kind in kinds {
            let charges = waiting.remove(&kind).unwrap_or_default();
            self.sweep(kind, charges, now.as_millisecond(), sink);
        }
    }

    /// The charges of what is running, to settle beside those that wait.
    pub(crate) fn beside(&self) -> Covering {
        Covering { held: self.held.clone(), waiting: Vec::new() }
    }

    /// Goes through the time of one kind of machine, from change to change.
    fn sweep(&self, kind: Kind<'_>, mut charges: Vec<&Waiting>, now: i64, sink: &mut impl Sink) {
        charges.sort_by_key(|one| one.from);
        let mut moments: BTreeSet<i64> =
            charges.iter().flat_map(|one| [one.from, one.to]).collect();
        moments.extend(self.held.iter().map(|(at, _)| *at).filter(|at| *at < now));
        let ends = self.held.iter().flat_map(|(_, list)| list).filter_map(|one| one.until);
        moments.extend(ends.map(Timestamp::as_millisecond).filter(|at| *at < now));
        moments.insert(now);
        let moments: Vec<i64> = moments.into_iter().collect();
        let mut coming = charges.into_iter().peekable();
        let mut there: Vec<Covered<'_>> = Vec::new();
        for (nth, at) in moments.iter().enumerate() {
            there.retain(|one| one.goes_on(*at, sink));
            while let Some(charge) = coming.next_if(|one| one.from <= *at) {
                let place = there.partition_point(|one| one.charge.rank() <= charge.rank());
                there.insert(place, Covered { charge, since: charge.from, by: None });
            }
            let in_force = self.in_force(kind, *at);
            let pays = in_force.iter().flat_map(|one| {
                std::iter::repeat_n(Cover { hourly: one.hourly }, one.count as usize)
            });
            let mut pays = pays.take(there.len());
            there.iter_mut().for_each(|one| one.turn(pays.next(), *at, sink));
            let to = moments.get(nth + 1).copied().unwrap_or(*at).min(now);
            let mut left = there.len() as u32;
            for commitment in in_force.into_iter().filter(|_| to > *at) {
                let used = commitment.count.min(left);
                left -= used;
                sink.held(Held { commitment, from: *at, to, used });
            }
        }
    }

    /// What holds at a moment for one kind of machine, as the spec lists it.
    fn in_force(&self, kind: Kind<'_>, at: i64) -> Vec<&Commitment> {
        let past = self.held.partition_point(|(since, _)| *since <= at);
        let Some((_, list)) = past.checked_sub(1).and_then(|last| self.held.get(last)) else {
            return Vec::new();
        };
        let holds = |one: &&Commitment| {
            kind_of(one) == kind && one.until.is_none_or(|until| until.as_millisecond() > at)
        };
        list.iter().filter(holds).collect()
    }
}

/// A machine that is there, and what pays for it since when.
struct Covered<'a> {
    charge: &'a Waiting,
    since: i64,
    by: Option<Cover>,
}

impl Covered<'_> {
    fn give(&self, to: i64, sink: &mut impl Sink) {
        if to > self.since {
            self.charge.give(self.since, to, self.by, sink);
        }
    }

    /// Whether it is there still. What ends is given out.
    fn goes_on(&self, at: i64, sink: &mut impl Sink) -> bool {
        if self.charge.to <= at {
            self.give(self.charge.to, sink);
        }
        self.charge.to > at
    }

    fn turn(&mut self, by: Option<Cover>, at: i64, sink: &mut impl Sink) {
        if self.by != by {
            self.give(at, sink);
            (self.since, self.by) = (at, by);
        }
    }
}

#[cfg(test)]
#[path = "covered_tests.rs"]
mod tests;
