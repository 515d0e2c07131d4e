//! One line per code of the safety table.

use super::*;
use serde_json::{from_value, json};

const RETRY: Class = Class::Retry { after: None };
const HOUR: Class = Class::Capacity { block: minutes(60) };
const SPOT: Asked = Asked::Launch(Market::Spot);
const ON_DEMAND: Asked = Asked::Launch(Market::OnDemand);

#[track_caller]
fn check(asked: Asked, status: u16, code: &str, message: &str, expect: Class) {
    let error = ErrorBody { code: code.into(), message: message.into(), details: Vec::new() };
    assert_eq!(classify(asked, status, &error, None), expect, "{asked:?} {status} {code}");
}

#[test]
fn every_code_of_the_safety_table_on_a_launch() {
    check(ON_DEMAND, 429, "TooManyRequests", "", RETRY);
    for code in [
        "AllocationFailed",
        "ZonalAllocationFailed",
        "OverconstrainedAllocationRequest",
        "OverconstrainedZonalAllocationRequest",
    ] {
        check(ON_DEMAND, 409, code, "", HOUR);
        // An operation that fails later comes with a 200.
        check(SPOT, 200, code, "", HOUR);
    }
    check(SPOT, 409, "SkuNotAvailable", "", HOUR);
    check(ON_DEMAND, 409, "SkuNotAvailable", "", Class::Capacity { block: minutes(23 * 60) });
    for code in ["ClientAuthenticationError", "AuthorizationFailed", "ReadOnlyDisabledSubscription"]
    {
        check(ON_DEMAND, 403, code, "", Class::Auth);
    }
    check(ON_DEMAND, 401, "", "", Class::Auth);
    for code in ["VMSizeNotSupported", "InvalidParameter", "InvalidTemplateDeployment"] {
        check(ON_DEMAND, 400, code, "", Class::Invalid);
    }
    check(ON_DEMAND, 409, "PropertyChangeNotAllowed", "", Class::Freeze);
    for status in [500, 502, 503, 504] {
        check(ON_DEMAND, status, "InternalServerError", "", Class::Unknown);
    }
}

#[test]
fn quotas_by_their_words() {
    let quota = |block| Class::Quota { block };
    let family = "Operation could not be completed as it results in exceeding approved \
                  standardDSv3Family Cores quota. Additional details - Current Limit: 10, \
                  Current Usage: 8, Additional Required: 4";
    let nothing = "… exceeding approved standardNCFamily Cores quota. Additional details - \
                   Current Limit: 0, Current Usage: 0";
    let spot = "… exceeding approved LowPriorityCores quota. Current Limit: 3, …";
    for code in ["OperationNotAllowed", "QuotaExceeded"] {
        check(ON_DEMAND, 409, code, family, quota(minutes(10)));
        check(ON_DEMAND, 409, code, nothing, quota(minutes(60)));
        check(SPOT, 409, code, spot, quota(minutes(60)));
    }
    // The same code about something else says nothing about quota.
    let other = "The operation is not allowed since the VM is marked for deletion.";
    check(ON_DEMAND, 409, "OperationNotAllowed", other, Class::Unknown);
    check(ON_DEMAND, 409, "QuotaExceeded", "current limit: 0", quota(minutes(60)));
}

#[test]
fn the_status_comes_before_the_words() {
    for code in ["AllocationFailed", "QuotaExceeded", "AuthorizationFailed", "Whatever"] {
        for status in [500, 502, 503, 504] {
            check(SPOT, status, code, "", Class::Unknown);
            check(Asked::End, status, code, "", Class::Unknown);
            check(Asked::Read, status, code, "", RETRY);
        }
    }
}

#[test]
fn an_unknown_code_is_an_unknown_outcome() {
    for code in ["", "Whatever", "allocationfailed", "Allocation"] {
        for status in [400, 404, 409] {
            check(SPOT, status, code, "capacity quota cores", Class::Unknown);
            check(Asked::End, status, code, "", Class::Unknown);
            check(Asked::Read, status, code, "", RETRY);
        }
    }
}

#[test]
fn the_error_inside_an_error_counts() {
    let check = |error: serde_json::Value, code: &str, class: Class| {
        let body: Vec<u8> = serde_json::to_vec(&json!({ "error": error })).expect("JSON");
        let error = read(ON_DEMAND, 400, &body, None);
        assert_eq!((error.code.as_str(), error.class), (code, class));
    };
    let inside = json!({ "code": "SkuNotAvailable", "message": "not here" });
    let never = Class::Capacity { block: minutes(23 * 60) };
    let wrapped = json!({ "code": "InvalidTemplateDeployment", "message": "see inside",
                          "details": [inside.clone()] });
    check(wrapped.clone(), "SkuNotAvailable", never);
    let twice = json!({ "code": "DeploymentFailed", "details": [wrapped] });
    check(twice, "SkuNotAvailable", never);
    let several = json!({ "code": "InvalidTemplateDeployment", "details": [
        { "code": "Mystery", "message": "?" }, inside ] });
    check(several, "SkuNotAvailable", never);
    check(
        json!({ "code": "InvalidTemplateDeployment" }),
        "InvalidTemplateDeployment",
        Class::Invalid,
    );
    check(
        json!({ "code": "Mystery", "details": [{ "code": "AllocationFailed" }] }),
        "Mystery",
        Class::Unknown,
    );
    let mut deep = json!({ "code": "AllocationFailed" });
    for _ in 0..100 {
        deep = json!({ "code": "Conflict", "details": [deep] });
    }
    let body: ErrorBody = from_value(deep).expect("an error");
    assert_eq!(innermost(&body).code, "Conflict");
}

#[test]
fn nonsense_is_an_unknown_outcome() {
    for body in [&b""[..], b"<html>", b"{}", b"[]", b"{\"error\":\"text\"}", b"\xff"] {
        let error = read(ON_DEMAND, 400, body, None);
        assert_eq!((error.class, error.code.as_str()), (Class::Unknown, "Http400"));
    }
}

#[test]
fn no_code_is_in_two_tables() {
    let tables = [LATER, CAPACITY, QUOTA, AUTH, INVALID, FREEZE];
    let mut all: Vec<&str> = tables.into_iter().flatten().copied().collect();
    all.sort_unstable();
    let count = all.len();
    all.dedup();
    assert_eq!(all.len(), count);
}
