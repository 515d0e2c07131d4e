//! How a fleet is kept right: when machines are of use, how they are replaced, and what happens when
//! their cloud takes them back.

use super::clock::{cron, zone};
use crate::reader::{Field, Object, Reader};
use crate::scalar::Number;
use crate::source::quote;
use crate::wire;
use crate::words::{ADDRESSES, ON_NOTICE, ON_REBALANCE, UPDATE_STRATEGIES};
use fleet_model::{Health, Interruption, OnNotice, Part, Probe, UpdateStrategy, Updates, Window};

/// A day, in seconds.
const DAY: u32 = 86_400;

/// Health, updates and interruption.
pub(super) fn read(
    reader: &mut Reader<'_>,
    spec: Option<&Object<'_>>,
) -> (Health, Updates, Interruption) {
    let Some(spec) = spec else { return Default::default() };
    let health = spec.get(reader, "health").map(|field| health(reader, &field));
    let updates = spec.get(reader, "updates").map(|field| updates(reader, &field));
    let interruption = spec.get(reader, "interruption").map(|field| interruption(reader, &field));
    (health.unwrap_or_default(), updates.unwrap_or_default(), interruption.unwrap_or_default())
}

fn health(reader: &mut Reader<'_>, field: &Field<'_>) -> Health {
    let mut health = Health::default();
    let Some(object) = reader.object(field, wire::Health::FIELDS) else { return health };
    if let Some(field) = object.get(reader, "cloud") {
        health.cloud = reader.flag(&field).unwrap_or(health.cloud);
    }
    let http = object.get(reader, "http").and_then(|field| http(reader, &field));
    let tcp = object.get(reader, "tcp").and_then(|field| {
        let object = reader.object(&field, wire::TcpCheck::FIELDS)?;
        let port = object.require(reader, "port").and_then(|field| port(reader, &field))?;
        Some(Probe::Tcp { port })
    });
    let command = object.get(reader, "command").map(|field| {
        let argv = argv(reader, &field);
        Probe::Command { argv }
    });
    health.probes = [http, tcp, command].into_iter().flatten().collect();
    if let Some(field) = object.get(reader, "address") {
        let word = reader.word(&field, "kind of address", ADDRESSES);
        health.address = word.unwrap_or_default();
    }
    if let Some(field) = object.get(reader, "timeout") {
        health.timeout_seconds = reader.span(&field, 1..=60).unwrap_or(health.timeout_seconds);
    }
    if let Some(field) = object.get(reader, "readyWithin") {
        health.ready_within_seconds = reader.span(&field, 10..=DAY);
    }
    if let Some(field) = object.get(reader, "unhealthyAfter") {
        let after = reader.span(&field, 0..=DAY);
        health.unhealthy_after_seconds = after.unwrap_or(health.unhealthy_after_seconds);
    }
    health
}

fn http(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<Probe> {
    let object = reader.object(field, wire::HttpCheck::FIELDS)?;
    let port = object.require(reader, "port").and_then(|field| port(reader, &field));
    let path = match object.get(reader, "path") {
        Some(field) => path(reader, &field),
        None => Some("/".to_owned()),
    };
    Some(Probe::Http { port: port?, path: path? })
}

fn port(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<u16> {
    let port = reader.number(field, Number::whole(1, 65_535))?;
    u16::try_from(port).ok()
}

fn path(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<String> {
    let text = reader.text(field)?;
    // Anything else could become a second line of the request.
    let good = text.bytes().all(|byte| byte.is_ascii_graphic()) && text.len() <= 1024;
    if good && text.starts_with('/') {
        return Some(text);
    }
    let message = format!("`{}` is not a path", quote(&text));
    reader.error(field, message, Some("write a path such as /healthz".into()));
    None
}

/// A program and its arguments.
fn argv(reader: &mut Reader<'_>, field: &Field<'_>) -> Vec<String> {
    let argv = reader.list(field, |reader, item| {
        let text = reader.text(item)?;
        if text.contains('\0') {
            reader.error(item, "an argument with a zero byte".into(), Some("remove it".into()));
            return None;
        }
        Some(text)
    });
    if argv.first().is_some_and(String::is_empty) {
        let hint = "the first item is the program: [./check.sh, --fast]";
        reader.error(field, "the program has no name".into(), Some(hint.into()));
    }
    argv
}

fn updates(reader: &mut Reader<'_>, field: &Field<'_>) -> Updates {
    let mut updates = Updates::default();
    let Some(object) = reader.object(field, wire::Updates::FIELDS) else { return updates };
    if let Some(field) = object.get(reader, "strategy") {
        let word = reader.word(&field, "update strategy", UPDATE_STRATEGIES);
        updates.strategy = word.unwrap_or_default();
    }
    if let Some(field) = object.get(reader, "maxUnavailable") {
        updates.max_unavailable = part(reader, &field).unwrap_or(updates.max_unavailable);
    }
    if let Some(field) = object.get(reader, "maxSurge") {
        updates.max_surge = part(reader, &field).unwrap_or(updates.max_surge);
    }
    let nothing = updates.max_unavailable.is_none() && updates.max_surge.is_none();
    if nothing && updates.strategy == UpdateStrategy::Rolling {
        let message = "`maxUnavailable` and `maxSurge` are both 0: nothing could ever be replaced";
        reader.error(field, message.into(), Some("raise one of them".into()));
    }
    if let Some(field) = object.get(reader, "canary") {
        let canary = reader.number(&field, Number::whole(0, 1000));
        updates.canary = canary.and_then(|n| u32::try_from(n).ok()).unwrap_or(updates.canary);
    }
    if let Some(field) = object.get(reader, "pause") {
        updates.pause_seconds = reader.span(&field, 0..=7 * DAY).unwrap_or_default();
    }
    if let Some(field) = object.get(reader, "healthGate") {
        updates.health_gate = reader.flag(&field).unwrap_or(updates.health_gate);
    }
    if let Some(field) = object.get(reader, "windows") {
        updates.windows = reader.list(&field, window);
    }
    updates
}

/// So many machines, or a share of the target.
fn part(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<Part> {
    if Reader::is_share(field) {
        return reader.share(field).map(Part::Share);
    }
    let machines = reader.number(field, Number::whole(0, 1_000_000))?;
    u32::try_from(machines).ok().map(Part::Machines)
}

fn window(reader: &mut Reader<'_>, item: &Field<'_>) -> Option<Window> {
    let object = reader.object(item, wire::UpdateWindow::FIELDS)?;
    let cron = object.require(reader, "cron").and_then(|field| cron(reader, &field));
    let zone = match object.get(reader, "timeZone") {
        Some(field) => zone(reader, &field),
        None => Some("UTC".to_owned()),
    };
    let lasts = object.require(reader, "lasts").and_then(|field| reader.span(&field, 60..=7 * DAY));
    Some(Window { cron: cron?, time_zone: zone?, lasts_seconds: lasts? })
}

fn interruption(reader: &mut Reader<'_>, field: &Field<'_>) -> Interruption {
    let mut interruption = Interruption::default();
    let Some(object) = reader.object(field, wire::Interruption::FIELDS) else {
        return interruption;
    };
    if let Some(field) = object.get(reader, "onNotice") {
        let word = reader.word(&field, "answer to a notice", ON_NOTICE);
        interruption.on_notice = word.unwrap_or_default();
    }
    if let Some(field) = object.get(reader, "onRebalance") {
        let word = reader.word(&field, "answer to a recommendation", ON_REBALANCE);
        interruption.on_rebalance = word.unwrap_or_default();
    }
    if let Some(field) = object.get(reader, "graceSeconds") {
        let seconds = reader.number(&field, Number::whole(0, 3600));
        interruption.grace_seconds = seconds.and_then(|s| u32::try_from(s).ok()).unwrap_or(0);
    }
    if let Some(field) = object.get(reader, "drain") {
        interruption.drain = argv(reader, &field);
    }
    let drains = interruption.on_notice == OnNotice::Drain;
    if drains && interruption.drain.is_empty() && !reader.is_defaults {
        let hint =
            "name the program that ends the work: drain: [./drain.sh]; or write onNotice: replace";
        reader.error(field, "`onNotice: drain` needs `drain`".into(), Some(hint.into()));
    }
    if !interruption.drain.is_empty() && interruption.grace_seconds == 0 && !reader.is_defaults {
        let hint = "write graceSeconds: 90, or how long the work takes to end";
        reader.error(field, "`drain` needs `graceSeconds`".into(), Some(hint.into()));
    }
    interruption
}
