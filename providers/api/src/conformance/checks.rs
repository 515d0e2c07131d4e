//! The checks. Each says in its name what a provider promises.

use super::Fault;
use super::bench::{Bench, Outcome, Verdict, ensure, is_ending, victim};
use crate::{Class, Listing, OfferingsRequest};
use fleet_model::{CapacityGoal, FleetUid, InstanceType, Machine, MachineId, Template, Victim};
use futures::future::join_all;
use std::collections::BTreeSet;
use std::time::Duration;

fn ids(machines: &[Machine]) -> BTreeSet<&MachineId> {
    machines.iter().map(|machine| &machine.id).collect()
}

fn victims(machines: &[Machine]) -> Vec<Victim> {
    machines.iter().filter_map(victim).collect()
}

pub(super) async fn same_token_same_machines(bench: &Bench<'_>) -> Outcome {
    let ask = bench.ask("a", bench.several(3));
    let first = bench.launch(&ask).await?;
    let again = bench.launch(&ask).await?;
    ensure(ids(&first) == ids(&again), || format!("{:?} then {:?}", ids(&first), ids(&again)))?;
    let other = bench.launch(&bench.ask("b", 1)).await?;
    ensure(ids(&first).is_disjoint(&ids(&other)), || "another token, the same machine".into())?;
    let live = bench.live().await?;
    let expect = first.len() + other.len();
    ensure(live.len() == expect, || format!("{} machines live, not {expect}", live.len()))
}

pub(super) async fn same_token_at_the_same_time(bench: &Bench<'_>) -> Outcome {
    let ask = bench.ask("a", bench.several(3));
    let all = join_all((0..3).map(|_| bench.launch(&ask))).await;
    let all = all.into_iter().collect::<Result<Vec<_>, _>>()?;
    let same = all.iter().all(|machines| ids(machines) == ids(&all[0]));
    ensure(same, || "three calls at once gave different machines".into())?;
    let (live, expect) = (bench.live().await?.len(), ask.slots.len());
    ensure(live == expect, || format!("{live} machines live, not {expect}"))
}

pub(super) async fn same_token_after_a_lost_answer(bench: &Bench<'_>) -> Outcome {
    let ask = bench.ask("a", bench.several(3));
    bench.cause(Fault::LostAnswers).await?;
    if let Err(error) = bench.create(&ask).await {
        ensure(error.class == Class::Unknown, || format!("a lost answer is {:?}", error.class))?;
    }
    bench.harness.heal().await;
    let machines = bench.launch(&ask).await?;
    let live = bench.live().await?;
    ensure(ids(&machines) == ids(&live), || {
        format!("{} machines answered, {} live", machines.len(), live.len())
    })
}

pub(super) async fn a_launch_is_found_by_its_own_names(bench: &Bench<'_>) -> Outcome {
    let create = bench.ask("t", bench.several(2));
    let machines = bench.launch(&create).await?;
    bench.settled(&machines).await?;
    let made = bench.made(&create).await?;
    ensure(ids(&made) == ids(&machines), || format!("made {made:?}, and not {machines:?}"))?;
    let none = bench.made(&bench.ask("never-sent", 1)).await?;
    ensure(none.is_empty(), || format!("a launch that was never sent made {none:?}"))
}

pub(super) async fn machines_are_what_was_asked_for(bench: &Bench<'_>) -> Outcome {
    let ask = bench.ask("a", bench.several(3));
    let machines = bench.launch(&ask).await?;
    let slots: BTreeSet<_> = machines.iter().filter_map(|m| Some(m.owner.as_ref()?.slot)).collect();
    ensure(slots == ask.slots.iter().copied().collect(), || format!("slots are {slots:?}"))?;
    for machine in &machines {
        ensure(machine.pool() == ask.pool, || format!("one stands in {}", machine.pool()))?;
        ensure(machine.state.is_live(), || format!("one is {}", machine.state))?;
    }
    Ok(())
}

pub(super) async fn tags_are_there_from_the_first_listing(bench: &Bench<'_>) -> Outcome {
    let ask = bench.ask("a", bench.several(3));
    let machines = bench.launch(&ask).await?;
    let listed = bench.settled(&machines).await?;
    for machine in &machines {
        let Some(seen) = listed.iter().find(|other| other.id == machine.id) else { continue };
        ensure(seen.owner == machine.owner, || format!("tags differ: {:?}", seen.owner))?;
        let token = seen.owner.as_ref().map(|owner| &owner.token);
        ensure(token == Some(&ask.token), || format!("the token is {token:?}"))?;
        let template = seen.owner.as_ref().map(|owner| owner.template);
        ensure(template == Some(ask.template), || format!("the template is {template:?}"))?;
        ensure(seen.launched_at == machine.launched_at, || "the launch time moved".into())?;
    }
    Ok(())
}

pub(super) async fn labels_change_in_place(bench: &Bench<'_>) -> Outcome {
    if !bench.pool.place.cloud.relabels() {
        return Err(Verdict::Skipped("this cloud cannot change labels".into()));
    }
    let machines = bench.launch(&bench.ask("a", bench.several(3))).await?;
    bench.settled(&machines).await?;
    let carries = |want: &'static [(&str, Option<&str>)], machines: &[Machine]| {
        let ids: Vec<MachineId> = machines.iter().map(|machine| machine.id.clone()).collect();
        async move {
            for id in ids {
                let Some(labels) = bench.labels(&id).await else { continue };
                for (key, value) in want {
                    let found = labels.get(*key).map(String::as_str);
                    ensure(found == *value, || format!("{key} is {found:?}, not {value:?}"))?;
                }
            }
            Ok(())
        }
    };
    let done =
        bench.relabel(&bench.fleet, &[("team", "shop"), ("tier", "one")], &[], &machines).await?;
    ensure(done.iter().collect::<BTreeSet<_>>() == ids(&machines), || format!("changed {done:?}"))?;
    carries(&[("team", Some("shop")), ("tier", Some("one"))], &machines).await?;
    for turn in ["first", "repeated"] {
        let done = bench.relabel(&bench.fleet, &[("team", "infra")], &["tier"], &machines).await?;
        ensure(done.iter().collect::<BTreeSet<_>>() == ids(&machines), || {
            format!("changed {done:?} ({turn})")
        })?;
    }
    carries(&[("team", Some("infra")), ("tier", None)], &machines).await?;
    let other = FleetUid::new("another-fleet");
    let done = bench.relabel(&other, &[("team", "thief")], &[], &machines).await?;
    ensure(done.is_empty(), || format!("labels of strangers changed: {done:?}"))?;
    carries(&[("team", Some("infra"))], &machines).await?;
    for seen in bench.list().await? {
        let before = machines.iter().find(|machine| machine.id == seen.id);
        let kept = before.is_none_or(|before| before.owner == seen.owner);
        ensure(kept, || format!("tags of ours changed: {:?}", seen.owner))?;
    }
    Ok(())
}

pub(super) async fn partial_fulfilment_is_an_answer(bench: &Bench<'_>) -> Outcome {
    if bench.pool.place.cloud.max_per_create() == 1 {
        return Err(Verdict::Skipped("this cloud launches one machine per call".into()));
    }
    bench.cause(Fault::RoomFor(bench.pool.clone(), 2)).await?;
    let ask = bench.ask("a", 5);
    for turn in ["first", "repeated"] {
        let created = bench.create(&ask).await;
        let created = created
            .map_err(|error| Verdict::Failed(format!("two of five is an error: {error}")))?;
        let got = created.machines.len();
        ensure(got == 2, || format!("{got} machines where there is room for two ({turn})"))?;
        let class = created.shortfall.map(|error| error.class);
        let capacity = matches!(class, Some(Class::Capacity { .. }));
        ensure(capacity, || format!("the shortfall is {class:?} ({turn})"))?;
    }
    Ok(())
}

pub(super) async fn an_exhausted_pool_is_a_matter_of_capacity(bench: &Bench<'_>) -> Outcome {
    bench.cause(Fault::RoomFor(bench.pool.clone(), 0)).await?;
    match bench.create(&bench.ask("a", 1)).await {
        Ok(created) => Err(Verdict::Failed(format!("{} machines", created.machines.len()))),
        Err(error) => {
            let blocks = match error.class {
                Class::Capacity { block } => block > Duration::ZERO,
                _ => false,
            };
            ensure(blocks, || format!("{error} is {:?}", error.class))
        }
    }
}

pub(super) async fn an_unknown_pool_is_refused(bench: &Bench<'_>) -> Outcome {
    let mut ask = bench.ask("a", 1);
    ask.pool.instance_type = InstanceType::new("no-such-type");
    match bench.create(&ask).await {
        Ok(_) => Err(Verdict::Failed("a machine of no type was launched".into())),
        Err(error) => {
            let refused = matches!(error.class, Class::Invalid | Class::Capacity { .. });
            ensure(refused, || format!("{error} is {:?}", error.class))
        }
    }
}

pub(super) async fn destroy_is_idempotent(bench: &Bench<'_>) -> Outcome {
    let machines = bench.launch(&bench.ask("a", bench.several(3))).await?;
    bench.settled(&machines).await?;
    let victims = victims(&machines);
    for (turn, wait) in [("first", 0), ("again", 0), ("ended", 300), ("forgotten", 86_400)] {
        if Duration::from_secs(wait) > bench.harness.longest_wait() {
            break;
        }
        bench.sleep(wait).await;
        let destroyed = bench.destroy(&bench.fleet, &victims).await?;
        ensure(destroyed.refused.is_empty(), || format!("{turn}: {:?}", destroyed.refused))?;
        let ended = destroyed.ended.len();
        ensure(ended == machines.len(), || format!("{turn}: {ended} ended"))?;
    }
    let live = bench.live().await?.len();
    ensure(live == 0, || format!("{live} still live"))
}

pub(super) async fn destroy_after_a_lost_answer(bench: &Bench<'_>) -> Outcome {
    let machines = bench.launch(&bench.ask("a", 1)).await?;
    bench.settled(&machines).await?;
    bench.cause(Fault::LostAnswers).await?;
    if let Err(error) = bench.destroy_once(&bench.fleet, &victims(&machines)).await {
        let honest = matches!(error.class, Class::Unknown | Class::Retry { .. });
        ensure(honest, || format!("a lost answer is {:?}", error.class))?;
    }
    bench.harness.heal().await;
    let destroyed = bench.destroy(&bench.fleet, &victims(&machines)).await?;
    ensure(destroyed.ended.len() == 1, || format!("{destroyed:?}"))
}

pub(super) async fn destroy_leaves_strangers_alone(bench: &Bench<'_>) -> Outcome {
    let machines = bench.launch(&bench.ask("a", 1)).await?;
    bench.settled(&machines).await?;
    let right = victims(&machines);
    let with = |change: &dyn Fn(&mut Victim)| {
        let mut wrong = right.clone();
        wrong.iter_mut().for_each(change);
        wrong
    };
    let stranger = FleetUid::new("somebody-else");
    let day = Duration::from_secs(86_400);
    let cases = [
        ("slot", bench.fleet.clone(), with(&|victim| victim.slot.generation += 1)),
        (
            "launch time",
            bench.fleet.clone(),
            with(&|victim| {
                victim.launched_at = victim.launched_at.checked_sub(day).unwrap_or_default();
            }),
        ),
        ("fleet", stranger, right.clone()),
    ];
    for (what, fleet, wrong) in cases {
        let destroyed = bench.destroy(&fleet, &wrong).await?;
        let refused = destroyed.ended.is_empty() && destroyed.refused.len() == 1;
        ensure(refused, || format!("wrong {what}: {destroyed:?}"))?;
    }
    let listed = bench.settled(&machines).await?;
    let alive = listed.iter().all(|machine| !is_ending(machine));
    ensure(alive, || "it was ended all the same".into())
}

pub(super) async fn a_lost_page_makes_the_list_partial(bench: &Bench<'_>) -> Outcome {
    let machines = bench.launch(&bench.ask("a", bench.several(3))).await?;
    bench.settled(&machines).await?;
    bench.cause(Fault::LostPage).await?;
    match bench.provider.machines(&bench.pool.place.scope()).await {
        Ok(Listing::Partial(..)) | Err(_) => Ok(()),
        Ok(Listing::Complete(seen)) => {
            Err(Verdict::Failed(format!("complete with {} of {}", seen.len(), machines.len())))
        }
    }
}

pub(super) async fn an_outage_is_never_an_empty_list(bench: &Bench<'_>) -> Outcome {
    let machines = bench.launch(&bench.ask("a", 1)).await?;
    bench.settled(&machines).await?;
    bench.cause(Fault::Outage).await?;
    let listing = bench.provider.machines(&bench.pool.place.scope()).await;
    ensure(listing.is_err(), || format!("the list says {listing:?}"))?;
    match bench.create_once(&bench.ask("b", 1)).await {
        Ok(_) => return Err(Verdict::Failed("a launch succeeded".into())),
        Err(error) => {
            let honest = matches!(error.class, Class::Retry { .. } | Class::Unknown);
            ensure(honest, || format!("a launch is {:?}", error.class))?;
        }
    }
    bench.harness.heal().await;
    let live = bench.live().await?.len();
    ensure(live == 1, || format!("{live} machines live after the outage, not 1"))
}

pub(super) async fn throttling_asks_for_patience(bench: &Bench<'_>) -> Outcome {
    bench.cause(Fault::Throttling).await?;
    let created = bench.create_once(&bench.ask("a", 1)).await;
    let class = created.map(|created| created.machines.len()).map_err(|error| error.class);
    ensure(matches!(class, Err(Class::Retry { .. })), || format!("a launch is {class:?}"))?;
    let listing = bench.provider.machines(&bench.pool.place.scope()).await;
    let class = listing.map_err(|error| error.class);
    ensure(matches!(class, Err(Class::Retry { .. })), || format!("a list is {class:?}"))?;
    bench.harness.heal().await;
    let live = bench.live().await?.len();
    ensure(live == 0, || format!("{live} machines live"))
}

pub(super) async fn quotes_keep_the_order_of_the_request(bench: &Bench<'_>) -> Outcome {
    let mut pools = bench.harness.pools();
    let mut unknown = bench.pool.clone();
    unknown.instance_type = InstanceType::new("no-such-type");
    pools.insert(1, unknown);
    let quote = async |pools: &[_]| {
        let offered = bench
            .provider
            .offerings(&OfferingsRequest {
                pools,
                template: &Template::default(),
                goal: CapacityGoal::default(),
                ignore: fleet_model::SignalSet::default(),
            })
            .await;
        let offered = offered.map_err(|error| Verdict::Failed(format!("no quotes: {error}")))?;
        let mut quotes = offered.quotes;
        // When a price was asked for is not part of what it is.
        quotes.iter_mut().flatten().for_each(|quote| quote.signals.price_as_of = None);
        Ok::<_, Verdict>(quotes)
    };
    let forward = quote(&pools).await?;
    ensure(forward.len() == pools.len(), || format!("{} quotes", forward.len()))?;
    // Nothing is known of it, or that it cannot be had.
    let nothing = forward[1].as_ref().is_none_or(|quote| quote.refusal.is_some());
    ensure(nothing, || format!("an unknown pool is {:?}", forward[1]))?;
    pools.reverse();
    let mut backward = quote(&pools).await?;
    backward.reverse();
    ensure(forward == backward, || format!("{forward:?} is not {backward:?}"))
}
