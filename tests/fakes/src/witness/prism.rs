//! Starting Prism.

use fleet_testkit::{free_port, start_quietly};
use std::io::Result;
use std::path::Path;
use tokio::process::{Child, Command};

/// What to do when there is no Prism.
pub const NO_PRISM: &str = "Prism is not installed: run `cargo xtask test clouds`";

/// A Prism of our own between a client and a server. Ends with this value.
#[derive(Debug)]
pub struct Prism {
    port: u16,
    _process: Child,
}

impl Prism {
    /// Starts one and waits until it listens. Whatever the description does not allow it refuses,
    /// in both directions.
    pub async fn start(description: &Path, server: &str) -> Result<Self> {
        let port = free_port()?;
        let program = fleet_testkit::witnesses().join("node_modules").join(".bin").join("prism");
        let mut command = Command::new(program);
        command
            .args(["proxy", "--errors", "-h", "127.0.0.1", "-p", &port.to_string()])
            .arg(description)
            .arg(server);
        Ok(Prism { port, _process: start_quietly(&mut command, port, 120, NO_PRISM).await? })
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }
}
