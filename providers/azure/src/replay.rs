//! Answers as our parsers read them, for tests that replay what others recorded. Nothing is sent.

use crate::api::Answer;
use crate::error::{Asked, LATE, of_body, read};
use crate::machines::{looks_gone, machine};
use crate::operation::{self, End};
use crate::wire::{ErrorBody, Page, Sku, Usage, Vm};
use crate::{quotas, scores};
use fleet_model::{Machine, Market, Quota, Region, Zone};
use fleet_provider::Error;
use reqwest::header::HeaderMap;
use serde_json::{Value, from_value};

/// What was asked, by the method that asked it: a PUT or PATCH is a launch.
fn asked(method: &str) -> Asked {
    match method {
        "PUT" | "PATCH" => Asked::Launch(Market::OnDemand),
        "DELETE" => Asked::End,
        _ => Asked::Read,
    }
}

/// The error of an answer that is no success.
pub fn error(method: &str, status: u16, body: &Value) -> Error {
    read(asked(method), status, &serde_json::to_vec(body).unwrap_or_default(), None)
}

/// The error that an operation which was accepted before ended with.
pub fn late_error(body: &Value) -> Option<Error> {
    let body: ErrorBody = from_value(body.clone()).ok()?;
    Some(of_body(Asked::Launch(Market::OnDemand), LATE, &body, None))
}

/// Whether an answer with 404 says that the thing is not there.
pub fn is_gone(error: &Error) -> bool {
    looks_gone(error)
}

/// What a machine's description is read as, and the addresses of its interfaces; why not, if it cannot
/// be read.
pub fn vm(body: &Value) -> Result<(Option<Machine>, Vec<String>), String> {
    let vm: Vm = from_value(body.clone()).map_err(|why| why.to_string())?;
    let interfaces = vm.properties.network_profile.network_interfaces.iter();
    let ids = interfaces.map(|one| one.id.clone()).collect();
    Ok((machine(&vm), ids))
}

/// How many machines a page of a list has.
pub fn page(body: &Value) -> Result<usize, String> {
    let page: Page<Vm> = from_value(body.clone()).map_err(|why| why.to_string())?;
    Ok(page.value.len())
}

/// What an answer says of an operation: `Some(true)` done, `Some(false)` failed, `None` not ended.
pub fn operation(status: u16, body: &Value) -> Option<bool> {
    let body = serde_json::to_vec(body).unwrap_or_default();
    let answer = Answer { status, headers: HeaderMap::new(), body };
    match operation::judge(Asked::Read, &answer, true)? {
        End::Done => Some(true),
        End::Failed(_) => Some(false),
        End::Open => None,
    }
}

/// Names of the sizes of a page that cannot be had in a zone of a region, and of those that can.
pub fn sizes(body: &Value, region: &str, zone: &str) -> Result<(Vec<String>, Vec<String>), String> {
    let page: Page<Sku> = from_value(body.clone()).map_err(|why| why.to_string())?;
    let closed = |sku: &Sku| sku.refusal(region, &Zone::new(zone), Market::OnDemand).is_some();
    let (closed, open): (Vec<Sku>, Vec<Sku>) = page.value.into_iter().partition(closed);
    let names = |skus: Vec<Sku>| skus.into_iter().map(|sku| sku.name).collect();
    Ok((names(closed), names(open)))
}

/// The limits of a page that machines of a family count toward.
pub fn limits(
    body: &Value,
    region: &str,
    family: &str,
    market: Market,
) -> Result<Vec<Quota>, String> {
    let page: Page<Usage> = from_value(body.clone()).map_err(|why| why.to_string())?;
    Ok(quotas::of(&page.value, &Region::new(region), family, market, None))
}

/// How many placement scores an answer has that we understand.
pub fn scores(body: &Value) -> Result<usize, String> {
    let answer = from_value(body.clone()).map_err(|why| why.to_string())?;
    Ok(scores::read(&answer).len())
}
