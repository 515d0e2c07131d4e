//! What could be bought: the pools of the catalog that the spec allows, what is known against buying
//! from each at this moment, what a machine of it counts for, and what is paid for already.

mod approvals;
mod candidates;
mod commitments;
mod defaults;
mod eligible;
mod extras;
mod names;
mod places;
mod prospect;
pub(crate) mod trust;
mod weights;

pub(crate) use approvals::needs_approval;
pub(crate) use candidates::{Candidate, candidates, max_spot_price, usual_odds};
pub(crate) use commitments::{Covered, commitment_for, in_force};
pub(crate) use defaults::Defaults;
pub use eligible::{Eligible, eligible, eligible_beside, rejection};
pub(crate) use eligible::{find_offering, place_in_accounts};
pub(crate) use extras::extras_by;
pub use extras::{add_extras, extras_of};
pub(crate) use places::Places;
pub(crate) use prospect::{BEST, Prospect};
pub use trust::add_signals;
pub use weights::weight;
