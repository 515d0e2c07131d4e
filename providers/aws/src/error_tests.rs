//! One line per code of the safety table.

use super::*;
use fleet_provider::Reach;
use std::time::Duration;

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

fn room(of: u64) -> Class {
    Class::Capacity { block: minutes(of) }
}

fn limit(of: u64) -> Class {
    Class::Quota { block: minutes(of) }
}

fn no(of: u64) -> Class {
    Class::Refused { block: minutes(of) }
}

const RETRY: Class = Class::Retry { after: None };

#[track_caller]
fn check(asked: Asked, status: u16, code: &str, words: &str, expect: Class) -> Error {
    let error = classify(asked, status, code, words);
    assert_eq!(error.class, expect, "{asked:?} {status} {code} {words}");
    error
}

#[test]
fn every_refusal_of_a_launch_is_as_wide_as_its_cause() {
    let cases: &[(u16, &str, &str, Class, Reach)] = &[
        (500, "InsufficientInstanceCapacity", "Insufficient capacity.", room(3), Reach::Pool),
        (500, "InsufficientHostCapacity", "insufficient capacity", room(3), Reach::Pool),
        (500, "InsufficientReservedInstanceCapacity", "", room(3), Reach::Pool),
        (500, "InsufficientCapacity", "", room(3), Reach::Pool),
        (500, "InsufficientAddressCapacity", "", room(3), Reach::Pool),
        (500, "InsufficientVolumeCapacity", "", room(3), Reach::Zone),
        (400, "InsufficientInstanceCapacity", "", room(3), Reach::Pool),
        (400, "InsufficientCapacityOnHost", "", room(3), Reach::Pool),
        (400, "UnfulfillableCapacity", "", room(3), Reach::Pool),
        (400, "ReservationCapacityExceeded", "", room(3), Reach::Pool),
        (400, "InsufficientFreeAddressesInSubnet", "", room(3), Reach::Zone),
        (400, "SpotMaxPriceTooLow", "", room(3), Reach::Pool),
        (400, "Unsupported", "", room(15), Reach::Pool),
        (400, "VcpuLimitExceeded", "", limit(15), Reach::Class),
        (400, "MaxSpotInstanceCountExceeded", "", limit(3), Reach::Class),
        (400, "InstanceLimitExceeded", "", limit(5), Reach::Class),
        (400, "MaxFleetCountExceeded", "", limit(15), Reach::Market),
        (400, "VolumeLimitExceeded", "", limit(15), Reach::Region),
        (400, "PendingVerification", "", no(15), Reach::Region),
        (400, "Blocked", "", no(60), Reach::Region),
        (400, "AuthFailure.ServiceLinkedRoleCreationNotPermitted", "", no(5), Reach::AccountMarket),
        (401, "AuthFailure", "AWS was not able to validate", Class::Auth, Reach::Region),
        (400, "AuthFailure", "Not authorized for images: [ami-1]", Class::Invalid, Reach::Region),
        (401, "OptInRequired", "", Class::Invalid, Reach::Region),
        (403, "UnauthorizedOperation", "", Class::Auth, Reach::Region),
        (403, "UnauthorizedOperation", "to perform: iam:PassRole on", Class::Auth, Reach::Account),
        (400, "ExpiredToken", "", Class::Auth, Reach::Account),
        (400, "RequestExpired", "", Class::Auth, Reach::Account),
        (400, "InvalidParameterValue", "Invalid IAM Instance Profile name", no(2), Reach::Region),
        (400, "InvalidParameterValue", "price", Class::Invalid, Reach::Pool),
        (400, "InvalidParameterCombination", "", Class::Invalid, Reach::Pool),
        (400, "MissingInput", "", Class::Invalid, Reach::Zone),
        (400, "InvalidSubnetId.NotFound", "", Class::Invalid, Reach::Zone),
        (400, "InvalidAMIID.NotFound", "", Class::Invalid, Reach::Pool),
        (400, "InvalidUserData.Malformed", "", Class::Invalid, Reach::Region),
        (400, "InvalidLaunchTemplateName.NotFoundException", "", Class::Invalid, Reach::Pool),
        (400, "InvalidPlacementGroup.Unknown", "", Class::Invalid, Reach::Region),
        (400, "InvalidCapacityReservationId.NotFound", "", Class::Invalid, Reach::Market),
        (400, "TagPolicyViolation", "", Class::Invalid, Reach::Region),
        (400, "InvalidFleetConfig", "", Class::Invalid, Reach::Pool),
        (400, "InvalidRequest", "", Class::Invalid, Reach::Pool),
    ];
    for &(status, code, words, class, reach) in cases {
        let error = check(Asked::Launch, status, code, words, class);
        assert_eq!(error.reach(), reach, "{status} {code} {words}");
        assert!(!error.throttled, "{code}");
    }
    for code in ["IdempotentParameterMismatch", "IdempotentInstanceTerminated"] {
        check(Asked::Launch, 400, code, "", Class::Freeze);
    }
}

#[test]
fn throttling_is_patience_whatever_carries_it() {
    for asked in [Asked::Read, Asked::Launch, Asked::End] {
        for (status, code) in [
            (400, "RequestLimitExceeded"),
            (503, "RequestLimitExceeded"),
            (400, "ThrottlingException"),
            (429, "Whatever"),
        ] {
            assert!(check(asked, status, code, "", RETRY).throttled, "{status} {code}");
        }
    }
}

/// Capacity comes with 500 and no other 5xx; everything else that is broken is in doubt.
#[test]
fn a_broken_answer_is_not_believed_whatever_its_words() {
    for code in ["InsufficientInstanceCapacity", "VcpuLimitExceeded", "AuthFailure", "Whatever"] {
        for status in [502, 503, 504] {
            check(Asked::Launch, status, code, "", Class::Unknown);
            check(Asked::End, status, code, "", Class::Unknown);
            check(Asked::Read, status, code, "", RETRY);
        }
    }
    for code in ["InternalError", "ServerInternal", "Unavailable", "ServiceUnavailable"] {
        for status in [400, 500, 503] {
            check(Asked::Launch, status, code, "", Class::Unknown);
        }
    }
    check(Asked::Launch, 500, "VcpuLimitExceeded", "", Class::Unknown);
}

/// A 4xx turns a request down, and there are hundreds of codes.
#[test]
fn an_unknown_code_is_a_refusal() {
    for code in ["", "Http418", "InsufficientPatience", "insufficientinstancecapacity", "Invalid"] {
        check(Asked::Launch, 400, code, "", no(10));
        check(Asked::End, 400, code, "", no(10));
        check(Asked::Read, 400, code, "", RETRY);
    }
}

#[test]
fn a_machine_that_is_not_seen_yet_is_looked_for_again() {
    let again = Class::Retry { after: Some(LOOK_AGAIN) };
    check(Asked::End, 400, "InvalidInstanceID.NotFound", "", again);
    check(Asked::End, 400, "InvalidInstanceID.Malformed", "", Class::Invalid);
    check(Asked::End, 400, "OperationNotPermitted", "", Class::Invalid);
}
