//! What every server of ours and of others has in common: a port, and an end.

use std::io::{Error, ErrorKind, Result};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

/// A server on loopback. Ends with this value.
#[derive(Debug)]
pub struct Listener {
    port: u16,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Listener {
    /// Starts one; port 0 is any that is free. A connection that fails concerns nobody but its
    /// client.
    pub async fn start<F>(
        port: u16,
        serve: impl Fn(TcpStream) -> F + Send + 'static,
    ) -> Result<Self>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let port = listener.local_addr()?.port();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let served = serve(stream);
                tokio::spawn(async move { drop(served.await) });
            }
        });
        Ok(Listener { port, task })
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Serves until the program ends.
    pub async fn for_ever(mut self) {
        // It never ends by itself.
        let _ = (&mut self.task).await;
    }
}

/// Something that is not as HTTP wants it.
pub fn bad(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what.to_owned())
}

/// Reads the head of an HTTP message, and what came with it of the body.
pub async fn read_head(
    stream: &mut (impl AsyncRead + Unpin),
    longest: usize,
) -> Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await? == 0 || bytes.len() > longest {
            return Err(bad("the connection ended early"));
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    Ok((text, bytes.split_off(head + 4)))
}

/// A port that nobody listens on.
pub fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Starts a server of somebody else, and waits for some seconds until it listens. Ends with the value;
/// says nothing.
pub async fn start_quietly(
    command: &mut Command,
    port: u16,
    seconds: u32,
    missing: &str,
) -> Result<Child> {
    let server = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|cause| Error::new(cause.kind(), format!("{missing} ({cause})")))?;
    listening(port, seconds)
        .await
        .map_err(|cause| Error::other(format!("{:?}: {cause}", command.as_std().get_program())))?;
    Ok(server)
}

/// Waits for some seconds until somebody listens on a port.
pub async fn listening(port: u16, seconds: u32) -> Result<()> {
    for _ in 0..10 * seconds {
        if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err(Error::other(format!("nobody listens after {seconds} seconds")))
}
