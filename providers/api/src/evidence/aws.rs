//! EC2.

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
    Row { cloud: Cloud::Aws, call, status, code, words, means, source }
}

/// The first that fits counts.
pub(super) const ROWS: &[Row] = &[
    row(
        Call::Any,
        None,
        "RequestLimitExceeded",
        "",
        Means::Throttled,
        "503: CloudSnorkel/cdk-github-runners#946, jclouds/legacy-jclouds#1214",
    ),
    row(
        Call::Launch,
        Some(500),
        "InsufficientInstanceCapacity",
        "",
        Means::Capacity(3, Reach::Pool),
        "galaxyproject/cloudman#64, kubernetes-sigs/cluster-api-provider-aws#2016",
    ),
    row(
        Call::Launch,
        None,
        "InsufficientInstanceCapacity",
        "",
        Means::Capacity(3, Reach::Pool),
        "inside a 200 of CreateFleet: osbuild/osbuild-composer#4413",
    ),
    row(Call::Launch, None, "SpotMaxPriceTooLow", "", Means::Capacity(3, Reach::Pool), GUESS),
    row(
        Call::Launch,
        None,
        "Unsupported",
        "",
        Means::Capacity(60, Reach::Pool),
        "fedora-copr/copr#3279; passing conditions: aws/karpenter-provider-aws#2147",
    ),
    row(
        Call::Launch,
        Some(400),
        "VcpuLimitExceeded",
        "",
        Means::Quota(15, Reach::Class),
        "xlang-ai/OSWorld#366, scrapoxy/scrapoxy#202",
    ),
    row(
        Call::Launch,
        None,
        "MaxSpotInstanceCountExceeded",
        "",
        Means::Quota(3, Reach::Class),
        "meadowdata/meadowrun#84, vrivellino/spoptimize#15",
    ),
    row(
        Call::Any,
        Some(403),
        "UnauthorizedOperation",
        "",
        Means::Auth(Reach::Region),
        "aws/karpenter-provider-aws#7692",
    ),
    row(
        Call::Launch,
        Some(400),
        "IdempotentParameterMismatch",
        "",
        Means::Freeze,
        "ubicloud/ubicloud#5898",
    ),
    row(
        Call::Launch,
        Some(400),
        "IdempotentInstanceTerminated",
        "",
        Means::Freeze,
        "boto/boto3#4406",
    ),
    row(
        Call::End,
        Some(400),
        "InvalidInstanceID.NotFound",
        "",
        Means::Later(5),
        "aws-samples/aws-plugin-for-slurm#16, boto/boto3#2556",
    ),
];
