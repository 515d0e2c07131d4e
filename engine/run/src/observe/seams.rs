//! Where seeded bugs enter a look, so that looking is written once. Without the feature `bugs` each of
//! these does what its first line says.

use fleet_model::bugs::{self, Bug};
use fleet_model::{AccountKey, Orphans, Recorded};
use fleet_provider::{Error, Listing};

/// The account that a fleet runs in, if that is known: the one on record.
pub(super) fn known_account<'a>(recorded: &'a Recorded, key: &AccountKey) -> Option<&'a String> {
    if bugs::on(Bug::OtherAccountIgnored) {
        return None;
    }
    recorded.accounts.get(key)
}

/// What a scope said: its answer, word for word.
pub(super) fn as_said(
    answer: Result<(Listing, Vec<Orphans>), Error>,
) -> Result<(Listing, Vec<Orphans>), Error> {
    match answer {
        Ok((Listing::Partial(some, _), left)) if bugs::on(Bug::PartialListTakenForWhole) => {
            Ok((Listing::Complete(some), left))
        }
        Err(_) if bugs::on(Bug::SilenceIsEmpty) => Ok((Listing::Complete(Vec::new()), Vec::new())),
        answer => answer,
    }
}
