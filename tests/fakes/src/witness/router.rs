//! What is described goes through Prism, the rest straight to the fake; refusals are kept.

use crate::http::Request;
use crate::listen::Listener;
use std::io::Result;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How Prism's own errors can be told from those of the cloud.
const MARK: &[u8] = b"stoplight.io/prism/errors";

/// What went through Prism.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Seen {
    passed: u64,
    refused: Vec<String>,
}

/// A router. Ends with this value.
#[derive(Debug)]
pub struct Router {
    listener: Listener,
    seen: Arc<Mutex<Seen>>,
}

impl Router {
    /// Starts one. `described` says whether a path is in the description.
    pub async fn start(prism: u16, fake: u16, described: fn(&str) -> bool) -> Result<Self> {
        let seen: Arc<Mutex<Seen>> = Arc::default();
        let shared = seen.clone();
        let serve = move |stream| {
            let seen = shared.clone();
            async move { serve(stream, prism, fake, described, &seen).await }
        };
        Ok(Router { listener: Listener::start(0, serve).await?, seen })
    }

    /// Its address.
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// How many exchanges Prism found in order.
    pub fn passed(&self) -> u64 {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).passed
    }

    /// What Prism refused, with its reasons.
    pub fn refused(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).refused.clone()
    }
}

async fn serve(
    mut client: TcpStream,
    prism: u16,
    fake: u16,
    described: fn(&str) -> bool,
    seen: &Mutex<Seen>,
) -> Result<()> {
    let (request, target) = Request::read_with_target(&mut client).await?;
    let through = described(&request.path);
    let mut server = TcpStream::connect(("127.0.0.1", if through { prism } else { fake })).await?;
    let mut head = format!("{} {target} HTTP/1.1\r\n", request.method);
    for (key, value) in &request.headers {
        if !["connection", "content-length"].iter().any(|own| key.eq_ignore_ascii_case(own)) {
            head.push_str(&format!("{key}: {value}\r\n"));
        }
    }
    head.push_str(&format!("Content-Length: {}\r\nConnection: close\r\n\r\n", request.body.len()));
    server.write_all(head.as_bytes()).await?;
    server.write_all(&request.body).await?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).await?;
    if through {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        if answer.windows(MARK.len()).any(|bytes| bytes == MARK) {
            let why = String::from_utf8_lossy(&answer).into_owned();
            seen.refused.push(format!("{} {target}: {why}", request.method));
        } else {
            seen.passed += 1;
        }
    }
    client.write_all(&answer).await?;
    client.shutdown().await
}
