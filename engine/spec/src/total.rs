//! A policy's limit on all of its fleets together.

use crate::enforce::{budget_path, per_hour};
use crate::fleet::Draft;
use crate::policy::Policy;
use fleet_model::MicroUsd;

/// Holds the fleets under a policy against its total. `others` is what fleets under the policy
/// that were not asked for may cost, so that naming one file at a time does not pass the limit.
pub(crate) fn check(policy: &Policy, drafts: &mut [&mut Draft], others: MicroUsd) {
    let Some(total) = policy.total else {
        return;
    };
    let left = total.saturating_sub(others);
    if let [only] = drafts
        && only.desired.budget.hourly.is_none()
        && left > MicroUsd(0)
    {
        only.desired.budget.hourly = Some(left);
        return;
    }
    let mut sum = others;
    for draft in drafts {
        let Some(budget) = draft.desired.budget.hourly else {
            let what = "it needs a budget of its own".into();
            let hint = format!("allows {} for all fleets together", per_hour(total));
            draft.refuse(policy, budget_path(draft), what, hint);
            continue;
        };
        sum += budget;
        if sum > total {
            let what = format!("with this budget, fleets may cost {} together", per_hour(sum));
            let hint = format!("allows {}", per_hour(total));
            draft.refuse(policy, budget_path(draft), what, hint);
        }
    }
}
