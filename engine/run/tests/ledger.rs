//! A year of daily reconciles: the ledger adds up to the same total by day, team and pool, and to the bill
//! that the simulated clouds reckon themselves.

mod fixture;

use fixture::{Fixture, apply_with, catalog_for, desired};
use fleet_model::{CostKind, Desired, FleetName, Labels, Limits, MachineId, MicroUsd, Timestamp};
use fleet_money::Spend;
use fleet_money::calendar::Calendar;
use fleet_money::entry::Entry;
use fleet_money::ledger::{Ledger, Lost, Sink};
use fleet_money::meter::Charge;
use fleet_money::report::{Beside, By, Line, Question, Tally};
use fleet_run::{Journal, Store, read_ledger};
use fleet_sim::Preset;
use futures::TryStreamExt;
use object_store::{ObjectStore, ObjectStoreExt};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const DAYS: u32 = 365;

fn fleet(name: &str, team: &str, clouds: &str, families: &str, target: u32, rest: &str) -> Desired {
    let spec = format!(
        "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: {name}, labels: {{ team: {team} }} }}
spec:
  capacity: {{ unit: vcpus, target: {target}, base: {{ onDemand: 25% }} }}
  instances: {{ families: {families} }}
  placement:
    clouds: {clouds}
{rest}
"
    );
    desired(&spec)
}

/// What each machine cost, and what came beside it, with its stretches.
#[derive(Debug, Default)]
struct Machines {
    found: BTreeMap<(MachineId, CostKind), (Spend, Vec<Stretch>)>,
    uncounted: BTreeSet<(MachineId, CostKind)>,
}

type Stretch = (Timestamp, Timestamp, Option<MicroUsd>);

impl Sink for Machines {
    fn charge(&mut self, charge: Charge<'_>, _: Option<&Labels>) {
        let key = (charge.machine().clone(), charge.kind);
        let Some(amount) = charge.amount() else {
            assert!(!charge.is_machine(), "{charge:?}");
            self.uncounted.insert(key);
            return;
        };
        let (spent, stretches) = self.found.entry(key).or_default();
        *spent += amount;
        let at = |ms| Timestamp::from_millisecond(ms).expect("a time");
        stretches.push((at(charge.from), at(charge.to), charge.hourly));
    }

    fn lost(&mut self, _: &Lost, _: i64, _: Option<&Labels>) {}
}

/// Every fleet's journal, added up.
async fn tally(fixture: &Fixture, by: &[By], now: Timestamp) -> Tally {
    let question =
        Question { by: by.to_vec(), from: i64::MIN, to: i64::MAX, calendar: Calendar::utc() };
    let mut tally = Tally::new(question);
    for fleet in fixture.engine.fleets().await.expect("fleets") {
        let mut ledger = Ledger::default();
        tally.of_fleet(fleet.as_str());
        let take = |at, entry| ledger.take(entry, at, &mut tally);
        read_ledger(&fixture.store, &fleet, take).await.expect("a journal");
        ledger.accrued(now, &mut tally);
    }
    tally
}

/// What a ledger reads of a journal, its own quick way.
async fn quickly(store: &Store, fleet: &FleetName) -> Vec<(Timestamp, Entry)> {
    let mut read = Vec::new();
    let take = |at, entry| read.push((at, entry));
    read_ledger(store, fleet, take).await.expect("a journal");
    read
}

/// The same by way of whole events, as everybody else reads a journal.
async fn at_leisure(store: &Store, fleet: &FleetName) -> Vec<(Timestamp, Entry)> {
    let records = Journal::history(store, fleet).await.expect("a journal").into_iter();
    let entries = records.flat_map(|record| {
        let entries = record.events.iter().map(Entry::from).collect::<Vec<_>>();
        entries.into_iter().map(move |entry| (record.at, entry))
    });
    entries.filter(|(_, entry)| *entry != Entry::Other).collect()
}

/// Everything that is stored, in a folder.
async fn in_folder(fixture: &Fixture) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let objects: Vec<_> = fixture.objects.list(None).try_collect().await.expect("a list");
    for object in objects {
        let body = fixture.objects.get(&object.location).await.expect("an object");
        let file = folder.path().join(object.location.as_ref());
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, body.bytes().await.expect("bytes")).expect("a file");
    }
    folder
}

#[tokio::test]
async fn a_year_adds_up_by_day_team_and_pool_and_to_the_clouds_own_bill() {
    let fleets = [
        // With disks of every kind of rule, and traffic, of which the clouds know nothing.
        fleet(
            "train",
            "research",
            "[{ provider: aws, regions: [us-east-1] }]",
            "[g5, g6]",
            64,
            "    dataRegion: gcp/us-central1\n    egressGiBPerDay: 50\n  template: { disk: { sizeGiB: 300 } }",
        ),
        fleet(
            "serve",
            "product",
            "[{ provider: gcp, regions: [us-central1] }]",
            "[g2]",
            48,
            "  template: { disk: { sizeGiB: 90, type: pd-ssd } }",
        ),
        fleet(
            "batch",
            "research",
            "[{ provider: aws, regions: [us-west-2] }, { provider: gcp, regions: [us-central1] }]",
            "[m7i, n2, g2]",
            64,
            "",
        ),
    ];
    let wanted: Vec<&Desired> = fleets.iter().collect();
    let fixture = Fixture::with(Preset::Lifelike, 7, catalog_for(&wanted));
    for day in 0..DAYS {
        for desired in &fleets {
            // What fleets want changes now and then.
            let mut desired = desired.clone();
            if day % 30 > 20 {
                desired.capacity.target = fleet_model::Units(desired.capacity.target.0 / 2);
            }
            let limits = Limits { allow_destroy: Some(64), ..Limits::default() };
            apply_with(&fixture.engine, &desired, limits).await.expect("applied");
        }
        // Not in step with anything.
        fixture.sim.advance(Duration::from_secs(86_400 - 977)).expect("time passes");
    }
    for desired in &fleets {
        let live = fixture.live();
        let ours = live.iter().filter_map(|machine| machine.owner.as_ref());
        let all = ours.filter(|owner| owner.name == desired.fleet).count() as u32;
        let limits = Limits { allow_destroy: Some(all), destroy_all: true, ..Limits::default() };
        apply_with(&fixture.engine, desired, limits).await.expect("destroyed");
    }
    fixture.sim.advance(Duration::from_secs(3600)).expect("time passes");
    for desired in &fleets {
        let limits = Limits { destroy_all: true, ..Limits::default() };
        apply_with(&fixture.engine, desired, limits).await.expect("written down");
    }
    let now = fixture.sim.clock().now();

    let total = |tally: &Tally| tally.sorted().1;
    let whole: Line = total(&tally(&fixture, &[], now).await);
    let by = [
        vec![By::Day],
        vec![By::Label("team".into())],
        vec![By::Pool],
        vec![By::Month, By::Fleet, By::Market],
        vec![By::Kind, By::Day],
    ];
    for by in by {
        let tally = tally(&fixture, &by, now).await;
        let (lines, sum) = tally.sorted();
        assert!(lines.len() > 1, "{by:?}");
        assert_eq!((sum.spent, sum.ms), (whole.spent, whole.ms), "{by:?}");
        assert_eq!((sum.beside, sum.about), (whole.beside, whole.about), "{by:?}");
        assert_eq!(sum.interruptions, whole.interruptions, "{by:?}");
        assert!(tally.unpriced.is_empty(), "{:?}", tally.unpriced);
    }
    assert!(whole.interruptions > 100, "{} interruptions", whole.interruptions);
    assert_eq!(whole.estimated, Spend::default(), "every end is told by these clouds");

    // What is read quickly, from a bucket and from a folder, is what the journal says.
    let folder = in_folder(&fixture).await;
    let local = Store::open(&folder.path().display().to_string()).expect("a folder");
    for desired in &fleets {
        let said = at_leisure(&fixture.store, &desired.fleet).await;
        assert!(said.len() > 300, "{} entries", said.len());
        assert!(quickly(&fixture.store, &desired.fleet).await == said, "{}", desired.fleet);
        assert!(quickly(&local, &desired.fleet).await == said, "{}", desired.fleet);
    }

    // Machine by machine to the digit, and in all to the cent.
    let mut ours = Machines::default();
    for fleet in fixture.engine.fleets().await.expect("fleets") {
        let mut ledger = Ledger::default();
        let take = |at, entry| ledger.take(entry, at, &mut ours);
        read_ledger(&fixture.store, &fleet, take).await.expect("a journal");
        ledger.accrued(now, &mut ours);
    }
    let mut apart = Vec::new();
    let mut billed = 0;
    for line in fixture.sim.bill().expect("a bill") {
        assert!(!line.running, "{line:?}");
        let key = (line.machine.clone(), line.kind);
        let Some(theirs) = line.micro_usd_ms else {
            assert!(ours.uncounted.remove(&key), "the ledger knows more than its cloud: {line:?}");
            continue;
        };
        billed += theirs;
        let (spent, stretches) = ours.found.remove(&key).unwrap_or_default();
        if spent.raw() != theirs {
            apart.push(format!("{} {:?} {line:?}", spent.raw(), stretches));
        }
    }
    assert!(apart.is_empty(), "{} machines differ:\n{}", apart.len(), apart.join("\n"));
    // What is expected to be sent is on no bill of these clouds.
    ours.found.retain(|(_, kind), _| *kind != CostKind::Egress);
    assert!(ours.found.is_empty(), "not on the bill: {:?}", ours.found);
    assert!(ours.uncounted.is_empty(), "a price on the bill: {:?}", ours.uncounted);
    let Beside { disk, address, egress } = whole.beside;
    assert!(disk.micros() > MicroUsd::dollars(100) && address.micros() > MicroUsd::dollars(100));
    // 50 GiB a day at $0.12, less what machines would have sent that were taken back between two daily looks. The
    // share of each is another while the target is half, and the whole never more.
    let expected = egress.micros().as_f64() / (365.0 * 50.0 * 0.12);
    assert!((0.6..1.0).contains(&expected), "{expected}");
    let metered = whole.spent.saturating_sub(egress);
    assert!(metered.raw().abs_diff(billed) / 3_600_000 <= 10_000);
    assert!(whole.spent.micros().0 > 10_000_000_000, "a year costs something: {:?}", whole.spent);
}

#[tokio::test]
async fn what_commitments_paid_for_and_what_was_paid_beside_them_are_the_clouds_bill() {
    let spec = |target: u32, count: u32| {
        desired(&format!(
            "
apiVersion: fleet/v1
kind: Fleet
metadata: {{ name: ahead }}
spec:
  capacity: {{ unit: vcpus, target: {target}, base: {{ onDemand: 75% }} }}
  instances: {{ types: [g2-standard-8, g2-standard-4] }}
  placement:
    clouds: [{{ provider: gcp, regions: [us-central1] }}]
    commitments:
      - {{ provider: gcp, region: us-central1, type: g2-standard-8, count: {count}, usdPerHour: 0.5 }}
"
        ))
    };
    let first = spec(64, 3);
    let fixture = Fixture::with(Preset::Lifelike, 3, catalog_for(&[&first]));
    for (target, count) in [(64, 3), (16, 3), (64, 1), (80, 6), (40, 6)] {
        let limits = Limits { allow_destroy: Some(64), ..Limits::default() };
        apply_with(&fixture.engine, &spec(target, count), limits).await.expect("applied");
        fixture.sim.advance(Duration::from_secs(30_011)).expect("time passes");
    }
    let limits = Limits { allow_destroy: Some(64), destroy_all: true, ..Limits::default() };
    apply_with(&fixture.engine, &first, limits).await.expect("destroyed");
    fixture.sim.advance(Duration::from_secs(3600)).expect("time passes");
    apply_with(&fixture.engine, &first, limits).await.expect("written down");
    let now = fixture.sim.clock().now();

    let tally = tally(&fixture, &[By::Day], now).await;
    let whole = tally.sorted().1;
    let billed: u128 =
        fixture.sim.bill().expect("a bill").iter().filter_map(|line| line.micro_usd_ms).sum();
    assert!(whole.beside.address > Spend::default(), "no commitment pays for an address");
    assert_eq!((whole.spent + whole.covered).raw(), billed);
    assert!(whole.spent > Spend::default() && whole.covered > Spend::default(), "{whole:?}");
    let used = tally.commitments.values().next().expect("a commitment");
    assert_eq!((used.used_ms, used.worth), (whole.covered_ms, whole.covered));
    assert!(used.used_ms < used.held_ms, "some of it lay unused: {used:?}");
    // Three, three, one, six and six machines, and three to the end.
    let held = 30_011 * (3 + 3 + 1 + 6 + 6);
    assert!(used.held_ms / 1000 >= held, "{used:?}");
    assert_eq!(used.paid, Spend::from_raw(used.held_ms * 500_000));
}
