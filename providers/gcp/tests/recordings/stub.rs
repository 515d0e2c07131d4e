//! A server that says what was recorded, and a client that asks for bodies as they are.

use fleet_fakes::{Listener, bad, read_head};
use serde_json::Value;
use std::io::Result;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What is asked: `GET /compute/v1/…` without the query, and the query.
pub(crate) type Say = Arc<dyn Fn(&str, &str) -> (u16, Value) + Send + Sync>;

/// Starts a server that answers as told.
pub(crate) async fn serve(say: Say) -> Listener {
    let answer = move |stream| {
        let say = say.clone();
        async move { one(stream, &*say).await }
    };
    Listener::start(0, answer).await.expect("a port")
}

async fn one(
    mut stream: TcpStream,
    say: &(dyn Fn(&str, &str) -> (u16, Value) + Send + Sync),
) -> Result<()> {
    let (head, mut body) = read_head(&mut stream, 1 << 20).await?;
    let mut first = head.split("\r\n").next().unwrap_or_default().split(' ');
    let (method, target) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
    let length = head
        .split("\r\n")
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse().ok())
        .unwrap_or(0);
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Err(bad("the body ended early"));
        }
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (status, body) = say(&format!("{method} {path}"), query);
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} Recorded\r\nContent-Type: application/json; charset=UTF-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// Asks a server on loopback and reads what it says.
pub(crate) async fn ask(port: u16, method: &str, path: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).await.expect("an answer");
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let (_, body) = text.split_once("\r\n\r\n").expect("a body");
    (status, serde_json::from_str(body).expect("JSON"))
}
