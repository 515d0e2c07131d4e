//! Starting Prism.

use std::io::{Error, Result};
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::net::TcpStream;
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
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let process =
            Command::new(crate::witnesses().join("node_modules").join(".bin").join("prism"))
                .args(["proxy", "--errors", "-h", "127.0.0.1", "-p", &port.to_string()])
                .arg(description)
                .arg(server)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .kill_on_drop(true)
                .spawn()
                .map_err(|cause| Error::new(cause.kind(), format!("{NO_PRISM} ({cause})")))?;
        for _ in 0..1200 {
            if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return Ok(Prism { port, _process: process });
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Err(Error::other("Prism does not listen after two minutes"))
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }
}
