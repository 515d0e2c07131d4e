//! A process dies at every moment at which it can, and at every pair of them.
//!
//! Five moments around each mutation: before and after its intent is written down, while the
//! request is under way, when it is answered, and when its outcome is written down. The clouds'
//! own truth judges: no slot with two machines at any death; in the end no orphan, as many
//! machines as asked for, and nothing left to do.
//!
//! A plain `cargo test` explores the pairs of plans that launch two machines and end two, on every
//! cloud. `FLEET_CRASH_ACTIONS=20` explores those of plans of 20 actions, with growing fleets, too.
#![expect(clippy::print_stderr, reason = "how much was explored is worth knowing")]

mod fixture;

use fixture::mortal::{Fate, Moment};
use fixture::{Fixture, apply_with, catalog_for, cpu, desired};
use fleet_model::{Catalog, Desired, Hold, Limits, MachineState};
use fleet_run::{Converged, Engine};
use fleet_sim::Preset;
use std::sync::Arc;
use std::time::Duration;

/// Actions of a plan whose single deaths are all explored.
const ACTIONS: u32 = 20;
/// Actions of a plan whose pairs of deaths are all explored by a plain `cargo test`.
const ACTIONS_IN_PAIRS: u32 = 4;
/// Runs after which a fleet that is not at rest is a failure.
const RUNS_TO_REST: u32 = 6;

/// A cloud, and two sets of types between which a fleet can move.
struct Habit {
    name: &'static str,
    regions: &'static str,
    old: &'static str,
    new: &'static str,
}

const HABITS: [Habit; 4] = [
    Habit {
        name: "aws",
        regions: ", regions: [us-east-1, us-west-2]",
        old: "m6i.xlarge, m7i.xlarge, m6a.xlarge",
        new: "c6i.xlarge, c7i.xlarge, c6a.xlarge",
    },
    Habit {
        name: "gcp",
        regions: ", regions: [us-central1, us-east1]",
        old: "n2-standard-4, e2-standard-4, n2d-standard-4",
        new: "n2-standard-8, e2-standard-8, n2d-standard-8",
    },
    Habit {
        name: "azure",
        regions: ", regions: [eastus, westus2, centralus, westus]",
        old: "Standard_D4s_v3, Standard_D4s_v4, Standard_D4s_v5, Standard_D8s_v3, Standard_D8s_v4",
        new: "Standard_E4s_v3, Standard_E4s_v4, Standard_E4s_v5, Standard_E8s_v3, Standard_E8s_v4",
    },
    Habit {
        name: "lambda",
        regions: ", regions: [us-east-1, us-west-1, us-south-1, us-east-2, us-south-2]",
        old: "cpu_4x_general, gpu_1x_a10, gpu_1x_rtx6000, gpu_1x_a100, gpu_1x_h100_pcie",
        new: "gpu_1x_a6000, gpu_1x_a100_sxm4, gpu_1x_h100_sxm5, gpu_2x_a6000, gpu_2x_a100",
    },
];

/// What a run that dies works towards, and what stood before it.
struct Story {
    name: String,
    catalog: Arc<Catalog>,
    before: Option<Desired>,
    goal: Desired,
    machines: usize,
    /// Actions of the plan, the least.
    actions: u32,
}

impl Habit {
    fn spec(&self, types: &str, target: u32) -> Desired {
        let Habit { name, regions, .. } = self;
        // One machine per pool: as many requests as machines, also when they end.
        let share = 100u32.div_ceil(target);
        desired(&format!(
            "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: small }}
spec:
  capacity: {{ unit: instances, target: {target}, base: {{ onDemand: 100% }} }}
  instances: {{ types: [{types}] }}
  placement:
    clouds: [{{ provider: {name}{regions} }}]
    spread: {{ maxSharePerPool: {share}% }}
"
        ))
    }

    /// A fleet from nothing.
    fn growth(&self, actions: u32) -> Story {
        let goal = self.spec(self.old, actions);
        Story {
            name: format!("{} grows", self.name),
            catalog: catalog_for(&[&goal]),
            before: None,
            goal,
            machines: actions as usize,
            actions,
        }
    }

    /// Half of the actions launch, and the other half end what they replace.
    fn move_over(&self, actions: u32) -> Story {
        let half = actions / 2;
        let (before, goal) = (self.spec(self.old, half), self.spec(self.new, half));
        Story {
            name: format!("{} moves", self.name),
            catalog: catalog_for(&[&before, &goal]),
            before: Some(before),
            goal,
            machines: half as usize,
            actions,
        }
    }
}

impl Story {
    async fn fixture(&self) -> Fixture {
        let fixture = Fixture::with(Preset::Lifelike, 3, self.catalog.clone());
        if let Some(before) = &self.before {
            fixture.apply(before).await;
            fixture.sim.advance(Duration::from_secs(600)).expect("time");
        }
        fixture
    }

    /// One apply that may end as many machines as it wants to: a person looked at the plan.
    async fn apply(&self, engine: &Engine) -> Converged {
        let mut limits = Limits::default();
        if self.before.is_some() {
            let inputs = engine.gather(&self.goal, limits).await.expect("inputs");
            let held = fleet_core::plan(&inputs).report.held;
            limits.allow_destroy = held.iter().find_map(|hold| match hold {
                Hold::DestroyLimit { wanted, .. } => Some(*wanted),
                _ => None,
            });
        }
        apply_with(engine, &self.goal, limits).await.expect("applied")
    }

    /// Runs once and dies at a moment; says whether it lived, and how it went.
    async fn die_at(&self, fixture: &Fixture, fatal: u32) -> (bool, Arc<Fate>) {
        let fate = Fate::at(fatal);
        let engine = fixture.mortal(&fate);
        let lived = fate.run(self.apply(&engine)).await.is_some();
        drop(engine);
        // A remote lease of a dead holder has to run out; here nobody waits for it.
        fixture.store.forget_leases().await.expect("no lease");
        fixture.assert_one_per_slot();
        (lived, fate)
    }

    /// Runs until the fleet is at rest, and judges it.
    async fn come_to_rest(&self, fixture: &Fixture) {
        let stands = |fixture: &Fixture| {
            let live = fixture.live().into_iter();
            live.filter(|machine| machine.state != MachineState::Stopping).count()
        };
        for _ in 0..RUNS_TO_REST {
            let last = self.apply(&fixture.engine).await.last.expect("a last look");
            fixture.sim.advance(Duration::from_secs(120)).expect("time");
            fixture.assert_one_per_slot();
            if last.plan.is_empty() && stands(fixture) == self.machines {
                break;
            }
        }
        assert_eq!(stands(fixture), self.machines, "{}", self.name);
        fixture.assert_converged(&self.goal).await;
    }

    /// How many moments an undisturbed run has, once it is proven that they stand around every
    /// mutation.
    async fn moments(&self) -> u32 {
        let fixture = self.fixture().await;
        let (lived, fate) = self.die_at(&fixture, 0).await;
        assert!(lived);
        let around = fate.around();
        let of = |moment| around.get(&moment).copied().unwrap_or_default();
        let sent = of(Moment::UnderWay);
        assert!(sent >= self.actions, "{}: {sent} of {} actions", self.name, self.actions);
        for moment in [Moment::BeforeIntent, Moment::AfterIntent, Moment::Answered] {
            assert_eq!(of(moment), sent, "{}: {moment:?} in {around:?}", self.name);
        }
        // An end that went well has no outcome of its own: the next look shows it.
        let launches = if self.before.is_some() { self.actions / 2 } else { self.actions };
        assert!(of(Moment::AfterOutcome) >= launches, "{}: {around:?}", self.name);
        self.come_to_rest(&fixture).await;
        fate.moments()
    }

    /// Dies at one moment, and comes to rest.
    async fn single(&self, fatal: u32) {
        let fixture = self.fixture().await;
        let (lived, _) = self.die_at(&fixture, fatal).await;
        assert!(!lived, "{}: moment {fatal} is not reached", self.name);
        self.come_to_rest(&fixture).await;
    }

    /// Dies at one moment, then at each moment of the run after it; how many pairs there are.
    async fn pairs(&self, first: u32) -> u32 {
        for second in 1.. {
            let fixture = self.fixture().await;
            self.die_at(&fixture, first).await;
            let (lived, _) = self.die_at(&fixture, second).await;
            self.come_to_rest(&fixture).await;
            if lived {
                return second - 1;
            }
        }
        unreachable!("moments are counted with 32 bits")
    }
}

/// Does something for every moment of a story, on all cores; the sum of what it says.
fn on_all_cores<F>(moments: u32, deed: impl Fn(u32) -> F + Sync) -> u32
where
    F: Future<Output = u32>,
{
    let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get() as u32);
    let work = |core: u32| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.expect("a runtime");
        let mine = (1..=moments).filter(|moment| moment % cores == core);
        mine.map(|moment| runtime.block_on(deed(moment))).sum::<u32>()
    };
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..cores).map(|core| scope.spawn(move || work(core))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    })
}

fn moments(story: &Story) -> u32 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(story.moments())
}

fn stories(actions: u32) -> Vec<Story> {
    HABITS.iter().flat_map(|habit| [habit.growth(actions), habit.move_over(actions)]).collect()
}

#[test]
fn every_single_death_of_plans_of_twenty_actions() {
    for story in stories(ACTIONS) {
        let moments = moments(&story);
        // Requests that are written down together share their moments.
        assert!(moments > 2 * ACTIONS, "{}: {moments}", story.name);
        let explored = on_all_cores(moments, async |moment| {
            story.single(moment).await;
            1
        });
        assert_eq!(explored, moments, "{}", story.name);
        eprintln!("{}: {explored} deaths", story.name);
    }
}

#[test]
fn every_pair_of_deaths() {
    let asked = std::env::var("FLEET_CRASH_ACTIONS").ok();
    let actions = asked.as_ref().map_or(ACTIONS_IN_PAIRS, |text| text.parse().expect("a number"));
    let all = stories(actions).into_iter();
    for story in all.filter(|story| asked.is_some() || story.before.is_some()) {
        let moments = moments(&story);
        let pairs = on_all_cores(moments, |first| story.pairs(first));
        assert!(pairs >= moments * actions, "{}: {pairs} pairs", story.name);
        eprintln!("{}: {moments} moments, {pairs} pairs of deaths", story.name);
    }
}

/// Dies at the first moment, then at the second, and so on, until a run lives to the end.
async fn die_everywhere(spec: &str) {
    let goal = desired(spec);
    let catalog = catalog_for(&[&goal]);
    let name = "wide".into();
    let story = Story { name, catalog, before: None, goal, machines: 60, actions: 1 };
    let fixture = story.fixture().await;
    for fatal in 1..400 {
        let (lived, _) = story.die_at(&fixture, fatal).await;
        assert!(
            fixture.live().len() <= 60,
            "{} machines after death {fatal}",
            fixture.live().len()
        );
        if lived {
            assert!(fatal >= 5, "it died {fatal} times");
            fixture.assert_converged(&story.goal).await;
            assert_eq!(fixture.live().len(), 60);
            return;
        }
    }
    panic!("never finished");
}

#[tokio::test]
async fn one_death_after_another() {
    die_everywhere(&cpu(60)).await;
}

/// The same fleet where the cloud may choose among pools.
#[tokio::test]
async fn deaths_around_requests_that_leave_a_choice() {
    die_everywhere(&cpu(60).replace("    spread:", "    fulfilment: flexible\n    spread:")).await;
}
