//! What each code of each cloud means for the caller.

use crate::event::Refusal;
use fleet_model::{Cloud, Market};
use fleet_provider::{Class, Error};
use std::time::Duration;

/// What was asked, which decides what silence means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A list or a poll: asking again is harmless.
    Read,
    /// A launch in a market.
    Launch(Market),
    /// An end.
    End,
}

/// The error a caller gets for a cloud's refusal.
pub(crate) fn classify(cloud: Cloud, asked: Asked, refusal: &Refusal) -> Error {
    let class = class(cloud, asked, refusal);
    Error::new(cloud, class, refusal.code.clone(), refusal.message.clone())
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

fn class(cloud: Cloud, asked: Asked, refusal: &Refusal) -> Class {
    let retry = Class::Retry { after: refusal.after.map(Duration::from_millis) };
    // Codes first that say for certain that nothing happened, whatever status carries them.
    match refusal.code.as_str() {
        "ConnectionRefused"
        | "RequestLimitExceeded"
        | "rateLimitExceeded"
        | "TooManyRequests"
        | "global/too-many-requests" => return retry,
        "InvalidInstanceID.NotFound"
        | "notFound"
        | "ResourceNotFound"
        | "global/object-does-not-exist"
            if asked == Asked::End =>
        {
            return Class::Retry { after: Some(Duration::from_secs(5)) };
        }
        _ => {}
    }
    // A 503 says that something is broken, whatever words it carries.
    let known = match cloud {
        _ if refusal.status == 503 => None,
        Cloud::Aws => aws(refusal),
        Cloud::Gcp => gcp(refusal),
        Cloud::Azure => azure(asked, refusal),
        Cloud::Lambda => lambda(refusal),
    };
    match known {
        Some(class) => class,
        None if asked == Asked::Read => retry,
        // What we do not know is never taken for "nothing happened".
        None => Class::Unknown,
    }
}

fn aws(refusal: &Refusal) -> Option<Class> {
    Some(match refusal.code.as_str() {
        "InsufficientInstanceCapacity" | "SpotMaxPriceTooLow" => {
            Class::Capacity { block: minutes(3) }
        }
        "UnauthorizedOperation" => Class::Auth,
        "Unsupported" => Class::Capacity { block: minutes(24 * 60) },
        "VcpuLimitExceeded" | "MaxSpotInstanceCountExceeded" => Class::Quota { block: minutes(15) },
        "IdempotentParameterMismatch" | "IdempotentInstanceTerminated" => Class::Freeze,
        _ => return None,
    })
}

fn gcp(refusal: &Refusal) -> Option<Class> {
    Some(match refusal.code.as_str() {
        "ZONE_RESOURCE_POOL_EXHAUSTED" => Class::Capacity { block: minutes(3) },
        "QUOTA_EXCEEDED" => Class::Quota { block: minutes(15) },
        "IAM_PERMISSION_DENIED" => Class::Auth,
        "invalid" => Class::Invalid,
        "alreadyExists" => Class::Freeze,
        _ => return None,
    })
}

fn azure(asked: Asked, refusal: &Refusal) -> Option<Class> {
    Some(match refusal.code.as_str() {
        "AllocationFailed" | "ZonalAllocationFailed" | "OverconstrainedAllocationRequest" => {
            Class::Capacity { block: minutes(60) }
        }
        "SkuNotAvailable" => Class::Capacity {
            block: match asked {
                Asked::Launch(Market::Spot) => minutes(60),
                Asked::Launch(Market::OnDemand | Market::Reserved) | Asked::End | Asked::Read => {
                    minutes(23 * 60)
                }
            },
        },
        "QuotaExceeded" => {
            let all = refusal.message.contains("LowPriorityCores")
                || refusal.message.ends_with("limit: 0");
            Class::Quota { block: if all { minutes(60) } else { minutes(10) } }
        }
        "AuthorizationFailed" => Class::Auth,
        "PropertyChangeNotAllowed" => Class::Freeze,
        _ => return None,
    })
}

fn lambda(refusal: &Refusal) -> Option<Class> {
    Some(match refusal.code.as_str() {
        "instance-operations/launch/insufficient-capacity" => Class::Capacity { block: minutes(3) },
        "global/quota-exceeded" => Class::Quota { block: minutes(15) },
        "global/invalid-api-key" => Class::Auth,
        "global/object-does-not-exist" => Class::Invalid,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_never_taken_for_capacity() {
        let launch = Asked::Launch(Market::Spot);
        let check = |cloud, asked, status, code: &str, expect| {
            let error = classify(cloud, asked, &Refusal::new(status, code, ""));
            assert_eq!(error.class, expect, "{cloud} {asked:?} {status} {code}");
        };
        let retry = Class::Retry { after: None };
        for cloud in Cloud::ALL {
            check(cloud, launch, 400, "InsufficientPatience", Class::Unknown);
            check(cloud, launch, 0, "RequestTimeout", Class::Unknown);
            check(cloud, Asked::End, 0, "RequestTimeout", Class::Unknown);
            check(cloud, Asked::Read, 0, "RequestTimeout", retry);
            check(cloud, launch, 0, "ConnectionRefused", retry);
            check(cloud, launch, 503, "InsufficientInstanceCapacity", Class::Unknown);
        }
        check(Cloud::Gcp, launch, 503, "ZONE_RESOURCE_POOL_EXHAUSTED", Class::Unknown);
        check(Cloud::Aws, launch, 503, "RequestLimitExceeded", retry);
        check(Cloud::Azure, launch, 409, "SkuNotAvailable", Class::Capacity { block: minutes(60) });
        let day = Class::Capacity { block: minutes(23 * 60) };
        check(Cloud::Azure, Asked::Launch(Market::OnDemand), 409, "SkuNotAvailable", day);
    }
}
