//! What is found in answers and operations. What codes mean is tested where the table is.

use super::*;
use fleet_provider::Reach;
use google_cloud_compute_v1::model::operation;
use google_cloud_gax::error::rpc::Status;
use serde_json::{Value, json};

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

/// An answer as the SDK hands it over: an old list of errors has become a reason, or was dropped
/// because there were details.
fn answer(status: u16, message: &str, details: &Value) -> SdkError {
    let details: Vec<StatusDetails> = serde_json::from_value(details.clone()).expect("details");
    let told = Status::default().set_message(message).set_details(details);
    SdkError::service_full(told, Some(status), None, None)
}

fn info(reason: &str) -> Value {
    json!({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason,
            "domain": "compute.googleapis.com" })
}

#[test]
fn a_refusal_is_read_with_details_and_without() {
    let retry = (Class::Retry { after: None }, Reach::Pool);
    let quota = |reach| (Class::Quota { block: minutes(15) }, reach);
    let check = |status: u16, words: &str, detail: Value, code: &str, expect: (Class, Reach)| {
        let found = read(Asked::Launch, &answer(status, words, &json!([detail])));
        assert_eq!((found.code.as_str(), (found.class, found.reach())), (code, expect), "{detail}");
        found.throttled
    };
    let help = || json!({ "@type": "type.googleapis.com/google.rpc.Help", "links": [] });
    let limit = "Quota 'IN_USE_ADDRESSES' exceeded.  Limit: 8.0 in region us-central1.";
    check(403, limit, info("quotaExceeded"), "quotaExceeded", quota(Reach::Region));
    let many = "CONCURRENT_OPERATIONS_QUOTA_EXCEEDED";
    assert!(check(403, "Rate Limit Exceeded", info(many), many, retry));
    // Details without a reason: the words are all there is.
    assert!(check(403, "Rate Limit Exceeded", help(), "Http403", retry));
    check(403, "Quota 'N2_CPUS' exceeded.", help(), "Http403", quota(Reach::Class));
    check(403, "Required 'x' permission", help(), "Http403", (Class::Auth, Reach::Region));
    let failure = json!({
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{ "subject": "project:p", "description": "SSD_TOTAL_GB is used up" }],
    });
    check(403, "Over", failure, "quotaExceeded", quota(Reach::Region));
    let new = Class::Refused { block: minutes(10) };
    check(418, "", info("teapot"), "teapot", (new, Reach::Pool));
    check(503, "", info("backendError"), "backendError", (Class::Unknown, Reach::Pool));
    check(401, "Login", info("required"), "required", (Class::Auth, Reach::Account));
}

#[test]
fn what_google_wishes_is_a_wait() {
    let kind = "type.googleapis.com/google.rpc.RetryInfo";
    let details = json!([{ "@type": kind, "retryDelay": "7s" }]);
    let found = read(Asked::Read, &answer(429, "slowly", &details));
    assert_eq!(found.class, Class::Retry { after: Some(Duration::from_secs(7)) });
    assert!(found.throttled);
}

#[test]
fn an_operation_says_why_and_not_only_that() {
    let busy = Class::Capacity { block: minutes(3) };
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
    let alone = Class::Refused { block: minutes(10) };
    assert_eq!(class(vec![min()]), Some(("VM_MIN_COUNT_NOT_REACHED".into(), alone)));
    assert_eq!(
        class(vec![min(), error("ZONE_RESOURCE_POOL_EXHAUSTED", "")]),
        Some(("ZONE_RESOURCE_POOL_EXHAUSTED".into(), busy))
    );
    let gpus = ended(vec![min(), error("QUOTA_EXCEEDED", "Quota 'GPUS_ALL_REGIONS' exceeded")]);
    assert_eq!(gpus.map(|error| error.reach()), Some(Reach::AccountClass));
    assert_eq!(
        class(vec![min(), error("SOMETHING_NEW", "")]),
        Some(("SOMETHING_NEW".into(), Class::Unknown))
    );
    assert_eq!(of_operation(Asked::Launch, &Operation::new()), None);
    // Deleted while it was being made: nobody knows, and nobody has to come.
    for status in [409, 503] {
        let bare = Operation::new().set_http_error_status_code(status);
        let class = of_operation(Asked::Launch, &bare).map(|error| error.class);
        assert_eq!(class, Some(Class::Unknown), "{status}");
    }
}

#[test]
fn details_of_an_operation_are_told() {
    let body = json!({ "status": "DONE", "error": { "errors": [{
        "code": "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
        "message": "No room.",
        "errorDetails": [
            { "errorInfo": { "reason": "resource_availability", "domain": "compute.googleapis.com",
              "metadatas": { "zone": "us-central1-a", "zonesAvailable": "us-central1-f" } } },
            { "quotaInfo": { "limitName": "GPUS-ALL-REGIONS-per-project" } },
        ],
    }] } });
    let operation: Operation = serde_json::from_value(body).expect("an operation");
    let found = of_operation(Asked::Launch, &operation).expect("an error");
    assert!(found.message.contains("zones with room: us-central1-f"), "{}", found.message);
    assert!(found.message.contains("GPUS-ALL-REGIONS-per-project"), "{}", found.message);
    assert_eq!(found.class, Class::Capacity { block: minutes(3) });
}
