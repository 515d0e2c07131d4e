//! Compute Engine.

use super::{Call, GUESS, Means, Row};
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
    Row { cloud: Cloud::Gcp, call, status, code, words, means, source }
}

/// The first that fits counts.
pub(super) const ROWS: &[Row] = &[
    row(
        Call::Any,
        None,
        "rateLimitExceeded",
        "",
        Means::Throttled,
        "403: hashicorp/terraform-provider-google#8360",
    ),
    row(
        Call::Launch,
        Some(0),
        "ZONE_RESOURCE_POOL_EXHAUSTED",
        "",
        Means::Capacity(3, Reach::Pool),
        "CCExtractor/sample-platform#901, google/syzkaller#4385",
    ),
    row(
        Call::Launch,
        None,
        "QUOTA_EXCEEDED",
        "",
        Means::Quota(15, Reach::Class),
        "verilog-to-routing/vtr-verilog-to-routing#1874, skypilot-org/skypilot#4333",
    ),
    row(Call::Any, Some(403), "IAM_PERMISSION_DENIED", "", Means::Auth(Reach::Account), GUESS),
    row(Call::Launch, Some(400), "invalid", "", Means::Invalid(Reach::Pool), "dstackai/dstack#696"),
    row(
        Call::Launch,
        Some(409),
        "alreadyExists",
        "",
        Means::Freeze,
        "dstackai/dstack#989, scylladb/scylla-machine-image#184",
    ),
    row(
        Call::End,
        Some(404),
        "notFound",
        "",
        Means::Later(5),
        "recorded: instance-template-delete-then-404",
    ),
];
