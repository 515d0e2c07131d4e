//! The buckets of the clouds' own documentation.

use fleet_model::{Cloud, Operation};

/// A bucket: so many at once, so many per second after that.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    pub(super) size: f64,
    pub(super) per_second: f64,
}

const fn bucket(size: f64, per_second: f64) -> Bucket {
    Bucket { size, per_second }
}

/// Requests. Looks count per account where one list shows a whole account, launches and ends per
/// region; Lambda's launches are one per 12 seconds for the whole account.
fn documented(cloud: Cloud, operation: Operation) -> Bucket {
    match (cloud, operation) {
        (Cloud::Aws, Operation::Look) => bucket(100.0, 20.0),
        (Cloud::Aws, Operation::Launch) => bucket(5.0, 2.0),
        (Cloud::Aws, Operation::End) => bucket(100.0, 5.0),
        (Cloud::Gcp, Operation::Look) => bucket(40.0, 25.0),
        (Cloud::Gcp, Operation::Launch | Operation::End) => bucket(40.0, 20.0),
        // A look is three reads: machines, disks, interfaces.
        (Cloud::Azure, Operation::Look) => bucket(250.0 / 3.0, 25.0 / 3.0),
        // Resource Manager allows ten a second, Compute 500 a minute.
        (Cloud::Azure, Operation::Launch | Operation::End) => bucket(200.0, 500.0 / 60.0),
        (Cloud::Lambda, Operation::Look | Operation::End) => bucket(1.0, 1.0),
        (Cloud::Lambda, Operation::Launch) => bucket(1.0, 1.0 / 12.0),
    }
}

/// A request that was held up on its way arrives closer to the next one than it was sent: so much
/// less than documented is needed to stay within.
const MARGIN: f64 = 0.99;

/// What we allow ourselves.
pub(super) fn allowed(cloud: Cloud, operation: Operation) -> Bucket {
    let Bucket { size, per_second } = documented(cloud, operation);
    match (cloud, operation) {
        // So low that half of it would be no service at all, and so slow that nothing bunches.
        (Cloud::Lambda, _) => Bucket { size, per_second },
        (_, Operation::Look) => Bucket { size: size / 2.0, per_second: per_second / 2.0 },
        (_, Operation::Launch | Operation::End) => {
            Bucket { size: size - 0.5, per_second: per_second * MARGIN }
        }
    }
}

/// Machines, where a cloud counts them apart from the requests that ask for them.
pub(super) fn machines(cloud: Cloud) -> Option<Bucket> {
    match cloud {
        Cloud::Aws => Some(bucket(1000.0, 2.0 * MARGIN)),
        Cloud::Gcp | Cloud::Azure | Cloud::Lambda => None,
    }
}
