//! Every code of EC2 that we know, and what the caller can do about it.
//!
//! The status comes first. A 5xx says that something is broken, whatever words it carries: after
//! one, a launch may or may not have happened. A code that is not in the tables is never taken for
//! "nothing happened" either.

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_ec2::config::http::HttpResponse;
use aws_sdk_ec2::error::{ProvideErrorMetadata, SdkError};
use fleet_model::Cloud;
pub(crate) use fleet_provider::{Asked, LOOK_AGAIN, SETTLE};
use fleet_provider::{Class, Error, with_causes};
use std::error::Error as StdError;
use std::io::ErrorKind;
use std::time::Duration;

const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

/// Turned away at the door, whatever status carries it: nothing happened.
const THROTTLED: &[&str] = &[
    "RequestLimitExceeded",
    "Throttling",
    "ThrottlingException",
    "ThrottledException",
    "RequestThrottled",
    "RequestThrottledException",
    "EC2ThrottledException",
    "TooManyRequestsException",
];

/// As good as a 5xx, should one ever come with another status.
const BROKEN: &[&str] = &[
    "InternalError",
    "InternalFailure",
    "ServerInternal",
    "ServiceUnavailable",
    "ServiceUnavailableException",
    "Unavailable",
    "RequestTimeout",
];

/// The pool has nothing for us now.
const CAPACITY: &[&str] = &[
    "InsufficientInstanceCapacity",
    "InsufficientCapacity",
    "InsufficientCapacityOnHost",
    "InsufficientHostCapacity",
    "InsufficientReservedInstanceCapacity",
    "InsufficientFreeAddressesInSubnet",
    "UnfulfillableCapacity",
    "ReservationCapacityExceeded",
    "SpotMaxPriceTooLow",
];

/// The pool does not sell this at all. Zones gain types, but not within the hour.
const UNSUPPORTED: &[&str] = &["Unsupported"];

/// A limit of the account in this region.
const QUOTA: &[&str] = &[
    "VcpuLimitExceeded",
    "InstanceLimitExceeded",
    "MaxSpotInstanceCountExceeded",
    "MaxFleetCountExceeded",
    "VolumeLimitExceeded",
];

/// The account, its keys or its rights.
const AUTH: &[&str] = &[
    "AuthFailure",
    "AuthFailure.ServiceLinkedRoleCreationNotPermitted",
    "UnauthorizedOperation",
    "AccessDenied",
    "AccessDeniedException",
    "ExpiredToken",
    "ExpiredTokenException",
    "RequestExpired",
    "InvalidClientTokenId",
    "UnrecognizedClientException",
    "SignatureDoesNotMatch",
    "IncompleteSignature",
    "MissingAuthenticationToken",
    "OptInRequired",
];

/// The request is wrong and stays wrong.
const INVALID: &[&str] = &[
    "MissingParameter",
    "UnknownParameter",
    "ValidationError",
    "InvalidUserData.Malformed",
    "InvalidBlockDeviceMapping",
    "InvalidKeyPair.NotFound",
    "InvalidGroup.NotFound",
    "InvalidSecurityGroupID.NotFound",
    "InvalidSubnetID.NotFound",
    "InvalidSubnet",
    "InvalidVpcID.NotFound",
    "InvalidSnapshot.NotFound",
    "InvalidInstanceType",
    "InvalidInstanceID.Malformed",
    "InvalidTagKey.Malformed",
    "InvalidIamInstanceProfileArn.Malformed",
    "TagLimitExceeded",
    "ParameterNotFound",
    "OperationNotPermitted",
    "VPCIdNotSpecified",
];

/// The same, by how the code begins.
const INVALID_FAMILIES: &[&str] =
    &["InvalidParameter", "InvalidAMIID.", "InvalidInstanceType", "InvalidLaunchTemplate"];

/// Something that must not be, or that only a person can mend.
const FREEZE: &[&str] = &[
    "IdempotentParameterMismatch",
    "IdempotentInstanceTerminated",
    "Blocked",
    "PendingVerification",
];

/// What a status and a code mean for whoever asked.
pub(crate) fn classify(asked: Asked, status: u16, code: &str) -> Class {
    let is = |codes: &[&str]| codes.contains(&code);
    if is(THROTTLED) {
        return Class::Retry { after: None };
    }
    if status >= 500 || is(BROKEN) {
        return asked.silence();
    }
    if code == "InvalidInstanceID.NotFound" {
        // Seen a moment ago, when we looked at it: the service's parts do not agree yet.
        return Class::Retry { after: Some(LOOK_AGAIN) };
    }
    if is(CAPACITY) {
        Class::Capacity { block: minutes(3) }
    } else if is(UNSUPPORTED) {
        Class::Capacity { block: minutes(24 * 60) }
    } else if is(QUOTA) {
        Class::Quota { block: minutes(15) }
    } else if is(AUTH) {
        Class::Auth
    } else if is(FREEZE) {
        Class::Freeze
    } else if is(INVALID) || INVALID_FAMILIES.iter().any(|family| code.starts_with(family)) {
        Class::Invalid
    } else {
        asked.silence()
    }
}

/// An error of our own making: nothing was sent.
pub(crate) fn refused(class: Class, code: &str, message: impl Into<String>) -> Error {
    Error::new(Cloud::Aws, class, code, message)
}

/// Reads what the SDK says of a call that did not succeed.
pub(crate) fn read<E>(asked: Asked, error: SdkError<E, HttpResponse>) -> Error
where
    E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
{
    match &error {
        SdkError::ServiceError(answer) => {
            let status = answer.raw().status().as_u16();
            let meta = answer.err().meta();
            let code = match meta.code() {
                Some(code) => code.to_owned(),
                None => format!("Http{status}"),
            };
            let message = meta.message().unwrap_or("(no message)").to_owned();
            Error::new(Cloud::Aws, classify(asked, status, &code), code, message)
        }
        SdkError::ConstructionFailure(_) | SdkError::DispatchFailure(_) => {
            let (class, code) = unsent(asked, &error);
            Error::new(Cloud::Aws, class, code, words(&error))
        }
        SdkError::TimeoutError(_) => {
            Error::new(Cloud::Aws, asked.silence(), "RequestTimeout", words(&error))
        }
        _ => Error::new(Cloud::Aws, asked.silence(), "UnreadableAnswer", words(&error)),
    }
}

/// A call of which no answer came: most often we cannot know whether the request arrived.
fn unsent(asked: Asked, error: &(dyn StdError + 'static)) -> (Class, &'static str) {
    let mut cause = Some(error);
    while let Some(this) = cause {
        if this.is::<CredentialsError>() {
            return (Class::Auth, "NoCredentials");
        }
        if let Some(io) = this.downcast_ref::<std::io::Error>()
            && io.kind() == ErrorKind::ConnectionRefused
        {
            return (Class::Retry { after: None }, "ConnectionRefused");
        }
        cause = this.source();
    }
    (asked.silence(), "NoAnswer")
}

/// An error and its causes, in one line.
fn words(error: &(dyn StdError + 'static)) -> String {
    // The credential chain says in several lines where it looked.
    with_causes(error).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
