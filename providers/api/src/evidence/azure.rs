//! Azure Resource Manager and Microsoft.Compute.

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
    Row { cloud: Cloud::Azure, call, status, code, words, means, source }
}

/// The first that fits counts.
pub(super) const ROWS: &[Row] = &[
    row(
        Call::Any,
        Some(429),
        "TooManyRequests",
        "",
        Means::Throttled,
        "\"Troubleshooting API throttling errors\"",
    ),
    row(
        Call::Launch,
        Some(0),
        "AllocationFailed",
        "",
        Means::Capacity(60, Reach::Pool),
        "recorded: allocation-failed-deployment; Azure/karpenter-provider-azure design 0012",
    ),
    row(
        Call::Launch,
        Some(0),
        "ZonalAllocationFailed",
        "",
        Means::Capacity(60, Reach::Pool),
        "hashicorp/terraform-provider-azurerm#753",
    ),
    row(
        Call::Launch,
        Some(409),
        "SkuNotAvailable",
        "",
        Means::Capacity(60, Reach::Pool),
        "Azure-Samples/azuresandbox#70, Azure/azure-cli#32628",
    ),
    row(
        Call::Launch,
        Some(409),
        "OperationNotAllowed",
        "LowPriorityCores quota",
        Means::Quota(60, Reach::Market),
        "scylladb/scylla-cluster-tests#4994",
    ),
    row(
        Call::Launch,
        Some(409),
        "OperationNotAllowed",
        "Total Regional Cores quota",
        Means::Quota(10, Reach::Market),
        "cloud-barista/cb-spider#1558",
    ),
    row(
        Call::Launch,
        Some(409),
        "OperationNotAllowed",
        "Family Cores quota",
        Means::Quota(10, Reach::Class),
        "Azure/karpenter-provider-azure#192",
    ),
    row(
        Call::Launch,
        Some(409),
        "SpotPriceGreaterThanProvidedMaxPrice",
        "",
        Means::Capacity(10, Reach::Pool),
        GUESS,
    ),
    row(
        Call::Any,
        Some(403),
        "AuthorizationFailed",
        "",
        Means::Auth(Reach::Account),
        "\"Troubleshoot Azure RBAC\"",
    ),
    row(
        Call::Launch,
        Some(409),
        "PropertyChangeNotAllowed",
        "",
        Means::Freeze,
        "recorded: spot-vm-put-max-price",
    ),
    row(Call::End, Some(404), "ResourceNotFound", "", Means::Later(5), GUESS),
];
