//! Moto: started once, and lent to one test after the other.

use crate::http::{Message, forward};
use fleet_fakes::{free_port, listening};
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// What to do when there is no moto.
pub const NO_MOTO: &str = "moto is not installed: run `cargo xtask test aws`";

/// Servers that nobody uses now. Starting one takes seconds of a core, emptying one takes none.
static IDLE: Mutex<Vec<Server>> = Mutex::new(Vec::new());

/// A program of the Python environment that `cargo xtask test aws` makes.
pub fn tool(name: &str) -> PathBuf {
    fleet_fakes::witnesses().join("bin").join(name)
}

#[derive(Debug)]
struct Server {
    port: u16,
    process: Child,
}

/// A moto server for oneself, with no state but what it is given. Others may have it after that.
#[derive(Debug)]
pub struct Moto(Option<Server>);

impl Moto {
    /// Takes one that is idle and empties it, or else starts one.
    pub async fn start() -> Result<Self> {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let server = match idle {
            Some(server) => {
                empty(server.port).await?;
                server
            }
            None => serve().await?,
        };
        Ok(Moto(Some(server)))
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.0.as_ref().map_or(0, |server| server.port)
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port())
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let Some(mut server) = self.0.take() else { return };
        if std::thread::panicking() {
            // Whoever failed may have left something running that still talks to it.
            let _ = server.process.kill();
            return;
        }
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(server);
    }
}

async fn serve() -> Result<Server> {
    let port = free_port()?;
    // Its standard input is ours to close, and ends with us.
    let process = Command::new(tool("python"))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("aws/serve.py"))
        .args(["-H", "127.0.0.1", "-p", &port.to_string()])
        // It refuses types and images that do not exist, as EC2 does.
        .env("MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION", "1")
        .env("MOTO_ENABLE_AMI_VALIDATION", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|cause| Error::new(cause.kind(), format!("{NO_MOTO} ({cause})")))?;
    listening(port, 60).await?;
    Ok(Server { port, process })
}

async fn empty(port: u16) -> Result<()> {
    let reset = Message {
        first: "POST /moto-api/reset HTTP/1.1".to_owned(),
        headers: vec![("Host".to_owned(), "127.0.0.1".to_owned())],
        body: Vec::new(),
    };
    let answer = forward(port, &reset).await?;
    match answer.status {
        200 => Ok(()),
        status => Err(Error::other(format!("moto does not empty itself: {status}"))),
    }
}
