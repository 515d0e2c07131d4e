//! One look at an account, shared by the fleets that asked for it.

use crate::calls::{AccountLook, Unseen};
use crate::observe::{Looker, seams};
use fleet_model::{
    FleetName, FleetUid, Gap, GapCause, Machine, MachineId, Observed, PoolId, Scope, Token,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Which machines each looker sees. A fleet sees its own, those in its journal whatever their tags say, namesakes,
/// and of each pool that takes machines back right now one: not the hundred thousand of its neighbours. Who looks
/// for no fleet sees them all.
pub(super) struct Share<'a> {
    lookers: &'a [Looker<'a>],
    see_all: Vec<usize>,
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
            see_all: Vec::new(),
            by_uid: BTreeMap::new(),
            by_name: BTreeMap::new(),
            by_token: BTreeMap::new(),
            by_machine: HashMap::new(),
        };
        for (at, looker) in lookers.iter().enumerate() {
            let recorded = looker.recorded;
            match looker.fleet {
                Some(fleet) => drop(share.by_name.insert(fleet, at)),
                None => share.see_all.push(at),
            }
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

    /// Of a look that others share, what concerns somebody here.
    pub(super) fn copy_of(&self, look: &AccountLook) -> AccountLook {
        let everybody: Vec<usize> = (0..self.lookers.len()).collect();
        let some = |machines: &[Machine]| {
            let mut warnings = Warnings::default();
            let of_use = machines.iter().filter(|machine| {
                warnings.is_one(machine) || !self.concerned(machine, &everybody).is_empty()
            });
            of_use.cloned().collect::<Vec<_>>()
        };
        let scopes = look.scopes.iter().map(|(scope, answer)| {
            let answer = match answer {
                Ok((machines, orphans)) => Ok((some(machines), orphans.clone())),
                Err(Unseen { gap, glimpsed }) => {
                    Err(Unseen { gap: gap.clone(), glimpsed: some(glimpsed) })
                }
            };
            (scope.clone(), answer)
        });
        let (key, account) = (look.key.clone(), look.account.clone());
        AccountLook { key, account, scopes: scopes.collect() }
    }

    /// Gives machines to those whom they concern.
    fn deal(&self, machines: Vec<Machine>, here: &[usize], mut give: impl FnMut(usize, Machine)) {
        let mut warnings = Warnings::default();
        for machine in machines {
            let mut concerned = match warnings.is_one(&machine) {
                true => here.to_vec(),
                false => self.concerned(&machine, here),
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
        // One that had left is back, and its tags are not. Journals remember many that left, so they are asked
        // only after machines without tags, which are few.
        let had_left = |at: &&usize| self.lookers[**at].recorded.departed.contains_key(&machine.id);
        let untagged = if owner.is_none() { here } else { &[] };
        let came_back = untagged.iter().filter(had_left);
        let all = by_owner.flatten().chain(on_record).chain(&self.see_all).chain(came_back);
        let all: BTreeSet<usize> =
            all.copied().filter(|at| here.binary_search(at).is_ok()).collect();
        all.into_iter().collect()
    }
}

/// Pools that take machines back right now. No fleet should launch there, even if the machines are another's.
#[derive(Default)]
struct Warnings(BTreeSet<PoolId>);

impl Warnings {
    /// Whether a machine is the first to tell that of its pool.
    fn is_one(&mut self, machine: &Machine) -> bool {
        machine.is_taken_back() && self.0.insert(machine.pool())
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
