//! Recorded traffic with the real services, for tests: somebody else's witnesses, held against our
//! readers.
//!
//! The folder lies beside the repository and not in it: `../shared/data/recordings`, a folder for
//! each cloud, a JSON file for each recording. Whoever has no such folder replays a few exchanges of
//! their own instead, and says so.

use fleet_model::Cloud;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// One recording: calls and answers, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The name of its file, without `.json`.
    pub name: String,
    /// What was recorded.
    pub level: Level,
    /// The calls.
    pub exchanges: Vec<Exchange>,
}

/// What a recording holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Method, URL, status and body as on the wire.
    Http,
    /// What an SDK or the recorder made of the answer.
    Sdk,
}

/// A call and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// `GET`, `PUT`, …; `SDK` at that level.
    pub method: String,
    /// The address; `service:Operation` at the level of an SDK.
    pub url: String,
    /// A JSON body as its value, any other as a string, null if empty or not recorded.
    pub request_body: Value,
    /// `None`: not recorded. A test must not guess it.
    pub status: Option<u16>,
    /// Headers of the answer. `x-recorded-at` is the recorder's clock, not the service's.
    pub headers: BTreeMap<String, String>,
    /// The answer's body, as that of the request.
    pub body: Value,
}

/// The only format that is known.
const FORMAT: u32 = 1;

/// Every recording of a cloud, by name. `None` if the folder is not there.
///
/// Panics if a file cannot be read: a witness that is passed over in silence is none.
pub fn load(cloud: Cloud) -> Option<Vec<Recording>> {
    load_from(&folder().join(cloud.as_str()))
}

/// The folder of all clouds.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/recordings")
}

fn load_from(folder: &Path) -> Option<Vec<Recording>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = std::fs::read_to_string(path).map_err(|cause| cause.to_string());
        match text.and_then(|text| parse(&name, &text)) {
            Ok(recording) => recording,
            Err(cause) => panic!("{}: {cause}", path.display()),
        }
    };
    Some(files.iter().map(read).collect())
}

/// Reads a recording.
pub fn parse(name: &str, text: &str) -> Result<Recording, String> {
    let file: File = serde_json::from_str(text).map_err(|cause| cause.to_string())?;
    if file.format_version != FORMAT {
        return Err(format!("format {} is not known, only {FORMAT}", file.format_version));
    }
    let exchange = |Pair { request, response }| Exchange {
        method: request.method,
        url: request.url,
        request_body: request.body,
        status: response.status,
        headers: response.headers,
        body: response.body,
    };
    let exchanges = file.exchanges.into_iter().map(exchange).collect();
    Ok(Recording { name: name.to_owned(), level: file.level, exchanges })
}

/// Whose recordings were replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Witness {
    /// Those of others, from the folder.
    Recorded,
    /// A few of our own making, since there is no folder.
    Own,
}

/// Says how many recordings were replayed, in the line that `cargo xtask test` counts by. Written
/// past the test harness, which would keep what a test prints to itself.
pub fn tell(cloud: Cloud, witness: Witness, replayed: usize) {
    let mut out = std::io::stdout().lock();
    let line = match witness {
        Witness::Recorded => format!("recordings: {cloud} {replayed} replayed"),
        Witness::Own => format!(
            "SKIPPED recordings of {cloud}: absent at {}\n\
             recordings: {cloud} own {replayed} replayed",
            folder().display()
        ),
    };
    // A line of its own, also after `test … ...`.
    let _ = writeln!(out, "\n{line}");
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    format_version: u32,
    level: Level,
    exchanges: Vec<Pair>,
}

#[derive(Deserialize)]
struct Pair {
    request: Request,
    response: Response,
}

#[derive(Deserialize)]
struct Request {
    method: String,
    url: String,
    #[serde(default)]
    body: Value,
}

#[derive(Deserialize)]
struct Response {
    status: Option<u16>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"formatVersion": 1, "level": "http", "what": "a test", "exchanges": [{
        "request": {"method": "PUT", "url": "https://x/y", "headers": {}, "body": {"a": 1}},
        "response": {"status": null, "headers": {"retry-after": "70"}, "body": null}}]}"#;

    #[test]
    fn a_recording_is_read_and_what_is_not_known_stays_unknown() {
        let found = parse("one", ONE).expect("a recording");
        assert_eq!((found.name.as_str(), found.level), ("one", Level::Http));
        let [exchange] = &found.exchanges[..] else { panic!("one exchange") };
        assert_eq!((exchange.method.as_str(), exchange.status), ("PUT", None));
        assert_eq!(exchange.request_body["a"], 1);
        assert_eq!(exchange.headers["retry-after"], "70");
        assert!(exchange.body.is_null());
        let newer = ONE.replace("\"formatVersion\": 1", "\"formatVersion\": 2");
        parse("two", &newer).expect_err("another format");
    }

    #[test]
    fn every_recording_of_every_cloud_can_be_read() {
        for cloud in Cloud::ALL {
            let Some(found) = load(cloud) else {
                let _ = writeln!(std::io::stdout(), "\nSKIPPED recordings of {cloud}: absent");
                continue;
            };
            assert!(!found.is_empty(), "{cloud}");
            assert!(found.iter().all(|one| !one.exchanges.is_empty()), "{cloud}");
        }
        assert_eq!(load_from(Path::new("/nowhere/at/all")), None);
    }
}
