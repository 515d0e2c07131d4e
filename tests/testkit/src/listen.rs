//! What every server of ours and of others has in common: a port, and an end.

use crate::http::{Answer, Request, response};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::io::{Error, Result};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
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
    /// Starts one; port 0 is any that is free. Without an answer, the connection closes. Each
    /// connection serves one request, so that a lost answer concerns no other.
    pub async fn start<F>(
        port: u16,
        answer: impl Fn(Request) -> F + Send + Sync + 'static,
    ) -> Result<Self>
    where
        F: Future<Output = Option<Answer>> + Send + 'static,
    {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let port = listener.local_addr()?.port();
        let answer = Arc::new(answer);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, answer.clone()));
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

/// Serves a connection. One that fails concerns nobody but its client.
async fn serve<F>(stream: TcpStream, answer: Arc<impl Fn(Request) -> F>)
where
    F: Future<Output = Option<Answer>>,
{
    let service = service_fn(async |request| {
        let request = Request::read(request).await.map_err(Error::other)?;
        match answer(request).await {
            Some(answer) => response(answer),
            None => Err(Error::other("the test loses this answer")),
        }
    });
    let mut server = hyper::server::conn::http1::Builder::new();
    let _ = server.keep_alive(false).serve_connection(TokioIo::new(stream), service).await;
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
