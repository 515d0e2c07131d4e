//! Just enough of HTTP/1.1: one request and one answer per connection.

use crate::listen::{bad, read_head};
use serde_json::Value;
use std::io::Result;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Nothing that clients say here is longer.
const LONGEST: usize = 16 << 20;

/// What a client asks.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `GET`, `PUT`, …
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The query, decoded, in order.
    pub query: Vec<(String, String)>,
    /// Names and values of headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// What is sent back.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers besides type and length.
    pub headers: Vec<(String, String)>,
    /// A JSON body, if any.
    pub body: Option<Value>,
    /// A body that is not JSON, of its own type: what something in front of the cloud says.
    pub html: Option<String>,
    /// The body ends before its announced length.
    pub cut: bool,
}

impl Answer {
    /// An answer with a body.
    pub fn json(status: u16, body: Value) -> Self {
        Answer { status, body: Some(body), ..Answer::default() }
    }

    /// A page of a proxy's, not an answer of the cloud's.
    pub fn html(status: u16, page: &str) -> Self {
        Answer { status, html: Some(page.to_owned()), ..Answer::default() }
    }

    /// An answer without.
    pub fn empty(status: u16) -> Self {
        Answer { status, ..Answer::default() }
    }

    /// The same with a header.
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

impl Request {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let same = |(key, _): &&(String, String)| key.eq_ignore_ascii_case(name);
        self.headers.iter().find(same).map(|(_, value)| value.as_str())
    }

    /// A value of the query.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    pub(crate) async fn read(stream: &mut TcpStream) -> Result<Self> {
        Ok(Self::read_with_target(stream).await?.0)
    }

    /// Reads a request, and the target of its first line as it stands there.
    pub(crate) async fn read_with_target(stream: &mut TcpStream) -> Result<(Self, String)> {
        let (text, body) = read_head(stream, LONGEST).await?;
        let mut lines = text.split("\r\n");
        let first = lines.next().unwrap_or_default();
        let mut words = first.split(' ');
        let method = words.next().unwrap_or_default().to_owned();
        let target = words.next().unwrap_or_default().to_owned();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
            .collect();
        let query = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (decode(key), decode(value)))
            .collect();
        let mut request = Request { method, path: decode(path), query, headers, body };
        if let Some(length) = request.header("content-length") {
            let length: usize = length.parse().map_err(|_| bad("a strange length"))?;
            if length > LONGEST {
                return Err(bad("a strange length"));
            }
            while request.body.len() < length {
                if stream.read_buf(&mut request.body).await? == 0 {
                    return Err(bad("the body ended early"));
                }
            }
        } else if request.header("transfer-encoding").is_some() {
            return Err(bad("chunked requests are not spoken here"));
        }
        Ok((request, target))
    }
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let hex = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                let hex = String::from_utf8_lossy(&hex).into_owned();
                bytes.push(u8::from_str_radix(&hex, 16).unwrap_or(b'?'));
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Sends an answer and closes.
pub(crate) async fn reply(stream: &mut TcpStream, answer: &Answer) -> Result<()> {
    let json = answer.body.as_ref().map(Value::to_string);
    let body = json.or_else(|| answer.html.clone()).unwrap_or_default();
    let mut head = format!("HTTP/1.1 {} Whatever\r\nConnection: close\r\n", answer.status);
    if answer.body.is_some() {
        head.push_str("Content-Type: application/json; charset=utf-8\r\n");
    }
    if answer.html.is_some() {
        head.push_str("Content-Type: text/html; charset=utf-8\r\n");
    }
    for (key, value) in &answer.headers {
        head.push_str(&format!("{key}: {value}\r\n"));
    }
    if answer.status != 204 {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    let sent = if answer.cut { body.len() / 2 } else { body.len() };
    stream.write_all(&body.as_bytes()[..sent]).await?;
    stream.shutdown().await
}
