//! Compute Engine.
//!
//! Codes come from two places: the answer to a call (`rateLimitExceeded`, in lower camel case, or
//! the reason of its `details`) and the errors inside an operation that has ended
//! (`ZONE_RESOURCE_POOL_EXHAUSTED`, status 0 here). Which limit is reached stands only in the words.

use super::{Call, GUESS, Means, Row, entry, seen};
use crate::Reach;

const fn throttled(code: &'static str, source: &'static str) -> Row {
    seen(Call::Any, None, code, Means::Throttled, source)
}

/// Turned away for rights, whatever was asked.
const fn auth(status: Option<u16>, code: &'static str, source: &'static str) -> Row {
    seen(Call::Any, status, code, Means::Auth(Reach::Account), source)
}

const fn full(status: Option<u16>, code: &'static str, source: &'static str) -> Row {
    seen(Call::Launch, status, code, Means::Capacity(3, Reach::Pool), source)
}

const fn wrong(status: Option<u16>, code: &'static str, source: &'static str) -> Row {
    seen(Call::Launch, status, code, Means::Invalid(Reach::Pool), source)
}

/// A launch over a limit: found at once or later, named in the words.
const fn limit(
    code: &'static str,
    words: &'static str,
    minutes: u64,
    reach: Reach,
    source: &'static str,
) -> Row {
    entry(Call::Launch, None, code, words, Means::Quota(minutes, reach), source)
}

/// A condition of an organisation or a reservation, under both of its codes.
const fn condition(
    code: &'static str,
    words: &'static str,
    means: Means,
    source: &'static str,
) -> Row {
    entry(Call::Launch, None, code, words, means, source)
}

const SKYPILOT_QUOTA: &str = "skypilot-org/skypilot#4333";
const SKYPILOT_TABLE: &str = "skypilot-org/skypilot, _gcp_handler";
const BULK: &str = "Compute Engine docs, About bulk creation of VMs; cluster-toolkit#1858";
const ALL_GPUS: &str = "fastai/course-v3#165, GoogleCloudPlatform/ai-on-gke#849";
const ALL_CPUS: &str = "kelseyhightower/kubernetes-the-hard-way#553";
const ADDRESSES: &str = "kelseyhightower/kubernetes-the-hard-way#47";
const DISKS: &str = "openshift/installer#2292, skypilot-org/skypilot#4333";
const POLICY: &str = "fortinet/fortigate-terraform-deploy#34, 2i2c-org/infrastructure#489";
const SHIELDED: &str = "GoogleCloudPlatform/compute-image-tools#1476";
const RESERVED: &str = "kubernetes/autoscaler, GCE client and its tests";
const PREEMPTED: &str = "scylladb/scylla-cluster-tests#2945; PerfKitBenchmarker, Cromwell sources";

/// Turned down for a reason that the answer does not tell.
const UNTOLD: Means = Means::Refused(10, Reach::Pool);
const NO_ROOM: Means = Means::Capacity(3, Reach::Pool);
/// Lost while being made: a few minutes, not a day.
const LOST: Means = Means::Capacity(5, Reach::Pool);
const RESERVATION_FULL: Means = Means::Capacity(15, Reach::Pool);
const HERE: Means = Means::Invalid(Reach::Pool);
const REGION: Means = Means::Invalid(Reach::Region);
const PROJECT: Means = Means::Invalid(Reach::Account);

/// The first that fits counts.
pub(super) const ROWS: &[Row] = &[
    // Words that are plainer than any code that nobody noted with them.
    entry(Call::Launch, None, "*", "does not currently have sufficient capacity", NO_ROOM, BULK),
    entry(
        Call::Launch,
        Some(503),
        "*",
        "does not currently have sufficient capacity",
        NO_ROOM,
        BULK,
    ),
    entry(Call::Launch, None, "*", "failed to start due to preemption", LOST, PREEMPTED),
    // Over the rate is a 403 here.
    throttled("rateLimitExceeded", "403: hashicorp/terraform-provider-google#8360"),
    throttled("userRateLimitExceeded", GUESS),
    throttled("RATE_LIMIT_EXCEEDED", GUESS),
    throttled("RESOURCE_OPERATION_RATE_EXCEEDED", GUESS),
    throttled("resourceOperationRateExceeded", GUESS),
    throttled(
        "CONCURRENT_OPERATIONS_QUOTA_EXCEEDED",
        "403: hashicorp/terraform-provider-google#9207, terraform-example-foundation",
    ),
    // A 403 whose details hold no reason still has words (google-cloud-rust, error/rpc.rs).
    entry(Call::Any, Some(403), "Http403", "rate limit exceeded", Means::Throttled, GUESS),
    // Somebody else is changing it.
    seen(Call::Any, None, "RESOURCE_NOT_READY", Means::Later(5), GUESS),
    seen(
        Call::Any,
        None,
        "resourceNotReady",
        Means::Later(5),
        "400: googleapis/google-api-python-client#485, opstrace/opstrace#1218",
    ),
    seen(Call::Any, None, "RESOURCE_IN_USE", Means::Later(5), GUESS),
    // No room.
    seen(
        Call::Launch,
        Some(0),
        "ZONE_RESOURCE_POOL_EXHAUSTED",
        NO_ROOM,
        "CCExtractor/sample-platform#901, google/syzkaller#4385",
    ),
    full(
        Some(0),
        "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
        "dstackai/dstack#488, skypilot-org/skypilot#831",
    ),
    full(None, "REGION_RESOURCE_POOL_EXHAUSTED", GUESS),
    full(None, "RESOURCE_POOL_EXHAUSTED", GUESS),
    full(None, "RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", GUESS),
    full(None, "INSUFFICIENT_CAPACITY", GUESS),
    full(None, "stockout", GUESS),
    // Refused before anything is made. With which status is not in any public text: the code is
    // so plain that it is believed with every one that was thinkable.
    full(None, "insufficientCapacity", SKYPILOT_TABLE),
    full(Some(500), "insufficientCapacity", GUESS),
    full(Some(503), "insufficientCapacity", GUESS),
    full(None, "resourcePoolExhausted", SKYPILOT_TABLE),
    full(Some(500), "resourcePoolExhausted", GUESS),
    full(Some(503), "resourcePoolExhausted", GUESS),
    // Subnets are a region's.
    seen(Call::Launch, None, "IP_SPACE_EXHAUSTED*", Means::Capacity(3, Reach::Region), GUESS),
    // Alone it is seen for lack of room and for wrong requests alike.
    seen(
        Call::Launch,
        None,
        "VM_MIN_COUNT_NOT_REACHED",
        UNTOLD,
        "googleapis/google-cloud-go#5168; cluster-toolkit, Slurm troubleshooting",
    ),
    // "Empirically" a preemption while being made. If it were ever "not sold here", minutes only
    // mean that we ask again.
    seen(
        Call::Launch,
        None,
        "UNSUPPORTED_OPERATION",
        LOST,
        "skypilot-org/skypilot, _gcp_handler; code and words not seen in one place",
    ),
    entry(Call::Launch, Some(0), "RESOURCE_NOT_FOUND", "/images/", HERE, GUESS),
    entry(Call::Launch, Some(0), "RESOURCE_NOT_FOUND", "/networks/", PROJECT, GUESS),
    entry(Call::Launch, Some(0), "RESOURCE_NOT_FOUND", "/subnetworks/", REGION, GUESS),
    seen(
        Call::Launch,
        Some(0),
        "RESOURCE_NOT_FOUND",
        LOST,
        "skypilot-org/skypilot#1797, #1842; dstackai/dstack source",
    ),
    // Limits, the widest first.
    limit("QUOTA_EXCEEDED", "GPUS_ALL_REGIONS", 60, Reach::AccountClass, ALL_GPUS),
    limit("QUOTA_EXCEEDED", "CPUS_ALL_REGIONS", 15, Reach::Account, ALL_CPUS),
    limit("QUOTA_EXCEEDED", "IN_USE_ADDRESSES", 15, Reach::Region, ADDRESSES),
    limit("QUOTA_EXCEEDED", "SSD_TOTAL_GB", 15, Reach::Region, DISKS),
    limit("QUOTA_EXCEEDED", "DISKS_TOTAL_GB", 15, Reach::Region, GUESS),
    limit("QUOTA_EXCEEDED", "'INSTANCES'", 15, Reach::Region, GUESS),
    limit("QUOTA_EXCEEDED", "'CPUS'", 15, Reach::Market, SKYPILOT_QUOTA),
    limit("QUOTA_EXCEEDED", "'PREEMPTIBLE_CPUS'", 15, Reach::Market, GUESS),
    limit(
        "QUOTA_EXCEEDED",
        "",
        15,
        Reach::Class,
        "verilog-to-routing/vtr-verilog-to-routing#1874, skypilot-org/skypilot#4333",
    ),
    limit("quotaExceeded", "GPUS_ALL_REGIONS", 60, Reach::AccountClass, ALL_GPUS),
    limit("quotaExceeded", "CPUS_ALL_REGIONS", 15, Reach::Account, ALL_CPUS),
    limit("quotaExceeded", "IN_USE_ADDRESSES", 15, Reach::Region, ADDRESSES),
    limit("quotaExceeded", "SSD_TOTAL_GB", 15, Reach::Region, DISKS),
    limit("quotaExceeded", "DISKS_TOTAL_GB", 15, Reach::Region, GUESS),
    limit("quotaExceeded", "'INSTANCES'", 15, Reach::Region, GUESS),
    limit("quotaExceeded", "'CPUS'", 15, Reach::Market, GUESS),
    limit("quotaExceeded", "'PREEMPTIBLE_CPUS'", 15, Reach::Market, GUESS),
    limit("quotaExceeded", "", 15, Reach::Class, "403: GoogleCloudPlatform/cluster-toolkit#5776"),
    limit("limitExceeded", "", 15, Reach::Class, GUESS),
    // Somebody else changed labels meanwhile: they are read again.
    entry(
        Call::Look,
        Some(412),
        "conditionNotMet",
        "labels fingerprint",
        Means::Later(1),
        "skypilot-org/skypilot#4571, googleapis/google-cloud-go#7802",
    ),
    // Conditions: a full reservation is no mistake, an organisation's policy is the project's.
    condition("CONDITION_NOT_MET", "reservation", RESERVATION_FULL, RESERVED),
    condition(
        "CONDITION_NOT_MET",
        "available resources for the request",
        RESERVATION_FULL,
        RESERVED,
    ),
    condition("CONDITION_NOT_MET", "constraints/gcp.resourceLocations", REGION, GUESS),
    condition("CONDITION_NOT_MET", "constraints/compute.vmExternalIpAccess", PROJECT, POLICY),
    condition("CONDITION_NOT_MET", "constraints/compute.requireShieldedVm", PROJECT, SHIELDED),
    condition("CONDITION_NOT_MET", "", HERE, SHIELDED),
    condition("conditionNotMet", "reservation", RESERVATION_FULL, GUESS),
    condition("conditionNotMet", "available resources for the request", RESERVATION_FULL, GUESS),
    condition("conditionNotMet", "constraints/gcp.resourceLocations", REGION, GUESS),
    condition("conditionNotMet", "constraints/compute.vmExternalIpAccess", PROJECT, POLICY),
    condition("conditionNotMet", "constraints/compute.requireShieldedVm", PROJECT, POLICY),
    condition("conditionNotMet", "", HERE, "412: fortinet/fortigate-terraform-deploy#34"),
    // Rights.
    entry(
        Call::Launch,
        Some(403),
        "forbidden",
        "compute.subnetworks",
        Means::Auth(Reach::Region),
        GUESS,
    ),
    auth(Some(403), "forbidden", "recorded: audit-log-insert-forbidden"),
    auth(Some(403), "IAM_PERMISSION_DENIED", GUESS),
    auth(Some(0), "IAM_PERMISSION_DENIED", GUESS),
    auth(None, "PERMISSIONS_ERROR", GUESS),
    auth(None, "PERMISSION_DENIED", GUESS),
    auth(None, "insufficientPermissions", GUESS),
    auth(None, "authError", GUESS),
    auth(None, "accessNotConfigured", GUESS),
    auth(None, "SERVICE_DISABLED", GUESS),
    auth(None, "BILLING_DISABLED", GUESS),
    auth(None, "CONSUMER_INVALID", GUESS),
    auth(None, "USER_PROJECT_DENIED", GUESS),
    auth(None, "ACCESS_TOKEN_SCOPE_INSUFFICIENT", GUESS),
    auth(None, "inactiveBillingState", GUESS),
    // Names in use. Whose it is has to be looked at.
    seen(
        Call::Launch,
        Some(409),
        "alreadyExists",
        Means::Freeze,
        "dstackai/dstack#989, scylladb/scylla-machine-image#184",
    ),
    seen(
        Call::Launch,
        Some(0),
        "RESOURCE_ALREADY_EXISTS",
        Means::Freeze,
        "recorded: insert-name-conflict-is-an-operation-error",
    ),
    seen(Call::Launch, Some(409), "duplicate", Means::Freeze, GUESS),
    // Wrong requests. A network that is not there is not there for any pool.
    entry(
        Call::Launch,
        Some(400),
        "invalid",
        "networkInterfaces[0].network'",
        PROJECT,
        "public troubleshooting pages of projects without a default network",
    ),
    entry(Call::Launch, Some(400), "invalid", "networkInterfaces[0].subnetwork'", REGION, GUESS),
    seen(Call::Launch, Some(400), "invalid", HERE, "dstackai/dstack#696"),
    seen(Call::Look, Some(400), "invalid", HERE, GUESS),
    wrong(Some(400), "invalidParameter", GUESS),
    wrong(Some(400), "badRequest", GUESS),
    wrong(Some(400), "required", GUESS),
    wrong(Some(400), "parseError", GUESS),
    wrong(Some(404), "notFound", "k8s-config-connector, recorded log of computeinstance"),
    wrong(None, "INVALID_FIELD_VALUE", GUESS),
    wrong(None, "INVALID_USAGE", GUESS),
    wrong(None, "INVALID_STATE", GUESS),
    seen(Call::Look, Some(404), "notFound", HERE, "recorded: instance-template-delete-then-404"),
    // Deletes.
    seen(
        Call::End,
        Some(404),
        "notFound",
        Means::Later(5),
        "recorded: instance-template-delete-then-404",
    ),
    seen(
        Call::End,
        Some(0),
        "RESOURCE_NOT_FOUND",
        Means::Later(5),
        "recorded: operations-aggregated-preempted (a stop)",
    ),
    seen(
        Call::End,
        Some(400),
        "invalidResourceUsage",
        Means::Invalid(Reach::Pool),
        "deletion protection: hashicorp/terraform-provider-google#1211",
    ),
    // Words, where the code says nothing: details without a reason.
    entry(
        Call::Launch,
        Some(403),
        "Http403",
        "GPUS_ALL_REGIONS",
        Means::Quota(60, Reach::AccountClass),
        GUESS,
    ),
    entry(Call::Launch, Some(403), "Http403", "quota '", Means::Quota(15, Reach::Class), GUESS),
    // Everything else that an answer may carry and that a fake plays: silence, whatever it says.
    seen(
        Call::Any,
        Some(503),
        "backendError",
        Means::Silence,
        "mitchellh/vagrant-google#112, #148",
    ),
    seen(Call::Any, Some(500), "internalError", Means::Silence, "mitchellh/vagrant-google#148"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Class, Error, evidence::judge};
    use fleet_model::Cloud;
    use std::time::Duration;

    fn launch(status: u16, code: &str, words: &str) -> Error {
        judge(Cloud::Gcp, Call::Launch, status, code, words, None)
    }

    #[test]
    fn a_limit_reaches_as_far_as_what_it_limits() {
        let quota = |name: &str| format!("Quota '{name}' exceeded.  Limit: 24.0 in region r.");
        for (name, reach, minutes) in [
            ("GPUS_ALL_REGIONS", Reach::AccountClass, 60),
            ("CPUS_ALL_REGIONS", Reach::Account, 15),
            ("IN_USE_ADDRESSES", Reach::Region, 15),
            ("SSD_TOTAL_GB", Reach::Region, 15),
            ("INSTANCES", Reach::Region, 15),
            ("CPUS", Reach::Market, 15),
            ("PREEMPTIBLE_CPUS", Reach::Market, 15),
            ("N2_CPUS", Reach::Class, 15),
            ("NVIDIA_H100_GPUS", Reach::Class, 15),
            ("CPUS_PER_VM_FAMILY", Reach::Class, 15),
        ] {
            for (status, code) in [(0, "QUOTA_EXCEEDED"), (403, "quotaExceeded")] {
                let error = launch(status, code, &quota(name));
                let block = Duration::from_secs(60 * minutes);
                assert_eq!((error.class, error.reach()), (Class::Quota { block }, reach), "{name}");
            }
        }
    }

    /// Who plays Google gets what a code means by itself.
    #[test]
    fn a_code_by_itself_is_the_row_without_words() {
        for (code, means) in [
            ("QUOTA_EXCEEDED", Means::Quota(15, Reach::Class)),
            ("invalid", HERE),
            ("CONDITION_NOT_MET", HERE),
            ("RESOURCE_NOT_FOUND", LOST),
        ] {
            assert_eq!(
                crate::evidence::row(Cloud::Gcp, Call::Launch, code, "").means,
                means,
                "{code}"
            );
        }
    }

    #[test]
    fn words_tell_what_a_code_does_not() {
        let busy = |minutes: u64| Class::Capacity { block: Duration::from_secs(60 * minutes) };
        for (status, code, words, expect) in [
            (0, "CONDITION_NOT_MET", "Specified reservation [r] does not have available", busy(15)),
            (0, "CONDITION_NOT_MET", "Constraint constraints/x violated", Class::Invalid),
            (0, "RESOURCE_NOT_FOUND", "'projects/p/zones/z/instances/i' was not found", busy(5)),
            (0, "RESOURCE_NOT_FOUND", "'projects/p/global/images/i' was not found", Class::Invalid),
            (0, "UNSUPPORTED_OPERATION", "", busy(5)),
            (503, "insufficientCapacity", "", busy(3)),
            (400, "invalid", "Zone does not currently have sufficient capacity for the", busy(3)),
            (0, "SOMETHING_NEW", "Instance failed to start due to preemption.", busy(5)),
            (0, "SOMETHING_NEW", "", Class::Unknown),
            (409, "Http409", "", Class::Unknown),
            (503, "backendError", "ZONE_RESOURCE_POOL_EXHAUSTED", Class::Unknown),
        ] {
            assert_eq!(launch(status, code, words).class, expect, "{status} {code} {words}");
        }
        let network = "Invalid value for field 'resource.networkInterfaces[0].network': 'x'. The \
                       referenced network resource cannot be found.";
        assert_eq!(launch(400, "invalid", network).reach(), Reach::Account);
        let policy = "Constraint constraints/compute.vmExternalIpAccess violated for project p.";
        assert_eq!(launch(412, "conditionNotMet", policy).reach(), Reach::Account);
        let place = "Location x violates constraint constraints/gcp.resourceLocations";
        assert_eq!(launch(0, "CONDITION_NOT_MET", place).reach(), Reach::Region);
        assert!(launch(403, "Http403", "Rate Limit Exceeded").throttled);
    }
}
