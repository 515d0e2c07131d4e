//! What only Lambda does, on demand.

/// How the account behaves, until it is changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Habits {
    /// New machines turn unhealthy.
    pub sick: Option<Sick>,
    /// Types are listed as having capacity, and launches are refused for lack of it.
    pub listed_is_not_launchable: bool,
    /// Types are launched though no region lists them.
    pub launchable_is_not_listed: bool,
    /// Ended machines leave the list at once, not after some minutes. Asked for by id, they are still
    /// told of.
    pub forgets_at_once: bool,
    /// Ended machines are not told of by id either.
    pub knows_no_ended: bool,
    /// Something in front of the API answers every call with a page of this status.
    pub page: Option<u16>,
    /// The API has moved: every call is redirected to this address.
    pub moved: Option<String>,
}

/// When a machine turns unhealthy. It is billed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sick {
    /// In place of ever being active.
    FromBoot,
    /// So many seconds after its launch.
    After(i64),
}
