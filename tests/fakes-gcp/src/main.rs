//! Starts the fake on a port, for programs in other languages: `fleet-fake-gcp 4016`.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok());
    let Some(port) = port else { return ExitCode::from(64) };
    match fleet_fake_gcp::serve_on(port).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
