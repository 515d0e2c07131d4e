//! N: a damaged journal is found, and nothing is done on its word.

use crate::market::CATALOG;
use crate::operator::{self, Ended, Person};
use crate::weather::Kind;
use crate::wish::FLEET;
use crate::world::World;
use fleet_model::{Desired, Limits, Machine, Scope};
use fleet_run::{JournalError, RunError};
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Damages the journal, lets somebody apply, and mends it.
pub(crate) async fn damage(world: &Arc<World>, desired: &Desired) {
    let kinds = [Kind::Torn, Kind::Missing, Kind::JournalLost];
    let on: Vec<Kind> = kinds.into_iter().filter(|kind| world.lock().weather.has(*kind)).collect();
    let Some(kind) = world.lock().chance.pick(&on).copied() else { return };
    // Nothing else may come between: what is judged is the damage.
    tokio::time::sleep(Duration::from_secs(400)).await;
    let Some(whole) = spoil(world, desired, kind).await else { return };
    world.count(kind);
    world.trace(format_args!("the journal is damaged: {}", kind.as_str()));
    let written = world.lock().judge.book.seq;
    let wait = Duration::from_secs(60);
    // A journal that is lost while the clouds with the machines are silent cannot be missed.
    world.lock().sheltered = kind == Kind::JournalLost;
    let ended = operator::apply(world, desired, Limits::default(), Person::Away, wait).await;
    world.lock().sheltered = false;
    let found = match &ended {
        Ended::Failed(RunError::Journal(JournalError::Damaged { .. })) => true,
        // Something else went wrong first.
        Ended::Failed(RunError::Lease(_) | RunError::Store(_)) | Ended::Died => true,
        Ended::Failed(RunError::Journal(JournalError::Store(_))) => true,
        Ended::Failed(_) => false,
        Ended::Done(planned) => {
            kind == Kind::JournalLost && planned.as_ref().is_none_or(|p| p.plan.is_empty())
        }
    };
    if !found || world.lock().judge.book.seq != written {
        let what = format!("{} is not noticed", kind.as_str());
        world.judge(|judge| judge.fail('N', what));
    }
    for (path, bytes) in whole {
        let _ = world.disk.put(&path, PutPayload::from(bytes)).await;
    }
}

type Objects = Vec<(Path, Vec<u8>)>;

async fn objects(world: &World, folder: &str) -> Objects {
    let folder = Path::from(format!("fleets/{FLEET}/{folder}"));
    let listed: Vec<_> = world.disk.list(Some(&folder)).try_collect().await.unwrap_or_default();
    let mut all = Objects::new();
    for meta in listed {
        if let Ok(found) = world.disk.get(&meta.location).await
            && let Ok(bytes) = found.bytes().await
        {
            all.push((meta.location, bytes.to_vec()));
        }
    }
    all.sort();
    all
}

/// Does the damage, and returns what was there before; `None` if there was no occasion.
async fn spoil(world: &World, desired: &Desired, kind: Kind) -> Option<Objects> {
    let records = objects(world, "journal").await;
    let snapshots = objects(world, "snapshot").await;
    let name = |path: &Path| path.filename().unwrap_or_default().to_owned();
    let last = snapshots.last().map(|(path, _)| name(path)).unwrap_or_default();
    // Records before the last snapshot are not read any more, and nothing depends on them.
    let read: Objects = records.iter().filter(|(path, _)| name(path) > last).cloned().collect();
    match kind {
        Kind::Torn => {
            let (path, bytes) = world.lock().chance.pick(&read)?.clone();
            let at = world.below(bytes.len() as u64) as usize;
            let mut torn = bytes.clone();
            if world.below(2) == 0 {
                torn.truncate(at);
            } else {
                torn[at] ^= 1 << world.below(7);
            }
            world.disk.put(&path, PutPayload::from(torn)).await.ok()?;
            Some(vec![(path, bytes)])
        }
        Kind::Missing => {
            // The last one leaves no gap: that it was there nobody can know.
            let before_last = &read[..read.len().saturating_sub(1)];
            let (path, bytes) = world.lock().chance.pick(before_last)?.clone();
            world.disk.delete(&path).await.ok()?;
            Some(vec![(path, bytes)])
        }
        _ => {
            // Machines that are seen are what is left to go by.
            world.look();
            let scopes: BTreeSet<Scope> = fleet_core::eligible(desired, &CATALOG)
                .offerings
                .iter()
                .map(|offering| offering.pool.place.scope())
                .collect();
            let here = |(machine, _): &(&Machine, _)| scopes.contains(&machine.place.scope());
            let seen = world.lock().judge.ours().any(|ours| here(&ours))
                && world.sim.faults().is_ok_and(|faults| faults.is_empty())
                && world.lock().judge.book.open().count() == 0;
            if !seen || records.is_empty() {
                return None;
            }
            let all: Objects = records.into_iter().chain(snapshots).collect();
            for (path, _) in &all {
                world.disk.delete(path).await.ok()?;
            }
            Some(all)
        }
    }
}
