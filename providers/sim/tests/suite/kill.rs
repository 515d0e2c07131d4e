//! The cloud does not die when its customer does: processes killed at random moments.

use crate::support::*;
use fleet_sim::{Preset, Settings, Sim};
use std::process::{Command, Stdio};
use std::time::Duration;

const FOLDER: &str = "FLEET_SIM_TEST_FOLDER";

/// What the killed processes run: launches without end. A test only in name.
#[tokio::test]
#[ignore = "run by the test below"]
async fn customer() {
    let Some(dir) = std::env::var_os(FOLDER) else { return };
    let sim = Sim::open(dir.as_ref(), catalog()).expect("a world");
    for n in 0.. {
        launch(&sim, AWS_CPU, &format!("t{n}"), 20).await;
    }
}

#[tokio::test]
async fn worlds_outlive_their_customers() {
    let dir = tempfile::tempdir().expect("a folder");
    let settings = Settings { latency: Duration::from_micros(200), ..settings(Preset::Calm) };
    let sim = Sim::create(dir.path(), settings, catalog(), false).expect("a world");
    let mut before = 0;
    for round in 0..12 {
        let mut customers: Vec<_> = (0..2)
            .map(|_| {
                Command::new(std::env::current_exe().expect("this binary"))
                    .args(["--exact", "kill::customer", "--ignored"])
                    .env(FOLDER, dir.path())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .expect("a process")
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(30 + 13 * round)).await;
        for customer in &mut customers {
            customer.kill().expect("killed");
            customer.wait().expect("gone");
        }
        // Every launch is there in full or not at all, and once.
        let machines = sim.machines().expect("a sound world");
        assert_eq!(machines.len() % 20, 0, "round {round}");
        let fresh = Sim::open(dir.path(), catalog()).expect("a sound world");
        assert_eq!(fresh.machines().expect("machines"), machines);
        let tokens: std::collections::BTreeSet<_> =
            machines.iter().filter_map(|m| Some(m.owner.as_ref()?.token.clone())).collect();
        assert_eq!(tokens.len() * 20, machines.len(), "round {round}");
        assert!(machines.len() >= before);
        before = machines.len();
    }
    assert!(before > 0, "nothing was ever launched");
}
