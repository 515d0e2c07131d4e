//! EC2.
//!
//! Statuses: EC2 answers a want of capacity with 500, throttling with 503 and refusals with 4xx.
//! Errors inside a 200 of `CreateFleet` are judged as if they came with 400: the call was answered,
//! so its refusals are refusals.

use super::{Call, GUESS, Means, Row, entry, seen};
use crate::Reach;
use Call::{Any, End, Launch};
use Means::{Auth, Capacity, Freeze, Invalid, Later, Quota, Refused, Silence, Throttled};
use Reach::{Account, AccountMarket, Class, Market, Pool, Region, Zone};

/// A code with a status that nobody has pasted.
const fn listed(call: Call, code: &'static str, means: Means, source: &'static str) -> Row {
    seen(call, None, code, means, source)
}

/// AWS's own list of codes.
const CODES: &str = "EC2 developer guide, Error codes";
/// The list of a tool that lives on EC2.
const KARPENTER: &str = "karpenter pkg/errors/errors.go";
const TERRAFORM: &str = "terraform internal/service/ec2/errors.go";
const STATUS_500: &str = "EC2 developer guide, Error codes; mulgadc/spinifex#903";

/// The first that fits counts.
pub(super) const ROWS: &[Row] = &[
    // Turned away at the door, whatever status carries it.
    seen(
        Any,
        Some(503),
        "RequestLimitExceeded",
        Throttled,
        "CloudSnorkel/cdk-github-runners#946, jclouds/legacy-jclouds#1214",
    ),
    seen(
        Any,
        None,
        "RequestLimitExceeded",
        Throttled,
        "inside a 200 of CreateFleet: aws/aws-parallelcluster-node#578",
    ),
    listed(Any, "Throttl*", Throttled, "boto/botocore _retry.json"),
    listed(Any, "RequestThrottled*", Throttled, "boto/botocore _retry.json"),
    listed(Any, "EC2ThrottledException", Throttled, "boto/botocore _retry.json"),
    listed(Any, "TooManyRequestsException", Throttled, "boto/botocore _retry.json"),
    // Broken: nothing may be concluded, should it ever come with another status, too.
    seen(Any, Some(500), "InternalError", Silence, CODES),
    seen(Any, Some(503), "Unavailable", Silence, CODES),
    listed(Any, "InternalError", Silence, CODES),
    listed(Any, "InternalFailure", Silence, CODES),
    listed(Any, "ServerInternal", Silence, CODES),
    listed(Any, "ServiceUnavailable*", Silence, CODES),
    listed(Any, "Unavailable", Silence, CODES),
    listed(Any, "RequestTimeout", Silence, CODES),
    // No room. Exactly 500: with 502, 503 and 504 a machine in between speaks, and not of capacity.
    seen(
        Launch,
        Some(500),
        "InsufficientInstanceCapacity",
        Capacity(3, Pool),
        "galaxyproject/cloudman#64, kubernetes-sigs/cluster-api-provider-aws#2016",
    ),
    seen(Launch, Some(500), "InsufficientHostCapacity", Capacity(3, Pool), STATUS_500),
    seen(Launch, Some(500), "InsufficientReservedInstanceCapacity", Capacity(3, Pool), STATUS_500),
    seen(Launch, Some(500), "InsufficientCapacity", Capacity(3, Pool), STATUS_500),
    seen(Launch, Some(500), "InsufficientAddressCapacity", Capacity(3, Pool), STATUS_500),
    seen(Launch, Some(500), "InsufficientVolumeCapacity", Capacity(3, Zone), STATUS_500),
    seen(
        Launch,
        None,
        "InsufficientInstanceCapacity",
        Capacity(3, Pool),
        "inside a 200 of CreateFleet: osbuild/osbuild-composer#4413",
    ),
    seen(Launch, None, "InsufficientCapacityOnHost", Capacity(3, Pool), "aws/aws-sdk-js-v3#5340"),
    seen(
        Launch,
        None,
        "InsufficientFreeAddressesInSubnet",
        Capacity(3, Zone),
        "aws/amazon-vpc-cni-k8s#1773",
    ),
    listed(Launch, "InsufficientHostCapacity", Capacity(3, Pool), GUESS),
    listed(Launch, "InsufficientReservedInstanceCapacity", Capacity(3, Pool), GUESS),
    listed(Launch, "InsufficientCapacity", Capacity(3, Pool), GUESS),
    listed(Launch, "InsufficientAddressCapacity", Capacity(3, Pool), GUESS),
    listed(Launch, "InsufficientVolumeCapacity", Capacity(3, Zone), GUESS),
    seen(Launch, None, "UnfulfillableCapacity", Capacity(3, Pool), "osbuild/osbuild-composer#4413"),
    listed(Launch, "ReservationCapacityExceeded", Capacity(3, Pool), KARPENTER),
    listed(Launch, "SpotMaxPriceTooLow", Capacity(3, Pool), GUESS),
    // Zones without the type are ruled out when a plan is made: what is left is mostly passing.
    seen(
        Launch,
        None,
        "Unsupported",
        Capacity(15, Pool),
        "fedora-copr/copr#3279; passing conditions: aws/karpenter-provider-aws#2147",
    ),
    // Limits. Machines that have just ended count for a while.
    seen(
        Launch,
        Some(400),
        "VcpuLimitExceeded",
        Quota(15, Class),
        "xlang-ai/OSWorld#366, scrapoxy/scrapoxy#202",
    ),
    seen(
        Launch,
        None,
        "MaxSpotInstanceCountExceeded",
        Quota(3, Class),
        "meadowdata/meadowrun#84, vrivellino/spoptimize#15",
    ),
    listed(
        Launch,
        "InstanceLimitExceeded",
        Quota(5, Class),
        "EC2 developer guide, Eventual consistency",
    ),
    seen(Launch, Some(400), "MaxFleetCountExceeded", Quota(15, Market), "runs-on/runs-on#88"),
    listed(
        Launch,
        "MaxSpotFleetRequestCountExceeded",
        Quota(15, Market),
        "github-aws-runners scale_errors",
    ),
    listed(
        Launch,
        "TargetCapacityLimitExceededException",
        Quota(15, Market),
        "github-aws-runners scale_errors",
    ),
    // Disks are counted by region, whatever the market.
    listed(Launch, "VolumeLimitExceeded", Quota(15, Region), CODES),
    listed(Launch, "ResourceLimitExceeded", Quota(15, Region), CODES),
    listed(Any, "ConcurrentMutationLimitExceeded", Later(5), TERRAFORM),
    // Rights, as narrow as the words say. The text of a region that is not open is that of wrong keys.
    entry(
        Any,
        None,
        "AuthFailure",
        "not authorized for images",
        Invalid(Region),
        "400: Orange-Cyberdefense/GOAD#304, aws-samples/amazon-s3-datalake-handson#10",
    ),
    seen(
        Any,
        Some(401),
        "AuthFailure",
        Auth(Region),
        "turbot/steampipe-plugin-aws#75, fog/fog-aws#585",
    ),
    listed(Any, "AuthFailure", Auth(Region), CODES),
    // About spot alone. Not a matter of rights for the caller: on-demand launches go on.
    listed(
        Launch,
        "AuthFailure.ServiceLinkedRoleCreationNotPermitted",
        Refused(5, AccountMarket),
        "karpenter instance.go",
    ),
    entry(Any, Some(403), "UnauthorizedOperation", "iam:PassRole", Auth(Account), GUESS),
    seen(Any, Some(403), "UnauthorizedOperation", Auth(Region), "aws/karpenter-provider-aws#7692"),
    listed(Any, "UnauthorizedOperation", Auth(Region), GUESS),
    seen(Any, Some(403), "InvalidClientTokenId", Auth(Region), "segmentio/aws-okta#225"),
    seen(
        Any,
        Some(401),
        "OptInRequired",
        Invalid(Region),
        "awslabs/harmonix#22, DataBiosphere/toil#1924",
    ),
    listed(Any, "OptInRequired", Invalid(Region), GUESS),
    listed(Any, "AccessDenied*", Auth(Region), CODES),
    listed(Any, "ExpiredToken*", Auth(Account), CODES),
    listed(Any, "RequestExpired", Auth(Account), CODES),
    listed(Any, "InvalidClientTokenId", Auth(Account), CODES),
    listed(Any, "UnrecognizedClientException", Auth(Account), CODES),
    listed(Any, "SignatureDoesNotMatch", Auth(Account), CODES),
    listed(Any, "IncompleteSignature", Auth(Account), CODES),
    listed(Any, "MissingAuthenticationToken", Auth(Account), CODES),
    // A region that AWS is looking into: minutes mostly, four hours at most; other regions go on.
    seen(
        Launch,
        Some(400),
        "PendingVerification",
        Refused(15, Region),
        "UA-TECH-POWER/DDoS_terraform_aws#5, skyplane-project/skyplane#799",
    ),
    listed(Launch, "Blocked", Refused(60, Region), CODES),
    // A new instance profile is unknown to EC2 for up to two minutes.
    entry(
        Launch,
        None,
        "InvalidParameterValue",
        "invalid IAM instance profile",
        Refused(2, Region),
        "terraform ec2_instance.go",
    ),
    entry(
        Launch,
        None,
        "InvalidParameterValue",
        "has no associated IAM roles",
        Refused(2, Region),
        "terraform ec2_instance.go",
    ),
    // Wrong, and wrong again next time: for the zone, the region, or the single pool.
    seen(
        Launch,
        Some(400),
        "MissingInput",
        Invalid(Zone),
        "terraform-aws-modules/terraform-aws-ec2-instance#50",
    ),
    listed(Launch, "InvalidInput", Invalid(Zone), GUESS),
    listed(Any, "InvalidSubnetID.NotFound", Invalid(Zone), CODES),
    listed(Any, "InvalidSubnetId.NotFound", Invalid(Zone), CODES),
    listed(Any, "InvalidSubnet", Invalid(Zone), CODES),
    listed(Any, "InvalidAvailabilityZone", Invalid(Zone), CODES),
    listed(Any, "InvalidCapacityReservationId*", Invalid(Market), KARPENTER),
    listed(Any, "VPCIdNotSpecified", Invalid(Region), CODES),
    listed(Any, "InvalidVpcID.NotFound", Invalid(Region), CODES),
    listed(Any, "InvalidUserData.Malformed", Invalid(Region), KARPENTER),
    listed(Any, "InvalidKeyPair.NotFound", Invalid(Region), CODES),
    listed(Any, "InvalidGroup.NotFound", Invalid(Region), CODES),
    listed(Any, "InvalidSecurityGroupID.NotFound", Invalid(Region), CODES),
    listed(Any, "SecurityGroupsPerInterfaceLimitExceeded", Invalid(Region), CODES),
    listed(Any, "InvalidPlacementGroup.Unknown", Invalid(Region), "dstack backends/aws/compute.py"),
    listed(Any, "InvalidIamInstanceProfileArn.Malformed", Invalid(Region), CODES),
    listed(Any, "InvalidTagKey.Malformed", Invalid(Region), CODES),
    listed(Any, "TagLimitExceeded", Invalid(Region), CODES),
    listed(Any, "TagPolicyViolation", Invalid(Region), TERRAFORM),
    listed(Any, "UnknownVolumeType", Invalid(Region), CODES),
    listed(Any, "MissingParameter", Invalid(Pool), CODES),
    listed(Any, "UnknownParameter", Invalid(Pool), CODES),
    listed(Any, "ValidationError", Invalid(Pool), CODES),
    listed(Any, "ParameterNotFound", Invalid(Pool), "SSM API reference, GetParameter"),
    listed(Any, "InvalidBlockDeviceMapping", Invalid(Pool), CODES),
    listed(Any, "InvalidSnapshot*", Invalid(Pool), CODES),
    listed(
        Any,
        "InvalidVolume.NotFound",
        Invalid(Pool),
        "recordings: delete-volume-then-not-found",
    ),
    listed(
        Any,
        "InvalidNetworkInterfaceID.NotFound",
        Invalid(Pool),
        "recordings: delete-network-interface-conflicts",
    ),
    listed(Any, "InvalidPermission*", Invalid(Pool), "recordings: create-group-half-done"),
    listed(Any, "UnsupportedOperation", Invalid(Pool), CODES),
    listed(
        Any,
        "InvalidInstanceID.Malformed",
        Invalid(Pool),
        "recordings: run-instances-and-status-2011",
    ),
    seen(Any, None, "InvalidRequest", Invalid(Pool), "bastillion-io/Bastillion-EC2#8"),
    seen(Any, None, "InvalidFleetConfig", Invalid(Pool), "hashicorp/terraform-provider-aws#41272"),
    listed(Any, "InvalidParameter*", Invalid(Pool), CODES),
    listed(Any, "InvalidAMIID.*", Invalid(Pool), CODES),
    listed(Any, "InvalidInstanceType*", Invalid(Pool), CODES),
    listed(Any, "InvalidLaunchTemplate*", Invalid(Pool), CODES),
    // Something else is being done with the thing: soon it is not.
    listed(Any, "IncorrectState", Refused(3, Pool), CODES),
    listed(Any, "IncorrectInstanceState", Refused(3, Pool), CODES),
    listed(Any, "InvalidState", Refused(3, Pool), CODES),
    seen(Any, None, "DependencyViolation", Later(30), "recordings: capacity-and-throttle-refusals"),
    // A token stands for one request, made or refused, for ever.
    seen(
        Launch,
        Some(400),
        "IdempotentParameterMismatch",
        Freeze,
        "ubicloud/ubicloud#5898, runs-on/runs-on#251",
    ),
    seen(Launch, Some(400), "IdempotentInstanceTerminated", Freeze, "boto/boto3#4406"),
    // Ends.
    seen(
        End,
        Some(400),
        "InvalidInstanceID.NotFound",
        Later(5),
        "aws-samples/aws-plugin-for-slurm#16, boto/boto3#2556",
    ),
    seen(
        End,
        Some(400),
        "OperationNotPermitted",
        Invalid(Pool),
        "jenkinsci/ec2-fleet-plugin#327, rebuy-de/aws-nuke#279",
    ),
    listed(Any, "OperationNotPermitted", Invalid(Pool), CODES),
];
