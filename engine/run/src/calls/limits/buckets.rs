//! What we allow ourselves of what the clouds document.

use fleet_model::{Bucket, Cloud, Operation};

/// A request that was held up on its way arrives closer to the next one than it was sent: so much
/// less than documented is needed to stay within.
const MARGIN: f64 = 0.99;

/// Requests.
pub(super) fn allowed(cloud: Cloud, operation: Operation) -> Bucket {
    let rates = cloud.facts().rates;
    let Bucket { size, per_second } = match operation {
        Operation::Look => rates.look,
        Operation::Launch => rates.launch,
        Operation::End => rates.destroy,
    };
    // So low that half of it would be no service at all, and so slow that nothing bunches.
    if size <= 1.0 {
        return Bucket { size, per_second };
    }
    match operation {
        Operation::Look => Bucket { size: size / 2.0, per_second: per_second / 2.0 },
        Operation::Launch | Operation::End => {
            Bucket { size: size - 0.5, per_second: per_second * MARGIN }
        }
    }
}

/// Machines, where a cloud counts them apart from the requests that ask for them.
pub(super) fn machines(cloud: Cloud) -> Option<Bucket> {
    let Bucket { size, per_second } = cloud.facts().rates.machines?;
    Some(Bucket { size, per_second: per_second * MARGIN })
}
