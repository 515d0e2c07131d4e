//! Machines are reached by the names that people give them: inventories, ssh, commands on all of them,
//! and one machine for another.

mod support;

use fleet_model::MachineState;
use fleet_sim::Preset;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use support::{Place, text};

const SPEC: &str = "\
apiVersion: fleet/v1
kind: Fleet
metadata: { name: web }
spec:
  capacity: { unit: instances, target: 4, base: { onDemand: 2 } }
  instances: { families: [m6i, n2] }
  template: { sshUser: { gcp: ops }, key: { aws: laptop } }
  placement:
    clouds: [ { provider: aws, regions: [us-east-1] }, { provider: gcp, regions: [us-central1] } ]
    spread: { maxSharePerProvider: 60% }
";

/// Stands in for ssh: says what it was given, and runs the command here.
const SSH: &str = "#!/bin/sh
for last; do :; done
case \"$*\" in *BatchMode*) shift 4;; esac
echo \"to $*\" >&2
sh -c \"$last\"
";

/// A fleet that is up, and a program that stands in for ssh.
fn place() -> Place {
    let place = Place::new(1, Preset::Lifelike, Duration::ZERO);
    place.write("fleet.yaml", SPEC);
    let ssh = place.write("ssh.sh", SSH);
    std::fs::set_permissions(ssh, PermissionsExt::from_mode(0o755)).expect("its rights");
    place.expect(0, &["apply", "--yes"]);
    place.sim.advance(Duration::from_secs(600)).expect("time");
    place
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn machines(document: &Value) -> &Vec<Value> {
    document["fleets"][0]["machines"].as_array().expect("machines")
}

#[test]
fn status_tells_every_address_and_null_where_there_is_none() {
    let place = place();
    let status = json(&place.expect(0, &["status", "-o", "json"]));
    assert_eq!(machines(&status).len(), 4);
    for machine in machines(&status) {
        let public: std::net::Ipv4Addr =
            machine["publicIp"].as_str().expect("an address").parse().expect("an address");
        assert!(public.is_documentation(), "{public}");
        assert!(machine["privateIp"].as_str().is_some_and(|ip| ip.starts_with("10.")));
        let (user, from, key, dns) = match machine["provider"].as_str() {
            Some("aws") => ("ec2-user", "guess", Value::from("laptop"), true),
            _ => ("ops", "spec", Value::Null, false),
        };
        assert_eq!(machine["sshUser"], user);
        assert_eq!(machine["sshUserFrom"], from);
        assert_eq!(machine["sshKey"], key);
        assert_eq!(machine["dnsName"].is_string(), dns, "{machine}");
    }
    let screen = place.expect(0, &["status", "--machines"]);
    assert!(screen.contains("address") && screen.contains("192.0.2."), "{screen}");
    // A machine that is not up has no public address yet.
    place.write("fleet.yaml", &SPEC.replace("target: 4", "target: 5"));
    place.expect(0, &["apply", "--yes"]);
    let status = json(&place.expect(0, &["status", "-o", "json"]));
    let young = machines(&status).iter().find(|one| one["state"] == "pending").expect("a new one");
    assert!(young["publicIp"].is_null() && young["dnsName"].is_null(), "{young}");
}

#[test]
fn addresses_do_not_make_a_plan_stale() {
    let place = place();
    place.write("fleet.yaml", &SPEC.replace("target: 4", "target: 5"));
    place.expect(0, &["apply", "--yes"]);
    place.write("fleet.yaml", &SPEC.replace("target: 4", "target: 6"));
    place.expect(0, &["plan", "--out", "plan.json"]);
    // The fifth comes up meanwhile, and gets its public address.
    place.sim.advance(Duration::from_secs(300)).expect("time");
    place.expect(0, &["apply", "plan.json", "--yes"]);
    assert_eq!(place.live().len(), 6);
}

#[test]
fn inventories_for_other_programs() {
    let place = place();
    let all = json(&place.expect(0, &["inventory", "-o", "json"]));
    assert_eq!(all["formatVersion"], 1);
    let first = &machines(&all)[0];
    let (name, address) = (first["name"].as_str().unwrap_or_default(), &first["address"]);
    assert_eq!((name, &all["fleets"][0]["fleet"]), ("web-base-0", &Value::from("web")));
    let address = address.as_str().expect("an address");

    let ansible = place.expect(0, &["inventory", "web"]);
    assert!(ansible.contains(&format!("{name} ansible_host={address} ansible_user=")), "{ansible}");
    for group in [
        "fleet_web",
        "group_base",
        "group_burst",
        "market_spot",
        "market_on_demand",
        "cloud_aws",
        "cloud_gcp",
        "region_aws_us_east_1",
        "region_gcp_us_central1",
    ] {
        assert!(ansible.contains(&format!("\n[{group}]\nweb-")), "{group}: {ansible}");
    }
    let config = place.expect(0, &["inventory", "--format", "ssh-config", "--user", "root"]);
    assert!(config.contains(&format!("Host {name}\n    HostName {address}\n    User root\n")));
    let hosts = place.expect(0, &["inventory", "--format", "hosts"]);
    assert!(hosts.starts_with(&format!("{address}\t{name}\n")), "{hosts}");
    let hosts = place.expect(0, &["inventory", "--format", "hosts", "--private"]);
    assert!(hosts.lines().count() == 4 && hosts.lines().all(|line| line.starts_with("10.")));
    let csv = place.expect(0, &["inventory", "fleet.yaml", "--format", "csv"]);
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 5);
    let columns = |row: &str| row.split(',').count();
    assert!(rows.iter().all(|row| columns(row) == columns(rows[0])), "{csv}");
    assert!(rows[1].starts_with("web-base-0,web,base-0.1,base,on-demand,"), "{csv}");
    place.expect(64, &["inventory", "--format", "csv", "-o", "json"]);
    place.expect(4, &["inventory", "nobody"]);

    // What cannot be reached is left out, and said.
    place.write("fleet.yaml", &SPEC.replace("target: 4", "target: 5"));
    place.expect(0, &["apply", "--yes"]);
    let output = place.run(&["inventory", "--format", "hosts"]);
    assert_eq!(text(&output.stdout).lines().count(), 4);
    assert!(text(&output.stderr).contains("1 machine left out"), "{}", text(&output.stderr));
}

#[test]
fn ssh_is_given_user_and_address_and_gives_back_its_code() {
    let place = place();
    let ssh = ["--ssh", "./ssh.sh"];
    let output =
        place.run(&["ssh", "web/base-0", ssh[0], ssh[1], "--", "sh", "-c", "echo $0; exit 9"]);
    assert_eq!(output.status.code(), Some(9), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "sh\n", "each word arrives as it was given");
    let told = text(&output.stderr);
    assert!(
        told.contains("to -- ") && told.contains("@192.0.2.1 sh -c 'echo $0; exit 9'"),
        "{told}"
    );
    // By its generation, by its id, as somebody else, over its own network, with options of one's own.
    place.expect(0, &["ssh", "web/base-0.1", ssh[0], ssh[1], "--", "true"]);
    let id = json(&place.expect(0, &["inventory", "-o", "json"]));
    let id = machines(&id)[0]["id"].clone();
    let by_id = format!("web/{}", id.as_str().expect("an id"));
    let args =
        ["ssh", &by_id, "--user", "me", "--private", "--ssh", "./ssh.sh -i key", "--", "true"];
    let told = text(&place.run(&args).stderr);
    assert!(told.contains("to -i key -- me@10."), "{told}");

    let refused = |code: i32, args: &[&str], words: &str| {
        let output = place.run(args);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?} {told}");
        assert!(told.contains(words), "{args:?} {told}");
    };
    refused(1, &["ssh", "web/base-0"], "simulated clouds do not exist");
    refused(1, &["exec", "web", "--", "true"], "simulated clouds do not exist");
    refused(64, &["ssh", "web", "--ssh", "./ssh.sh"], "4 machines: which one?");
    refused(64, &["ssh", "web/burst-9", "--ssh", "./ssh.sh"], "it has base-0, base-1, burst-0");
    refused(64, &["ssh", "web/", "--ssh", "./ssh.sh"], "names no machine");
    refused(4, &["ssh", "nobody/base-0", "--ssh", "./ssh.sh"], "nobody");
    refused(1, &["ssh", "web/base-0", "--ssh", "./no-such"], "cannot start `./no-such`");
    refused(64, &["ssh", "web/base-0", "--user", "-oProxyCommand=x"], "--user");
    place.write("fleet.yaml", &SPEC.replace("target: 4", "target: 5"));
    place.expect(0, &["apply", "--yes"]);
    refused(
        1,
        &["ssh", "web/burst-2", "--ssh", "./ssh.sh"],
        "it is pending and has no address yet",
    );
}

#[test]
fn a_command_runs_on_every_machine() {
    let place = place();
    let run = |args: &[&str]| {
        let output = place.run(&[&["exec", "web", "--ssh", "./ssh.sh"], args].concat());
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, told) = run(&["--", "echo one; echo two"]);
    assert_eq!(code, Some(0), "{told}");
    let mut lines: Vec<&str> = out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines.len(), 8);
    assert_eq!(lines[..3], ["base-0  | one", "base-0  | two", "base-1  | one"]);
    assert!(told.contains("ok on 4 machines"), "{told}");

    let (code, out, told) = run(&["--on", "burst-1,base-0,burst-1.1", "--", "echo", "a  b"]);
    assert_eq!((code, out.lines().count()), (Some(0), 2), "each once: {told}");
    assert!(out.contains("burst-1 | a  b"), "{out}");

    // Some fail, some take too long.
    let odd = "case \"$0\" in sh) exit 3;; esac";
    let (code, _, told) = run(&["--on", "base-1", "--", odd]);
    assert_eq!(code, Some(1));
    assert!(told.contains("ok on 0 of 1 machine, failed on 1:\n  base-1: exit code 3"), "{told}");
    let began = std::time::Instant::now();
    let (code, out, _) = run(&["--timeout", "1s", "-o", "json", "--", "echo early; sleep 30"]);
    assert!(began.elapsed() < Duration::from_secs(20), "all at once, and none to its end");
    let document = json(&out);
    assert_eq!((code, &document["fleets"][0]["timedOut"]), (Some(1), &Value::from(4)));
    assert_eq!(document["exitCode"], 1);
    assert_eq!(machines(&document)[0]["stdout"], "early\n");
    assert_eq!(machines(&document)[0]["outcome"], "timedOut");

    let (code, _, told) = run(&["--on", "burst-7", "--", "true"]);
    assert_eq!(code, Some(64), "{told}");
    let (code, _, _) = run(&[]);
    assert_eq!(code, Some(64), "nothing to run");
    // A machine that is not up is not reached, and that is no success.
    place.write("fleet.yaml", &SPEC.replace("target: 4", "target: 5"));
    place.expect(0, &["apply", "--yes"]);
    let (code, _, told) = run(&["--", "true"]);
    assert_eq!(code, Some(1));
    assert!(told.contains("ok on 4 of 5 machines") && told.contains("burst-2: it is pending"));
}

#[test]
fn a_machine_is_replaced_the_new_one_first() {
    let place = place();
    let id = |slot: &str| {
        let all = json(&place.expect(0, &["inventory", "-o", "json"]));
        let found = machines(&all).iter().find(|one| one["slot"] == slot).cloned();
        found.map(|one| one["id"].as_str().expect("an id").to_owned())
    };
    let old = id("burst-0.1").expect("a machine");
    let output = place.run(&["replace", "web", "burst-0"]);
    assert_eq!(output.status.code(), Some(1), "nobody is there to ask");
    place.expect(64, &["replace", "web", "burst-9", "--yes"]);
    place.expect(64, &["replace", "web", "burst-0.7", "--yes"]);
    place.expect(64, &["replace", "web", "burst", "--yes"]);
    assert_eq!(place.live().len(), 4, "nothing was changed");

    let out = place.expect(0, &["replace", "web", "burst-0", "--yes"]);
    assert!(out.contains("+ 1 because you asked to replace machines of burst"), "{out}");
    assert!(out.contains("destroyed when a successor is up: burst-0"), "{out}");
    assert!(out.contains("1 launched, 1 destroyed in 2 rounds"), "{out}");
    let live = place.live();
    let up = live.iter().filter(|one| one.state == MachineState::Running).count();
    assert_eq!(up, 4);
    assert!(live.iter().all(|one| one.id.as_str() != old || one.state == MachineState::Stopping));
    place.assert_one_per_slot();
    let history = place.expect(0, &["history", "web"]);
    assert!(history.contains("asked for burst-0.1"), "{history}");
    let out = place.expect(0, &["plan"]);
    assert!(out.contains("No changes"), "{out}");
}

#[test]
fn a_replacement_that_cannot_be_had_waits_and_can_be_withdrawn() {
    let place = place();
    place.sim.exhaust("*", None).expect("no capacity");
    let before: Vec<_> = place.live().into_iter().map(|machine| machine.id).collect();
    let out = json(&place.expect(3, &["replace", "web", "base-1", "--yes", "-o", "json"]));
    assert_eq!(
        (&out["fleets"][0]["destroyed"], &out["exitCode"]),
        (&Value::from(0), &Value::from(3))
    );
    let held = out["fleets"][0]["held"].as_array().expect("holds");
    let waits = held.iter().find(|hold| hold["is"] == "successorsNotUp").expect("a hold");
    assert_eq!(waits["slots"], Value::from(vec!["base-1"]));
    let after: Vec<_> = place.live().into_iter().map(|machine| machine.id).collect();
    assert_eq!(before, after);
    let out = json(&place.expect(0, &["replace", "web", "base-1", "--cancel", "-o", "json"]));
    assert_eq!(out["fleets"][0]["withdrawn"], Value::from(vec!["base-1.1"]));
    let out = place.expect(0, &["replace", "web", "base-1", "--cancel"]);
    assert!(out.contains("Nobody asked"), "{out}");
    assert!(place.expect(0, &["plan"]).contains("No changes"));
}

/// A saved plan from before the wish is stale: it would be another plan now.
#[test]
fn a_wish_makes_saved_plans_stale() {
    let place = place();
    place.write("fleet.yaml", &SPEC.replace("target: 4", "target: 5"));
    place.expect(0, &["plan", "--out", "plan.json"]);
    place.sim.exhaust("*", None).expect("no capacity");
    place.expect(3, &["replace", "web", "base-1", "--yes"]);
    place.sim.heal().expect("healed");
    place.expect(5, &["apply", "plan.json", "--yes"]);
}
