//! What a cloud's answer to a launch means for the journal.

use crate::apply::seams;
use crate::apply::sent::NotSent;
use crate::progress::StepResult;
use fleet_model::{
    Block, BlockScope, Create, Event, Machine, MachineId, NewMachine, Place, PoolId, SlotId,
    Timestamp, Zone,
};
use fleet_provider::{Class, Created, Error, Reach};
use std::collections::BTreeMap;
use std::time::Duration;

/// A cloud that refuses our credentials is left alone for this long.
const AUTH_BLOCK: Duration = Duration::from_secs(600);
/// A request that the cloud finds wrong stays wrong until somebody mends the spec or the account.
const INVALID_BLOCK: Duration = Duration::from_secs(3600);
/// A pool whose cloud keeps saying "later" is left alone for this long.
const RETRY_BLOCK: Duration = Duration::from_secs(60);

/// The events that a launch's answer gives, how many machines it made, and how it ended.
pub(crate) struct LaunchOutcome {
    pub(crate) events: Vec<Event>,
    pub(crate) created: u32,
    pub(crate) result: StepResult,
}

impl LaunchOutcome {
    /// What said no.
    pub(crate) fn blocked(&self) -> Vec<BlockScope> {
        let blocks = self.events.iter().filter_map(|event| match event {
            Event::Blocked { block } => Some(block.scope.clone()),
            _ => None,
        });
        blocks.collect()
    }
}

/// A launch that was not sent: its slots are free, and no pool is blamed.
pub(crate) fn not_launched(create: &Create, why: NotSent) -> LaunchOutcome {
    // No cloud was asked: another launch has the word that kept this one back, and counts for both.
    let no_room = why == NotSent::SaidNo;
    let (token, code) = (create.token.clone(), why.code().into());
    let event = Event::CreateRefused { token, code, no_room };
    let result = StepResult::Refused(why.to_string());
    LaunchOutcome { events: vec![event], created: 0, result }
}

/// Reads the answer to a launch.
pub(crate) fn launch_outcome(
    create: &Create,
    answer: Result<Created, Error>,
    now: Timestamp,
) -> LaunchOutcome {
    match answer {
        Ok(created) => some_made(create, created, now),
        Err(error) => none_made(create, &seams::as_said(error), now),
    }
}

fn some_made(create: &Create, created: Created, now: Timestamp) -> LaunchOutcome {
    let mut by_slot: BTreeMap<SlotId, Machine> = BTreeMap::new();
    let mut surplus: Vec<MachineId> = Vec::new();
    for machine in created.machines {
        let slot = machine.owner.as_ref().map(|owner| owner.slot);
        match slot.filter(|slot| create.slots.contains(slot) && !by_slot.contains_key(slot)) {
            Some(slot) => {
                by_slot.insert(slot, machine);
            }
            None => surplus.push(machine.id),
        }
    }
    let missing: Vec<SlotId> =
        create.slots.iter().copied().filter(|slot| !by_slot.contains_key(slot)).collect();
    let machines: Vec<NewMachine> = by_slot
        .into_iter()
        .map(|(slot, machine)| {
            let pool = pool_of(create, &machine);
            NewMachine {
                slot,
                price: machine.price.or(create.price_in(pool.as_ref().unwrap_or(&create.pool))),
                pool,
                machine: machine.id,
                launched_at: machine.launched_at,
            }
        })
        .collect();
    let made = machines.len() as u32;
    let short = missing.len();
    let token = create.token.clone();
    let surplus = seams::written_down(surplus);
    // Each pool's own word, also if the others made up for it: the next round need not ask again.
    let refusals = &created.refusals;
    let no_room = created.shortfall.as_ref().is_some_and(is_no_room)
        && refusals.iter().all(|(_, error)| is_no_room(error));
    let mut events = vec![Event::Created { token, machines, missing, surplus, no_room }];
    events.extend(refusals.iter().filter_map(|(pool, error)| block(pool, error, now)));
    let result = match (&created.shortfall, short) {
        (_, 0) => StepResult::Done,
        (Some(error), _) => {
            if refusals.is_empty() {
                events.extend(block(&create.pool, error, now));
            }
            StepResult::Refused(error.to_string())
        }
        (None, _) => StepResult::Refused("the cloud made fewer and did not say why".into()),
    };
    LaunchOutcome { events, created: made, result }
}

/// The pool that a machine came from, if the request left a choice and it is not the first. A
/// cloud that chose something else altogether is believed: the machine stands where it stands.
fn pool_of(create: &Create, machine: &Machine) -> Option<PoolId> {
    if create.others.is_empty() {
        return None;
    }
    let stands = machine.pool();
    let asked = |pool: &&PoolId| {
        let anywhere = pool.place.zone.as_str() == Zone::REGIONAL;
        pool.instance_type == stands.instance_type
            && (anywhere || pool.place.zone == stands.place.zone)
    };
    let pool = create.pools().find(asked).cloned().unwrap_or(stands);
    (pool != create.pool).then_some(pool)
}

fn none_made(create: &Create, error: &Error, now: Timestamp) -> LaunchOutcome {
    let token = create.token.clone();
    let code = error.code.clone();
    let (event, result) = match error.class {
        Class::Unknown | Class::Freeze if !seams::passes_for_a_no(error) => {
            (Event::CreateUnknown { token, code }, StepResult::Unknown(error.to_string()))
        }
        Class::Retry { .. }
        | Class::Capacity { .. }
        | Class::Quota { .. }
        | Class::Auth
        | Class::Invalid
        | Class::Refused { .. }
        | Class::Unknown
        | Class::Freeze => {
            let no_room = is_no_room(error);
            let event = Event::CreateRefused { token, code, no_room };
            (event, StepResult::Refused(error.to_string()))
        }
    };
    let mut events = vec![event];
    // One word for all of them, and each thing that it reaches once.
    for event in create.pools().filter_map(|pool| block(pool, error, now)) {
        if !events.contains(&event) {
            events.push(event);
        }
    }
    LaunchOutcome { events, created: 0, result }
}

/// Whether a refusal is for want of capacity: nothing was made, nothing is in doubt, and nobody need mend
/// anything.
fn is_no_room(error: &Error) -> bool {
    matches!(error.class, Class::Capacity { .. })
}

/// What not to ask again, and until when.
fn block(of: &PoolId, error: &Error, now: Timestamp) -> Option<Event> {
    let time = match error.class {
        Class::Capacity { block } | Class::Quota { block } | Class::Refused { block } => block,
        Class::Auth => AUTH_BLOCK,
        Class::Invalid => INVALID_BLOCK,
        Class::Retry { after } => after.unwrap_or(RETRY_BLOCK).max(RETRY_BLOCK),
        // Its slots are frozen; the pool itself has refused nothing.
        Class::Unknown | Class::Freeze => return None,
    };
    let until = now.checked_add(time).unwrap_or(Timestamp::MAX);
    let scope = reached(of, error.reach());
    Some(Event::Blocked { block: Block { scope, until, code: error.code.clone() } })
}

/// What a refusal of a pool reaches.
fn reached(pool: &PoolId, reach: Reach) -> BlockScope {
    let Place { cloud, region, zone: _ } = pool.place.clone();
    let market = pool.market;
    let class = || cloud.limit_class(&pool.instance_type);
    let account = region.account().map(str::to_owned);
    match reach {
        Reach::Pool => BlockScope::Pool { pool: pool.clone() },
        Reach::Class => BlockScope::Class { cloud, region, market, class: class() },
        Reach::Zone => BlockScope::Zone { place: pool.place.clone() },
        Reach::Market => BlockScope::Quota { cloud, region, market },
        Reach::Region => BlockScope::Region { cloud, region },
        Reach::AccountClass => {
            BlockScope::Account { cloud, account, market: None, class: Some(class()) }
        }
        Reach::AccountMarket => {
            BlockScope::Account { cloud, account, market: Some(market), class: None }
        }
        Reach::Account => BlockScope::Account { cloud, account, market: None, class: None },
        Reach::Cloud => BlockScope::Cloud { cloud },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::{Cloud, digest};

    fn create() -> Create {
        Create {
            pool: "lambda/us-east-1/regional/gpu_1x_a10/on-demand"
                .parse()
                .unwrap_or_else(|error| panic!("{error}")),
            others: Vec::new(),
            slots: Vec::new(),
            token: "token".into(),
            price: None,
            max_price: None,
            template: digest("test/1", []),
            image: None,
        }
    }

    #[test]
    fn what_was_not_sent_blocks_no_pool() {
        let create = create();
        let outcome = |code: &str| {
            let error = Error::new(Cloud::Lambda, Class::Invalid, code, "");
            launch_outcome(&create, Err(error), Timestamp::UNIX_EPOCH)
        };
        assert!(not_launched(&create, NotSent::LeaseLost).blocked().is_empty());
        assert!(not_launched(&create, NotSent::SaidNo).blocked().is_empty());
        assert_eq!(outcome("invalid-parameters").blocked().len(), 1);
    }

    #[test]
    fn only_a_plain_no_for_want_of_capacity_has_no_room() {
        let block = Duration::from_secs(180);
        let cases = [
            (Class::Capacity { block }, true),
            (Class::Retry { after: None }, false),
            (Class::Quota { block }, false),
            (Class::Auth, false),
            (Class::Invalid, false),
            (Class::Refused { block }, false),
        ];
        let create = create();
        let error = |class| Error::new(Cloud::Lambda, class, "code", "");
        for (class, expected) in cases {
            let refused =
                |token, no_room| Event::CreateRefused { token, code: "code".into(), no_room };
            let outcome = launch_outcome(&create, Err(error(class)), Timestamp::UNIX_EPOCH);
            assert_eq!(outcome.events[0], refused(create.token.clone(), expected), "{class:?}");
            let mut short = Created::all(Vec::new());
            short.shortfall = Some(error(class));
            let outcome = launch_outcome(&create, Ok(short), Timestamp::UNIX_EPOCH);
            let Event::Created { no_room, .. } = &outcome.events[0] else { panic!("{class:?}") };
            assert_eq!(*no_room, expected, "{class:?}");
        }
        let unknown = launch_outcome(&create, Err(error(Class::Unknown)), Timestamp::UNIX_EPOCH);
        assert!(matches!(unknown.events[..], [Event::CreateUnknown { .. }]));
    }

    #[test]
    fn a_record_of_before_is_read_and_says_nothing_of_room() {
        let old = r#"{"event":"createRefused","token":"token","code":"code"}"#;
        let read: Event = serde_json::from_str(old).unwrap_or_else(|error| panic!("{error}"));
        let (token, code) = ("token".into(), "code".into());
        assert_eq!(read, Event::CreateRefused { token, code, no_room: false });
        assert_eq!(serde_json::to_string(&read).unwrap_or_default(), old);
    }
}
