//! Requests and answers as tests read and write them, over hyper.

use bytes::Bytes;
use futures::stream;
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::io::{Error, Result};
use tokio::net::TcpStream;

/// What a client asks.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `GET`, `PUT`, …
    pub method: String,
    /// The path and the query as they were sent.
    pub target: String,
    /// The path, decoded.
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
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The connection closes in the middle of the body.
    pub cut: bool,
}

impl Answer {
    /// An answer with a body of some type.
    pub fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Answer { status, headers, body: body.into(), cut: false }
    }

    /// An answer in JSON.
    pub fn json(status: u16, body: Value) -> Self {
        Answer::new(status, "application/json; charset=utf-8", body.to_string())
    }

    /// A page of a proxy's, not an answer of the cloud's.
    pub fn html(status: u16, page: &str) -> Self {
        Answer::new(status, "text/html; charset=utf-8", page)
    }

    /// An answer without a body.
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

    /// Reads all of a request.
    pub(crate) async fn read(request: hyper::Request<Incoming>) -> hyper::Result<Self> {
        let (head, body) = request.into_parts();
        let query = head.uri.query().unwrap_or_default();
        Ok(Request {
            method: head.method.to_string(),
            target: head.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
            path: percent_decode_str(head.uri.path()).decode_utf8_lossy().into_owned(),
            query: url::form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
            headers: texts(&head.headers),
            body: body.collect().await?.to_bytes().into(),
        })
    }
}

fn texts(headers: &hyper::HeaderMap) -> Vec<(String, String)> {
    let text =
        |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

/// An answer on its way.
pub(crate) fn response(
    answer: Answer,
) -> std::result::Result<hyper::Response<BoxBody<Bytes, Error>>, Error> {
    let mut response = hyper::Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(name, value);
    }
    let body = Bytes::from(answer.body);
    let body = if answer.cut {
        response = response.header(CONTENT_LENGTH, body.len());
        let half = Frame::data(body.slice(..body.len() / 2));
        let end = Error::other("the test cuts this body short");
        BodyExt::boxed(StreamBody::new(stream::iter([Ok(half), Err(end)])))
    } else {
        BodyExt::boxed(Full::new(body).map_err(|never| match never {}))
    };
    response.body(body).map_err(Error::other)
}

/// Passes a request on to a server on loopback, and waits for the whole answer.
pub async fn relay(port: u16, request: &Request) -> Result<Answer> {
    let mut head =
        hyper::Request::builder().method(request.method.as_str()).uri(request.target.as_str());
    for (name, value) in &request.headers {
        head = head.header(name, value);
    }
    let mut sent = head.body(Full::new(Bytes::from(request.body.clone()))).map_err(Error::other)?;
    // About the other connection.
    for name in [CONNECTION, TRANSFER_ENCODING] {
        sent.headers_mut().remove(name);
    }
    // Counted anew, and named even for an empty body: some servers insist.
    if sent.headers().contains_key(CONTENT_LENGTH) {
        sent.headers_mut().insert(CONTENT_LENGTH, request.body.len().into());
    }
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(Error::other)?;
    let connection = tokio::spawn(connection);
    let answer = sender.send_request(sent).await.map_err(Error::other)?;
    let (head, body) = answer.into_parts();
    let body = body.collect().await.map_err(Error::other)?.to_bytes();
    connection.abort();
    let is_head = request.method == "HEAD";
    let headers = texts(&head.headers).into_iter().filter(|(name, _)| {
        // The answer to HEAD names the length of a body that does not come.
        match name.as_str() {
            "connection" | "transfer-encoding" => false,
            "content-length" => is_head,
            _ => true,
        }
    });
    let headers = headers.collect();
    Ok(Answer { status: head.status.as_u16(), headers, body: body.into(), cut: false })
}
