//! Who is there, who is gone and why, and of whom nobody can say.

use super::*;
use fleet_model::{CauseKind, Cloud};
use fleet_provider::Class;

const NOW: i64 = 1_700_000_000;

fn missing(id: &str, age: i64, market: &str) -> Missing {
    Missing {
        machine: id.into(),
        slot: "base-1.1".parse().expect("a slot"),
        pool: format!("aws/us-east-1/use1-az4/m5.large/{market}").parse().expect("a pool"),
        launched_at: Timestamp::from_second(NOW - age).expect("a time"),
    }
}

fn machine(id: &str, state: MachineState, cause: Option<Cause>) -> (MachineId, Machine) {
    let pool = missing(id, 0, "spot").pool;
    let machine = Machine {
        id: id.into(),
        place: pool.place,
        instance_type: pool.instance_type,
        market: pool.market,
        state,
        launched_at: Timestamp::from_second(NOW).expect("a time"),
        price: None,
        owner: None,
        notice: None,
        cause,
        access: Default::default(),
    };
    (id.into(), machine)
}

#[test]
fn each_machine_has_its_answer() {
    let taken = Cause::new(CauseKind::Interrupted, "instance-terminated-no-capacity: ");
    let person = Cause::new(CauseKind::Person, "Client.UserInitiatedShutdown");
    let seen = BTreeMap::from([
        machine("i-run", MachineState::Running, None),
        machine("i-stop", MachineState::Stopped, None),
        machine("i-dead", MachineState::Terminated, Some(person.clone())),
        machine("i-bare", MachineState::Terminated, None),
    ]);
    let absent = BTreeSet::from(["i-gone".to_owned()]);
    let reasons =
        BTreeMap::from(["i-gone", "i-bare", "i-dead"].map(|id| (id.into(), taken.clone())));
    let now = Timestamp::from_second(NOW).expect("a time");
    let said =
        |id: &str, age| match verdict(&missing(id, age, "spot"), &seen, &absent, &reasons, now) {
            Traced::There(machine) => format!("{:?}", machine.state),
            Traced::Gone(cause) => format!("gone {:?}", cause.map(|cause| cause.kind)),
            Traced::Unknown => "unknown".to_owned(),
        };
    assert_eq!(said("i-run", 900), "Running");
    assert_eq!(said("i-stop", 900), "Stopped");
    assert_eq!(said("i-dead", 900), "gone Some(Person)", "its own word first");
    assert_eq!(said("i-bare", 900), "gone Some(Interrupted)");
    assert_eq!(said("i-gone", 300), "gone Some(Interrupted)");
    assert_eq!(said("i-gone", 299), "unknown", "it is young");
    assert_eq!(said("i-unasked", 900), "unknown", "EC2 said nothing of it");
    let asks = |id: &str, market: &str| asks_for_reason(&missing(id, 900, market), &seen, &absent);
    assert!(asks("i-gone", "spot") && asks("i-bare", "spot"));
    assert!(!asks("i-gone", "on-demand") && !asks("i-dead", "spot") && !asks("i-run", "spot"));
}

#[test]
fn ids_that_ec2_does_not_know_are_read_from_its_words() {
    let asked = ["i-1", "i-12", "i-3"].map(str::to_owned);
    let wrong = |code: &str, words: &str| {
        let error = Error::new(Cloud::Aws, Class::Invalid, code, words);
        wrong_ids(&error, &asked).into_iter().collect::<Vec<_>>().join(" ")
    };
    let code = "InvalidInstanceID.NotFound";
    assert_eq!(wrong(code, "The instance ID 'i-12' does not exist"), "i-12");
    assert_eq!(wrong(code, "The instance IDs 'i-1, i-3' do not exist"), "i-1 i-3");
    assert_eq!(wrong(code, "The instance ID 'i-9' does not exist"), "");
    assert_eq!(wrong("InternalError", "The instance ID 'i-1' does not exist"), "");
}
