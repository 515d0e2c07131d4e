//! One look at an account, shared by the fleets that asked for it.

use crate::observe::look::{AccountLook, Unseen};
use crate::observe::{Looker, seams};
use fleet_model::{FleetName, FleetUid, Gap, GapCause, Machine, MachineId, Observed, Scope, Token};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Which fleet each machine is for. Fleets see their own machines, those in their journals whatever
/// their tags say, and namesakes: not the hundred thousand of their neighbours.
pub(super) struct Share<'a> {
    lookers: &'a [Looker<'a>],
    by_uid: BTreeMap<&'a FleetUid, usize>,
    by_name: BTreeMap<&'a FleetName, usize>,
    by_token: BTreeMap<&'a Token, usize>,
    /// Two accounts may use one name.
    by_machine: HashMap<&'a MachineId, Vec<usize>>,
}

impl<'a> Share<'a> {
    pub(super) fn between(lookers: &'a [Looker<'a>]) -> Self {
        let mut share = Share {
            lookers,
            by_uid: BTreeMap::new(),
            by_name: BTreeMap::new(),
            by_token: BTreeMap::new(),
            by_machine: HashMap::new(),
        };
        if lookers.len() < 2 {
            return share;
        }
        for (at, looker) in lookers.iter().enumerate() {
            let recorded = looker.recorded;
            share.by_name.extend(looker.fleet.map(|fleet| (fleet, at)));
            share.by_uid.extend(recorded.uid.iter().map(|uid| (uid, at)));
            share.by_token.extend(recorded.in_doubt.keys().map(|token| (token, at)));
            let held = recorded.machines().map(|one| one.machine);
            for machine in held.chain(&recorded.surplus) {
                share.by_machine.entry(machine).or_default().push(at);
            }
        }
        share
    }

    /// Gives every fleet its part of what an account answered.
    pub(super) fn hand_out(&self, look: AccountLook, all: &mut [Observed]) {
        let AccountLook { key, account, scopes } = look;
        let mut allowed = vec![true; self.lookers.len()];
        if let Some(account) = account {
            for (at, looker) in self.lookers.iter().enumerate() {
                match seams::known_account(looker.recorded, &key) {
                    Some(known) if *known != account => {
                        allowed[at] = false;
                        let asked = scopes.iter().map(|(scope, _)| scope);
                        let here = asked.filter(|scope| looker.scopes.contains(scope));
                        let gap = |scope: &Scope| other_account(scope, known, &account);
                        all[at].gaps.extend(here.map(gap));
                    }
                    Some(_) | None if scopes.iter().any(|(s, _)| looker.scopes.contains(s)) => {
                        all[at].accounts.insert(key.clone(), account.clone());
                    }
                    Some(_) | None => {}
                }
            }
        }
        for (scope, answer) in scopes {
            let asked = |at: &usize| allowed[*at] && self.lookers[*at].scopes.contains(&scope);
            let here: Vec<usize> = (0..self.lookers.len()).filter(asked).collect();
            match answer {
                Ok((machines, orphans)) => {
                    for &at in &here {
                        all[at].complete.insert(scope.clone());
                        let orphans =
                            orphans.iter().map(|left| (left.machine.clone(), left.clone()));
                        all[at].orphans.extend(orphans);
                    }
                    self.deal(machines, &here, |at, machine| {
                        all[at].machines.insert(machine.id.clone(), machine);
                    });
                }
                Err(Unseen { gap, glimpsed }) => {
                    for &at in &here {
                        all[at].gaps.push(gap.clone());
                    }
                    self.deal(glimpsed, &here, |at, machine| {
                        all[at].glimpsed.insert(machine.id.clone(), machine);
                    });
                }
            }
        }
    }

    /// Gives machines to those whom they concern. One who looks alone sees them all.
    fn deal(&self, machines: Vec<Machine>, here: &[usize], mut give: impl FnMut(usize, Machine)) {
        for machine in machines {
            let mut concerned = match self.lookers.len() {
                1 => here.to_vec(),
                _ => self.concerned(&machine, here),
            };
            let last = concerned.pop();
            concerned.into_iter().for_each(|at| give(at, machine.clone()));
            if let Some(at) = last {
                give(at, machine);
            }
        }
    }

    fn concerned(&self, machine: &Machine, here: &[usize]) -> Vec<usize> {
        let owner = machine.owner.as_ref();
        let by_owner = owner.into_iter().flat_map(|owner| {
            let uid = self.by_uid.get(&owner.fleet);
            [uid, self.by_name.get(&owner.name), self.by_token.get(&owner.token)]
        });
        let on_record = self.by_machine.get(&machine.id).into_iter().flatten();
        let all = by_owner.flatten().chain(on_record).copied();
        let all: BTreeSet<usize> = all.filter(|at| here.binary_search(at).is_ok()).collect();
        all.into_iter().collect()
    }
}

fn other_account(scope: &Scope, known: &str, account: &str) -> Gap {
    let detail = format!(
        "the fleet runs in {}, these credentials are for {}",
        known.escape_debug(),
        account.escape_debug()
    );
    Gap { scope: scope.clone(), cause: GapCause::OtherAccount, detail }
}
