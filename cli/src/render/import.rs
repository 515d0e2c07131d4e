//! Machines that a fleet may take in, in words and for programs.

use super::columns::{Columns, left, right};
use super::place;
use crate::out::Out;
use crate::output::adopt::{Found, Import, Silent};
use crate::output::common::Summary;
use crate::output::words::{Time, usd};
use crate::sentences;
use crate::style::{DIM, WARN};
use crate::text::{clean_line, count, price, when};
use fleet_core::Unfit;
use fleet_model::{FleetName, Machine, MachineState, MicroUsd, Scope, SlotId};
use fleet_run::Changed;

/// A machine that was found.
pub(crate) struct Listed {
    pub machine: Machine,
    /// The slot that it would fill.
    pub slot: Option<SlotId>,
    pub price: Option<MicroUsd>,
    /// Why it cannot be taken in.
    pub unfit: Option<Unfit>,
}

fn why(unfit: &Unfit) -> String {
    match unfit {
        Unfit::State(MachineState::Failed) => "its cloud says that it does not work".into(),
        Unfit::State(state) => format!("it is {state}"),
        Unfit::Interrupted => "its cloud takes it back".into(),
        Unfit::Rejected(rejection) => {
            format!("the spec does not allow it: {}", sentences::rejection(rejection))
        }
        Unfit::UnknownType => "the catalog does not know its type".into(),
    }
}

/// For people.
pub(crate) fn list(listed: &[Listed], after: &Summary) -> String {
    if listed.is_empty() {
        return "No machine without an owner carries this tag.".into();
    }
    let mut table = Columns::default();
    let heads = ["machine", "type", "where", "market"].map(left);
    let heads = heads.into_iter().chain([right("each/h"), left("launched"), left("slot")]);
    table.row(heads.map(|head| head.style(DIM)));
    for one in listed {
        let machine = &one.machine;
        let slot = match (&one.slot, &one.unfit) {
            (Some(slot), _) => left(slot.name.to_string()),
            (None, Some(unfit)) => left(format!("none: {}", why(unfit))).style(WARN),
            (None, None) => left("none"),
        };
        table.row([
            left(machine.id.as_str()),
            left(machine.instance_type.as_str()),
            left(place(&machine.place)),
            left(machine.market.as_str()),
            right(price(one.price)),
            left(when(machine.launched_at)),
            slot,
        ]);
    }
    let taken = listed.iter().filter(|one| one.slot.is_some()).count() as u64;
    let next = match (after.create, after.destroy) {
        (0, 0) => "the plan is empty afterwards".to_owned(),
        (create, 0) => format!("an apply launches {create} more afterwards"),
        (create, destroy) => {
            format!("an apply launches {create} and destroys {destroy} afterwards")
        }
    };
    format!("{}\n{} to take in; {next}.", table.render("  "), count(taken, "machine"))
}

/// Regions that could not be asked.
pub(crate) fn silent(silent: &[(Scope, String)], out: &mut Out) {
    for (scope, why) in silent {
        out.aside(format!("{WARN}warning:{WARN:#} {scope} was not looked at: {}", clean_line(why)));
    }
}

/// Machines that were meant to be taken in and were not.
pub(crate) fn not_taken(changed: &Changed, out: &mut Out) {
    let Changed { done: _, stuck, refused, unknown } = changed;
    for (id, why) in stuck.iter().chain(refused) {
        let id = clean_line(id.as_str());
        out.aside(format!("{WARN}warning:{WARN:#} {id} is not taken in: {}", clean_line(why)));
    }
    for (id, why) in unknown {
        let id = clean_line(id.as_str());
        out.aside(format!(
            "{WARN}warning:{WARN:#} nobody knows whether {id} carries our tags: {}. The same command finds out.",
            clean_line(why)
        ));
    }
}

/// For programs. `changed`: what came of it, if anything was done.
pub(crate) fn document(
    fleet: &FleetName,
    listed: &[Listed],
    silent: &[(Scope, String)],
    changed: Option<&Changed>,
    after: &Summary,
) -> Import {
    let found = |one: &Listed| {
        let machine = &one.machine;
        let refusal = changed.and_then(|changed| {
            let Changed { done: _, stuck, refused, unknown } = changed;
            [stuck, refused, unknown].into_iter().find_map(|all| all.get(&machine.id))
        });
        Found {
            id: machine.id.to_string(),
            provider: machine.place.cloud.into(),
            region: machine.place.region.to_string(),
            zone: machine.place.zone.to_string(),
            r#type: machine.instance_type.to_string(),
            market: machine.market.into(),
            state: Some(machine.state).into(),
            hourly_usd: one.price.map(usd),
            launched_at: Time(machine.launched_at),
            taken: changed.is_some_and(|changed| changed.done.contains(&machine.id)),
            slot: one.slot.map(|slot| slot.to_string()),
            why: one.unfit.as_ref().map(why).or_else(|| refusal.map(|why| clean_line(why))),
        }
    };
    let gap = |(scope, why): &(Scope, String)| Silent {
        provider: scope.cloud.into(),
        region: scope.region.to_string(),
        why: clean_line(why),
    };
    Import {
        fleet: fleet.to_string(),
        machines: listed.iter().map(found).collect(),
        gaps: silent.iter().map(gap).collect(),
        create: after.create,
        destroy: after.destroy,
    }
}
