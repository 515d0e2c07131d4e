//! A world on disk: the same bytes for the same calls, whole after any cut, shared by many.

use crate::support::*;
use fleet_model::Machine;
use fleet_sim::{Preset, Settings, Sim, SimError};
use std::fs;
use std::path::Path;

fn make(dir: &Path, preset: Preset) -> Sim {
    Sim::create(dir, settings(preset), catalog(), false).expect("a new world")
}

fn open(dir: &Path) -> Sim {
    Sim::open(dir, catalog()).expect("a world")
}

fn truth(sim: &Sim) -> Vec<Machine> {
    sim.machines().expect("machines")
}

async fn a_busy_day(sim: &Sim) {
    let first = launch(sim, AWS_CPU, "a", 7).await;
    let _ = create(sim, &ask(AWS_GPU_SPOT, "b", 30)).await;
    launch(sim, GCP_CPU, "c", 3).await;
    launch(sim, AZURE_CPU, "d", 1).await;
    launch(sim, LAMBDA, "e", 1).await;
    sim.lose_answers(fleet_model::Cloud::Aws, 50).expect("lossy");
    for n in 0..10 {
        let _ = create(sim, &ask(AWS_CPU, &format!("f{n}"), 1)).await;
        sim.advance(seconds(7)).expect("later");
    }
    sim.heal().expect("healed");
    destroy(sim, &first).await.expect("ended");
    sim.advance(minutes(600)).expect("later");
    let _ = list(sim, AWS_CPU).await;
}

#[tokio::test]
async fn the_same_calls_write_the_same_bytes() {
    let [a, b] = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
    for dir in [&a, &b] {
        a_busy_day(&make(dir.path(), Preset::Lifelike)).await;
    }
    for file in ["events.0.log", "world.json"] {
        let read = |dir: &tempfile::TempDir| fs::read(dir.path().join(file)).expect("a file");
        assert_eq!(read(&a), read(&b), "{file}");
    }
    let memory = sim(Preset::Lifelike);
    a_busy_day(&memory).await;
    assert_eq!(truth(&memory), truth(&open(a.path())));
}

#[tokio::test]
async fn another_seed_is_another_world() {
    let log = async |seed: u64| {
        let dir = tempfile::tempdir().expect("a folder");
        let settings = Settings { seed, ..settings(Preset::Lifelike) };
        let sim = Sim::create(dir.path(), settings, catalog(), false).expect("a world");
        launch(&sim, AWS_CPU, "a", 3).await;
        fs::read(dir.path().join("events.0.log")).expect("a log")
    };
    assert_ne!(log(1).await, log(2).await);
}

#[tokio::test]
async fn a_log_cut_at_any_byte_opens_as_a_prefix() {
    let dir = tempfile::tempdir().expect("a folder");
    let sim = make(dir.path(), Preset::Calm);
    let mut states = vec![truth(&sim)];
    for n in 0..4 {
        launch(&sim, AWS_CPU, &format!("t{n}"), 2).await;
        states.push(truth(&sim));
    }
    let path = dir.path().join("events.0.log");
    let whole = fs::read(&path).expect("a log");
    let ends: Vec<usize> =
        (0..whole.len()).filter(|at| whole[*at] == b'\n').map(|at| at + 1).collect();
    assert_eq!(ends.len(), 4);
    for cut in 0..=whole.len() {
        fs::write(&path, &whole[..cut]).expect("cut");
        let kept = ends.iter().filter(|end| **end <= cut).count();
        let sim = open(dir.path());
        assert_eq!(truth(&sim), states[kept], "cut at {cut}");
        // The rest of the torn line is gone, and the log goes on.
        assert_eq!(
            fs::read(&path).expect("a log").len(),
            kept.checked_sub(1).map_or(0, |k| ends[k])
        );
        launch(&sim, AWS_CPU, "next", 1).await;
        assert_eq!(truth(&open(dir.path())).len(), 2 * kept + 1);
    }
}

#[tokio::test]
async fn damage_in_the_middle_is_told_not_guessed() {
    let dir = tempfile::tempdir().expect("a folder");
    let sim = make(dir.path(), Preset::Calm);
    for n in 0..3 {
        launch(&sim, AWS_CPU, &format!("t{n}"), 1).await;
    }
    let path = dir.path().join("events.0.log");
    let mut log = fs::read(&path).expect("a log");
    log[40] ^= 1;
    fs::write(&path, &log).expect("spoilt");
    let error = Sim::open(dir.path(), catalog()).expect_err("damaged");
    assert!(matches!(error, SimError::Damaged { .. }), "{error}");
    // A reset mends it.
    Sim::create(dir.path(), settings(Preset::Calm), catalog(), true).expect("a new world");
    assert!(truth(&open(dir.path())).is_empty());
    fs::write(dir.path().join("world.json"), b"\xff{").expect("spoilt");
    assert!(Sim::open(dir.path(), catalog()).is_err());
    Sim::create(dir.path(), settings(Preset::Calm), catalog(), true).expect("a new world");
    assert!(truth(&open(dir.path())).is_empty());
}

#[tokio::test]
async fn handles_on_one_folder_agree() {
    let dir = tempfile::tempdir().expect("a folder");
    let handles = [make(dir.path(), Preset::Lifelike), open(dir.path()), open(dir.path())];
    for n in 0..30 {
        let sim = &handles[n % 3];
        launch(sim, AWS_CPU, &format!("t{}", n / 2), 2).await;
        handles[(n + 1) % 3].advance(seconds(30)).expect("later");
        assert_eq!(truth(&handles[0]), truth(&handles[1]));
        assert_eq!(truth(&handles[0]), truth(&handles[2]));
        assert_eq!(handles[0].clock().now(), handles[2].clock().now());
    }
    assert_eq!(live(&handles[1]), 30);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn threads_with_handles_of_their_own_do_not_double_anything() {
    let dir = tempfile::tempdir().expect("a folder");
    make(dir.path(), Preset::Calm);
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let sim = open(dir.path());
            tokio::spawn(async move {
                for n in 0..50 {
                    launch(&sim, AWS_CPU, &format!("t{n}"), 2).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("a task");
    }
    assert_eq!(live(&open(dir.path())), 100);
}

#[tokio::test]
async fn long_logs_are_folded_and_nobody_notices() {
    let dir = tempfile::tempdir().expect("a folder");
    let sim = make(dir.path(), Preset::Calm);
    let other = open(dir.path());
    let memory = crate::support::sim(Preset::Calm);
    // What a process that died while folding may have left.
    for left in ["snapshot.1", "snapshot.1.new", "events.1.log", "world.json.new"] {
        fs::write(dir.path().join(left), b"half").expect("a leftover");
    }
    // More than 4 MiB of events, and a bystander who looks now and then.
    for n in 0..450 {
        for sim in [&sim, &memory] {
            launch(sim, AWS_CPU, &format!("t{n}"), 100).await;
        }
        if n % 100 == 0 {
            assert_eq!(truth(&other).len(), truth(&sim).len());
        }
    }
    assert!(!dir.path().join("events.0.log").exists(), "folded");
    assert!(dir.path().join("snapshot.1").exists());
    for sim in [&other, &open(dir.path())] {
        assert_eq!(truth(sim), truth(&memory));
        // Tokens survive the fold.
        launch(sim, AWS_CPU, "t0", 100).await;
        assert_eq!(live(sim), 45_000);
    }
    let machines = truth(&sim);
    destroy(&other, &machines[..10]).await.expect("ended");
    assert_eq!(live(&sim), 44_990);
    sim.advance(minutes(60)).expect("later");
    assert_eq!(truth(&open(dir.path())).len(), 44_990);
}

#[tokio::test]
async fn worlds_are_not_replaced_by_accident() {
    let dir = tempfile::tempdir().expect("a folder");
    let old = make(dir.path(), Preset::Calm);
    launch(&old, AWS_CPU, "t", 1).await;
    let again = Sim::create(dir.path(), settings(Preset::Lifelike), catalog(), false);
    assert!(matches!(again, Err(SimError::Exists(_))));
    let new = Sim::create(dir.path(), settings(Preset::Lifelike), catalog(), true);
    assert!(truth(&new.expect("a reset")).is_empty());
    // Who had the old one open is in the new one.
    assert!(truth(&old).is_empty());
    assert_eq!(old.settings().expect("settings").preset, Preset::Lifelike);
}

#[test]
fn a_folder_that_cannot_be_is_an_error() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let error = Sim::open(&file.path().join("world"), catalog()).expect_err("no folder");
    assert!(matches!(error, SimError::Io { .. }), "{error}");
}
