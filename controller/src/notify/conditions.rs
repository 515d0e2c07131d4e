//! What is worth a message. Pure.

use crate::board::{FleetView, Known, Refused, Standing};
use fleet_model::FleetName;
use fleet_spec::NotifyEvent;
use fleet_words::output::reasons::{Hold, RolloutWait, Said};

/// So many machines that are interrupted at once, and more than one in five, are a storm.
const STORM: usize = 3;

/// Something that somebody may want to be told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) event: NotifyEvent,
    pub(super) fleet: Option<FleetName>,
    /// What makes it another thing than the one before. Numbers and times that move are not part of it.
    pub(super) about: String,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) next: Option<String>,
}

/// What is worth a message about a fleet.
pub(super) fn of_fleet(fleet: &FleetName, known: &Known) -> Vec<Condition> {
    let mut found = Vec::new();
    let condition = |event, about: &str, title: String, text: String, next| Condition {
        event,
        fleet: Some(fleet.clone()),
        about: about.to_owned(),
        title,
        text,
        next,
    };
    match &known.standing {
        Some(Standing::Failed { why }) => {
            let (what, _, hint) = why.told();
            let title = format!("fleet {fleet}: a look failed");
            found.push(condition(NotifyEvent::Failed, &without_digits(&what), title, what, hint));
            // What was seen before is old news.
            return found;
        }
        // Another replica looks after it, and tells.
        Some(Standing::Elsewhere { .. }) | None => return found,
        Some(Standing::Settled | Standing::GoesOn) => {}
    }
    let Some(view) = &known.view else { return found };
    for Said { reason, why, next } in &view.status.held {
        let Some((event, about)) = held(reason) else { continue };
        let title = match event {
            NotifyEvent::Budget => format!("fleet {fleet}: the budget is too small"),
            NotifyEvent::Rollout => format!("fleet {fleet}: the rollout stopped"),
            _ => format!("fleet {fleet}: something is held back"),
        };
        found.push(condition(event, &about, title, why.clone(), next.clone()));
    }
    for (budget, (limit, used)) in view.figures.overdrawn() {
        let title = format!("fleet {fleet}: above its budget");
        let text = format!("${used:.2} of ${limit:.2} ({budget}) is used.");
        let next = Some("`fleet plan` says what is held back because of it".to_owned());
        found.push(condition(NotifyEvent::Budget, budget, title, text, next));
    }
    if let Some((taken, all)) = storm(view) {
        let title = format!("fleet {fleet}: many interruptions");
        let text = format!("{taken} of {all} machines are being taken back.");
        found.push(condition(NotifyEvent::Interruptions, "storm", title, text, None));
    }
    found
}

/// Specs that are not in force.
pub(super) fn of_specs(refused: &Refused) -> Condition {
    let (what, place, hint) = refused.why.told();
    let place = place.map_or_else(String::new, |place| format!(" ({place})"));
    let commit = refused.commit.clone().unwrap_or_default();
    Condition {
        event: NotifyEvent::SpecsRefused,
        fleet: None,
        about: format!("{commit} {what}{place}"),
        title: "the latest specs are refused; those before stay in force".into(),
        text: format!("{what}{place}"),
        next: hint,
    }
}

/// What a hold is to those who want to know; `None` if it passes by itself.
fn held(hold: &Hold) -> Option<(NotifyEvent, String)> {
    let held = |about: &str| Some((NotifyEvent::Held, about.to_owned()));
    match hold {
        Hold::DestroyLimit { .. } => held("destroy limit"),
        Hold::ByHand { reason, .. } => held(&format!("by hand: {reason}")),
        Hold::ManyUnhealthy { .. } => held("many unhealthy"),
        Hold::Frozen { .. } => held("frozen"),
        Hold::JournalLost { .. } => held("journal lost"),
        Hold::AttemptLimit { .. } => held("attempt limit"),
        Hold::BootFailures { .. } => held("boot failures"),
        Hold::Gap { region, .. } => held(&format!("gap in {region}")),
        Hold::Budget { .. } => Some((NotifyEvent::Budget, "held".into())),
        Hold::Rollout { waits_for: RolloutWait::Halt, .. } => {
            Some((NotifyEvent::Rollout, "halt".into()))
        }
        Hold::Rollout { .. }
        | Hold::WaitingForReplacement { .. }
        | Hold::SuccessorsNotUp { .. }
        | Hold::Surge { .. }
        | Hold::NotSeenYet { .. } => None,
    }
}

fn storm(view: &FleetView) -> Option<(usize, usize)> {
    let all = view.status.machines.len();
    let taken = view.status.machines.iter().filter(|one| one.interruption_at.is_some()).count();
    (taken >= STORM && taken * 5 > all).then_some((taken, all))
}

fn without_digits(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_words::fail::Failure;

    fn failed(what: &str) -> Vec<Condition> {
        let standing = Some(Standing::Failed { why: Failure::new(what).hint("try") });
        of_fleet(&"a".into(), &Known { view: None, standing, due: None })
    }

    #[test]
    fn a_failure_is_the_same_while_only_numbers_move() {
        let [first, second] = ["took 3 s", "took 14 s"].map(failed);
        assert_eq!((first.len(), first[0].event), (1, NotifyEvent::Failed));
        assert_eq!(first[0].about, second[0].about);
        assert_ne!(first[0].about, failed("no rights")[0].about);
        assert_eq!(first[0].next.as_deref(), Some("try"));
    }

    #[test]
    fn fleets_of_others_are_told_of_by_others() {
        let standing = Some(Standing::Elsewhere { holder: "b".into() });
        let known = Known { view: None, standing, due: None };
        assert_eq!(of_fleet(&"a".into(), &known), []);
    }

    #[test]
    fn what_passes_by_itself_is_not_told() {
        assert_eq!(held(&Hold::NotSeenYet { machines: 1 }), None);
        assert!(held(&Hold::Frozen { missing: 1, of: 2 }).is_some());
    }
}
