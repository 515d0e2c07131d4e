//! State in S3, Google Cloud Storage and Azure Blob, through the real binary, against servers that
//! stand in for them. Run by `cargo xtask test state`, which installs the servers.

mod support;

use fleet_emulators::stores::{Fault, Faults, Kind, StoreServer};
use fleet_model::{Event, FleetName};
use fleet_run::{Journal, JournalError, Lease, Store, SystemClock};
use fleet_sim::{Chance, Preset};
use std::io::Write;
use std::process::Output;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{MORTAL, Place, text};

/// Races for one name.
const RACES: usize = 300;
/// Times that runs are killed in the race of two.
const KILLS: u32 = 24;
/// Machines wanted.
const WANTED: usize = 48;

macro_rules! every_store {
    ($($test:ident),* $(,)?) => {
        every_store!(@store s3, Kind::S3, $($test),*);
        every_store!(@store gcs, Kind::Gcs, $($test),*);
        every_store!(@store azure, Kind::Azure, $($test),*);
    };
    (@store $store:ident, $kind:expr, $($test:ident),*) => {
        mod $store {
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                #[ignore = "needs servers: cargo xtask test state"]
                async fn $test() {
                    let server = StoreServer::start($kind).await.expect("a server");
                    super::$test(&server).await;
                }
            )*
        }
    };
}

every_store!(
    one_creator_wins,
    a_dead_holder_loses_its_lease,
    somebody_unlocks,
    two_at_once,
    a_store_that_stumbles,
    a_store_that_says_no,
);

/// A world with its state in a store.
fn place(server: &StoreServer, prefix: &str, latency: Duration) -> (Place, String) {
    let place = Place::new(1, Preset::Lifelike, latency)
        .with_state(server.address(prefix), server.settings());
    let spec = place.write("spec.yaml", MORTAL);
    (place, spec.to_str().expect("a path").to_owned())
}

fn store(server: &StoreServer, prefix: &str) -> Store {
    Store::open_with(&server.address(prefix), server.settings()).expect("a store")
}

fn mortal() -> FleetName {
    FleetName::new("mortal")
}

/// Two writers, one record: one writes it, the other finds out, every time.
async fn one_creator_wins(server: &StoreServer) {
    let stores = [store(server, "races"), store(server, "races")];
    let mut firsts = 0;
    for race in 0..RACES {
        let fleet = FleetName::new(format!("race-{race}"));
        let open = |at: usize| Journal::open(&stores[at], &fleet, Arc::new(SystemClock));
        let (a, b) = tokio::try_join!(open(0), open(1)).expect("journals");
        let epoch = |holder: &str| vec![Event::Epoch { epoch: 1, holder: holder.into() }];
        let (a, b) = tokio::join!(a.append(epoch("a")), b.append(epoch("b")));
        let records = Journal::history(&stores[0], &fleet).await.expect("a journal");
        let holders: Vec<Event> = records.into_iter().flat_map(|record| record.events).collect();
        match (a, b) {
            (Ok(()), Err(JournalError::Fenced { .. })) => {
                firsts += 1;
                assert_eq!(holders, epoch("a"));
            }
            (Err(JournalError::Fenced { .. }), Ok(())) => assert_eq!(holders, epoch("b")),
            other => panic!("race {race}: {other:?}"),
        }
    }
    say(&format!("{RACES} races for one name, {RACES} winners; the first won {firsts}"));
}

/// A run that is killed keeps nobody waiting for longer than its lease lives.
async fn a_dead_holder_loses_its_lease(server: &StoreServer) {
    let (place, spec) = place(server, "dead", Duration::from_millis(150));
    let dead = kill_the_holder(server, "dead", &place, &["apply", "--yes", &spec]).await;

    let refused = place.run(&["apply", "--yes", &spec, "--lock-wait", "3s"]);
    assert_eq!(refused.status.code(), Some(6), "{}", said(&refused));
    assert!(said(&refused).contains(&format!("process {dead}")), "{}", said(&refused));
    assert!(said(&refused).contains("waiting for the lease, 3s remaining"), "{}", said(&refused));
    assert!(said(&refused).contains("hint:"), "{}", said(&refused));

    // Half a minute is two lives: a holder that were not taken for dead would end this with 6.
    let done = place.run(&["apply", "--yes", &spec, "--lock-wait", "30s"]);
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    assert!(said(&done).contains("if it stays silent"), "{}", said(&done));
    assert_eq!(place.live().len(), WANTED);
    place.assert_one_per_slot();

    // Somebody who would not wait gets through all the same, once the holder is silent for long.
    kill_the_holder(server, "dead", &place, &["destroy", "--yes", &spec]).await;
    tokio::time::sleep(Duration::from_secs(16)).await;
    place.expect(0, &["destroy", "--yes", &spec]);
    place.sim.advance(Duration::from_secs(120)).expect("time");
    assert_eq!(place.live().len(), 0);
}

/// Starts a run, waits until it holds the lease, and kills it. Gives the dead process's number.
async fn kill_the_holder(server: &StoreServer, prefix: &str, place: &Place, args: &[&str]) -> u32 {
    let store = store(server, prefix);
    let mut child = place.start(args);
    loop {
        let held = Lease::holder(&store, &mortal()).await.expect("the store");
        if held.is_some_and(|held| held.holder.contains(&format!("process {}", child.id()))) {
            break;
        }
        assert_eq!(child.try_wait().expect("a child"), None, "{args:?} ended before it was killed");
        // The child needs the store and the core, too.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    child.kill().expect("killed");
    child.wait().expect("gone");
    child.id()
}

/// `fleet unlock` names the holder, asks, and frees the fleet at once.
async fn somebody_unlocks(server: &StoreServer) {
    let (place, spec) = place(server, "unlock", Duration::from_millis(150));
    let unknown = place.run(&["unlock", "nobody"]);
    assert_eq!(unknown.status.code(), Some(4), "{}", said(&unknown));
    let process = loop {
        let dead = kill_the_holder(server, "unlock", &place, &["apply", "--yes", &spec]).await;
        let since = Instant::now();
        let process = format!("process {dead}");
        let asked = place.run(&["unlock", "mortal"]);
        assert_eq!(asked.status.code(), Some(1), "there is nobody to ask: {}", said(&asked));
        assert!(said(&asked).contains(&process), "{}", said(&asked));
        let held = place.run(&["apply", "--yes", &spec]);
        if held.status.code() == Some(6) {
            break process;
        }
        // On a machine that is slow enough the lease may have ended by itself meanwhile.
        assert!(since.elapsed() > Duration::from_secs(15), "{}", said(&held));
        place.expect(0, &["destroy", "--yes", &spec]);
    };

    assert!(place.expect(0, &["unlock", "mortal", "--yes"]).contains(&process));
    assert!(place.expect(0, &["unlock", "mortal"]).contains("nobody holds"));
    let traced = place.run(&["apply", "--yes", &spec, "--log", "trace"]);
    assert_eq!(traced.status.code(), Some(0), "{}", said(&traced));
    let leaked = server.secrets().into_iter().find(|secret| said(&traced).contains(secret));
    assert_eq!(leaked, None, "a log holds a secret");
    assert_eq!(place.live().len(), WANTED);
    place.assert_one_per_slot();
}

/// Two runs at once, killed at random moments: never a machine too many, none lost.
async fn two_at_once(server: &StoreServer) {
    let mut chance = Chance::new(0x7ea1);
    let (mut kills, mut refused, mut worlds) = (0, 0, 0);
    while kills < KILLS {
        worlds += 1;
        let prefix = format!("two-{worlds}");
        let (place, spec) = place(server, &prefix, Duration::from_millis(4));
        for args in [["apply", "--yes", &spec], ["destroy", "--yes", &spec]] {
            let (killed, held) = race(&place, &args, &mut chance);
            (kills, refused) = (kills + killed, refused + held);
            if args[0] == "apply" {
                assert_eq!(place.live().len(), WANTED, "world {worlds}");
                place.expect(0, &["plan", "--detailed-exitcode", &spec]);
                let swept = place.expect(0, &["sweep", "-o", "json"]).replace(' ', "");
                assert!(swept.contains("\"orphans\":[]"), "{swept}");
            }
        }
        place.sim.advance(Duration::from_secs(120)).expect("time");
        assert_eq!(place.live().len(), 0, "world {worlds}: the fleet is gone");
    }
    say(&format!(
        "{worlds} worlds, {kills} kills, {refused} refused with 6: 0 duplicates, 0 orphans"
    ));
}

/// Runs a command twice at once, again and again, killing one or both, until one ends by itself.
/// The lease of the dead is taken away by hand: nobody wants to wait for it two dozen times.
fn race(place: &Place, args: &[&str], chance: &mut Chance) -> (u32, u32) {
    let (mut kills, mut refused) = (0, 0);
    loop {
        let mut runs = [place.start(args), place.start(args)];
        let mut lives = [0, 1].map(|_| chance.below(300 + 60 * u64::from(kills)));
        let mut done = false;
        for at in (0..).step_by(10) {
            for (run, life) in runs.iter_mut().zip(&mut lives) {
                let ended = run.try_wait().expect("a child");
                match ended.map(|status| status.code()) {
                    Some(_) if *life == u64::MAX => continue,
                    Some(Some(0)) => done = true,
                    Some(Some(6)) => refused += 1,
                    Some(code) => panic!("{args:?} ended with {code:?}"),
                    None if at >= *life => {
                        run.kill().expect("killed");
                        run.wait().expect("gone");
                        kills += 1;
                    }
                    None => continue,
                }
                *life = u64::MAX;
            }
            place.assert_not_too_many(WANTED);
            if lives.iter().all(|life| *life == u64::MAX) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        place.assert_one_per_slot();
        if done {
            return (kills, refused);
        }
        assert!(kills < 400, "{args:?} never comes to an end");
        // A fleet that nobody ever took is not known yet.
        let unlocked = place.run(&["unlock", "mortal", "--yes"]);
        assert!(matches!(unlocked.status.code(), Some(0 | 4)), "{}", said(&unlocked));
    }
}

/// Answers that get lost, conflicts, and a store that asks for patience cost time and nothing else.
async fn a_store_that_stumbles(server: &StoreServer) {
    let faults = [Fault::AnswerLost, Fault::AnswerBroken, Fault::Conflict, Fault::Busy];
    for (nth, fault) in faults.into_iter().enumerate() {
        let (place, spec) = place(server, &format!("stumble-{nth}"), Duration::ZERO);
        server.set(Faults { fault: Some(fault), every: 4 });
        place.expect(0, &["apply", "--yes", &spec]);
        let (live, faults) = (place.live().len(), server.faults());
        server.set(Faults::default());
        assert_eq!(live, WANTED, "{fault:?}");
        assert!(faults > 3, "{fault:?}: only {faults} faults");
        place.assert_one_per_slot();
        place.expect(0, &["plan", "--detailed-exitcode", &spec]);
        say(&format!("{fault:?}: {faults} times, {live} machines"));
    }
}

/// No bucket, no rights, no answer: said in one line, with a hint and the code 1; nothing is sent.
async fn a_store_that_says_no(server: &StoreServer) {
    let (missing, spec) = place(server, "no", Duration::ZERO);
    let missing = missing.with_state(server.address_of("not-there", "no"), server.settings());
    refused(&missing, &spec, "there is no such bucket", "make the bucket");

    let (denied, spec) = place(server, "no", Duration::ZERO);
    server.set(Faults { fault: Some(Fault::Denied), every: 1 });
    refused(&denied, &spec, "access is denied (AccessDenied", "docs/state.md");
    server.set(Faults::default());

    let (silent, spec) = place(server, "no", Duration::ZERO);
    let silent = silent.with_state(server.address("no"), server.settings_of_nobody());
    refused(&silent, &spec, "it does not answer", "check the network");
}

fn refused(place: &Place, spec: &str, what: &str, hint: &str) {
    for args in [&["apply", "--yes", spec][..], &["plan", spec], &["history"]] {
        let output = place.run(args);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains(what) && said.contains("hint:") && said.contains(hint), "{said}");
        assert!(said.lines().count() <= 4, "{args:?}: {said}");
    }
    assert_eq!(place.live().len(), 0, "nothing was launched");
}

fn said(output: &Output) -> String {
    text(&output.stderr)
}

fn say(figures: &str) {
    let _ = writeln!(std::io::stderr(), "{figures}");
}
