//! What the engine tells while it works: calls of clouds and of the store, and what journals say.

use super::register::Metrics;
use fleet_model::{Cloud, Departure, Event, Recorded, SlotName, SlotState, Token, Vacated};
use fleet_run::{Appended, Meter};
use std::time::Duration;

/// Codes of launches that were written down and then not sent.
const NOT_SENT: [&str; 2] = ["LeaseLost", "NotAsked"];

impl Meter for Metrics {
    fn cloud_call(&self, cloud: Cloud, call: &'static str, outcome: &'static str, took: Duration) {
        self.called(cloud.as_str(), call, outcome, took);
    }

    fn store_call(&self, call: &'static str, outcome: &'static str, took: Duration) {
        self.stored(call, outcome, took);
    }

    fn lease_taken(&self, outcome: &'static str, took: Duration) {
        self.leased(outcome, took);
    }

    fn appended(&self, appended: &Appended<'_>) {
        let Appended { fleet, events, before, took } = appended;
        self.wrote(*took);
        let launched = |token: &Token, outcome: &str, count: Option<usize>| {
            let Some(attempt) = before.in_doubt.get(token) else { return };
            let count = count.unwrap_or(attempt.create.slots.len());
            let cloud = attempt.create.pool.place.cloud;
            self.launched(fleet, cloud.as_str(), outcome, count);
        };
        for event in *events {
            match event {
                Event::Created { token, machines, missing, .. } => {
                    launched(token, "launched", Some(machines.len()));
                    launched(token, "refused", Some(missing.len()));
                }
                Event::CreateRefused { token, code, .. } if NOT_SENT.contains(&code.as_str()) => {
                    launched(token, "not-sent", None);
                }
                Event::CreateRefused { token, .. } => launched(token, "refused", None),
                Event::CreateUnknown { token, .. } => launched(token, "unknown", None),
                Event::Vacated { gone } => {
                    let taken = gone.iter().filter(|one| one.how == Departure::Interrupted);
                    for cloud in taken.filter_map(|Vacated { slot, .. }| cloud(before, *slot)) {
                        self.interrupted(fleet, cloud.as_str());
                    }
                }
                // Nothing else is counted.
                _ => {}
            }
        }
    }
}

fn cloud(recorded: &Recorded, slot: SlotName) -> Option<Cloud> {
    match &recorded.slots.get(&slot)?.state {
        SlotState::Filled { pool, .. } => Some(pool.place.cloud),
        SlotState::InDoubt { .. } | SlotState::Vacant => None,
    }
}
