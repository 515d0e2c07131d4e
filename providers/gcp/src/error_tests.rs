//! One line per code of the safety table.

use super::*;
use google_cloud_compute_v1::model::operation;

const RETRY: Class = Class::Retry { after: None };
const SOON: Class = Class::Retry { after: Some(READY_SOON) };
const BUSY: Class = Class::Capacity { block: minutes(3) };
const NEVER: Class = Class::Capacity { block: minutes(24 * 60) };
const QUOTA: Class = Class::Quota { block: minutes(15) };

#[track_caller]
fn check(asked: Asked, status: u16, code: &str, expect: Class) {
    assert_eq!(classify(asked, status, code), expect, "{asked:?} {status} {code}");
}

#[test]
fn every_code_of_the_safety_table_inside_an_operation() {
    for (code, expect) in [
        ("RESOURCE_OPERATION_RATE_EXCEEDED", RETRY),
        ("RESOURCE_NOT_READY", SOON),
        ("ZONE_RESOURCE_POOL_EXHAUSTED", BUSY),
        ("ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", BUSY),
        ("RESOURCE_POOL_EXHAUSTED", BUSY),
        ("INSUFFICIENT_CAPACITY", BUSY),
        ("VM_MIN_COUNT_NOT_REACHED", BUSY),
        ("IP_SPACE_EXHAUSTED", BUSY),
        ("UNSUPPORTED_OPERATION", NEVER),
        ("QUOTA_EXCEEDED", QUOTA),
        ("IAM_PERMISSION_DENIED", Class::Auth),
        ("CONDITION_NOT_MET", Class::Invalid),
        ("INVALID_FIELD_VALUE", Class::Invalid),
        ("RESOURCE_ALREADY_EXISTS", Class::Freeze),
        ("INTERNAL_ERROR", Class::Unknown),
    ] {
        check(Asked::Launch, 0, code, expect);
    }
}

#[test]
fn every_code_of_the_safety_table_outright() {
    for (status, code, expect) in [
        (403, "rateLimitExceeded", RETRY),
        (403, "RATE_LIMIT_EXCEEDED", RETRY),
        (429, "Http429", RETRY),
        (400, "resourceNotReady", SOON),
        (403, "quotaExceeded", QUOTA),
        (401, "authError", Class::Auth),
        (401, "required", Class::Auth),
        (401, "Http401", Class::Auth),
        (403, "IAM_PERMISSION_DENIED", Class::Auth),
        (403, "forbidden", Class::Auth),
        (403, "accessNotConfigured", Class::Auth),
        (400, "invalid", Class::Invalid),
        (400, "required", Class::Invalid),
        (400, "whatever", Class::Invalid),
        (404, "notFound", Class::Invalid),
        (412, "conditionNotMet", Class::Invalid),
        (409, "alreadyExists", Class::Freeze),
        (409, "whatever", Class::Freeze),
    ] {
        check(Asked::Launch, status, code, expect);
    }
}

#[test]
fn throttling_is_patience_whatever_carries_it() {
    for asked in [Asked::Read, Asked::Launch, Asked::End] {
        for status in [403, 429, 503] {
            check(asked, status, "rateLimitExceeded", RETRY);
        }
    }
}

#[test]
fn the_status_comes_before_the_words() {
    for code in ["ZONE_RESOURCE_POOL_EXHAUSTED", "quotaExceeded", "forbidden", "Whatever"] {
        for status in [500, 502, 503, 504] {
            check(Asked::Launch, status, code, Class::Unknown);
            check(Asked::End, status, code, Class::Unknown);
            check(Asked::Read, status, code, RETRY);
        }
    }
}

#[test]
fn an_unknown_code_is_an_unknown_outcome() {
    for code in ["", "Http418", "POOL_EXHAUSTED", "zone_resource_pool_exhausted"] {
        for status in [0, 403, 418] {
            check(Asked::Launch, status, code, Class::Unknown);
            check(Asked::End, status, code, Class::Unknown);
            check(Asked::Read, status, code, RETRY);
        }
    }
}

#[test]
fn no_code_is_in_two_tables() {
    let tables = [THROTTLED, NOT_READY, CAPACITY, UNSUPPORTED, super::QUOTA, AUTH, INVALID, TAKEN];
    let mut all: Vec<&str> = tables.into_iter().flatten().copied().collect();
    all.sort_unstable();
    let count = all.len();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn an_operation_says_why_and_not_only_that() {
    let error = |code: &str, message: &str| {
        operation::error::Errors::new().set_code(code).set_message(message)
    };
    let ended = |errors: Vec<operation::error::Errors>| {
        let all = operation::Error::new().set_errors(errors);
        of_operation(
            Asked::Launch,
            &Operation::new().set_error(all).set_http_error_status_code(503),
        )
    };
    let class = |errors| ended(errors).map(|error| (error.code, error.class));
    let min = || error("VM_MIN_COUNT_NOT_REACHED", "");
    assert_eq!(class(vec![min()]), Some(("VM_MIN_COUNT_NOT_REACHED".into(), BUSY)));
    assert_eq!(
        class(vec![min(), error("QUOTA_EXCEEDED", "Quota 'N2_CPUS' exceeded")]),
        Some(("QUOTA_EXCEEDED".into(), QUOTA))
    );
    assert_eq!(
        class(vec![error("QUOTA_EXCEEDED", "Quota 'GPUS_ALL_REGIONS' exceeded")]),
        Some(("QUOTA_EXCEEDED".into(), Class::Quota { block: minutes(60) }))
    );
    assert_eq!(
        class(vec![min(), error("SOMETHING_NEW", "")]),
        Some(("SOMETHING_NEW".into(), Class::Unknown))
    );
    assert_eq!(of_operation(Asked::Launch, &Operation::new()), None);
    let bare = Operation::new().set_http_error_status_code(503);
    let class = of_operation(Asked::Launch, &bare).map(|error| error.class);
    assert_eq!(class, Some(Class::Unknown));
}
