//! Moto: started once, and lent to one test after the other.

use fleet_testkit::{Request, free_port, listening, relay};
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
    fleet_testkit::witnesses().join("bin").join(name)
}

/// A port, and the process that listens there. It ends when this is dropped: its standard input does.
type Server = (u16, Child);

/// A moto server for oneself, with no state but what it is given. Others may have it after that.
#[derive(Debug)]
pub struct Moto {
    port: u16,
    process: Option<Child>,
}

impl Moto {
    /// Takes one that is idle and empties it, or else starts one.
    pub async fn start() -> Result<Self> {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let (port, process) = match idle {
            Some((port, process)) => {
                empty(port).await?;
                (port, process)
            }
            None => serve().await?,
        };
        Ok(Moto { port, process: Some(process) })
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

impl Drop for Moto {
    fn drop(&mut self) {
        // A test that failed may still have processes that talk to it: then it ends here.
        let reusable = self.process.take().filter(|_| !std::thread::panicking());
        let reusable = reusable.map(|process| (self.port, process));
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).extend(reusable);
    }
}

/// Starts moto on a port of its own. Between choosing a port and listening on it, another test may take it:
/// then whoever listens there is not moto, and another port is tried.
async fn serve() -> Result<Server> {
    const TRIES: u32 = 3;
    let mut tried = 1;
    loop {
        let server = serve_once().await?;
        match empty(server.0).await {
            Ok(()) => return Ok(server),
            Err(_) if tried < TRIES => tried += 1,
            Err(error) => return Err(error),
        }
    }
}

async fn serve_once() -> Result<Server> {
    let port = free_port()?;
    // Its standard input is ours to close, and ends with us.
    let process = Command::new(tool("python"))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/aws/serve.py"))
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
    Ok((port, process))
}

async fn empty(port: u16) -> Result<()> {
    let reset = Request {
        method: "POST".to_owned(),
        target: "/moto-api/reset".to_owned(),
        headers: vec![("host".to_owned(), "127.0.0.1".to_owned())],
        ..Request::default()
    };
    match relay(port, &reset).await?.status {
        200 => Ok(()),
        status => Err(Error::other(format!("moto does not empty itself: {status}"))),
    }
}
