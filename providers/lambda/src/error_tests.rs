//! One line per code of the safety table.

use super::*;

const RETRY: Class = Class::Retry { after: None };

#[track_caller]
fn check(asked: Asked, status: u16, code: &str, expect: Class) {
    assert_eq!(classify(asked, status, code, None), expect, "{asked:?} {status} {code}");
}

#[test]
fn every_code_of_the_safety_table_on_a_launch() {
    let launch = |status, code, expect| check(Asked::Launch, status, code, expect);
    let capacity = "instance-operations/launch/insufficient-capacity";
    launch(400, capacity, Class::Capacity { block: minutes(3) });
    launch(400, "global/quota-exceeded", Class::Quota { block: minutes(15) });
    launch(401, "global/invalid-api-key", Class::Auth);
    launch(403, "global/account-inactive", Class::Auth);
    launch(403, "global/invalid-address", Class::Auth);
    launch(400, "global/invalid-parameters", Class::Invalid);
    launch(404, "global/object-does-not-exist", Class::Invalid);
    launch(400, "instance-operations/launch/file-system-in-wrong-region", Class::Invalid);
    launch(500, "global/internal-error", Class::Unknown);
    launch(400, "global/internal-error", Class::Unknown);
    launch(429, "global/too-many-requests", RETRY);
    launch(429, "", RETRY);
}

#[test]
fn the_status_comes_before_the_words() {
    let capacity = "instance-operations/launch/insufficient-capacity";
    for code in [capacity, "global/quota-exceeded", "global/invalid-api-key", "whatever"] {
        for status in [500, 502, 503, 504] {
            check(Asked::Launch, status, code, Class::Unknown);
            check(Asked::End, status, code, Class::Unknown);
            check(Asked::Read, status, code, RETRY);
        }
    }
}

#[test]
fn an_unknown_code_is_an_unknown_outcome() {
    for code in ["", "Http418", "insufficient-capacity", "global/INVALID-parameters"] {
        for status in [400, 404, 409, 418] {
            check(Asked::Launch, status, code, Class::Unknown);
            check(Asked::End, status, code, Class::Unknown);
            check(Asked::Read, status, code, RETRY);
        }
    }
}

#[test]
fn a_machine_that_is_not_seen_yet_is_looked_for_again() {
    let again = Class::Retry { after: Some(LOOK_AGAIN) };
    check(Asked::End, 404, "global/object-does-not-exist", again);
}

#[test]
fn throttling_lasts_as_long_as_the_cloud_wishes() {
    let after = Some(Duration::from_secs(7));
    for asked in [Asked::Read, Asked::Launch, Asked::End] {
        assert_eq!(classify(asked, 429, "", after), Class::Retry { after });
    }
}

#[test]
fn no_code_is_in_two_tables() {
    let tables = [THROTTLED, BROKEN, CAPACITY, QUOTA, AUTH, INVALID];
    let mut all: Vec<&str> = tables.into_iter().flatten().copied().collect();
    all.sort_unstable();
    let count = all.len();
    all.dedup();
    assert_eq!(all.len(), count);
}
