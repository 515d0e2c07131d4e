//! Names. Our name for a thing and the cloud's name for it are different types.

use crate::facts::TokenRule;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A word that names nothing we know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{text}`")]
pub struct UnknownName {
    /// What was expected, e.g. "cloud".
    pub what: &'static str,
    /// The text that was found.
    pub text: String,
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        // Serde's own way makes a `String` first.
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(AnyName).map(Self)
            }
        }

        // Most names that are compared are copies of one another: then there is no text to look at.
        impl Ord for $name {
            #[inline]
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                match Arc::ptr_eq(&self.0, &other.0) {
                    true => std::cmp::Ordering::Equal,
                    false => self.0.cmp(&other.0),
                }
            }
        }
        impl PartialOrd for $name {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl $name {
            /// Wraps a name as it stands.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }
    )*};
}

struct AnyName;

impl serde::de::Visitor<'_> for AnyName {
    type Value = Arc<str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Arc<str>, E> {
        Ok(text.into())
    }
}

names! {
    /// A cloud's region, in the cloud's own words: `us-east-1`.
    Region;
    /// A failure domain inside a region: `use1-az4`. Clouds without zones use [`Zone::REGIONAL`].
    Zone;
    /// A cloud's name for a kind of machine: `p5.48xlarge`.
    InstanceType;
    /// The name a person gave to a fleet.
    FleetName;
    /// The identity of a fleet, made once at its first apply. Names may be reused; uids are not.
    FleetUid;
    /// The cloud's immutable name for one machine: `i-0abc…`.
    MachineId;
    /// The idempotency token of one create request, derived from recorded intent.
    Token;
}

impl Region {
    /// A region of a named account: `us-east-1@123456789012`. What two accounts have in the same
    /// region are different things: machines, limits, gaps. So the account is part of the name.
    pub fn of_account(&self, account: &str) -> Self {
        Region::new(format!("{}@{account}", self.name()))
    }

    /// The cloud's own name for it.
    pub fn name(&self) -> &str {
        self.as_str().split_once('@').map_or(self.as_str(), |(name, _)| name)
    }

    /// The account that is named; `None`: the one that the credentials are for.
    pub fn account(&self) -> Option<&str> {
        self.as_str().split_once('@').map(|(_, account)| account)
    }
}

impl Zone {
    /// The zone of a pool whose cloud does not let us choose a zone.
    pub const REGIONAL: &'static str = "regional";
}

/// The clouds we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cloud {
    /// Amazon Web Services.
    Aws,
    /// Google Cloud.
    Gcp,
    /// Microsoft Azure.
    Azure,
    /// Lambda Cloud.
    Lambda,
}

impl Cloud {
    /// Every cloud, in the order in which we list them.
    pub const ALL: [Cloud; 4] = [Cloud::Aws, Cloud::Gcp, Cloud::Azure, Cloud::Lambda];

    /// The cloud's name as users write it.
    pub fn as_str(self) -> &'static str {
        self.facts().name
    }

    /// How many machines one create request may ask for.
    pub fn max_per_create(self) -> u32 {
        self.facts().machines_per_launch
    }

    /// Whether one list shows a whole account, whatever region.
    pub fn lists_whole_accounts(self) -> bool {
        self.facts().lists_whole_accounts
    }

    /// Whether a machine that goes may leave a disk or an interface of ours behind.
    pub fn leaves_children(self) -> bool {
        self.facts().leaves_children
    }

    /// Whether labels of a machine that runs can be changed.
    pub fn relabels(self) -> bool {
        self.facts().machines_per_relabel.is_some()
    }

    /// Whether a launch that is sent twice makes its machines once.
    pub fn launches_are_idempotent(self) -> bool {
        self.facts().token != TokenRule::None
    }

    /// Whether one launch may leave the choice between several pools of a region to the cloud.
    pub fn chooses_among_pools(self) -> bool {
        self.facts().chooses_among_pools
    }

    /// Whether `family`, as users write it (`p5`, `a3-highgpu`, `Standard_ND96`, `gpu_8x`), names
    /// the family of the type `of`. `p4d` is not a family of `p4de.24xlarge`.
    pub fn is_family(self, family: &str, of: &InstanceType) -> bool {
        let Some((head, rest)) = of.as_str().split_at_checked(family.len()) else {
            return false;
        };
        if family.is_empty() || !head.eq_ignore_ascii_case(family) {
            return false;
        }
        match (rest.chars().next(), self) {
            (None, _) => true,
            (Some(next), Cloud::Aws) => next == '.',
            (Some(next), Cloud::Gcp) => next == '-',
            (Some(next), Cloud::Lambda) => next == '_',
            // Azure writes size and features without a separator: Standard_ND96 + asr_v4.
            (Some(next), Cloud::Azure) => !next.is_ascii_digit(),
        }
    }
}

impl fmt::Display for Cloud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Cloud {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Cloud::ALL
            .into_iter()
            .find(|cloud| cloud.as_str() == text)
            .ok_or_else(|| UnknownName { what: "cloud", text: text.into() })
    }
}

/// How a machine is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Market {
    /// List price, ours until we end it.
    OnDemand,
    /// Spare capacity at a discount; the cloud may take it back.
    Spot,
    /// Bought ahead of time.
    Reserved,
}

impl Market {
    /// Every market.
    pub const ALL: [Market; 3] = [Market::OnDemand, Market::Spot, Market::Reserved];

    /// The market's name as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Market::OnDemand => "on-demand",
            Market::Spot => "spot",
            Market::Reserved => "reserved",
        }
    }
}

impl fmt::Display for Market {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Market {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Market::ALL
            .into_iter()
            .find(|market| market.as_str() == text)
            .ok_or_else(|| UnknownName { what: "market", text: text.into() })
    }
}

/// What one list call covers: it answers in full, or it is a gap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The cloud asked.
    pub cloud: Cloud,
    /// The region asked.
    pub region: Region,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.cloud, self.region)
    }
}

/// Where a machine can stand.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The cloud.
    pub cloud: Cloud,
    /// The region.
    pub region: Region,
    /// The zone, or [`Zone::REGIONAL`].
    pub zone: Zone,
}

impl Place {
    /// Whether an account must opt into this place: AWS local and wavelength zones, whose ids name
    /// a city between region and number (`use1-atl2-az1`).
    pub fn needs_opt_in(&self) -> bool {
        self.cloud == Cloud::Aws && self.zone.as_str().split('-').count() > 2
    }

    /// The scope that lists machines standing here.
    pub fn scope(&self) -> Scope {
        Scope { cloud: self.cloud, region: self.region.clone() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.cloud, self.region, self.zone)
    }
}

/// A pool: machines of one type, in one zone, bought in one market. Written
/// `aws/us-east-1/use1-az4/p5.48xlarge/spot`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolId {
    /// Where.
    pub place: Place,
    /// What.
    pub instance_type: InstanceType,
    /// How it is paid for.
    pub market: Market,
}

impl fmt::Display for PoolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.place, self.instance_type, self.market)
    }
}

impl FromStr for PoolId {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let unknown = || UnknownName { what: "pool", text: text.into() };
        let mut parts = text.split('/');
        let mut part = || parts.next().ok_or_else(unknown);
        let (cloud, region, zone) = (part()?, part()?, part()?);
        let (instance_type, market) = (part()?, part()?);
        if parts.next().is_some() {
            return Err(unknown());
        }
        if [region, zone, instance_type].contains(&"") {
            return Err(unknown());
        }
        Ok(PoolId {
            place: Place { cloud: cloud.parse()?, region: region.into(), zone: zone.into() },
            instance_type: instance_type.into(),
            market: market.parse()?,
        })
    }
}

impl Serialize for PoolId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PoolId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The two tiers of a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// On-demand capacity: the base, and what of the rest is not to be spot.
    Base,
    /// Spot capacity above the base.
    Burst,
}

impl Group {
    /// Both groups, base first: that is the order in which capacity is placed.
    pub const ALL: [Group; 2] = [Group::Base, Group::Burst];

    /// The market in which this group buys.
    pub fn market(self) -> Market {
        match self {
            Group::Base => Market::OnDemand,
            Group::Burst => Market::Spot,
        }
    }

    /// The group's name as users read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Group::Base => "base",
            Group::Burst => "burst",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A place for one machine in a fleet, whoever fills it: `burst-17`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotName {
    /// The tier.
    pub group: Group,
    /// Counted from 0 within the tier.
    pub ordinal: u32,
}

impl fmt::Display for SlotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.group, self.ordinal)
    }
}

impl FromStr for SlotName {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let unknown = || UnknownName { what: "slot", text: text.into() };
        let (group, ordinal) = text.rsplit_once('-').ok_or_else(unknown)?;
        let group = Group::ALL.into_iter().find(|g| g.as_str() == group).ok_or_else(unknown)?;
        Ok(SlotName { group, ordinal: ordinal.parse().map_err(|_| unknown())? })
    }
}

/// One filling of a slot. At most one machine ever lives for a slot id: `burst-17.2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId {
    /// Which slot.
    pub name: SlotName,
    /// Rises each time the slot is filled anew.
    pub generation: u32,
}

impl fmt::Display for SlotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.name, self.generation)
    }
}

impl FromStr for SlotId {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let unknown = || UnknownName { what: "slot", text: text.into() };
        let (name, generation) = text.rsplit_once('.').ok_or_else(unknown)?;
        Ok(SlotId { name: name.parse()?, generation: generation.parse().map_err(|_| unknown())? })
    }
}

macro_rules! serde_as_text {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}
serde_as_text!(SlotName, SlotId);

/// The number of a step within its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(pub u32);

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_end_where_each_cloud_ends_them() {
        let check = |cloud: Cloud, family: &str, of: &str, expect: bool| {
            assert_eq!(cloud.is_family(family, &of.into()), expect, "{cloud} {family} {of}");
        };
        check(Cloud::Aws, "p4d", "p4d.24xlarge", true);
        check(Cloud::Aws, "p4d", "p4de.24xlarge", false);
        check(Cloud::Aws, "p5", "p5.48xlarge", true);
        check(Cloud::Aws, "p5", "p5en.48xlarge", false);
        check(Cloud::Gcp, "a3-highgpu", "a3-highgpu-8g", true);
        check(Cloud::Gcp, "a3", "a3-highgpu-8g", true);
        check(Cloud::Gcp, "n2", "n2d-standard-4", false);
        check(Cloud::Azure, "Standard_ND96", "Standard_ND96asr_v4", true);
        check(Cloud::Azure, "Standard_ND9", "Standard_ND96asr_v4", false);
        check(Cloud::Azure, "standard_nd96", "Standard_ND96isr_H100_v5", true);
        check(Cloud::Lambda, "gpu_8x", "gpu_8x_h100_sxm5", true);
        check(Cloud::Lambda, "gpu_1x", "gpu_8x_h100_sxm5", false);
        check(Cloud::Aws, "", "p5.48xlarge", false);
    }

    #[test]
    fn ids_read_back_what_they_print() {
        let pool: PoolId = "aws/us-east-1/use1-az4/p5.48xlarge/spot".parse().expect("a pool");
        assert_eq!(pool.to_string(), "aws/us-east-1/use1-az4/p5.48xlarge/spot");
        let slot: SlotId = "burst-17.2".parse().expect("a slot");
        assert_eq!(slot.to_string(), "burst-17.2");
        for bad in ["", "aws", "aws/r/z/t", "aws//z/t/spot", "mars/r/z/t/spot", "aws/r/z/t/free"] {
            assert!(bad.parse::<PoolId>().is_err(), "{bad}");
        }
        for bad in ["", "burst", "burst-x.1", "burst-1", "edge-1.1"] {
            assert!(bad.parse::<SlotId>().is_err(), "{bad}");
        }
    }
}
