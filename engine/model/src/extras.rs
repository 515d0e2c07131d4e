//! What a machine costs beside its own price: its disk, its public address, its share of the traffic.

use crate::{Cloud, MicroUsd, Units};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What one machine costs per hour beside its own price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Extras {
    /// The boot disk.
    #[serde(skip_serializing_if = "Extra::is_nothing")]
    pub disk: Extra,
    /// The public IPv4 address.
    #[serde(skip_serializing_if = "Extra::is_nothing")]
    pub address: Extra,
    /// Its share of the traffic that the spec expects.
    #[serde(skip_serializing_if = "Extra::is_nothing")]
    pub egress: Extra,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Extra {
    /// Per hour; nothing if there is none, or if it is in the price of the machine.
    Hourly(MicroUsd),
    /// About so much per hour: the price is that of another region of the same cloud.
    About(MicroUsd),
    /// There is one, and nobody can tell what it costs.
    Unknown(NoPrice),
}

impl Default for Extra {
    fn default() -> Self {
        Extra::Hourly(MicroUsd(0))
    }
}

impl Extra {
    /// The price per hour, if it is known.
    pub fn hourly(self) -> Option<MicroUsd> {
        match self {
            Extra::Hourly(price) | Extra::About(price) => Some(price),
            Extra::Unknown(_) => None,
        }
    }

    /// Whether the price is that of another region.
    pub fn is_about(self) -> bool {
        matches!(self, Extra::About(_))
    }

    /// Why its price is not known.
    pub fn unknown(self) -> Option<NoPrice> {
        match self {
            Extra::Hourly(_) | Extra::About(_) => None,
            Extra::Unknown(why) => Some(why),
        }
    }

    /// A share of a whole, where more shares in it than it was reckoned for. Rounded down: all shares together are
    /// not more than the whole.
    pub fn shared(self, meant: Units, standing: Units) -> Self {
        if standing <= meant {
            return self;
        }
        let part = |price: MicroUsd| {
            let part = u128::from(price.0) * u128::from(meant.0) / u128::from(standing.0);
            MicroUsd(u64::try_from(part).unwrap_or(u64::MAX))
        };
        match self {
            Extra::Hourly(price) => Extra::Hourly(part(price)),
            Extra::About(price) => Extra::About(part(price)),
            Extra::Unknown(_) => self,
        }
    }

    fn is_nothing(&self) -> bool {
        *self == Extra::default()
    }
}

impl Extras {
    /// Whether there is nothing beside the machine.
    pub fn is_nothing(&self) -> bool {
        *self == Extras::default()
    }

    /// Each with its kind.
    pub fn each(self) -> [(CostKind, Extra); 3] {
        let Extras { disk, address, egress } = self;
        [(CostKind::Disk, disk), (CostKind::Address, address), (CostKind::Egress, egress)]
    }

    /// What is known of them, per hour. What is not known is not counted, and told apart.
    pub fn known(self) -> MicroUsd {
        self.each().into_iter().filter_map(|(_, extra)| extra.hourly()).sum()
    }

    /// What is left to pay of a machine that is shut down: its disk.
    pub fn when_stopped(self) -> Self {
        Extras { disk: self.disk, ..Extras::default() }
    }
}

/// Why nobody can tell what something costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NoPrice {
    /// Neither the catalog nor the cloud tells the price of the machine.
    Machine,
    /// The image decides how large the disk is, because the template does not.
    ImageDecides,
    /// There is no price for this kind of disk.
    DiskKind,
    /// There is no price for a disk of this size.
    DiskSize,
    /// The subnet decides whether there is a public address.
    SubnetDecides,
    /// There is no price for traffic between the data and the machine.
    Route,
    /// There is no price for traffic from there to the internet.
    Internet,
    /// There is no price for so much traffic.
    Volume,
    /// Nobody wrote down what it cost when it was launched.
    NotRecorded,
    /// Somebody else launched the machine, and nobody told what it has.
    Adopted,
    /// Nobody knows what machines of the type count for, and so what their share is.
    UnknownType,
}

impl NoPrice {
    /// Whether a price is missing for what is known to be there. The others cost little, and the spec
    /// leaves open how much.
    pub fn is_unpriced(self) -> bool {
        match self {
            NoPrice::Machine
            | NoPrice::DiskKind
            | NoPrice::DiskSize
            | NoPrice::Route
            | NoPrice::Internet
            | NoPrice::Volume
            | NoPrice::NotRecorded
            | NoPrice::Adopted
            | NoPrice::UnknownType => true,
            NoPrice::ImageDecides | NoPrice::SubnetDecides => false,
        }
    }
}

/// What a line of a bill is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CostKind {
    /// The machine itself, with its accelerators.
    Machine,
    /// Its boot disk.
    Disk,
    /// Its public IPv4 address.
    Address,
    /// Its share of the traffic.
    Egress,
}

impl CostKind {
    /// What comes beside a machine.
    pub const BESIDE: [CostKind; 3] = [CostKind::Disk, CostKind::Address, CostKind::Egress];

    /// Every kind.
    pub const ALL: [CostKind; 4] =
        [CostKind::Machine, CostKind::Disk, CostKind::Address, CostKind::Egress];

    /// The word as users read it, for several of them.
    pub fn as_str(self) -> &'static str {
        match self {
            CostKind::Machine => "machines",
            CostKind::Disk => "disks",
            CostKind::Address => "public addresses",
            CostKind::Egress => "traffic",
        }
    }
}

impl fmt::Display for CostKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Something that no amount counts, because nobody can tell its price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Uncounted {
    /// What.
    pub kind: CostKind,
    /// Why.
    pub because: NoPrice,
    /// On which cloud.
    pub cloud: Cloud,
    /// Of how many machines.
    pub machines: u32,
}
