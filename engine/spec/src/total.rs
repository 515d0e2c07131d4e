//! A policy's limit on several fleets together.

use crate::ceiling::{Ceiling, amount, under};
use crate::enforce::{budget_path, lifetime_needs_end};
use crate::fleet::Draft;
use crate::policy::Policy;
use fleet_model::{Budget, Cap, MicroUsd};

/// The fleets that share a limit.
pub(crate) struct Shared<'d> {
    pub(crate) ceiling: Ceiling,
    /// How they are called together.
    pub(crate) who: String,
    pub(crate) drafts: Vec<&'d mut Draft>,
    /// Budgets of fleets that share it and were not asked for, so that naming one file at a time does not
    /// pass the limit.
    pub(crate) others: Vec<Budget>,
}

/// Holds fleets against what they may cost together: their budgets add up to no more. So no fleet needs to
/// know what another one spends, and runs side by side cannot pass the limit.
pub(crate) fn check(policy: &Policy, shared: Shared<'_>) {
    let Shared { ceiling, who, mut drafts, others } = shared;
    for cap in Cap::ALL {
        let Some(total) = ceiling.limit(cap) else { continue };
        let others = others.iter().filter_map(|budget| under(budget, policy.per_fleet, cap)).sum();
        let left = total.saturating_sub(others);
        if let [only] = drafts.as_mut_slice()
            && only.desired.budget.limit(cap).is_none()
            && left > MicroUsd(0)
        {
            *only.desired.budget.limit_mut(cap) = Some(left);
            lifetime_needs_end(only, policy);
            continue;
        }
        let mut sum = others;
        for draft in &mut drafts {
            let path = budget_path(draft, cap);
            let Some(budget) = draft.desired.budget.limit(cap) else {
                let what = "it needs a budget of its own".into();
                let hint = format!("allows {} for {who} together", amount(total, cap));
                draft.refuse(policy, path, what, hint);
                continue;
            };
            sum += budget;
            if sum > total {
                let what =
                    format!("with this budget, {who} may cost {} together", amount(sum, cap));
                let hint = format!("allows {}", amount(total, cap));
                draft.refuse(policy, path, what, hint);
            }
        }
    }
}
