//! What we hold: the journal's word and the clouds' word, brought together.

use crate::holdings::came_back::came_back;
use crate::holdings::covered::cover;
use crate::holdings::holding::{Holding, Inventory};
use crate::holdings::leftovers::{self, Leftover};
use crate::holdings::pools::{PoolFacts, pool_facts};
use crate::holdings::readiness::{self, Asked};
use crate::holdings::seams;
use crate::holdings::standing::{Found, Standing, owned, standing};
use crate::holdings::strangers::{notice_strangers, strays};
use crate::offers::extras_by;
use fleet_model::{
    Cause, Cloud, Commitment, Departure, Desired, Digest, FailedMachine, Inputs, Labelled,
    MachineId, Notice, NoticeKind, OnNotice, OnRebalance, PoolId, Readiness, SlotId, SlotName,
    SlotState, Template, Vacated, Why,
};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Brings journal and clouds together.
pub(crate) fn inventory(inputs: &Inputs, commitments: &[Commitment]) -> Inventory {
    let mut inventory =
        Inventory { templates: template_digests(&inputs.desired), ..Inventory::default() };
    inventory.holdings.reserve(inputs.recorded.slots.len());
    let mut pools: BTreeMap<&PoolId, PoolFacts> = BTreeMap::new();
    let mut unknown_types: BTreeMap<&PoolId, u32> = BTreeMap::new();
    for (&name, record) in &inputs.recorded.slots {
        let slot = SlotId { name, generation: record.generation };
        let Some(pool) = pool_of(inputs, &record.state) else { continue };
        let facts =
            pools.entry(pool).or_insert_with(|| pool_facts(inputs, pool, &mut inventory.pools));
        let mut starting = true;
        let (mut failing, mut leaving, mut made_from) = (false, Why::Requested, None);
        let mut unseen = true;
        let (machine, launched_at, price, standing, old_template, ending, labels) = match &record
            .state
        {
            SlotState::Vacant => continue,
            SlotState::InDoubt { token } => {
                let Some(attempt) = seams::in_doubt(&inputs.recorded, token) else { continue };
                let price = seams::price_in_doubt(&attempt.create);
                (None, attempt.intended_at, price, Standing::Fixed, false, false, 0)
            }
            SlotState::Filled {
                machine,
                pool: _,
                launched_at,
                price,
                template,
                ending,
                failed,
                labels,
                replace,
                health,
                drained,
                // A plan counts what comes beside at the prices of now.
                extras: _,
                extras_since: _,
                adopted: _,
            } => {
                if !ending {
                    inventory.recorded_live += 1;
                }
                let seen = inputs.observed.machines.get(machine);
                let standing =
                    match standing(inputs, slot, machine, pool, facts, (*ending, *failed), seen) {
                        Found::Here(standing) => standing,
                        Found::Gone(how, cause) => {
                            if how == Departure::Vanished {
                                inventory.vanished += 1;
                            }
                            if let Some(cause) = cause {
                                let words = cause.words.escape_debug().to_string();
                                inventory.gone_words.insert(machine.clone(), words);
                            }
                            let Some(orphans) = leftovers::of_machine(inputs, machine, pool) else {
                                inventory.vacate.push(Vacated {
                                    slot: name,
                                    machine: machine.clone(),
                                    how,
                                    started: None,
                                    at: None,
                                    deleted: None,
                                });
                                continue;
                            };
                            inventory.leftovers.push(Leftover { orphans, how });
                            Standing::Ending
                        }
                    };
                let asked = Asked {
                    slot,
                    machine,
                    cloud: pool.place.cloud,
                    launched_at: *launched_at,
                    known: *health,
                    seen,
                };
                let answer = inventory.readiness(inputs, &asked);
                unseen = seen.is_none();
                starting = answer.readiness == Readiness::Launching;
                failing = answer.failing.is_some()
                    || readiness::serves_nobody(inputs, &standing, &answer, seen);
                // One that is unhealthy has words of its own.
                let told = !ending && answer.readiness != Readiness::Unhealthy;
                if let Some(words) = answer.failing.as_ref().filter(|_| told) {
                    readiness::notice(&mut inventory, &asked, words);
                }
                let (standing, own) = match (standing, answer.readiness) {
                    (Standing::Good, Readiness::Unhealthy) => {
                        let cause = readiness::cause(answer.failing);
                        (Standing::Failed(cause.kind), Some(cause))
                    }
                    (standing, _) => (standing, None),
                };
                let cause = own.or_else(|| seen.and_then(|machine| machine.cause.clone()));
                inventory.note_trouble(name, machine, &standing, *failed, cause);
                let hidden = seen.is_none() && standing == Standing::Fixed;
                if hidden && !ending && facts.complete {
                    inventory.unseen += 1;
                }
                let tags_lost = seen.is_some_and(|m| !owned(inputs, slot, m));
                if tags_lost {
                    let machine = machine.clone();
                    inventory.notices.push(Notice::TagsLost { machine, slot: name });
                }
                let notice = seen.and_then(|machine| machine.notice).map(|notice| notice.kind);
                let at_risk = notice == Some(NoticeKind::Rebalance);
                if at_risk {
                    let machine = machine.clone();
                    inventory.notices.push(Notice::AtRisk { machine, slot: name });
                }
                let answer = &inputs.desired.interruption;
                let drains =
                    notice == Some(NoticeKind::Interruption) && answer.on_notice == OnNotice::Drain;
                if drains && !drained && standing == Standing::Interrupted {
                    inventory.drain.push(Labelled { machine: machine.clone(), slot });
                }
                let moves = at_risk && answer.on_rebalance == OnRebalance::Replace;
                let standing = match standing {
                    Standing::Good if *replace => Standing::ToReplace,
                    Standing::Good if moves => {
                        leaving = Why::AtRisk;
                        Standing::ToReplace
                    }
                    Standing::Interrupted if answer.on_notice == OnNotice::Ignore => Standing::Good,
                    standing => standing,
                };
                let price = seen.and_then(|machine| machine.price).or(*price);
                let old = inventory.templates.get(&pool.place.cloud) != Some(template);
                made_from = Some(*template);
                let machine = Some(machine.clone());
                (machine, *launched_at, price, standing, old, *ending, *labels)
            }
        };
        if facts.weight.is_none() {
            *unknown_types.entry(pool).or_default() += 1;
        }
        let standing = match (standing, &facts.rejection) {
            (Standing::Good, Some(rejection)) => Standing::Disallowed(rejection.clone()),
            (standing, _) => standing,
        };
        let older = made_from.filter(|_| old_template);
        let extras = match older.and_then(|template| inputs.recorded.templates.get(&template)) {
            Some(fields) => extras_by(facts.extras, fields, pool),
            None => facts.extras,
        };
        inventory.holdings.push(Holding {
            slot,
            machine,
            weight: facts.weight.unwrap_or_default(),
            price: price.or(facts.price),
            extras,
            covered: false,
            pool: pool.clone(),
            nth_pool: facts.nth,
            launched_at,
            standing,
            old_template,
            template: made_from,
            ending,
            labels,
            starting,
            failing,
            unseen,
            leaving,
        });
    }
    readiness::too_many_unhealthy(&mut inventory);
    let strays = strays(inputs);
    came_back(inputs, &strays, &mut inventory, &mut pools);
    cover(inputs, commitments, &mut inventory.holdings);
    inventory.leftovers.extend(leftovers::of_doubts(inputs));
    notice_strangers(inputs, &strays, &mut inventory);
    inventory.notices.extend(
        unknown_types
            .into_iter()
            .map(|(pool, machines)| Notice::UnknownType { pool: pool.clone(), machines }),
    );
    inventory
}

/// Where the machine of a slot stands, or may.
fn pool_of<'a>(inputs: &'a Inputs, state: &'a SlotState) -> Option<&'a PoolId> {
    match state {
        SlotState::Vacant => None,
        SlotState::InDoubt { token } => {
            seams::in_doubt(&inputs.recorded, token).map(|attempt| &attempt.create.pool)
        }
        SlotState::Filled { pool, .. } => Some(pool),
    }
}

/// The fingerprint of each cloud's template, computed once.
pub(crate) fn template_digests(desired: &Desired) -> BTreeMap<Cloud, Digest> {
    static UNSAID: LazyLock<Digest> = LazyLock::new(|| Template::default().digest());
    let of = |cloud| desired.templates.get(&cloud).map_or(*UNSAID, Template::digest);
    Cloud::ALL.into_iter().map(|cloud| (cloud, of(cloud))).collect()
}

impl Inventory {
    /// Notes that a machine does not work or is shut down, and whether that is news.
    fn note_trouble(
        &mut self,
        slot: SlotName,
        machine: &MachineId,
        standing: &Standing,
        known: bool,
        cause: Option<Cause>,
    ) {
        let words = || cause.as_ref().map_or("", |cause| &cause.words).escape_debug().to_string();
        match standing {
            Standing::Failed(kind) => {
                let (machine, words) = (machine.clone(), words());
                if !known {
                    let cause = cause.unwrap_or_else(|| Cause::new(*kind, ""));
                    let machine = machine.clone();
                    self.failed.push(FailedMachine { slot, machine, cause });
                }
                self.notices.push(Notice::Failed { machine, slot, words });
            }
            Standing::Stopped => {
                let (machine, words) = (machine.clone(), words());
                self.notices.push(Notice::Stopped { machine, slot, words });
            }
            Standing::Good
            | Standing::Disallowed(_)
            | Standing::ToReplace
            | Standing::Fixed
            | Standing::CameBack
            | Standing::Interrupted
            | Standing::Ending => {}
        }
    }
}
