//! One line per answer: what the table of evidence makes of it.

use super::*;
use fleet_provider::evidence::UNKNOWN_REFUSAL;
use fleet_provider::{LOOK_AGAIN, Reach};

const RETRY: Class = Class::Retry { after: None };

const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

fn answer(asked: Asked, status: u16, code: &str) -> Error {
    classify(asked, Refusal { status, code: code.into(), ..Refusal::default() })
}

#[track_caller]
fn check(asked: Asked, status: u16, code: &str, expect: Class) {
    let error = answer(asked, status, code);
    assert_eq!((error.class, error.code.as_str()), (expect, code), "{asked:?} {status}");
}

#[test]
fn every_described_answer_to_a_launch() {
    let launch = |status, code, expect| check(Asked::Launch, status, code, expect);
    let capacity = "instance-operations/launch/insufficient-capacity";
    launch(400, capacity, Class::Capacity { block: minutes(3) });
    launch(400, "global/quota-exceeded", Class::Quota { block: minutes(15) });
    launch(401, "global/invalid-api-key", Class::Auth);
    launch(403, "global/account-inactive", Class::Auth);
    launch(403, "global/invalid-address", Class::Auth);
    launch(400, "global/invalid-parameters", Class::Invalid);
    launch(400, NOT_THERE, Class::Invalid);
    launch(404, NOT_THERE, Class::Invalid);
    launch(400, "instance-operations/launch/file-system-in-wrong-region", Class::Invalid);
    launch(500, "global/internal-error", Class::Unknown);
    launch(400, "global/internal-error", Class::Unknown);
    launch(400, "global/unknown", Class::Unknown);
    launch(429, "global/too-many-requests", RETRY);
    launch(429, "", RETRY);
}

#[test]
fn upstream_codes_count_by_their_last_part() {
    let launch = |status, code, expect| check(Asked::Launch, status, code, expect);
    for code in ["provider/quota-exceeded", "provider/some/where/quota-exceeded"] {
        for status in [400, 403, 409] {
            launch(status, code, Class::Quota { block: minutes(15) });
            assert_eq!(answer(Asked::Launch, status, code).reach(), Reach::Region);
        }
        launch(503, code, Class::Unknown);
    }
    launch(400, "provider/insufficient-capacity", Class::Capacity { block: minutes(3) });
    launch(409, "provider/x/insufficient-capacity", Class::Capacity { block: minutes(3) });
    launch(400, "provider/internal-unavailable", Class::Refused { block: minutes(5) });
    launch(409, "provider/internal-unavailable", Class::Unknown);
    launch(503, "provider/internal-unavailable", Class::Unknown);
    launch(400, "provider/never-heard-of", Class::Refused { block: UNKNOWN_REFUSAL });
    check(Asked::Read, 503, "provider/internal-unavailable", RETRY);
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
fn an_unknown_code_turns_a_change_down_and_a_question_may_be_asked_again() {
    let refused = Class::Refused { block: UNKNOWN_REFUSAL };
    for code in ["", "Http418", "insufficient-capacity", "global/INVALID-parameters"] {
        for status in [400, 404, 418] {
            check(Asked::Launch, status, code, refused);
            check(Asked::End, status, code, refused);
            check(Asked::Read, status, code, RETRY);
        }
        check(Asked::Launch, 409, code, Class::Unknown);
    }
}

#[test]
fn a_machine_that_is_ending_or_not_seen_yet_is_looked_for_again() {
    let again = Class::Retry { after: Some(LOOK_AGAIN) };
    check(Asked::End, 404, NOT_THERE, again);
    check(Asked::End, 400, "global/unknown", again);
    check(Asked::Read, 404, NOT_THERE, Class::Invalid);
}

#[test]
fn throttling_lasts_as_long_as_the_cloud_wishes() {
    let after = Some(Duration::from_secs(7));
    for asked in [Asked::Read, Asked::Launch, Asked::End] {
        for code in ["", "global/too-many-requests"] {
            let refusal = Refusal { status: 429, code: code.into(), after, ..Refusal::default() };
            let error = classify(asked, refusal);
            assert!(error.class == Class::Retry { after } && error.throttled, "{error:?}");
        }
    }
}

#[test]
fn an_address_that_has_moved_is_for_a_person() {
    for asked in [Asked::Read, Asked::Launch, Asked::End] {
        let error = answer(asked, 301, "Http301");
        assert_eq!((error.class, error.reach()), (Class::Invalid, Reach::Account));
    }
}
