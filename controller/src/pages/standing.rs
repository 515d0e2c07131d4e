//! How a fleet stands, in a word, a shape and a colour: what needs a person comes first.

use fleet_words::output::controller::{FleetOverview, Standing};
use maud::{Markup, html};

/// From what needs a person at once to what needs nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mood {
    Bad,
    Warn,
    Busy,
    Idle,
    Good,
}

impl Mood {
    pub(super) fn class(self) -> &'static str {
        match self {
            Mood::Bad => "bad",
            Mood::Warn => "warn",
            Mood::Busy => "busy",
            Mood::Idle => "idle",
            Mood::Good => "good",
        }
    }

    /// A shape for each: colour alone tells nobody anything.
    fn shape(self) -> &'static str {
        match self {
            Mood::Bad => "✕",
            Mood::Warn => "▲",
            Mood::Busy => "◐",
            Mood::Idle => "○",
            Mood::Good => "●",
        }
    }
}

/// How a fleet stands, in a few words.
pub(super) fn of(fleet: &FleetOverview) -> (Mood, &'static str) {
    let short = fleet.have + 1e-9 < fleet.wanted;
    match fleet.standing {
        Standing::Failed => (Mood::Bad, "look failed"),
        Standing::Unseen => (Mood::Idle, "not seen yet"),
        _ if fleet.gaps > 0 => (Mood::Warn, "region silent"),
        _ if fleet.unplaced > 0.0 => (Mood::Bad, "short of capacity"),
        _ if fleet.in_doubt > 0 => (Mood::Warn, "in doubt"),
        // Nothing is done for it, whatever it needs.
        _ if fleet.frozen && (short || fleet.held > 0) => (Mood::Warn, "frozen"),
        _ if fleet.frozen => (Mood::Idle, "frozen"),
        _ if fleet.held > 0 && !is_unspecified(fleet) => (Mood::Warn, "held"),
        _ if fleet.interrupted > 0 => (Mood::Busy, "interrupted"),
        _ if is_unspecified(fleet) => (Mood::Idle, "no spec"),
        Standing::GoesOn => (Mood::Busy, "changing"),
        Standing::Elsewhere => (Mood::Idle, "run elsewhere"),
        Standing::Settled if short => (Mood::Warn, "below target"),
        Standing::Settled if fleet.launching > 0 => (Mood::Busy, "starting"),
        Standing::Settled => (Mood::Good, "as wanted"),
    }
}

/// Whether only its journal knows the fleet: nobody says what is wanted, so nothing is too much.
pub(super) fn is_unspecified(fleet: &FleetOverview) -> bool {
    fleet.file.is_empty()
}

/// Whether a person should look.
pub(super) fn needs_attention(fleet: &FleetOverview) -> bool {
    of(fleet).0 <= Mood::Warn
}

/// The badge of a fleet.
pub(super) fn badge(fleet: &FleetOverview) -> Markup {
    let (mood, word) = of(fleet);
    html! {
        span class={ "badge " (mood.class()) } {
            span aria-hidden="true" { (mood.shape()) }
            " " (word)
        }
    }
}
