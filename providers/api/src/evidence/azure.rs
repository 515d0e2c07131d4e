//! Azure Resource Manager and Microsoft.Compute.
//!
//! Rows with status 0 are errors inside an operation that was accepted before. The same code is listed
//! for both where it was seen in both.

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

/// Microsoft's list of what VMs are refused with.
const MESSAGES: &str = "\"Understand common error messages when you manage VMs\"";
/// Microsoft's list for spot.
const SPOT: &str = "\"Error messages for Azure Spot VMs\"";
/// Counts of refusals in AKS's own fleet, by the phase they come in.
const PHASES: &str = "Azure/karpenter-provider-azure design 0012";
const LATE_QUOTA: &str = "Azure/karpenter-provider-azure design 0012: quota refusals also come late";
const COMMON: &str = "\"Common Azure deployment errors\"";
const NETWORK: &str = "\"Understand common error messages\" of Microsoft.Network";

/// The first that fits counts.
pub(super) const ROWS: &[Row] = &[
    row(Call::Any, Some(429), "TooManyRequests", "", Means::Throttled, "\"Troubleshooting API throttling errors\""),
    row(Call::Any, Some(429), "OperationNotAllowed", "", Means::Throttled, "\"Troubleshooting API throttling errors\""),
    row(Call::Any, Some(429), "SubscriptionRequestsThrottled", "", Means::Throttled, "recorded: throttled-429-subscription-delete"),
    row(Call::Any, Some(429), "ResourceRequestsThrottled", "", Means::Throttled, "recorded: throttled-429-per-hour-limit"),
    row(Call::Any, None, "AnotherOperationInProgress", "", Means::Later(10), NETWORK),
    row(Call::Any, None, "RetryableError", "", Means::Later(10), NETWORK),
    row(Call::Any, Some(0), "OperationPreempted", "", Means::Later(30), "kubernetes/autoscaler azure_scale_set.go; \"Track asynchronous operations\""),
    row(Call::Any, Some(0), "InternalExecutionError", "", Means::Later(30), "\"Resilient create and delete\""),
    row(Call::Any, Some(0), "TransientFailure", "", Means::Later(30), "\"Resilient create and delete\""),
    row(Call::End, None, "NicReservedForAnotherVm", "", Means::Later(180), "Azure/karpenter-provider-azure#67, confidential-containers/cloud-api-adaptor#997"),
    row(Call::Launch, Some(0), "AllocationFailed", "", Means::Capacity(60, Reach::Pool), "recorded: allocation-failed-deployment; Azure/karpenter-provider-azure design 0012"),
    row(Call::Launch, None, "AllocationFailed", "", Means::Capacity(60, Reach::Pool), "recorded: allocation-failed-deployment; Azure/karpenter-provider-azure design 0012"),
    row(Call::Launch, Some(0), "ZonalAllocationFailed", "", Means::Capacity(60, Reach::Pool), "hashicorp/terraform-provider-azurerm#753; Azure/karpenter-provider-azure design 0012"),
    row(Call::Launch, None, "ZonalAllocationFailed", "", Means::Capacity(60, Reach::Pool), "hashicorp/terraform-provider-azurerm#753; Azure/karpenter-provider-azure design 0012"),
    row(Call::Launch, Some(0), "OverconstrainedAllocationRequest", "", Means::Capacity(60, Reach::Pool), PHASES),
    row(Call::Launch, None, "OverconstrainedAllocationRequest", "", Means::Capacity(60, Reach::Pool), PHASES),
    row(Call::Launch, Some(0), "OverconstrainedZonalAllocationRequest", "", Means::Capacity(60, Reach::Pool), "cloudfoundry/bosh-azure-cpi-release#765; Azure/karpenter-provider-azure design 0012"),
    row(Call::Launch, None, "OverconstrainedZonalAllocationRequest", "", Means::Capacity(60, Reach::Pool), "cloudfoundry/bosh-azure-cpi-release#765; Azure/karpenter-provider-azure design 0012"),
    row(Call::Launch, Some(409), "SkuNotAvailable", "", Means::Capacity(60, Reach::Pool), "Azure-Samples/azuresandbox#70, Azure/azure-cli#32628"),
    row(Call::Launch, None, "SkuNotAvailable", "", Means::Capacity(60, Reach::Pool), PHASES),
    row(Call::Launch, Some(409), "OperationNotAllowed", "LowPriorityCores quota", Means::Quota(60, Reach::Market), "scylladb/scylla-cluster-tests#4994"),
    row(Call::Launch, Some(409), "OperationNotAllowed", "Total Regional Cores quota", Means::Quota(10, Reach::Market), "cloud-barista/cb-spider#1558"),
    row(Call::Launch, Some(409), "OperationNotAllowed", "quota limits of Core", Means::Quota(10, Reach::Market), "recorded: quota-refusal-partial-parallel"),
    row(Call::Launch, Some(409), "OperationNotAllowed", "Current Limit: 0,", Means::Quota(60, Reach::Class), "Azure/karpenter-provider-azure#192"),
    row(Call::Launch, Some(409), "OperationNotAllowed", "Family Cores quota", Means::Quota(10, Reach::Class), "Azure/karpenter-provider-azure#192"),
    row(Call::Launch, Some(409), "OperationNotAllowed", "Cores quota", Means::Quota(10, Reach::Class), "Azure/karpenter-provider-azure#192"),
    row(Call::Launch, Some(0), "OperationNotAllowed", "LowPriorityCores quota", Means::Quota(60, Reach::Market), LATE_QUOTA),
    row(Call::Launch, Some(0), "OperationNotAllowed", "Total Regional Cores quota", Means::Quota(10, Reach::Market), LATE_QUOTA),
    row(Call::Launch, Some(0), "OperationNotAllowed", "quota limits of Core", Means::Quota(10, Reach::Market), LATE_QUOTA),
    row(Call::Launch, Some(0), "OperationNotAllowed", "Current Limit: 0,", Means::Quota(60, Reach::Class), LATE_QUOTA),
    row(Call::Launch, Some(0), "OperationNotAllowed", "Family Cores quota", Means::Quota(10, Reach::Class), LATE_QUOTA),
    row(Call::Launch, Some(0), "OperationNotAllowed", "Cores quota", Means::Quota(10, Reach::Class), LATE_QUOTA),
    row(Call::Launch, None, "QuotaExceeded", "LowPriorityCores quota", Means::Quota(60, Reach::Market), "recorded: quota-refusal-total-regional-cores"),
    row(Call::Launch, None, "QuotaExceeded", "Total Regional Cores quota", Means::Quota(10, Reach::Market), "recorded: quota-refusal-total-regional-cores"),
    row(Call::Launch, None, "QuotaExceeded", "Current Limit: 0,", Means::Quota(60, Reach::Class), "recorded: quota-refusal-total-regional-cores"),
    row(Call::Launch, None, "QuotaExceeded", "", Means::Quota(10, Reach::Class), "recorded: quota-refusal-total-regional-cores"),
    row(Call::Launch, Some(409), "OperationNotAllowed", "in progress", Means::Silence, MESSAGES),
    row(Call::End, Some(409), "OperationNotAllowed", "in progress", Means::Later(10), MESSAGES),
    row(Call::Launch, Some(409), "OperationNotAllowed", "", Means::Refused(10, Reach::Pool), MESSAGES),
    row(Call::End, Some(409), "OperationNotAllowed", "", Means::Refused(10, Reach::Pool), MESSAGES),
    row(Call::Launch, Some(0), "OperationNotAllowed", "", Means::Refused(10, Reach::Pool), MESSAGES),
    row(Call::Launch, None, "SpotPriceGreaterThanProvidedMaxPrice", "", Means::Refused(10, Reach::Pool), SPOT),
    row(Call::Launch, None, "AzureSpotIsNotSupportedForThisVMSize", "", Means::Invalid(Reach::Pool), SPOT),
    row(Call::Launch, None, "MaxPriceValueInvalid", "", Means::Invalid(Reach::Pool), SPOT),
    row(Call::Launch, None, "EvictionPolicyCanBeSetOnlyOnAzureSpotVirtualMachines", "", Means::Invalid(Reach::Pool), SPOT),
    row(Call::Launch, None, "AvailabilityZoneNotSupported", "", Means::Invalid(Reach::Pool), SPOT),
    row(Call::Launch, None, "AzureSpotFeatureNotEnabledForSubscription", "", Means::Invalid(Reach::AccountMarket), SPOT),
    row(Call::Launch, None, "MaxPriceChangeNotAllowed", "", Means::Refused(10, Reach::Pool), SPOT),
    row(Call::Any, Some(409), "ScopeLocked", "", Means::Refused(10, Reach::Account), "gardener/machine-controller-manager#368, hashicorp/terraform-provider-azurerm#17478"),
    row(Call::Any, Some(409), "ResourceGroupBeingDeleted", "", Means::Refused(10, Reach::Account), "\"Resolve errors for resource group being deleted\""),
    row(Call::Launch, None, "SubnetIsFull", "", Means::Refused(5, Reach::Region), NETWORK),
    row(Call::Any, Some(403), "AuthorizationFailed", "", Means::Auth(Reach::Account), "\"Troubleshoot Azure RBAC\""),
    row(Call::Any, Some(403), "LinkedAuthorizationFailed", "", Means::Auth(Reach::Region), "\"Troubleshoot Azure RBAC\""),
    row(Call::Any, Some(403), "RequestDisallowedByAzure", "", Means::Auth(Reach::Region), "\"Resolve errors for request disallowed by policy\""),
    row(Call::Any, None, "InvalidAuthenticationToken", "", Means::Auth(Reach::Account), COMMON),
    row(Call::Any, None, "InvalidAuthenticationTokenTenant", "", Means::Auth(Reach::Account), COMMON),
    row(Call::Any, None, "ExpiredAuthenticationToken", "", Means::Auth(Reach::Account), "\"Access tokens\""),
    row(Call::Any, None, "AuthenticationFailed", "", Means::Auth(Reach::Account), COMMON),
    row(Call::Any, None, "ReadOnlyDisabledSubscription", "", Means::Auth(Reach::Account), COMMON),
    row(Call::Any, None, "SubscriptionNotFound", "", Means::Auth(Reach::Account), COMMON),
    row(Call::Any, None, "ClientAuthenticationError", "", Means::Auth(Reach::Account), "the classes of azure_identity"),
    row(Call::Any, Some(409), "MissingSubscriptionRegistration", "", Means::Auth(Reach::Account), "\"Resolve errors for resource provider registration\""),
    row(Call::Launch, None, "ImageVersionDeprecated", "", Means::Invalid(Reach::Region), "\"Deprecated Azure Marketplace images\""),
    row(Call::Launch, None, "PlatformImageNotFound", "", Means::Invalid(Reach::Region), "\"Deprecated Azure Marketplace images\""),
    row(Call::Launch, None, "ImageNotFound", "", Means::Invalid(Reach::Region), MESSAGES),
    row(Call::Launch, None, "ResourcePurchaseValidationFailed", "", Means::Invalid(Reach::Region), MESSAGES),
    row(Call::Launch, None, "MarketplacePurchaseEligibilityFailed", "", Means::Invalid(Reach::Region), MESSAGES),
    row(Call::Launch, None, "VMMarketplaceInvalidInput", "", Means::Invalid(Reach::Region), MESSAGES),
    row(Call::Launch, None, "RequestDisallowedByPolicy", "", Means::Invalid(Reach::Pool), "\"Resolve errors for request disallowed by policy\""),
    row(Call::Any, None, "VMSizeNotSupported", "", Means::Invalid(Reach::Pool), COMMON),
    row(Call::Any, None, "InvalidParameter", "", Means::Invalid(Reach::Pool), COMMON),
    row(Call::Any, None, "InvalidTemplateDeployment", "", Means::Invalid(Reach::Pool), COMMON),
    row(Call::Any, None, "InvalidRequestContent", "", Means::Invalid(Reach::Pool), COMMON),
    row(Call::Any, None, "InvalidRequestFormat", "", Means::Invalid(Reach::Pool), COMMON),
    row(Call::Any, None, "InvalidResource", "", Means::Invalid(Reach::Pool), COMMON),
    row(Call::Any, None, "InvalidResourceReference", "", Means::Invalid(Reach::Pool), COMMON),
    row(Call::Any, None, "InvalidApiVersionParameter", "", Means::Invalid(Reach::Pool), COMMON),
    row(Call::Any, None, "LinkedInvalidPropertyId", "", Means::Invalid(Reach::Pool), COMMON),
    row(Call::Any, None, "LocationNotAvailableForResourceType", "", Means::Invalid(Reach::Pool), COMMON),
    row(Call::Any, None, "BadRequest", "", Means::Invalid(Reach::Pool), "\"Generation 2 VMs\""),
    row(Call::Any, Some(404), "ResourceGroupNotFound", "", Means::Invalid(Reach::Account), COMMON),
    row(Call::Launch, Some(409), "PropertyChangeNotAllowed", "", Means::Freeze, "recorded: spot-vm-put-max-price"),
    row(Call::Look, Some(404), "NotFound", "", Means::Silence, "recorded: spot-vm-simulate-eviction"),
    row(Call::Look, Some(404), "ResourceNotFound", "", Means::Silence, "recorded: vm-force-delete"),
    row(Call::Look, Some(503), "ServiceUnavailable", "", Means::Silence, "recorded: service-unavailable-503-then-ok"),
    row(Call::Any, None, "MethodNotAllowed", "", Means::Invalid(Reach::Pool), GUESS),
    row(Call::Any, Some(400), "MissingApiVersionParameter", "", Means::Invalid(Reach::Pool), COMMON),
    row(Call::Look, Some(500), "InternalServerError", "", Means::Silence, COMMON),
    row(Call::Any, Some(503), "AllocationFailed", "", Means::Silence, GUESS),
    row(Call::End, Some(404), "ResourceNotFound", "", Means::Later(5), GUESS),
];
