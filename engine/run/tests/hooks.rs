//! Checks over a real network and with real programs.

use fleet_model::{
    Access, FleetName, Group, Health, Interruption, Machine, MachineId, MachineState, Probe,
    ProbeAddress, Probed, SlotId, SlotName, Timestamp,
};
use fleet_run::{HookTarget, Hooks, RealHooks};
use std::io::{Read, Write};
use std::net::TcpListener;

fn machine() -> Machine {
    let pool: fleet_model::PoolId =
        "aws/us-east-1/use1-az1/m6i.large/spot".parse().expect("a pool");
    Machine {
        id: MachineId::new("i-1"),
        place: pool.place,
        instance_type: pool.instance_type,
        market: pool.market,
        state: MachineState::Running,
        launched_at: Timestamp::UNIX_EPOCH,
        price: None,
        owner: None,
        notice: None,
        cause: None,
        access: Access { private_ip: "127.0.0.1".parse().ok(), ..Access::default() },
    }
}

async fn check(probes: Vec<Probe>) -> Probed {
    check_with(Health { probes, timeout_seconds: 1, ..Health::default() }).await
}

async fn check_with(health: Health) -> Probed {
    let (fleet, machine) = (FleetName::new("web"), machine());
    let name = SlotName { group: Group::Burst, ordinal: 7 };
    let slot = SlotId { name, generation: 1 };
    RealHooks.check(HookTarget { fleet: &fleet, slot, machine: &machine }, &health).await
}

/// A server that answers every request with the same bytes, or never.
fn server(answer: Option<&'static str>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = [0; 1024];
            let _ = stream.read(&mut head);
            match answer {
                Some(answer) => {
                    let _ = stream.write_all(answer.as_bytes());
                }
                None => open.push(stream),
            }
        }
    });
    port
}

fn http(port: u16) -> Vec<Probe> {
    vec![Probe::Http { port, path: "/healthz".into() }]
}

#[tokio::test]
async fn a_get_passes_by_its_status() {
    for (answer, passes) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", true),
        ("HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n", true),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", false),
        ("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n", false),
        ("SSH-2.0-OpenSSH_9.6\r\n", false),
        ("", false),
    ] {
        let said = check(http(server(Some(answer)))).await;
        assert_eq!(said == Probed::Passed, passes, "{answer:?}: {said:?}");
    }
}

#[tokio::test]
async fn silence_a_closed_port_and_no_address_fail() {
    let Probed::Failed { words } = check(http(server(None))).await else { panic!("it passed") };
    assert!(words.contains("did not answer within 1s"), "{words}");
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = closed.local_addr().expect("an address").port();
    assert_eq!(check(vec![Probe::Tcp { port }]).await, Probed::Passed);
    drop(closed);
    assert!(matches!(check(vec![Probe::Tcp { port }]).await, Probed::Failed { .. }));
    let health = Health {
        probes: vec![Probe::Tcp { port }],
        address: ProbeAddress::Public,
        ..Health::default()
    };
    let words = "it has no public address".to_owned();
    assert_eq!(check_with(health).await, Probed::Failed { words });
}

#[tokio::test]
async fn a_program_decides_by_its_exit_code_and_knows_the_machine() {
    let sh = |script: &str| {
        vec![Probe::Command { argv: ["sh", "-c", script].map(str::to_owned).into() }]
    };
    let knows = "test \"$FLEET_NAME $FLEET_SLOT $FLEET_MACHINE $FLEET_PROVIDER $FLEET_REGION $FLEET_TYPE \
                 $FLEET_PRIVATE_IP\" = 'web burst-7 i-1 aws us-east-1 m6i.large 127.0.0.1'";
    assert_eq!(check(sh(knows)).await, Probed::Passed);
    let Probed::Failed { words } = check(sh("echo no disk >&2; exit 3")).await else {
        panic!("it passed")
    };
    assert!(words.contains("exit status: 3: no disk"), "{words}");
    // What prints without end, and what never ends, is cut off.
    let Probed::Failed { words } = check(sh("yes >&2")).await else { panic!("it passed") };
    assert!(words.contains("did not end within 1s"), "{words}");
    let missing = vec![Probe::Command { argv: vec!["./no-such-program".into()] }];
    assert!(matches!(check(missing).await, Probed::NotMade { .. }));
}

#[tokio::test]
async fn a_drain_ends_within_its_grace_time() {
    let (fleet, machine) = (FleetName::new("web"), machine());
    let slot = SlotId { name: SlotName { group: Group::Base, ordinal: 0 }, generation: 1 };
    let target = HookTarget { fleet: &fleet, slot, machine: &machine };
    let drain = |script: &str| Interruption {
        drain: ["sh", "-c", script].map(str::to_owned).into(),
        grace_seconds: 1,
        ..Interruption::default()
    };
    assert_eq!(RealHooks.drain(target, &drain("true")).await, Ok(()));
    let late = RealHooks.drain(target, &drain("sleep 60")).await;
    assert!(late.is_err_and(|words| words.contains("did not end within 1s")));
}
