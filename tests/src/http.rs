//! Just enough of HTTP/1.1: one request and one answer per connection.

use fleet_fakes::{bad, read_head};
use std::io::Result;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Nothing that EC2 or its clients say here is longer.
const LONGEST: usize = 64 << 20;

/// A request, or an answer without its first line.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) first: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// Where a message ends that names no length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// With its head.
    OfRequest,
    /// With the connection.
    OfAnswer,
    /// With its head, whatever length it names: the answer to `HEAD`.
    Never,
}

/// What is sent back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) kind: String,
    pub(crate) body: Vec<u8>,
}

impl Message {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let same = |(key, _): &&(String, String)| key.eq_ignore_ascii_case(name);
        self.headers.iter().find(same).map(|(_, value)| value.as_str())
    }

    /// Writes a message; the connection is good for no other.
    pub(crate) async fn write(&self, stream: &mut TcpStream) -> Result<()> {
        let mut head = format!("{}\r\n", self.first);
        let ours = ["connection", "content-length"];
        for (key, value) in &self.headers {
            if !ours.iter().any(|name| key.eq_ignore_ascii_case(name)) {
                head.push_str(&format!("{key}: {value}\r\n"));
            }
        }
        // A body in chunks is handed on as it came, with the sizes in it.
        if self.header("transfer-encoding").is_none() {
            let length = match self.header("content-length") {
                // An answer to HEAD has a length and no body.
                Some(length) if self.body.is_empty() => length.to_owned(),
                _ => self.body.len().to_string(),
            };
            head.push_str(&format!("Content-Length: {length}\r\n"));
        }
        head.push_str("Connection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&self.body).await
    }

    /// Reads a message.
    pub(crate) async fn read(stream: &mut (impl AsyncRead + Unpin), body: Body) -> Result<Self> {
        let (text, begun) = read_head(stream, LONGEST).await?;
        let mut lines = text.split("\r\n");
        let first = lines.next().unwrap_or_default().to_owned();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
            .collect();
        let mut message = Message { first, headers, body: begun };
        match message.header("content-length").map(str::parse::<usize>) {
            _ if body == Body::Never => {}
            Some(Ok(length)) if length <= LONGEST => {
                while message.body.len() < length {
                    if stream.read_buf(&mut message.body).await? == 0 {
                        return Err(bad("the body ended early"));
                    }
                }
            }
            Some(_) => return Err(bad("a strange length")),
            None if body == Body::OfAnswer => {
                stream.read_to_end(&mut message.body).await?;
            }
            None => {}
        }
        Ok(message)
    }
}

/// Hands a request on and waits for the whole answer.
pub(crate) async fn relay(to: u16, request: &Message) -> Result<Message> {
    let mut stream = TcpStream::connect(("127.0.0.1", to)).await?;
    request.write(&mut stream).await?;
    let head_only = request.first.starts_with("HEAD ");
    Message::read(&mut stream, if head_only { Body::Never } else { Body::OfAnswer }).await
}

/// Hands a request on and waits for the answer.
pub(crate) async fn forward(to: u16, request: &Message) -> Result<Answer> {
    let answer = relay(to, request).await?;
    let status = answer.first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| bad("no status"))?;
    let kind = answer.header("content-type").unwrap_or("text/xml").to_owned();
    Ok(Answer { status, kind, body: answer.body })
}

/// Sends an answer and closes.
pub(crate) async fn reply(stream: &mut TcpStream, answer: &Answer) -> Result<()> {
    let head = format!(
        "HTTP/1.1 {} Whatever\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        answer.status,
        answer.kind,
        answer.body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&answer.body).await?;
    stream.shutdown().await
}
