//! One line per code of the safety table.

use super::*;

const RETRY: Class = Class::Retry { after: None };
const BUSY: Class = Class::Capacity { block: minutes(3) };
const NEVER: Class = Class::Capacity { block: minutes(24 * 60) };
const QUOTA: Class = Class::Quota { block: minutes(15) };

#[track_caller]
fn check(asked: Asked, status: u16, code: &str, expect: Class) {
    assert_eq!(classify(asked, status, code), expect, "{asked:?} {status} {code}");
}

#[test]
fn every_code_of_the_safety_table_on_a_launch() {
    for (code, expect) in [
        ("InsufficientInstanceCapacity", BUSY),
        ("UnfulfillableCapacity", BUSY),
        ("ReservationCapacityExceeded", BUSY),
        ("InsufficientFreeAddressesInSubnet", BUSY),
        ("InsufficientHostCapacity", BUSY),
        ("SpotMaxPriceTooLow", BUSY),
        ("Unsupported", NEVER),
        ("VcpuLimitExceeded", QUOTA),
        ("InstanceLimitExceeded", QUOTA),
        ("MaxSpotInstanceCountExceeded", QUOTA),
        ("MaxFleetCountExceeded", QUOTA),
        ("VolumeLimitExceeded", QUOTA),
        ("AuthFailure", Class::Auth),
        ("AuthFailure.ServiceLinkedRoleCreationNotPermitted", Class::Auth),
        ("UnauthorizedOperation", Class::Auth),
        ("ExpiredToken", Class::Auth),
        ("RequestExpired", Class::Auth),
        ("InvalidClientTokenId", Class::Auth),
        ("OptInRequired", Class::Auth),
        ("InvalidParameterValue", Class::Invalid),
        ("InvalidParameterCombination", Class::Invalid),
        ("InvalidParameter", Class::Invalid),
        ("MissingParameter", Class::Invalid),
        ("InvalidAMIID.NotFound", Class::Invalid),
        ("InvalidAMIID.Malformed", Class::Invalid),
        ("InvalidAMIID.Unavailable", Class::Invalid),
        ("InvalidUserData.Malformed", Class::Invalid),
        ("InvalidLaunchTemplateId.NotFound", Class::Invalid),
        ("InvalidLaunchTemplateName.NotFoundException", Class::Invalid),
        ("IdempotentParameterMismatch", Class::Freeze),
        ("IdempotentInstanceTerminated", Class::Freeze),
        ("Blocked", Class::Freeze),
        ("PendingVerification", Class::Freeze),
        ("InternalError", Class::Unknown),
        ("ServerInternal", Class::Unknown),
        ("ServiceUnavailable", Class::Unknown),
        ("Unavailable", Class::Unknown),
    ] {
        check(Asked::Launch, 400, code, expect);
    }
}

#[test]
fn throttling_is_patience_whatever_carries_it() {
    for asked in [Asked::Read, Asked::Launch, Asked::End] {
        for status in [400, 429, 503] {
            check(asked, status, "RequestLimitExceeded", RETRY);
        }
    }
}

#[test]
fn the_status_comes_before_the_words() {
    for code in ["InsufficientInstanceCapacity", "VcpuLimitExceeded", "AuthFailure", "Whatever"] {
        for status in [500, 502, 503, 504] {
            check(Asked::Launch, status, code, Class::Unknown);
            check(Asked::End, status, code, Class::Unknown);
            check(Asked::Read, status, code, RETRY);
        }
    }
}

#[test]
fn an_unknown_code_is_an_unknown_outcome() {
    for code in ["", "Http418", "InsufficientPatience", "insufficientinstancecapacity", "Invalid"] {
        check(Asked::Launch, 400, code, Class::Unknown);
        check(Asked::End, 400, code, Class::Unknown);
        check(Asked::Read, 400, code, RETRY);
    }
}

#[test]
fn a_machine_that_is_not_seen_yet_is_looked_for_again() {
    let again = Class::Retry { after: Some(LOOK_AGAIN) };
    check(Asked::End, 400, "InvalidInstanceID.NotFound", again);
    check(Asked::End, 400, "InvalidInstanceID.Malformed", Class::Invalid);
}

#[test]
fn no_code_is_in_two_tables() {
    let tables = [THROTTLED, BROKEN, CAPACITY, UNSUPPORTED, super::QUOTA, AUTH, INVALID, FREEZE];
    let mut all: Vec<&str> = tables.into_iter().flatten().copied().collect();
    all.sort_unstable();
    let count = all.len();
    all.dedup();
    assert_eq!(all.len(), count);
}
