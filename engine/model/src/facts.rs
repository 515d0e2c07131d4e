//! What is true of each cloud, in one table: the engine keeps it, the simulated twin lives by it, and
//! the docs print it. A fifth cloud is one more row here, one crate, and one profile of the twin.
//!
//! Sources are in the comments; where a figure is our own choice, they say so.

use crate::Cloud;
use std::time::Duration;

/// For this long after a launch, absence from a list, or from an answer to a question for one machine,
/// proves nothing. Longer than any cloud's lists are late, by their own documents and by recordings.
pub const SETTLE_WINDOW: Duration = Duration::from_secs(300);

/// What is true of a cloud.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CloudFacts {
    /// Its name as users write it.
    pub name: &'static str,
    /// Its name as it calls itself.
    pub title: &'static str,
    /// How many machines one launch may ask for.
    pub machines_per_launch: u32,
    /// How many machines one change of labels may name; `None` if labels of a machine that runs cannot
    /// be changed.
    pub machines_per_relabel: Option<u32>,
    /// What makes a launch that is sent twice make its machines once.
    pub token: TokenRule,
    /// Whether one launch may leave the choice between several pools of a region to the cloud.
    pub chooses_among_pools: bool,
    /// Whether one list shows a whole account, whatever region: its calls are counted there, too.
    pub lists_whole_accounts: bool,
    /// Whether a machine that goes may leave a disk or an interface of ours behind.
    pub leaves_children: bool,
    /// How long before it takes a spot machine back the cloud tells, at most. `None`: it sells no spot.
    pub notice: Option<Duration>,
    /// For how long lists show a machine that has ended.
    pub lists_ended_for: Duration,
    /// For how long a new machine may be unknown to a call that asks for it by id or name.
    pub unknown_for: Duration,
    /// How long a machine may take to be ready, where the spec does not say. Our own choice: about twice
    /// the longest boot that we know of, and no less than the cloud's own patience.
    pub ready_within: Duration,
    /// After how long the cloud itself calls a machine failed that does not report ready.
    pub gives_up_after: Option<Duration>,
    /// The steps in which running time is billed, and the least that is billed.
    pub billing: Billing,
    /// How fast it may be asked.
    pub rates: Rates,
}

/// What makes a launch that is sent twice make its machines once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenRule {
    /// The cloud keeps a token of ours.
    ClientToken,
    /// The cloud keeps a request id of ours, and names are unique.
    RequestId,
    /// Names are unique, and putting a machine twice is putting it once.
    Name,
    /// Nothing: sending again is launching again.
    None,
}

/// In which steps running time is billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Billing {
    /// One step.
    pub step: Duration,
    /// The least that is billed.
    pub least: Duration,
}

/// A bucket: so many at once, so many per second after that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    /// How many at once.
    pub size: f64,
    /// How many per second flow back.
    pub per_second: f64,
}

/// How fast a cloud may be asked, as it documents it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Looks. Per account where one list shows a whole account, else per region.
    pub look: Bucket,
    /// Launches.
    pub launch: Bucket,
    /// Destroys.
    pub destroy: Bucket,
    /// Machines, where they are counted apart from the requests for them.
    pub machines: Option<Bucket>,
    /// Whether launches and destroys are counted for the whole account, whatever region.
    pub changes_per_account: bool,
}

const fn bucket(size: f64, per_second: f64) -> Bucket {
    Bucket { size, per_second }
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const AWS: CloudFacts = CloudFacts {
    name: "aws",
    title: "Amazon EC2",
    // RunInstances takes a thousand; smaller requests fail smaller.
    machines_per_launch: 100,
    // CreateTags takes a thousand resources.
    machines_per_relabel: Some(100),
    token: TokenRule::ClientToken,
    // CreateFleet.
    chooses_among_pools: true,
    lists_whole_accounts: false,
    // Volumes and interfaces go with the machine, as we launch it.
    leaves_children: false,
    // "Spot Instance interruption notices".
    notice: Some(seconds(120)),
    // "Usually about an hour": Instance lifecycle.
    lists_ended_for: seconds(3600),
    // "Eventual consistency": minutes, by experience of others.
    unknown_for: seconds(300),
    gives_up_after: None,
    ready_within: seconds(900),
    // re:Post, "EC2 instance hour billing"; SUSE by the hour.
    billing: Billing { step: seconds(1), least: seconds(60) },
    // "Request throttling for the Amazon EC2 API".
    rates: Rates {
        look: bucket(100.0, 20.0),
        launch: bucket(5.0, 2.0),
        destroy: bucket(100.0, 5.0),
        machines: Some(bucket(1000.0, 2.0)),
        changes_per_account: false,
    },
};

const GCP: CloudFacts = CloudFacts {
    name: "gcp",
    title: "Google Compute Engine",
    // bulkInsert takes a thousand; smaller requests fail smaller.
    machines_per_launch: 100,
    // setLabels is a call per machine.
    machines_per_relabel: Some(1),
    token: TokenRule::RequestId,
    // A regional bulkInsert with a choice of zones and types.
    chooses_among_pools: true,
    // aggregatedList.
    lists_whole_accounts: true,
    leaves_children: false,
    // "Spot VMs": best effort, up to thirty seconds.
    notice: Some(seconds(30)),
    // A deleted machine is gone from lists at once.
    lists_ended_for: Duration::ZERO,
    unknown_for: Duration::ZERO,
    gives_up_after: None,
    ready_within: seconds(900),
    // "VM instance pricing".
    billing: Billing { step: seconds(1), least: seconds(60) },
    // "Rate quotas", per project and minute: 1,500 reads and 1,200 changes. A bucket of two seconds is our
    // own choice: it keeps bursts away from others who use the project.
    rates: Rates {
        look: bucket(40.0, 25.0),
        launch: bucket(40.0, 20.0),
        destroy: bucket(40.0, 20.0),
        machines: None,
        changes_per_account: false,
    },
};

const AZURE: CloudFacts = CloudFacts {
    name: "azure",
    title: "Azure Virtual Machines",
    // A PUT makes one machine.
    machines_per_launch: 1,
    // Tags are changed resource by resource.
    machines_per_relabel: Some(1),
    token: TokenRule::Name,
    chooses_among_pools: false,
    // The list of a subscription.
    lists_whole_accounts: true,
    // Disks and interfaces are resources of their own; `deleteOption` is not always obeyed.
    leaves_children: true,
    // Scheduled Events: at most thirty seconds, best effort, inside the machine only.
    notice: Some(seconds(30)),
    lists_ended_for: Duration::ZERO,
    // 404 now and then right after a create.
    unknown_for: seconds(120),
    // "Troubleshooting VM provisioning with cloud-init": OSProvisioningTimedOut.
    gives_up_after: Some(seconds(2400)),
    ready_within: seconds(3600),
    // Microsoft's own page says whole minutes, spare seconds dropped; others say seconds with a minute at
    // least. The second is dearer, so it is the one to reckon with.
    billing: Billing { step: seconds(1), least: seconds(60) },
    // A look is three reads (machines, disks, interfaces) of 250 at once and 25 a second; Resource Manager
    // allows ten changes a second, Compute 500 a minute.
    rates: Rates {
        look: bucket(250.0 / 3.0, 25.0 / 3.0),
        launch: bucket(200.0, 500.0 / 60.0),
        destroy: bucket(200.0, 500.0 / 60.0),
        machines: None,
        changes_per_account: false,
    },
};

const LAMBDA: CloudFacts = CloudFacts {
    name: "lambda",
    title: "Lambda Cloud",
    machines_per_launch: 1,
    // Tags are taken with the launch, and no call changes them.
    machines_per_relabel: None,
    token: TokenRule::None,
    chooses_among_pools: false,
    lists_whole_accounts: true,
    leaves_children: false,
    notice: None,
    lists_ended_for: Duration::ZERO,
    // Its list is all there is, and lags.
    unknown_for: seconds(300),
    // `unhealthy`: seen soon after launch. The figure is a guess.
    gives_up_after: Some(seconds(300)),
    ready_within: seconds(2400),
    // "Billing": one-minute steps.
    billing: Billing { step: seconds(60), least: seconds(60) },
    // "Rate limiting": one request a second, one launch in twelve.
    rates: Rates {
        look: bucket(1.0, 1.0),
        launch: bucket(1.0, 1.0 / 12.0),
        destroy: bucket(1.0, 1.0),
        machines: None,
        changes_per_account: true,
    },
};

impl Cloud {
    /// What is true of it.
    pub const fn facts(self) -> &'static CloudFacts {
        match self {
            Cloud::Aws => &AWS,
            Cloud::Gcp => &GCP,
            Cloud::Azure => &AZURE,
            Cloud::Lambda => &LAMBDA,
        }
    }
}
