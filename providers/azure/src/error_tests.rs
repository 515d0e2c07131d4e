//! One line per answer that a launch or a deletion depends on.

use super::*;
use fleet_provider::Reach;
use serde_json::{from_value, json};

const RETRY: Class = Class::Retry { after: None };
const SPOT: Asked = Asked::Launch(Market::Spot);
const ON_DEMAND: Asked = Asked::Launch(Market::OnDemand);

const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}
const HOUR: Class = Class::Capacity { block: minutes(60) };
const REFUSED: Class = Class::Refused { block: minutes(10) };

fn of(asked: Asked, status: u16, code: &str, message: &str) -> Error {
    let error = ErrorBody { code: code.into(), message: message.into(), details: Vec::new() };
    classify(asked, status, &error, None)
}

#[track_caller]
fn check(asked: Asked, status: u16, code: &str, message: &str, expect: Class) {
    assert_eq!(of(asked, status, code, message).class, expect, "{asked:?} {status} {code}");
}

#[track_caller]
fn reaches(asked: Asked, status: u16, code: &str, message: &str, expect: Class, reach: Reach) {
    let error = of(asked, status, code, message);
    assert_eq!((error.class, error.reach()), (expect, reach), "{asked:?} {status} {code}");
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
        check(SPOT, LATE, code, "", HOUR);
    }
    check(SPOT, 409, "SkuNotAvailable", "", HOUR);
    check(ON_DEMAND, 409, "SkuNotAvailable", "", Class::Capacity { block: minutes(15) });
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
fn quotas_by_their_words_and_as_narrow_as_they_are() {
    let quota = |block| Class::Quota { block };
    let family = "Operation could not be completed as it results in exceeding approved \
                  standardDSv3Family Cores quota. Additional details - Current Limit: 10, \
                  Current Usage: 8, Additional Required: 4";
    let nothing = "… exceeding approved standardNCFamily Cores quota. Additional details - \
                   Current Limit: 0, Current Usage: 0";
    let spot = "… exceeding approved LowPriorityCores quota. Current Limit: 3, …";
    let all = "… exceeding approved Total Regional Cores quota. Current Limit: 10, …";
    for status in [409, LATE] {
        let code = "OperationNotAllowed";
        reaches(ON_DEMAND, status, code, family, quota(minutes(10)), Reach::Class);
        reaches(ON_DEMAND, status, code, nothing, quota(minutes(60)), Reach::Class);
        reaches(SPOT, status, code, spot, quota(minutes(60)), Reach::Market);
        reaches(ON_DEMAND, status, code, all, quota(minutes(10)), Reach::Market);
    }
    reaches(ON_DEMAND, 400, "QuotaExceeded", family, quota(minutes(10)), Reach::Class);
    reaches(ON_DEMAND, 400, "QuotaExceeded", all, quota(minutes(10)), Reach::Market);
    let old = "Operation results in exceeding quota limits of Core. Maximum allowed: 100, \
               Current in use: 100, Additional requested: 4.";
    reaches(ON_DEMAND, 409, "OperationNotAllowed", old, quota(minutes(10)), Reach::Market);
    // The same code about something else is a refusal, and about something in progress silence.
    let other = "The operation is not allowed since the VM is marked for deletion.";
    reaches(ON_DEMAND, 409, "OperationNotAllowed", other, REFUSED, Reach::Pool);
    let busy = "Another operation on this VM is in progress.";
    check(ON_DEMAND, 409, "OperationNotAllowed", busy, Class::Unknown);
}

#[test]
fn compute_throttles_with_the_code_of_a_refusal() {
    let words = "The server rejected the request because too many requests have been received \
                 for this subscription.";
    for asked in [ON_DEMAND, SPOT, Asked::End, Asked::Read] {
        let error = of(asked, 429, "OperationNotAllowed", words);
        assert_eq!((error.class, error.throttled), (RETRY, true));
    }
    let wait = "exceeded the limit of '150'. Please try again after '324' seconds.";
    let error = of(Asked::Read, 429, "ResourceRequestsThrottled", wait);
    assert_eq!(error.class, Class::Retry { after: Some(Duration::from_secs(324)) });
    let for_ever = "Please try again after '999999' seconds.";
    let error = of(Asked::Read, 429, "ResourceRequestsThrottled", for_ever);
    assert_eq!(error.class, Class::Retry { after: Some(LONGEST_WISH) });
}

#[test]
fn refusals_that_reports_speak_of() {
    use Reach::{Account, AccountMarket, Pool, Region};
    reaches(SPOT, 409, "SpotPriceGreaterThanProvidedMaxPrice", "", REFUSED, Pool);
    reaches(SPOT, 400, "AzureSpotIsNotSupportedForThisVMSize", "", Class::Invalid, Pool);
    let none = "AzureSpotFeatureNotEnabledForSubscription";
    reaches(SPOT, 400, none, "", Class::Invalid, AccountMarket);
    for asked in [ON_DEMAND, Asked::End] {
        reaches(asked, 409, "ScopeLocked", "", REFUSED, Account);
        reaches(asked, 409, "ResourceGroupBeingDeleted", "", REFUSED, Account);
    }
    for code in ["ImageVersionDeprecated", "PlatformImageNotFound"] {
        reaches(ON_DEMAND, 404, code, "", Class::Invalid, Region);
    }
    reaches(ON_DEMAND, 403, "RequestDisallowedByAzure", "", Class::Auth, Region);
    reaches(ON_DEMAND, 403, "RequestDisallowedByPolicy", "", Class::Invalid, Pool);
    let full = Class::Refused { block: minutes(5) };
    reaches(ON_DEMAND, 400, "SubnetIsFull", "", full, Region);
    let later = Class::Retry { after: Some(minutes(3)) };
    check(Asked::End, 400, "NicReservedForAnotherVm", "", later);
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
fn an_unknown_code_is_a_refusal_unless_something_may_be_in_progress() {
    for code in ["", "Whatever", "allocationfailed", "Allocation"] {
        for (status, expect) in [(400, REFUSED), (404, REFUSED), (409, Class::Unknown)] {
            check(SPOT, status, code, "capacity quota cores", expect);
            check(Asked::End, status, code, "", expect);
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
    let short = Class::Capacity { block: minutes(15) };
    let wrapped = json!({ "code": "InvalidTemplateDeployment", "message": "see inside",
                          "details": [inside.clone()] });
    check(wrapped.clone(), "SkuNotAvailable", short);
    let twice = json!({ "code": "DeploymentFailed", "details": [wrapped] });
    check(twice, "SkuNotAvailable", short);
    let several = json!({ "code": "InvalidTemplateDeployment", "details": [
        { "code": "Mystery", "message": "?" }, inside ] });
    check(several, "SkuNotAvailable", short);
    check(
        json!({ "code": "InvalidTemplateDeployment" }),
        "InvalidTemplateDeployment",
        Class::Invalid,
    );
    check(
        json!({ "code": "Mystery", "details": [{ "code": "AllocationFailed" }] }),
        "Mystery",
        REFUSED,
    );
    let mut deep = json!({ "code": "AllocationFailed" });
    for _ in 0..100 {
        deep = json!({ "code": "Conflict", "details": [deep] });
    }
    let body: ErrorBody = from_value(deep).expect("an error");
    assert_eq!(innermost(&body).code, "Conflict");
}

#[test]
fn nonsense_is_judged_by_its_status() {
    for body in [&b""[..], b"<html>", b"{}", b"[]", b"{\"error\":\"text\"}", b"\xff"] {
        let error = read(ON_DEMAND, 400, body, None);
        assert_eq!((error.class, error.code.as_str()), (REFUSED, "Http400"));
        assert_eq!(read(ON_DEMAND, 502, body, None).class, Class::Unknown);
    }
    let bare = br#"{"Code":"429","Message":"Cannot acquire exclusive lock.","Target":null}"#;
    let error = read(Asked::Read, 429, bare, None);
    assert!(error.throttled && error.message.contains("exclusive lock"), "{error}");
}
