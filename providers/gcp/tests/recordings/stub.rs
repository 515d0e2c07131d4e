//! A server that says what was recorded, and a client that asks for bodies as they are.

use fleet_testkit::{Answer, Listener, Request, relay};
use serde_json::Value;
use std::sync::Arc;

/// What is asked: `GET /compute/v1/…` without the query, and the query.
pub(crate) type Say = Arc<dyn Fn(&str, &str) -> (u16, Value) + Send + Sync>;

/// Starts a server that answers as told.
pub(crate) async fn serve(say: Say) -> Listener {
    let answer = move |request: Request| {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let (status, body) = say(&format!("{} {path}", request.method), query);
        async move { Some(Answer::json(status, body)) }
    };
    Listener::start(0, answer).await.expect("a port")
}

/// Asks a server on loopback and reads what it says.
pub(crate) async fn ask(port: u16, method: &str, path: &str, body: &str) -> (u16, Value) {
    let request = Request {
        method: method.to_owned(),
        target: path.to_owned(),
        headers: vec![("host".to_owned(), "x".to_owned())],
        body: body.into(),
        ..Request::default()
    };
    let answer = relay(port, &request).await.expect("an answer");
    (answer.status, serde_json::from_slice(&answer.body).expect("JSON"))
}
