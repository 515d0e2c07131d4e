//! Markets that somebody recorded, in the place of those that the seed draws.

use crate::pools::{Pool, Pools};
use crate::settings::Settings;
use crate::time::{BUCKET, Ms, from_stamp, stamp};
use fleet_model::{PoolId, Timestamp};
use std::fmt;

/// What spot pools carry as time passes. Asked by pool and moment, so it is a function: the same
/// answer each time.
pub trait Tides: fmt::Debug + Send + Sync {
    /// How many machines of ours a spot pool carries; `None`: as many as the seed says.
    fn carries(&self, pool: &PoolId, at: Timestamp) -> Option<u32>;

    /// The first moment after this one at which a pool carries another number.
    fn next_change(&self, after: Timestamp) -> Option<Timestamp>;
}

impl Pools {
    /// How many machines of ours a pool carries at a moment.
    pub(crate) fn capacity(
        &self,
        id: &PoolId,
        pool: &Pool<'_>,
        settings: &Settings,
        at: Ms,
    ) -> u32 {
        let tides = self.tides.as_ref().filter(|_| id.market == fleet_model::Market::Spot);
        let recorded = tides.and_then(|tides| tides.carries(id, stamp(at)));
        recorded.unwrap_or_else(|| pool.capacity(settings, at))
    }

    /// The first moment after this one at which markets move.
    pub(crate) fn next_change(&self, after: Ms) -> Ms {
        let bucket = (after / BUCKET + 1) * BUCKET;
        let tide = self.tides.as_ref().and_then(|tides| tides.next_change(stamp(after)));
        // A recording that names a moment of the past moves nothing.
        tide.map(from_stamp).filter(|at| *at > after).map_or(bucket, |at| at.min(bucket))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Sim;
    use fleet_model::{
        Access, FleetUid, Group, Machine, MachineState, Ownership, SlotId, SlotName, Template,
        Token,
    };
    use std::sync::Arc;
    use std::time::Duration;

    const MINUTE: i64 = 60_000;

    /// Three machines until ten minutes have passed, then one.
    #[derive(Debug)]
    struct Falls(Timestamp);

    impl Tides for Falls {
        fn carries(&self, _: &PoolId, at: Timestamp) -> Option<u32> {
            Some(if at < self.0 { 3 } else { 1 })
        }

        fn next_change(&self, after: Timestamp) -> Option<Timestamp> {
            (after < self.0).then_some(self.0)
        }
    }

    fn machine(pool: &PoolId, ordinal: u32) -> Machine {
        Machine {
            id: format!("i-{ordinal}").as_str().into(),
            place: pool.place.clone(),
            instance_type: pool.instance_type.clone(),
            market: pool.market,
            state: MachineState::Running,
            launched_at: Timestamp::UNIX_EPOCH,
            price: None,
            owner: Some(Ownership {
                fleet: FleetUid::new("f"),
                name: "f".into(),
                slot: SlotId { name: SlotName { group: Group::Burst, ordinal }, generation: 1 },
                token: Token::new(format!("t{ordinal}")),
                template: Template::default().digest(),
            }),
            notice: None,
            cause: None,
            access: Access::default(),
        }
    }

    #[test]
    fn what_a_recording_no_longer_carries_gets_notice_at_that_moment() {
        let began = crate::time::EPOCH as i64;
        let moment =
            |minutes: i64| Timestamp::from_millisecond(began + minutes * MINUTE).expect("a moment");
        let falls = Arc::new(Falls(moment(10)));
        let sim = Sim::recorded(Settings::default(), crate::tests::catalog(), falls);
        let pool: PoolId = "aws/r/z/t.large/spot".parse().expect("a pool");
        (0..3).for_each(|ordinal| sim.plant(&machine(&pool, ordinal)).expect("it is there"));
        sim.advance(Duration::from_secs(9 * 60)).expect("time passes");
        let taken = |sim: &Sim| -> Vec<Option<Timestamp>> {
            sim.lives().expect("lives").into_iter().map(|life| life.taken).collect()
        };
        assert_eq!(taken(&sim), [None, None, None]);
        sim.advance(Duration::from_secs(2 * 60)).expect("time passes");
        // The oldest stays; the others get the two minutes of AWS.
        let due = Some(moment(12));
        assert_eq!(taken(&sim), [None, due, due]);
    }
}
