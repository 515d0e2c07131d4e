//! Machines that change hands while they run: taken in, let go, or told another name of their fleet.

use crate::{Class, Error};
use async_trait::async_trait;
use fleet_model::{
    Cloud, FleetName, FleetUid, Labelled, Labels, Machine, MachineId, Ownership, Scope,
};

/// Codes of our own for a cloud that cannot do it.
pub const NO_HANDOVER: &str = "NoHandover";

/// Why machines of Lambda cannot change hands.
pub const LAMBDA_KEEPS_TAGS: &str =
    "Lambda takes tags with a launch alone, and changes none afterwards";

/// What a cloud can do where tags of running machines can be changed.
///
/// Every call looks first, and leaves alone what is not as the request takes it for. Doing it twice does no
/// harm.
#[async_trait]
pub trait Handover: Send + Sync {
    /// Machines in a scope that carry a tag of the user's own and none of ours, and that are not ended. All
    /// of them, or an error.
    async fn unowned(&self, scope: &Scope, tag: &TagFilter) -> Result<Vec<Machine>, Error>;

    /// Writes tags of ours, and the fleet's labels, on machines that carry none of ours, or these very ones.
    /// Says which carry them now.
    async fn own(&self, request: &OwnRequest<'_>) -> Result<Vec<MachineId>, Error>;

    /// Takes our tags off machines of a fleet, and nothing else. Says which carry none now.
    async fn disown(&self, request: &DisownRequest<'_>) -> Result<Vec<MachineId>, Error>;

    /// Writes another name of their fleet on machines of it. Says which carry it now.
    async fn rename(&self, request: &RenameRequest<'_>) -> Result<Vec<MachineId>, Error>;
}

/// A tag, or label, that machines are chosen by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TagFilter {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// A machine that is to be ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned {
    /// The cloud's name for it.
    pub machine: MachineId,
    /// What its tags are to say.
    pub owner: Ownership,
}

/// Machines that are to be ours, all in one scope.
#[derive(Debug, Clone, Copy)]
pub struct OwnRequest<'a> {
    /// Where they stand.
    pub scope: &'a Scope,
    /// Labels of the user's own that they should carry besides.
    pub labels: &'a Labels,
    /// The machines.
    pub machines: &'a [Owned],
}

/// Machines that are to be ours no longer, all in one scope.
#[derive(Debug, Clone, Copy)]
pub struct DisownRequest<'a> {
    /// The fleet they belong to.
    pub fleet: &'a FleetUid,
    /// Where they stand.
    pub scope: &'a Scope,
    /// The machines.
    pub machines: &'a [Labelled],
}

/// Machines whose fleet has another name, all in one scope.
#[derive(Debug, Clone, Copy)]
pub struct RenameRequest<'a> {
    /// The fleet they belong to.
    pub fleet: &'a FleetUid,
    /// Its name from here on.
    pub name: &'a FleetName,
    /// Where they stand.
    pub scope: &'a Scope,
    /// The machines.
    pub machines: &'a [Labelled],
}

/// The answer of a cloud whose machines cannot change hands, and why.
pub fn no_handover(cloud: Cloud, why: &str) -> Error {
    Error::new(cloud, Class::Invalid, NO_HANDOVER, why)
}
