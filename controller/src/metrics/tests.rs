use super::*;
use fleet_model::FleetName;
use std::collections::BTreeMap;
use std::time::Duration;

fn figures() -> Figures {
    let here = ["aws", "us-east-1", "spot", "running"].map(str::to_owned);
    Figures {
        machines: BTreeMap::from([(here, 3)]),
        wanted: 12.0,
        have: 8.0,
        base_missing: 4.0,
        unplaced: 4.0,
        blocked: BTreeMap::from([(fleet_model::Cloud::Aws, 2)]),
        hourly_usd: 1.5,
        spent_usd: 10.25,
        budgets: BTreeMap::from([("hourly".into(), (3.0, 1.5))]),
        held: BTreeMap::from([("gap".into(), 1)]),
        rollout_left: 5,
    }
}

/// A register in which every family has a value.
fn full() -> Metrics {
    let build = Build { version: "1".into(), commit: "abc".into(), features: "aws".into() };
    let metrics = Metrics::new(build, || Some("0af7651916cd43dd8448eb211c80319c".into()));
    let fleet = FleetName::new("a");
    metrics.reconciled(&fleet, SETTLED, Duration::from_millis(20));
    metrics.launched(&fleet, "aws", "launched", 3);
    metrics.interrupted(&fleet, "aws");
    metrics.called("aws", "create", "ok", Duration::from_millis(3));
    metrics.stored("read", "ok", Duration::from_micros(300));
    metrics.notified("delivered");
    metrics.wrote(Duration::from_micros(900));
    metrics.leased("ok", Duration::from_micros(100));
    metrics
}

fn scrape(metrics: &Metrics, fleets: &[&str]) -> String {
    let known = fleets.iter().map(|fleet| FleetName::new(*fleet)).collect();
    let (figures, a) = (figures(), FleetName::new("a"));
    let seen = fleets.contains(&"a").then_some((&a, &figures));
    let around = Around { specs_refused: true, fleets: fleets.len(), mine: 1, replicas: 2 };
    metrics.open_metrics(&known, seen, around)
}

#[test]
fn every_family_of_the_table_is_told_with_its_labels_and_no_other() {
    let text = plain(&scrape(&full(), &["a"]));
    let mut told = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_at(line.find(['{', ' ']).expect("a name"));
        let inside = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let labels = inside.map_or("", |(labels, _)| labels).split(',');
        let labels = labels.filter_map(|label| label.split_once('=').map(|(key, _)| key));
        let labels: Vec<&str> = labels.filter(|key| *key != "le").collect();
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
        told.insert(base.unwrap_or(name).to_owned(), labels.join(" "));
    }
    let table: BTreeMap<String, String> =
        FAMILIES.iter().map(|row| (row.name.to_owned(), row.labels.join(" "))).collect();
    assert_eq!(told, table);
}

#[test]
fn values_are_those_that_were_measured() {
    let text = plain(&scrape(&full(), &["a"]));
    for line in [
        "fleet_machines{fleet=\"a\",provider=\"aws\",region=\"us-east-1\",market=\"spot\",state=\"running\"} 3.0",
        "fleet_units{fleet=\"a\",kind=\"wanted\"} 12.0",
        "fleet_launch_total{fleet=\"a\",provider=\"aws\",outcome=\"launched\"} 3.0",
        "fleet_spend_usd_total{fleet=\"a\"} 10.25",
        "fleet_budget_used_usd{fleet=\"a\",budget=\"hourly\"} 1.5",
        "fleet_specs_refused{} 1.0",
        "fleet_replicas{} 2.0",
        "fleet_reconcile_seconds_count{} 1",
        "# TYPE fleet_launch_total counter",
    ] {
        assert!(text.lines().any(|told| told == line), "{line}\n{text}");
    }
}

#[test]
fn fleets_that_are_gone_disappear() {
    let metrics = full();
    assert!(scrape(&metrics, &["a", "b"]).contains("fleet=\"a\""));
    let after = scrape(&metrics, &["b"]);
    assert!(!after.contains("fleet=\"a\""), "{after}");
    // What comes back begins at nothing.
    assert!(!scrape(&metrics, &["a", "b"]).contains("fleet_launch_total{"));
}

#[test]
fn what_is_measured_names_its_trace() {
    let open = scrape(&full(), &["a"]);
    let sample = open.lines().find(|line| line.contains("_bucket") && line.contains(" # {"));
    let sample = sample.expect("an exemplar");
    assert!(sample.contains("trace_id=\"0af7651916cd43dd8448eb211c80319c\""), "{sample}");
    assert!(!plain(&open).contains("trace_id"));
}

#[test]
fn a_fleet_in_other_hands_is_no_look_of_ours() {
    let metrics = Metrics::new(Build::default(), || None);
    metrics.reconciled(&"a".into(), ELSEWHERE, Duration::from_secs(1));
    metrics.reconciled(&"b".into(), FAILED, Duration::from_secs(1));
    let text = plain(&scrape(&metrics, &["a", "b"]));
    assert!(!text.contains("fleet_last_reconcile_timestamp_seconds{"), "{text}");
    assert!(text.contains("fleet_reconcile_seconds_count{} 1"), "{text}");
}
