//! All fleets at a glance, as a document.

use crate::Controller;
use crate::board::{FleetView, Known, Refused, Standing};
use crate::source::short;
use fleet_model::{Desired, FleetName, Timestamp};
use fleet_words::output::common::{Unmanaged, diagnostics};
use fleet_words::output::controller as documents;
use fleet_words::output::words::{Group, Market, State, Time};
use std::path::Path;

impl Controller {
    /// All fleets at a glance.
    pub fn overview(&self) -> documents::Overview {
        let specs = self.board.specs();
        let replicas = self.board.replicas();
        let fleets = self.board.fleets();
        let fleets = specs.fleets.iter().filter_map(|(fleet, (desired, file))| {
            let known = fleets.get(fleet)?;
            Some(glance(fleet, desired, file, known, self.board.replica_of(fleet)))
        });
        documents::Overview {
            at: Time(self.time()),
            replica: self.replica.clone(),
            replicas: replicas.to_vec(),
            acts: self.acts,
            source: documents::Source {
                commit: specs.commit.as_deref().map(|commit| short(commit).to_owned()),
                since: specs.since.map(Time),
                refused: self.board.refused().map(|refused| refusal(&refused)),
            },
            fleets: fleets.collect(),
            unmanaged: specs
                .unmanaged
                .iter()
                .map(|(fleet, machines)| Unmanaged {
                    fleet: fleet.to_string(),
                    machines: *machines as u64,
                })
                .collect(),
        }
    }

    /// One fleet at a glance; `None` if no spec names it.
    pub fn overview_of(&self, fleet: &FleetName) -> Option<documents::FleetOverview> {
        let specs = self.board.specs();
        let (desired, file) = specs.fleets.get(fleet)?;
        let known = self.board.fleet(fleet)?;
        Some(glance(fleet, desired, file, &known, self.board.replica_of(fleet)))
    }
}

fn refusal(refused: &Refused) -> documents::RefusedSpecs {
    let (error, place, hint) = refused.why.told();
    documents::RefusedSpecs {
        commit: refused.commit.as_deref().map(|commit| short(commit).to_owned()),
        since: Time(refused.since),
        error,
        place,
        hint,
        diagnostics: diagnostics(&refused.why.diagnostics),
    }
}

fn glance(
    fleet: &FleetName,
    desired: &Desired,
    file: &Path,
    known: &Known,
    replica: Option<String>,
) -> documents::FleetOverview {
    let (standing, said, hint) = match &known.standing {
        None => (documents::Standing::Unseen, None, None),
        Some(Standing::Settled) => (documents::Standing::Settled, None, None),
        Some(Standing::GoesOn) => (documents::Standing::GoesOn, None, None),
        Some(Standing::Elsewhere { holder }) => {
            (documents::Standing::Elsewhere, Some(holder.clone()), None)
        }
        Some(Standing::Failed { why }) => {
            let (what, _, hint) = why.told();
            (documents::Standing::Failed, Some(what), hint)
        }
    };
    let moment = |ms: i64| Timestamp::from_millisecond(ms).ok().map(Time);
    let mut glance = documents::FleetOverview {
        fleet: fleet.to_string(),
        file: file.display().to_string(),
        standing,
        said,
        hint,
        replica,
        looked_at: None,
        next_look_at: known.due.and_then(moment),
        unit: desired.capacity.unit.into(),
        wanted: desired.capacity.target.as_f64(),
        have: 0.0,
        machines: 0,
        ready: 0,
        launching: 0,
        on_fallback: 0,
        interrupted: 0,
        held: 0,
        frozen: false,
        unplaced: 0.0,
        in_doubt: 0,
        gaps: 0,
        hourly_usd: 0.0,
        monthly_usd: 0.0,
        saved_hourly_usd: 0.0,
        launched: 0,
        destroyed: 0,
    };
    if let Some(view) = &known.view {
        count(&mut glance, view);
    }
    glance
}

/// What a look saw, in numbers.
fn count(glance: &mut documents::FleetOverview, view: &FleetView) {
    let FleetView { status, plan, looked_at, frozen, launched, destroyed, .. } = view;
    let of_state = |state: State| {
        let some = status.machines.iter().filter(|machine| machine.state == state);
        u32::try_from(some.count()).unwrap_or(u32::MAX)
    };
    let number = |some: usize| u32::try_from(some).unwrap_or(u32::MAX);
    glance.looked_at = Some(Time(*looked_at));
    glance.wanted = status.groups.iter().map(|group| group.wanted).sum();
    glance.have = status.groups.iter().map(|group| group.have).sum();
    glance.machines = number(status.machines.len());
    glance.ready = of_state(State::Running);
    glance.launching = of_state(State::Pending);
    let taken = status.machines.iter().filter(|machine| machine.interruption_at.is_some());
    glance.interrupted = number(taken.count());
    let stands_in = status
        .machines
        .iter()
        .filter(|machine| machine.group == Group::Burst && machine.market == Market::OnDemand);
    glance.on_fallback = number(stands_in.count());
    glance.held = number(status.held.len());
    glance.frozen = *frozen;
    glance.unplaced = status.unplaced.iter().fold(0.0, |sum, one| sum + one.missing);
    glance.in_doubt = number(status.in_doubt.len());
    glance.gaps = number(status.gaps.len());
    glance.hourly_usd = status.cost.hourly_usd;
    glance.monthly_usd = status.cost.monthly_usd;
    let on_demand = plan.pools.iter().filter_map(|pool| {
        let each = pool.on_demand_hourly_usd?;
        Some(f64::from(pool.keep) * each - pool.kept_hourly_usd)
    });
    glance.saved_hourly_usd = on_demand.sum::<f64>().max(0.0);
    (glance.launched, glance.destroyed) = (*launched, *destroyed);
}
