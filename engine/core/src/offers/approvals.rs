//! Machines that a policy wants an approval for, and the fleet does not have it.

use crate::offers::names::matches_kind;
use fleet_model::{Approval, Desired, InstanceKind, Rejection};

/// The approval that is missing to launch a type; `None` if none is.
pub(crate) fn needs_approval(desired: &Desired, kind: &InstanceKind) -> Option<Rejection> {
    let about = |approval: &&Approval| {
        let Approval { machines, clouds, .. } = approval;
        let machine =
            machines.is_empty() || machines.iter().any(|p| matches_kind(p, kind.cloud, &kind.name));
        machine && (clouds.is_empty() || clouds.contains(&kind.cloud))
    };
    let Approval { policy, machines: _, clouds: _, label, value, message } =
        desired.approvals.iter().find(about)?.clone();
    let value = value.map(|pattern| pattern.to_string());
    Some(Rejection::NeedsApproval { policy, label, value, message })
}
