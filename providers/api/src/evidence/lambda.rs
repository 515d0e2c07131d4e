//! Lambda Cloud.
//!
//! Codes are paths. Those that begin with `provider/` come from whoever runs the region for Lambda;
//! the description names the prefix and one code, and they are read by their last part: the
//! provider hands them over as `provider/LAST`.

use super::{Call, GUESS, Means, Row, seen};
use crate::Reach;

/// Lambda's own description of its API.
const OPENAPI: &str = "OpenAPI 1.8.3";
/// Upstream errors: the prefix is described, what comes after it is partly seen in clients.
const UPSTREAM: &str = "OpenAPI 1.8.3, Provider errors; third-party clients";
/// The old host.
const OLD_HOST: &str = "Lambda API pages: cloud.lambdalabs.com has moved to cloud.lambda.ai";

/// The first that fits counts.
pub(super) const ROWS: &[Row] = &[
    seen(Call::Any, Some(429), "global/too-many-requests", Means::Throttled, OPENAPI),
    seen(Call::Any, None, "provider/too-many-requests", Means::Throttled, GUESS),
    seen(
        Call::Launch,
        Some(400),
        "instance-operations/launch/insufficient-capacity",
        Means::Capacity(3, Reach::Pool),
        "skypilot-org/skypilot#7084, #3865",
    ),
    // Resource exhaustion upstream is announced; its code is a guess.
    seen(
        Call::Launch,
        None,
        "provider/insufficient-capacity",
        Means::Capacity(3, Reach::Pool),
        GUESS,
    ),
    seen(
        Call::Launch,
        Some(400),
        "global/quota-exceeded",
        Means::Quota(15, Reach::Account),
        OPENAPI,
    ),
    // A limit of the region's landlord, not of our account.
    seen(Call::Launch, None, "provider/quota-exceeded", Means::Quota(15, Reach::Region), UPSTREAM),
    // With a 5xx the launch may have happened. With a 4xx it is turned down, as any other 4xx.
    seen(Call::Any, Some(503), "provider/internal-unavailable", Means::Silence, UPSTREAM),
    seen(Call::Any, Some(409), "provider/internal-unavailable", Means::Silence, UPSTREAM),
    seen(
        Call::Launch,
        None,
        "provider/internal-unavailable",
        Means::Refused(5, Reach::Pool),
        UPSTREAM,
    ),
    seen(Call::Any, Some(401), "global/invalid-api-key", Means::Auth(Reach::Account), OPENAPI),
    seen(Call::Any, Some(403), "global/invalid-api-key", Means::Auth(Reach::Account), GUESS),
    seen(Call::Any, Some(403), "global/account-inactive", Means::Auth(Reach::Account), OPENAPI),
    seen(Call::Launch, Some(403), "global/invalid-address", Means::Auth(Reach::Account), OPENAPI),
    // Seen a moment ago, when we looked at it: the service's parts do not agree yet.
    seen(Call::End, None, "global/object-does-not-exist", Means::Later(5), OPENAPI),
    seen(Call::Launch, None, "global/object-does-not-exist", Means::Invalid(Reach::Pool), OPENAPI),
    seen(
        Call::Look,
        Some(404),
        "global/object-does-not-exist",
        Means::Invalid(Reach::Pool),
        OPENAPI,
    ),
    seen(Call::Any, Some(400), "global/invalid-parameters", Means::Invalid(Reach::Pool), OPENAPI),
    seen(
        Call::Launch,
        Some(400),
        "instance-operations/launch/file-system-in-wrong-region",
        Means::Invalid(Reach::Pool),
        OPENAPI,
    ),
    // What is being ended already: the next look finds that.
    seen(Call::End, None, "global/unknown", Means::Later(5), "skypilot-org/skypilot#3410"),
    seen(Call::Launch, None, "global/unknown", Means::Silence, GUESS),
    seen(Call::Any, Some(500), "global/internal-error", Means::Silence, OPENAPI),
    // Described with 409 for firewall rulesets; whatever its status, it says that something broke.
    seen(Call::Any, None, "global/internal-error", Means::Silence, OPENAPI),
    // Our own name for an answer without a code.
    seen(Call::Any, Some(301), "Http301", Means::Invalid(Reach::Account), OLD_HOST),
    seen(Call::Any, Some(308), "Http308", Means::Invalid(Reach::Account), GUESS),
];
