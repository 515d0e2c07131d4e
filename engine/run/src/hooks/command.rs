//! Programs of the user's own, with the machine in their environment.

use crate::hooks::HookTarget;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// Of what a program prints, so much is kept.
const KEPT: u64 = 400;

/// Why a program did not do what it should.
pub(super) enum Failed {
    /// It could not be started: that says nothing of the machine.
    NotStarted(String),
    /// It ended with another code than 0, or not in time.
    Ended(String),
}

impl Failed {
    pub(super) fn words(self) -> String {
        match self {
            Failed::NotStarted(words) | Failed::Ended(words) => words,
        }
    }
}

/// Runs a program for a machine, no longer than a time.
pub(super) async fn run(
    of: HookTarget<'_>,
    argv: &[String],
    within: Duration,
) -> Result<(), Failed> {
    let Some((program, arguments)) = argv.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(arguments).envs(environment(of));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    let mut child = command
        .spawn()
        .map_err(|error| Failed::NotStarted(format!("{program} cannot be started: {error}")))?;
    let stderr = child.stderr.take();
    let whole = async {
        let mut text = String::new();
        if let Some(stderr) = stderr {
            let mut bytes = Vec::new();
            // The rest is read as well, or the program would wait for a reader.
            let (mut first, mut rest) = (stderr.take(KEPT), tokio::io::sink());
            let _ = first.read_to_end(&mut bytes).await;
            let _ = tokio::io::copy(&mut first.into_inner(), &mut rest).await;
            text = String::from_utf8_lossy(&bytes).trim().to_owned();
        }
        (child.wait().await, text)
    };
    match tokio::time::timeout(within, whole).await {
        Err(_) => Err(Failed::Ended(format!("{program} did not end within {within:?}"))),
        Ok((Err(error), _)) => Err(Failed::NotStarted(format!("{program}: {error}"))),
        Ok((Ok(status), _)) if status.success() => Ok(()),
        Ok((Ok(status), text)) => {
            let said = text.lines().next().unwrap_or_default();
            let said = if said.is_empty() { String::new() } else { format!(": {said}") };
            Err(Failed::Ended(format!("{program} ended with {status}{said}")))
        }
    }
}

/// The machine, as the program finds it in its environment.
fn environment(of: HookTarget<'_>) -> Vec<(&'static str, String)> {
    let HookTarget { fleet, slot, machine } = of;
    let place = &machine.place;
    let address = |ip: Option<std::net::IpAddr>| ip.map(|ip| ip.to_string()).unwrap_or_default();
    vec![
        ("FLEET_NAME", fleet.to_string()),
        ("FLEET_SLOT", slot.name.to_string()),
        ("FLEET_MACHINE", machine.id.to_string()),
        ("FLEET_PROVIDER", place.cloud.to_string()),
        ("FLEET_REGION", place.region.name().to_owned()),
        ("FLEET_ZONE", place.zone.to_string()),
        ("FLEET_TYPE", machine.instance_type.to_string()),
        ("FLEET_PUBLIC_IP", address(machine.access.public_ip)),
        ("FLEET_PRIVATE_IP", address(machine.access.private_ip)),
    ]
}
