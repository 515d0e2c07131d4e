//! J: how fast a process asks. Half of what each cloud documents for looks, which never end; what is
//! documented for launches and ends, which do (docs/decisions/0011-pace.md). The figures are written
//! down here once more, so that a slip in the engine's table is not one here.

use super::Judge;
use fleet_model::{Cloud, Operation, Scope, Timestamp};
use std::collections::BTreeMap;

/// What is left in each bucket, in thousandths of a request, and when it was looked at.
#[derive(Debug, Default)]
pub(super) struct Rates(BTreeMap<(Scope, What), (i64, Timestamp)>);

/// What a bucket counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Requests(Operation),
    /// AWS counts machines apart from the requests for them.
    Machines,
}

/// How much a bucket holds, and what flows back per second, in thousandths.
fn bucket(cloud: Cloud, what: What) -> (i64, i64) {
    let (size, per_second) = match (cloud, what) {
        (Cloud::Aws, What::Requests(Operation::Look)) => (50_000, 10_000),
        (Cloud::Aws, What::Requests(Operation::Launch)) => (5_000, 2_000),
        (Cloud::Aws, What::Requests(Operation::End)) => (100_000, 5_000),
        (Cloud::Gcp, What::Requests(Operation::Look)) => (20_000, 12_500),
        (Cloud::Gcp, What::Requests(Operation::Launch | Operation::End)) => (40_000, 20_000),
        (Cloud::Azure, What::Requests(Operation::Look)) => (125_000, 12_500),
        (Cloud::Azure, What::Requests(Operation::Launch | Operation::End)) => (200_000, 10_000),
        // So low that half of it would be no service at all.
        (Cloud::Lambda, What::Requests(Operation::Look | Operation::End)) => (1_000, 1_000),
        (Cloud::Lambda, What::Requests(Operation::Launch)) => (1_000, 84),
        (_, What::Machines) => (1_000_000, 2_000),
    };
    (size, per_second)
}

impl Judge {
    /// A process sends so many requests of a kind.
    pub(crate) fn draws(&mut self, process: u32, scope: &Scope, operation: Operation, count: i64) {
        self.draw(process, scope, What::Requests(operation), count);
    }

    /// A process asks for so many machines.
    pub(crate) fn draws_machines(&mut self, process: u32, scope: &Scope, count: i64) {
        self.draw(process, scope, What::Machines, count);
    }

    fn draw(&mut self, process: u32, scope: &Scope, what: What, count: i64) {
        let now = self.now;
        let Some(facts) = self.processes.get_mut(&process) else { return };
        // One account, one rate; only EC2 is looked at region by region.
        let whole = match (scope.cloud, what) {
            (Cloud::Lambda, _) => true,
            (Cloud::Gcp | Cloud::Azure, What::Requests(Operation::Look)) => true,
            (Cloud::Aws | Cloud::Gcp | Cloud::Azure, _) => false,
        };
        let region = if whole { "any".into() } else { scope.region.clone() };
        let key = (Scope { cloud: scope.cloud, region }, what);
        let (size, per_second) = bucket(scope.cloud, what);
        let (left, at) = facts.rates.0.get(&key).copied().unwrap_or((size, now));
        let passed = now.duration_since(at).as_millis() as i64;
        let left = (left + passed * per_second / 1000).min(size) - count * 1000;
        facts.rates.0.insert(key, (left, now));
        // A clock that counts milliseconds rounds one up.
        if left < -(per_second / 100) - 10 {
            let what = format!("p{process} asks {scope} too fast: {what:?} {left}");
            self.fail('J', what);
        }
    }
}
