//! What a look at an account brings.

use fleet_model::{AccountKey, Gap, Machine, Orphans, Scope};

/// Machines in a scope, and what is there without one.
pub(crate) type Seen = (Vec<Machine>, Vec<Orphans>);

/// What one account answered.
pub(crate) struct AccountLook {
    pub(crate) key: AccountKey,
    pub(crate) account: Option<String>,
    pub(crate) scopes: Vec<(Scope, Result<Seen, Unseen>)>,
}

/// A scope that did not answer in full, and what it showed all the same.
pub(crate) struct Unseen {
    pub(crate) gap: Gap,
    pub(crate) glimpsed: Vec<Machine>,
}

impl From<Gap> for Unseen {
    fn from(gap: Gap) -> Self {
        Unseen { gap, glimpsed: Vec::new() }
    }
}
