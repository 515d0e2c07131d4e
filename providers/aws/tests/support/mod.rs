//! Recordings, and a server that answers with them.

use fleet_aws::{Aws, AwsSettings};
use fleet_model::{Cloud, Region, Scope};
use fleet_provider::{Error, Listing, Provider};
use fleet_testkit::{Answer, Listener, RealClock, Request};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

pub(crate) const STATES: [&str; 6] =
    ["pending", "running", "stopped", "stopping", "shutting-down", "terminated"];

const NAMESPACE: &str = "http://ec2.amazonaws.com/doc/2016-11-15/";

/// A server with one answer per action, and the adapter on it.
pub(crate) struct Served {
    pub(crate) provider: Aws,
    _server: Listener,
}

/// What a server says to an action, given the body of the call.
type Answers = Box<dyn FnMut(&str, &str) -> (u16, String) + Send>;

impl Served {
    /// A server that says the same to an action each time.
    pub(crate) async fn start<const N: usize>(answers: [(&str, (u16, String)); N]) -> Self {
        let mut answers: BTreeMap<String, (u16, String)> =
            answers.into_iter().map(|(action, answer)| (action.to_owned(), answer)).collect();
        answers.insert("DescribeAvailabilityZones".into(), (200, zones("")));
        let unknown = (400, "<Response/>".to_owned());
        let answer = move |action: &str, _: &str| answers.get(action).unwrap_or(&unknown).clone();
        Served::with(None, Box::new(answer)).await
    }

    /// A server with a mind of its own, and perhaps a queue of warnings.
    pub(crate) async fn with(queue: Option<&str>, answers: Answers) -> Self {
        let answers = Mutex::new(answers);
        let serve = move |request: Request| {
            let body = String::from_utf8_lossy(&request.body);
            let action = action(&request, &body);
            let (status, body) = answers.lock().expect("nobody panicked")(&action, &body);
            async move { Some(Answer::new(status, "text/xml", body)) }
        };
        let server = Listener::start(0, serve).await.expect("a port");
        let settings = AwsSettings {
            events_queue: queue.map(|name| format!("{}/{name}", server.url())),
            endpoint: Some(server.url()),
            ..AwsSettings::default()
        };
        Served { provider: Aws::new(settings, Arc::new(RealClock)), _server: server }
    }

    pub(crate) async fn machines(&self) -> Result<Listing, Error> {
        let scope = Scope { cloud: Cloud::Aws, region: Region::from("us-east-1") };
        self.provider.machines(&scope).await
    }
}

/// What is called. Services that speak JSON name it in a header.
fn action(request: &Request, body: &str) -> String {
    let in_form = body.split("Action=").nth(1).and_then(|rest| rest.split('&').next());
    let target = || request.header("x-amz-target")?.split('.').nth(1);
    in_form.or_else(target).unwrap_or_default().to_owned()
}

/// Runs a test again in a process of its own with credentials of nobody, unless this is that
/// process: the SDK's own chain looks for them in the environment.
pub(crate) fn runs_again(test: &str) -> bool {
    const KEY: &str = "recordings";
    if std::env::var("AWS_ACCESS_KEY_ID").as_deref() == Ok(KEY) {
        return false;
    }
    let this = std::env::current_exe().expect("this program");
    let output = std::process::Command::new(this)
        .args(["--exact", test, "--nocapture"])
        .env("AWS_ACCESS_KEY_ID", KEY)
        .env("AWS_SECRET_ACCESS_KEY", KEY)
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .env_remove("AWS_PROFILE")
        .env_remove("AWS_SESSION_TOKEN")
        .output()
        .expect("this program once more");
    let said = String::from_utf8_lossy(&output.stdout);
    let reports = ["recordings:", "SKIPPED"];
    let report = |line: &&str| reports.iter().any(|start| line.starts_with(start));
    for line in said.lines().filter(report) {
        // Past the test harness, which keeps to itself what a passing test prints.
        let _ = writeln!(std::io::stdout(), "\n{line}");
    }
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    true
}

/// Files of recordings by name, in order; `None` if there are none.
pub(crate) fn recorded() -> Option<BTreeMap<String, Value>> {
    let folder = fleet_testkit::shared_data("recordings/aws")?;
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("a file");
        let name = entry.file_name().to_string_lossy().into_owned();
        files.insert(name, serde_json::from_str(&text).expect("JSON"));
    }
    (!files.is_empty()).then_some(files)
}

/// A few answers of our own making, in the shape of recorded ones.
pub(crate) fn own() -> BTreeMap<String, Value> {
    let error = |status: u16, code: &str| {
        let body = format!(
            "<Response><Errors><Error><Code>{code}</Code><Message>words</Message></Error></Errors>\
             <RequestID>0</RequestID></Response>"
        );
        json!({ "response": { "status": status, "body": body } })
    };
    let reason = json!({ "Code": "Client.UserInitiatedShutdown", "Message": "words" });
    let attached = json!({ "DeviceIndex": 0, "AttachTime": "2026-01-01T00:00:00Z" });
    let instance = json!({
        "InstanceId": "i-1", "InstanceType": "m5.large", "LaunchTime": "2026-01-02T00:00:00Z",
        "Placement": { "AvailabilityZone": "us-east-1a" }, "State": { "Name": "stopped" },
        "StateReason": reason, "NetworkInterfaces": [{ "Attachment": attached }],
    });
    let list = json!({ "Reservations": [{ "Instances": [instance] }] });
    let exchanges = json!([
        error(500, "InsufficientInstanceCapacity"),
        error(503, "RequestLimitExceeded"),
        error(400, "OperationNotPermitted"),
        { "response": { "status": 200, "body": list } },
    ]);
    BTreeMap::from([("own".to_owned(), json!({ "exchanges": exchanges }))])
}

/// An answer that is an error: what it says, and how it was written if that is known.
pub(crate) struct Exchange {
    pub(crate) status: Option<u16>,
    pub(crate) error: Option<(String, String)>,
    body: Option<String>,
}

fn answers(file: &Value) -> impl Iterator<Item = &Value> {
    file["exchanges"].as_array().into_iter().flatten().map(|exchange| &exchange["response"])
}

/// The errors of a file.
pub(crate) fn errors(file: &Value) -> Vec<Exchange> {
    let mut found = Vec::new();
    for answer in answers(file) {
        let status = answer["status"].as_u64().and_then(|status| u16::try_from(status).ok());
        let body = &answer["body"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let sdk = &body["Error"];
        let error = match (body.as_str(), text(&sdk["Code"])) {
            (Some(xml), _) if xml.contains("<Code>") => {
                Some((first(xml, "Code").to_owned(), first(xml, "Message").replace("&quot;", "\"")))
            }
            (None, Some(code)) => Some((code, text(&sdk["Message"]).unwrap_or_default())),
            (Some(_), _) | (None, None) => None,
        };
        if error.is_some() {
            found.push(Exchange { status, error, body: text(body) });
        }
    }
    found
}

/// The body of an error: as recorded, or as EC2 writes what an SDK made of it.
pub(crate) fn served_error(exchange: &Exchange) -> String {
    let (code, message) = exchange.error.clone().unwrap_or_default();
    let escaped = message.replace('&', "&amp;").replace('<', "&lt;");
    exchange.body.clone().unwrap_or_else(|| {
        format!(
            "<Response><Errors><Error><Code>{code}</Code><Message>{escaped}</Message></Error>\
             </Errors><RequestID>0</RequestID></Response>"
        )
    })
}

/// Every answer of a file that describes instances, as a list.
pub(crate) fn lists(file: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for answer in answers(file) {
        let body = &answer["body"];
        if let Some(xml) = body.as_str() {
            if xml.contains("<DescribeInstancesResponse") && xml.contains("<instanceId>") {
                found.push(xml.to_owned());
            } else if let Some((_, rest)) = xml.split_once("<instancesSet>")
                && xml.contains("<RunInstancesResponse")
                && let Some((set, _)) = rest.rsplit_once("</instancesSet>")
            {
                found.push(list(set));
            }
            continue;
        }
        let reservations = body["Reservations"].as_array().into_iter().flatten();
        let of_launch = body.get("Instances").and_then(Value::as_array);
        let launched = of_launch.filter(|all| all.iter().all(|one| !one["LaunchTime"].is_null()));
        let described = reservations.filter_map(|one| one["Instances"].as_array());
        let all: Vec<&Value> = described.chain(launched).flatten().collect();
        if !all.is_empty() {
            found.push(list(&all.into_iter().map(item).collect::<String>()));
        }
    }
    found
}

fn list(items: &str) -> String {
    format!(
        "<DescribeInstancesResponse xmlns=\"{NAMESPACE}\"><requestId>0</requestId>\
         <reservationSet><item><instancesSet>{items}</instancesSet></item></reservationSet>\
         </DescribeInstancesResponse>"
    )
}

/// An instance that an SDK has read, as EC2 writes it, as far as we read it.
fn item(instance: &Value) -> String {
    let element = |name: &str, value: &Value| match value {
        Value::String(text) => format!("<{name}>{text}</{name}>"),
        Value::Number(number) => format!("<{name}>{number}</{name}>"),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
    };
    let mut xml = String::from("<item>");
    for (name, key) in [
        ("instanceId", "InstanceId"),
        ("instanceType", "InstanceType"),
        ("launchTime", "LaunchTime"),
        ("amiLaunchIndex", "AmiLaunchIndex"),
        ("clientToken", "ClientToken"),
        ("instanceLifecycle", "InstanceLifecycle"),
        ("reason", "StateTransitionReason"),
    ] {
        xml += &element(name, &instance[key]);
    }
    let zone = element("availabilityZone", &instance["Placement"]["AvailabilityZone"]);
    let state = element("name", &instance["State"]["Name"]);
    xml += &format!("<placement>{zone}</placement><instanceState>{state}</instanceState>");
    if let Some(reason) = instance["StateReason"].as_object() {
        let (code, message) =
            (element("code", &reason["Code"]), element("message", &reason["Message"]));
        xml += &format!("<stateReason>{code}{message}</stateReason>");
    }
    let interfaces = instance["NetworkInterfaces"].as_array().into_iter().flatten();
    let interface = |one: &Value| {
        let attachment = &one["Attachment"];
        let (at, device) = (
            element("attachTime", &attachment["AttachTime"]),
            element("deviceIndex", &attachment["DeviceIndex"]),
        );
        format!("<item><attachment>{device}{at}</attachment></item>")
    };
    let interfaces: String = interfaces.map(interface).collect();
    if !interfaces.is_empty() {
        xml += &format!("<networkInterfaceSet>{interfaces}</networkInterfaceSet>");
    }
    xml + "</item>"
}

/// The spot requests of a file, as EC2 writes them.
pub(crate) fn spot_requests(file: &Value) -> Option<String> {
    let found =
        answers(file).find_map(|answer| answer["body"]["SpotInstanceRequests"].as_array())?;
    let items: String = found
        .iter()
        .map(|request| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            format!(
                "<item><instanceId>{}</instanceId><state>{}</state><status><code>{}</code>\
                 <updateTime>{}</updateTime></status></item>",
                text(&request["InstanceId"]),
                text(&request["State"]),
                text(&request["Status"]["Code"]),
                text(&request["Status"]["UpdateTime"])
            )
        })
        .collect();
    Some(requests(&items))
}

pub(crate) fn no_requests() -> String {
    requests("")
}

/// Zones, each as `name=id`, separated by blanks.
pub(crate) fn zones(pairs: &str) -> String {
    let zone = |pair: &str| {
        let (name, id) = pair.split_once('=').unwrap_or_default();
        format!(
            "<item><zoneName>{name}</zoneName><zoneId>{id}</zoneId>\
             <optInStatus>opt-in-not-required</optInStatus></item>"
        )
    };
    let items: String = pairs.split_whitespace().map(zone).collect();
    format!(
        "<DescribeAvailabilityZonesResponse xmlns=\"{NAMESPACE}\"><requestId>0</requestId>\
         <availabilityZoneInfo>{items}</availabilityZoneInfo></DescribeAvailabilityZonesResponse>"
    )
}

/// Running spot machines.
pub(crate) fn spot_machines(ids: &[&str]) -> String {
    let instance = |id: &&str| {
        item(&json!({
            "InstanceId": id, "InstanceType": "m5.large", "LaunchTime": "2026-01-02T00:00:00Z",
            "Placement": { "AvailabilityZone": "us-east-1a" }, "State": { "Name": "running" },
            "InstanceLifecycle": "spot",
        }))
    };
    list(&ids.iter().map(instance).collect::<String>())
}

pub(crate) fn requests(items: &str) -> String {
    format!(
        "<DescribeSpotInstanceRequestsResponse xmlns=\"{NAMESPACE}\"><requestId>0</requestId>\
         <spotInstanceRequestSet>{items}</spotInstanceRequestSet>\
         </DescribeSpotInstanceRequestsResponse>"
    )
}

/// The instances of a list, each from its id to the next.
pub(crate) fn instances(body: &str) -> Vec<&str> {
    body.split("<instanceId>").skip(1).collect()
}

/// The texts of an element, in order.
pub(crate) fn values<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let tag = format!("<{name}>");
    text.split(&tag).skip(1).filter_map(|rest| rest.split('<').next()).collect()
}

fn first<'a>(text: &'a str, name: &str) -> &'a str {
    values(text, name).first().copied().unwrap_or_default()
}
