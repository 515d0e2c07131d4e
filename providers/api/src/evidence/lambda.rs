//! Lambda Cloud.

use super::{Call, Means, Row};
use crate::Reach;
use fleet_model::Cloud;

const fn row(
    call: Call,
    status: Option<u16>,
    code: &'static str,
    words: &'static str,
    means: Means,
    source: &'static str,
) -> Row {
    Row { cloud: Cloud::Lambda, call, status, code, words, means, source }
}

/// The first that fits counts.
pub(super) const ROWS: &[Row] = &[
    row(Call::Any, Some(429), "global/too-many-requests", "", Means::Throttled, "OpenAPI 1.8.3"),
    row(
        Call::Launch,
        Some(400),
        "instance-operations/launch/insufficient-capacity",
        "",
        Means::Capacity(3, Reach::Pool),
        "skypilot-org/skypilot#7084, #3865",
    ),
    row(
        Call::Launch,
        Some(400),
        "global/quota-exceeded",
        "",
        Means::Quota(15, Reach::Account),
        "OpenAPI 1.8.3",
    ),
    row(
        Call::Any,
        Some(403),
        "global/invalid-api-key",
        "",
        Means::Auth(Reach::Account),
        "OpenAPI 1.8.3",
    ),
    row(Call::End, None, "global/object-does-not-exist", "", Means::Later(5), "OpenAPI 1.8.3"),
    row(
        Call::Launch,
        None,
        "global/object-does-not-exist",
        "",
        Means::Invalid(Reach::Pool),
        "OpenAPI 1.8.3",
    ),
];
