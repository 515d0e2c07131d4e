//! What was recorded between others and Google; where that is absent, a little of our own making.

use serde_json::{Value, json};

/// One request and its answer.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// Every recording by its name, and whether they are real.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) is_real: bool,
    all: Vec<(String, Vec<Exchange>)>,
}

impl Library {
    pub(crate) fn open() -> Self {
        let folder = fleet_testkit::shared_data("recordings/gcp");
        let Some(files) = folder.and_then(|folder| std::fs::read_dir(folder).ok()) else {
            return Library::own();
        };
        let mut all: Vec<(String, Vec<Exchange>)> = files
            .filter_map(|file| file.ok().map(|file| file.path()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
            .map(|path| {
                let text = std::fs::read_to_string(&path).expect("a recording");
                let file: Value = serde_json::from_str(&text).expect("JSON");
                let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
                (name.to_owned(), exchanges(&file))
            })
            .collect();
        all.sort_by(|(name, _), (other, _)| name.cmp(other));
        Library { is_real: true, all }
    }

    /// A few of our own making.
    pub(crate) fn own() -> Self {
        Library { is_real: false, all: own() }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|(name, _)| name.as_str())
    }

    /// The exchanges of a recording. One that is missing among real ones is a failure.
    pub(crate) fn get(&self, name: &str) -> Option<&[Exchange]> {
        let found = self.all.iter().find(|(other, _)| other == name);
        assert!(found.is_some() || !self.is_real, "{name} is missing");
        found.map(|(_, exchanges)| exchanges.as_slice())
    }
}

fn exchanges(file: &Value) -> Vec<Exchange> {
    let one = |exchange: &Value| Exchange {
        status: exchange["response"]["status"]
            .as_u64()
            .and_then(|status| u16::try_from(status).ok())
            .expect("a status"),
        body: uncut(exchange["response"]["body"].clone()),
    };
    file["exchanges"].as_array().expect("exchanges").iter().map(one).collect()
}

/// Those who published some of them cut long contents out: `CUT` stands where Google has base64.
fn uncut(body: Value) -> Value {
    match body {
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, uncut(value))).collect()
        }
        Value::Array(all) => all.into_iter().map(uncut).collect(),
        Value::String(text) if text == "CUT" => json!("Q1VU"),
        other => other,
    }
}

fn own() -> Vec<(String, Vec<Exchange>)> {
    let got = |status: u16, body: Value| vec![Exchange { status, body }];
    let at = "https://www.googleapis.com/compute/v1/projects/p/zones/us-central1-c";
    let event = |kind: &str, words: &str, target: &str| {
        json!({
            "kind": "compute#operation", "id": "1", "name": "systemevent-1", "user": "system",
            "operationType": format!("compute.instances.{kind}"), "statusMessage": words,
            "targetId": target, "targetLink": format!("{at}/instances/i"), "status": "DONE",
            "insertTime": "2026-03-16T10:04:01.491-07:00", "progress": 100, "zone": at,
            "startTime": "2026-03-16T10:04:01.491-07:00", "selfLink": format!("{at}/operations/1"),
            "endTime": "2026-03-16T10:04:01.491-07:00",
        })
    };
    let operations = json!({ "items": { "zones/us-central1-c": { "operations": [
        event("preempted", "Instance was preempted.", "2093000891450668968"),
        event("guestTerminate", "Instance terminated by guest OS shutdown.", "4632680981323459323"),
    ] } } });
    let empty = json!({ "code": "NO_RESULTS_ON_PAGE", "message": "No results.",
                        "data": [{ "key": "scope", "value": "zones/us-central1-a" }] });
    let aggregated = json!({
        "kind": "compute#instanceAggregatedList", "id": "i", "selfLink": "s",
        "items": { "zones/us-central1-a": { "warning": empty } },
    });
    let words = "Required 'compute.instances.create' permission for 'x'";
    let error = |code: u16, reason: &str, words: &str| {
        json!({ "error": { "code": code, "message": words,
                "errors": [{ "domain": "global", "reason": reason, "message": words }] } })
    };
    let log =
        json!({ "entries": [{ "protoPayload": { "response": error(403, "forbidden", words) } }] });
    vec![
        ("operations-aggregated-preempted".into(), got(200, operations)),
        ("instances-aggregated-empty-scopes".into(), got(200, aggregated)),
        ("audit-log-insert-forbidden".into(), got(200, log)),
        ("instance-template-delete-then-404".into(), got(404, error(404, "notFound", "not found"))),
    ]
}
