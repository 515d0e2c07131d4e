//! Starting moto.

use std::io::{Error, Result};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::net::TcpStream;
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
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let server = Command::new(tool("moto_server"))
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            // It refuses types and images that do not exist, as EC2 does.
            .env("MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION", "1")
            .env("MOTO_ENABLE_AMI_VALIDATION", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|cause| Error::new(cause.kind(), format!("{NO_MOTO} ({cause})")))?;
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return Ok(Moto { port, _server: server });
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Err(Error::other("moto does not answer after a minute"))
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
