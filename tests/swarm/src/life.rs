//! The life of one world: people work through a storm, then it is calm, and everything must come to
//! rest.

use crate::chance::Chance;
use crate::clockwork;
use crate::habits::habits;
use crate::judge::Violation;
use crate::operator::{self, Ended, Person};
use crate::purse;
use crate::squall::squalls;
use crate::storm::storm;
use crate::weather::{Counts, Kind};
use crate::wish;
use crate::world::World;
use crate::{damage, rest};
use fleet_model::{Desired, Limits};
use futures::future::join_all;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What came of a world.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Which.
    pub seed: u64,
    /// Promises that were broken.
    pub violations: Vec<Violation>,
    /// What went wrong, and how often.
    pub faults: Counts,
    /// Simulated time.
    pub lasted: Duration,
    /// Fingerprint of the trace.
    pub fingerprint: u64,
    /// The trace, if it was kept.
    pub trace: String,
}

impl Outcome {
    /// What came of a world that is over.
    pub(crate) fn of(world: &World) -> Self {
        let (trace, fingerprint) = world.traced();
        let inner = world.lock();
        Outcome {
            seed: inner.seed,
            violations: inner.judge.violations.clone(),
            faults: inner.counts.clone(),
            lasted: world.elapsed(),
            fingerprint,
            trace,
        }
    }
}

/// Lives a world from its beginning to its end.
pub fn live(seed: u64, keep_trace: bool) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap_or_else(|error| panic!("no runtime: {error}"));
    runtime.block_on(async {
        if seed >= purse::PURSES {
            return Box::pin(purse::live(seed, keep_trace)).await;
        }
        let mut chance = Chance::new(seed);
        let mut later = Chance::later(seed);
        let wish = wish::tighten(&mut later, wish::draw(&mut chance));
        let wish = wish::stand_together(&mut Chance::deeds(!seed), wish);
        // Some fleets have labels.
        let wish = if seed % 8 == 3 { wish::labelled(wish) } else { wish };
        // Some weigh what is missing against money.
        let wish =
            if seed % 16 == 7 { wish::hedged(&mut Chance::hedges(seed), wish) } else { wish };
        let wish = wish::upkeep(&mut Chance::upkeep(!seed), wish);
        let world = World::new(seed, (chance, later), &wish, keep_trace);
        let wish = clockwork::wind(&mut Chance::clockwork(!seed), world.now(), wish);
        let wish = through_the_storm(&world, wish).await;
        if !world.is_broken() {
            rest::come_to_rest(&world, &wish).await;
        }
        Outcome::of(&world)
    })
}

/// People work, alone or against each other. Returns what is wanted in the end.
async fn through_the_storm(world: &Arc<World>, wish: Desired) -> Desired {
    let people = {
        let mut inner = world.lock();
        match inner.weather.has(Kind::Rivals) {
            true => inner.chance.between(2, 3),
            false => 1,
        }
    };
    if people > 1 {
        world.count(Kind::Rivals);
    }
    let wish = Arc::new(Mutex::new(wish));
    let work = join_all((0..people).map(|_| person(world.clone(), wish.clone(), people == 1)));
    let weather = tokio::spawn(storm(world.clone()));
    let later = tokio::spawn(squalls(world.clone()));
    let habits = tokio::spawn(habits(world.clone()));
    work.await;
    weather.abort();
    later.abort();
    habits.abort();
    wish.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Builds a future where it stays, on the heap. A dozen of them built in place would not fit on a test's stack.
#[inline(never)]
fn boxed<F: Future>(build: impl FnOnce() -> F) -> Pin<Box<F>> {
    Box::pin(build())
}

async fn person(world: Arc<World>, wish: Arc<Mutex<Desired>>, alone: bool) {
    let deeds = 2 + world.below(7);
    let now = || wish.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for _ in 0..deeds {
        if world.is_broken() {
            return;
        }
        let short = world.below(2) == 0;
        let pause = Duration::from_secs(if short { 10 } else { 1500 });
        tokio::time::sleep(world.up_to(pause)).await;
        let wait = Duration::from_secs([0, 20, 120][world.below(3) as usize]);
        let desired = now();
        let person = if world.below(3) == 0 { Person::Agrees } else { Person::Away };
        match world.below(20) {
            0..=1 => {
                let all = Limits { destroy_all: true, ..Limits::default() };
                boxed(|| operator::apply(&world, &desired, all, person, wait)).await;
            }
            2 => boxed(|| operator::sweep(&world, &desired)).await,
            3..=7 => {
                let edited = wish::edit(&mut world.lock().chance, &desired);
                let now = world.now();
                let edited = clockwork::edit(&mut world.lock().clockwork, now, edited);
                world.trace(format_args!("the spec is edited"));
                *wish.lock().unwrap_or_else(PoisonError::into_inner) = edited.clone();
                boxed(|| operator::apply(&world, &edited, Limits::default(), person, wait)).await;
            }
            8..=9 if world.lock().weather.has(Kind::StalePlan) => {
                let later = match world.below(3) {
                    0 => wish::edit(&mut world.lock().chance, &desired),
                    _ => desired.clone(),
                };
                boxed(|| operator::apply_saved(&world, &desired, &later)).await;
            }
            10..=11 if alone => boxed(|| damage::damage(&world, &desired)).await,
            // In some worlds only: the others go on as they did.
            _ if world.seed() % 5 == 2 && world.lock().clockwork.percent(30) => {
                boxed(|| clockwork::freeze_or_thaw(&world, &desired, wait)).await;
            }
            _ if world.seed() % 9 == 4 && world.lock().clockwork.percent(30) => {
                boxed(|| clockwork::prune(&world, person, wait)).await;
            }
            _ if world.lock().upkeep.percent(8) => {
                boxed(|| operator::meddle(&world, &desired, wait)).await;
            }
            _ if world.lock().deeds.percent(10) => {
                boxed(|| operator::replace(&world, &desired, wait)).await;
            }
            _ => {
                let ended =
                    boxed(|| operator::apply(&world, &desired, Limits::default(), person, wait))
                        .await;
                // Whoever sees a process die starts it again at once.
                if matches!(ended, Ended::Died) && world.below(2) == 0 {
                    boxed(|| operator::apply(&world, &desired, Limits::default(), person, wait))
                        .await;
                }
            }
        }
    }
}
