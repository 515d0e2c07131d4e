//! What can be asked, for programs: OpenAPI 3.1, made from the types of the documents.

use super::{acts, busy, cost, explain, notice, reads};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use fleet_words::output::schema::ALL;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

static TEXT: LazyLock<String> = LazyLock::new(|| format!("{:#}\n", description()));

/// The description as it is served.
pub fn text() -> &'static str {
    &TEXT
}

pub(super) async fn served() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text()).into_response()
}

/// One thing that can be asked.
struct Operation {
    id: &'static str,
    path: &'static str,
    summary: &'static str,
    /// The document of the answer; `None` for what is no document.
    kind: Option<&'static str>,
    asks: Asks,
}

/// What a request says besides its path.
enum Asks {
    Nothing,
    Query(fn() -> Value),
    Body(fn() -> Value),
    /// The same, and the answer is 202: the work goes on.
    BodyThenWork(fn() -> Value),
    Events,
    /// A probe, which needs no token.
    Probe,
}

const fn operation(
    id: &'static str,
    path: &'static str,
    summary: &'static str,
    kind: &'static str,
    asks: Asks,
) -> Operation {
    Operation { id, path, summary, kind: Some(kind), asks }
}

fn operations() -> [Operation; 19] {
    use Asks::{Body, BodyThenWork, Events, Nothing, Probe, Query};
    let events = |id, path, summary| Operation { id, path, summary, kind: None, asks: Events };
    [
        operation("listFleets", "/v1/fleets", "All fleets at a glance", "overview", Nothing),
        operation("getFleet", "/v1/fleets/{fleet}", "One fleet and its machines", "fleet", Nothing),
        operation(
            "listMachines",
            "/v1/fleets/{fleet}/machines",
            "The machines of a fleet",
            "machines",
            Nothing,
        ),
        operation("getPlan", "/v1/fleets/{fleet}/plan", "What would be done next", "plan", Nothing),
        operation(
            "explain",
            "/v1/fleets/{fleet}/explain",
            "Why each pool is used or not used",
            "explain",
            Query(schema::<explain::What>),
        ),
        operation(
            "getHistory",
            "/v1/fleets/{fleet}/history",
            "What was done to a fleet, from its journal",
            "history",
            Query(schema::<reads::Part>),
        ),
        operation(
            "getCost",
            "/v1/fleets/{fleet}/cost",
            "What a fleet cost, from its journal",
            "cost-report",
            Query(schema::<cost::Which>),
        ),
        operation(
            "getRollout",
            "/v1/fleets/{fleet}/rollout",
            "How far a change of template has come",
            "rollout",
            Nothing,
        ),
        operation(
            "reconcile",
            "/v1/fleets/{fleet}/reconcile",
            "Look after a fleet now",
            "asked",
            BodyThenWork(schema::<acts::Why>),
        ),
        operation(
            "freeze",
            "/v1/fleets/{fleet}/freeze",
            "Keep a fleet as it is",
            "freeze",
            Body(schema::<acts::Keep>),
        ),
        operation(
            "thaw",
            "/v1/fleets/{fleet}/thaw",
            "Let a frozen fleet change again",
            "freeze",
            Body(schema::<acts::Why>),
        ),
        operation(
            "rollout",
            "/v1/fleets/{fleet}/rollout",
            "Pause, resume or undo a rollout",
            "rollout",
            Body(schema::<acts::Say>),
        ),
        operation(
            "giveNotice",
            "/v1/fleets/{fleet}/notice",
            "Tell that a machine is taken back: for the machines themselves",
            "asked",
            BodyThenWork(schema::<notice::TakenBack>),
        ),
        operation(
            "tellUse",
            "/v1/fleets/{fleet}/use",
            "Tell how busy a machine is: for the machines themselves",
            "asked",
            BodyThenWork(schema::<busy::Use>),
        ),
        events("listen", "/v1/events", "News of everything, as server-sent events"),
        events(
            "listenToFleet",
            "/v1/fleets/{fleet}/events",
            "News of one fleet, as server-sent events",
        ),
        Operation {
            id: "getOpenapi",
            path: "/v1/openapi.json",
            summary: "This description",
            kind: None,
            asks: Nothing,
        },
        operation("isHealthy", "/healthz", "Whether the process answers", "health", Probe),
        operation("isReady", "/readyz", "Whether it can answer for its fleets", "health", Probe),
    ]
}

fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(fields) = &mut schema {
        fields.remove("$schema");
        fields.remove("title");
    }
    schema
}

/// The whole description.
fn description() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    let mut bodies = Vec::new();
    for operation in operations() {
        let method = match operation.asks {
            Asks::Body(body) | Asks::BodyThenWork(body) => {
                bodies.push((body_name(operation.id), body()));
                "post"
            }
            _ => "get",
        };
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        if operation.path.contains("{fleet}") {
            path["parameters"] = json!([{ "$ref": "#/components/parameters/fleet" }]);
        }
        path[method] = described(&operation);
    }
    let asked: Vec<&str> = operations().iter().filter_map(|operation| operation.kind).collect();
    let documents = ALL
        .iter()
        .filter(|(kind, _)| asked.contains(kind) || ["error", "news"].contains(kind))
        .map(|(kind, schema)| (pascal(kind), schema()));
    json!({
        "openapi": "3.1.1",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": "fleet controller",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Fleets of machines on several clouds: look at them, and act on them.",
            "description": "Answers are the documents that the commands of `fleet` print with `-o json`.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }, { "browser": [] }, {}],
        "tags": [
            { "name": "look", "description": "Changes nothing." },
            { "name": "act", "description": "Is written to the journal, with who and why." },
            { "name": "probe", "description": "For load balancers and service managers." },
        ],
        "paths": paths,
        "components": {
            "parameters": { "fleet": {
                "name": "fleet",
                "in": "path",
                "required": true,
                "description": "The fleet's name.",
                "schema": { "type": "string", "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$" },
            } },
            "responses": refusals(),
            "schemas": lifted(documents.chain(bodies)),
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of `fleet token new`, or of the OpenID provider.",
                },
                "browser": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "The same token as the password of anybody.",
                },
            },
        },
    })
}

fn described(operation: &Operation) -> Value {
    let Operation { id, path, summary, kind, asks } = operation;
    let document = |kind: &str| json!({ "$ref": format!("#/components/schemas/{}", pascal(kind)) });
    let content = match (kind, asks) {
        (Some(kind), _) => json!({ "application/json": { "schema": document(kind) } }),
        (None, Asks::Events) => json!({ "text/event-stream": { "schema": {
            "type": "string",
            "description": "Events that are called as their `news`, each with a document `News` as its data.",
        } } }),
        (None, _) => json!({ "application/json": { "schema": { "type": "object" } } }),
    };
    let (status, tag) = match asks {
        Asks::BodyThenWork(_) => ("202", "act"),
        Asks::Body(_) => ("200", "act"),
        Asks::Probe => ("200", "probe"),
        Asks::Nothing | Asks::Query(_) | Asks::Events => ("200", "look"),
    };
    let mut responses = json!({ status: { "description": summary, "content": content } });
    let mut refused = vec!["400", "429", "503"];
    if !matches!(asks, Asks::Probe) {
        refused.extend(["401", "403"]);
    }
    if path.contains("{fleet}") {
        refused.push("404");
    }
    if tag == "act" {
        refused.extend(["408", "409", "413", "415"]);
    }
    for status in refused {
        responses[status] =
            json!({ "$ref": format!("#/components/responses/{}", refusal_name(status)) });
    }
    if matches!(asks, Asks::Probe) {
        responses["503"] = responses["200"].clone();
    }
    let mut told = json!({
        "operationId": id,
        "summary": summary,
        "tags": [tag],
        "responses": responses,
    });
    match asks {
        Asks::Query(query) => told["parameters"] = parameters(&query()),
        Asks::Body(_) | Asks::BodyThenWork(_) => {
            let body = json!({ "$ref": format!("#/components/schemas/{}", body_name(id)) });
            told["requestBody"] =
                json!({ "required": true, "content": { "application/json": { "schema": body } } });
        }
        Asks::Probe => told["security"] = json!([{}]),
        Asks::Nothing | Asks::Events => {}
    }
    told
}

const REFUSALS: [(&str, &str, &str); 10] = [
    ("400", "Bad", "The request makes no sense."),
    ("401", "Unknown", "A token is needed."),
    ("403", "Forbidden", "The caller may not do this."),
    ("404", "Missing", "There is no such fleet, pool or slot."),
    ("408", "Slow", "The body took too long."),
    ("409", "Conflict", "Somebody else changes the fleet, or it stands otherwise."),
    ("413", "Large", "The body is too large."),
    ("415", "Form", "What changes something is sent as JSON."),
    ("429", "Often", "Too much was asked for: wait as long as `Retry-After` says."),
    ("503", "Busy", "A store or a cloud does not answer now: try again later."),
];

fn refusal_name(status: &str) -> &'static str {
    REFUSALS.iter().find(|(known, ..)| *known == status).map_or("Bad", |(_, name, _)| name)
}

fn refusals() -> Value {
    let all = REFUSALS.iter().map(|(_, name, what)| {
        let error = json!({ "schema": { "$ref": "#/components/schemas/Error" } });
        (
            (*name).to_owned(),
            json!({ "description": what, "content": { "application/json": error } }),
        )
    });
    Value::Object(all.collect())
}

/// A query, one parameter for each of its keys.
fn parameters(query: &Value) -> Value {
    let keys = query["properties"].as_object().cloned().unwrap_or_default();
    let parameter = |(name, mut schema): (String, Value)| {
        let description = schema["description"].take();
        if let Value::Object(fields) = &mut schema {
            fields.remove("description");
            fields.remove("default");
            // What is left out is left out: a query has no `null`.
            if let Some(Value::Array(types)) = fields.get("type") {
                let rest = types.iter().find(|one| *one != "null").cloned();
                fields.insert("type".into(), rest.unwrap_or_default());
            }
        }
        json!({ "name": name, "in": "query", "description": description, "schema": schema })
    };
    keys.into_iter().map(parameter).collect()
}

fn body_name(id: &str) -> String {
    format!("{}Request", pascal(id))
}

fn pascal(kind: &str) -> String {
    kind.split('-')
        .map(|part| {
            let mut letters = part.chars();
            letters.next().map_or_else(String::new, |first| {
                first.to_uppercase().chain(letters).collect::<String>()
            })
        })
        .collect()
}

/// Documents whose parts stand beside them. A part that two documents mean the same by has one place.
fn lifted(documents: impl Iterator<Item = (String, Value)>) -> Value {
    let documents: Vec<(String, Value)> = documents.collect();
    let mut all: BTreeMap<String, Value> = BTreeMap::new();
    let mut meant: BTreeMap<String, Value> = BTreeMap::new();
    for (name, _) in &documents {
        meant.insert(name.clone(), Value::Null);
    }
    for (name, mut document) in documents {
        let parts = match &mut document {
            Value::Object(fields) => {
                for own in ["$schema", "$id", "title"] {
                    fields.remove(own);
                }
                fields.remove("$defs")
            }
            _ => None,
        };
        let parts = parts.and_then(|parts| parts.as_object().cloned()).unwrap_or_default();
        let names: BTreeMap<String, String> = parts
            .keys()
            .map(|part| {
                let whole = whole(part, &parts);
                let taken = meant.get(part).is_some_and(|other| *other != whole);
                let place = if taken { format!("{name}{part}") } else { part.clone() };
                meant.insert(place.clone(), whole);
                (part.clone(), place)
            })
            .collect();
        for (part, mut schema) in parts.clone() {
            point(&mut schema, &names);
            list_words(&mut schema);
            all.insert(names[&part].clone(), schema);
        }
        point(&mut document, &names);
        list_words(&mut document);
        all.insert(name, document);
    }
    json!(all)
}

/// A choice of words, each with its description, becomes a list of words: generators of clients know what to do with it.
fn list_words(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(list_words);
            let Some(Value::Array(branches)) = fields.get("oneOf") else { return };
            let words: Option<Vec<(Vec<Value>, String)>> = branches.iter().map(words).collect();
            let Some(words) = words else { return };
            let told = fields.get("description").and_then(Value::as_str).unwrap_or_default();
            let each = words.iter().map(|(_, told)| told.as_str());
            let told: Vec<&str> =
                std::iter::once(told).chain(each).filter(|told| !told.is_empty()).collect();
            let described = told.join("\n\n");
            fields.remove("oneOf");
            fields.insert("type".into(), "string".into());
            let all = words.into_iter().flat_map(|(words, _)| words);
            fields.insert("enum".into(), all.collect());
            if !described.is_empty() {
                fields.insert("description".into(), described.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(list_words),
        _ => {}
    }
}

/// The words of one branch, and what it says of them; `None` if it is more than words.
fn words(branch: &Value) -> Option<(Vec<Value>, String)> {
    let fields = branch.as_object()?;
    if fields.get("type")?.as_str() != Some("string") {
        return None;
    }
    let words = match (fields.get("const"), fields.get("enum")) {
        (Some(word), None) => vec![word.clone()],
        (None, Some(Value::Array(some))) => some.clone(),
        _ => return None,
    };
    let names: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    let told = fields.get("description").and_then(Value::as_str);
    Some((
        words.clone(),
        told.map_or_else(String::new, |told| format!("`{}`: {told}", names.join("`, `"))),
    ))
}

/// A part and everything that it is made of.
fn whole(part: &str, parts: &Map<String, Value>) -> Value {
    let mut reached = Map::new();
    let mut open = vec![part.to_owned()];
    while let Some(next) = open.pop() {
        if reached.contains_key(&next) {
            continue;
        }
        let schema = parts.get(&next).cloned().unwrap_or_default();
        references(&schema, &mut open);
        reached.insert(next, schema);
    }
    Value::Object(reached)
}

fn references(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(to)) = fields.get("$ref") {
                found.extend(to.strip_prefix("#/$defs/").map(str::to_owned));
            }
            fields.values().for_each(|inner| references(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| references(inner, found)),
        _ => {}
    }
}

fn point(schema: &mut Value, names: &BTreeMap<String, String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(to)) = fields.get_mut("$ref")
                && let Some(name) = to.strip_prefix("#/$defs/").and_then(|part| names.get(part))
            {
                *to = format!("#/components/schemas/{name}");
            }
            fields.values_mut().for_each(|inner| point(inner, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| point(inner, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_somewhere() {
        let description = description();
        let mut found = Vec::new();
        fn all(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::Object(fields) => {
                    if let Some(Value::String(to)) = fields.get("$ref") {
                        found.push(to.clone());
                    }
                    fields.values().for_each(|inner| all(inner, found));
                }
                Value::Array(items) => items.iter().for_each(|inner| all(inner, found)),
                _ => {}
            }
        }
        all(&description, &mut found);
        assert!(found.len() > 100, "{}", found.len());
        for to in found {
            let at = to.strip_prefix('#').expect("a local reference");
            assert!(description.pointer(at).is_some(), "{to} leads nowhere");
        }
    }

    /// Every route is described, and nothing else is.
    #[test]
    fn routes_and_description_agree() {
        let source = include_str!("mod.rs");
        let routes: std::collections::BTreeSet<&str> = source
            .lines()
            .filter_map(|line| {
                line.trim().strip_prefix(".route(\"")?.split_once('"').map(|(path, _)| path)
            })
            .collect();
        let described: std::collections::BTreeSet<&str> =
            operations().iter().map(|operation| operation.path).collect();
        assert_eq!(routes, described);
        let is_act = |operation: &&Operation| {
            matches!(operation.asks, Asks::Body(_) | Asks::BodyThenWork(_))
        };
        let all = operations();
        let acts: Vec<&str> = all.iter().filter(is_act).map(|operation| operation.path).collect();
        assert_eq!(acts, super::super::ACTS);
        let posts = source.lines().filter(|line| line.contains("post(")).count();
        assert_eq!(posts, acts.len());
    }
}
