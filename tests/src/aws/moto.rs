//! Starting moto.

use fleet_fakes::{free_port, start_quietly};
use std::io::Result;
use std::path::PathBuf;
use tokio::process::{Child, Command};

/// What to do when there is no moto.
pub const NO_MOTO: &str = "moto is not installed: run `cargo xtask test aws`";

/// A program of the Python environment that `cargo xtask test aws` makes.
pub fn tool(name: &str) -> PathBuf {
    fleet_fakes::witnesses().join("bin").join(name)
}

/// A moto server of our own, with no state but what it is given. Ends with this value.
#[derive(Debug)]
pub struct Moto {
    port: u16,
    _server: Child,
}

impl Moto {
    /// Starts one on a free port and waits until it answers.
    pub async fn start() -> Result<Self> {
        let port = free_port()?;
        let mut command = Command::new(tool("moto_server"));
        command
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            // It refuses types and images that do not exist, as EC2 does.
            .env("MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION", "1")
            .env("MOTO_ENABLE_AMI_VALIDATION", "1");
        Ok(Moto { port, _server: start_quietly(&mut command, port, 60, NO_MOTO).await? })
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}
