//! Just enough of HTTP/1.1: one request and one answer per connection.

use fleet_fakes::{bad, read_head};
use std::io::Result;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Nothing that a client says here is longer.
const LONGEST: usize = 16 << 20;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// A parameter of the query; empty if it is not there.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.query.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    pub(crate) async fn read(stream: &mut TcpStream) -> Result<Self> {
        let (text, mut body) = read_head(stream, LONGEST).await?;
        let mut lines = text.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ');
        let (method, target) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
        let header = |name: &str| {
            text.split("\r\n")
                .filter_map(|line| line.split_once(':'))
                .find(|(key, _)| key.trim().eq_ignore_ascii_case(name))
                .map(|(_, value)| value.trim())
        };
        if header("transfer-encoding").is_some_and(|how| how.eq_ignore_ascii_case("chunked")) {
            body = unchunk(stream, body).await?;
        } else {
            let length = header("content-length").map_or(Ok(0), str::parse::<usize>);
            let length = length.ok().filter(|length| *length <= LONGEST);
            let length = length.ok_or_else(|| bad("a strange length"))?;
            while body.len() < length {
                if stream.read_buf(&mut body).await? == 0 {
                    return Err(bad("the body ended early"));
                }
            }
            body.truncate(length);
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pair = |pair: &str| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(key), decode(value))
        };
        Ok(Request {
            method: method.to_owned(),
            path: decode(path),
            query: query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect(),
            body,
        })
    }
}

/// A body that comes in pieces, each with its length in front.
async fn unchunk(stream: &mut TcpStream, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = bytes.windows(2).position(|two| two == b"\r\n");
        let length = end.and_then(|end| {
            let digits = std::str::from_utf8(&bytes[..end]).ok()?;
            usize::from_str_radix(digits.trim(), 16).ok()
        });
        if let (Some(end), Some(length)) = (end, length)
            && bytes.len() >= end + 2 + length + 2
        {
            if length == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&bytes[end + 2..end + 2 + length]);
            bytes.drain(..end + 2 + length + 2);
            continue;
        }
        if stream.read_buf(&mut bytes).await? == 0 || body.len() + bytes.len() > LONGEST {
            return Err(bad("the body ended early"));
        }
    }
}

/// `%2F` and `+` as they were meant.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match (byte, hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(value)) => {
                bytes.push(value);
                rest = &tail[2..];
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = tail;
            }
            _ => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Sends an answer and closes.
pub(crate) async fn reply(stream: &mut TcpStream, status: u16, body: &[u8]) -> Result<()> {
    let head = format!(
        "HTTP/1.1 {status} Whatever\r\nContent-Type: application/json; charset=UTF-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_signs_are_read() {
        assert_eq!(decode("labels.fleet-uid%3A%2A+x%2"), "labels.fleet-uid:* x%2");
    }
}
