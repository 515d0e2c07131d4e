//! What the limits of an account leave of a spec's wish.

use fleet_core::weight;
use fleet_model::{Desired, Market, Offering, Quota, Units};
use fleet_provider::{Finding, Verdict};

/// One finding per known limit. A limit alone never makes a spec impossible: other families,
/// regions and clouds have limits of their own.
pub(crate) fn findings(
    desired: &Desired,
    offerings: &[Offering],
    quotas: &[Quota],
) -> Vec<Finding> {
    if quotas.is_empty() {
        let words =
            "not known: a launch that runs into one is refused, and the plan uses other pools";
        return vec![Finding::new(Verdict::Doubtful, "limits", words)];
    }
    let one = |(at, quota): (usize, &Quota)| {
        let under = offerings.iter().filter(|o| o.quotas.iter().any(|q| *q as usize == at));
        // The pool that would need the least of this limit to hold all of its market.
        let need = under.filter_map(|offering| needed(desired, offering, quota)).min();
        finding(quota, need)
    };
    quotas.iter().enumerate().map(one).collect()
}

/// How much of a limit the whole of a market would use, if it all stood in one pool.
fn needed(desired: &Desired, offering: &Offering, quota: &Quota) -> Option<u64> {
    let goal = match offering.pool.market {
        Market::Spot => desired.capacity.spot,
        Market::OnDemand | Market::Reserved => desired.capacity.on_demand,
    };
    let Units(each) = weight(desired, &offering.kind)?;
    let machines = goal.0.div_ceil(each.max(1));
    Some(machines.saturating_mul(quota.unit.of(&offering.kind)))
}

fn finding(quota: &Quota, need: Option<u64>) -> Finding {
    let Quota { region, market, name, unit, limit, used, .. } = quota;
    let subject = format!("{region}, {market}");
    let unit = unit.as_str();
    let mut words = format!("{name}: {used} of {limit} {unit} in use");
    let left = limit.saturating_sub(*used);
    let short = need.is_some_and(|need| need > left);
    if let Some(need) = need {
        words.push_str(&format!("; all of the spec here would use {need}"));
    }
    if left == 0 || short {
        return Finding::new(Verdict::Doubtful, subject, words)
            .hint("ask the cloud for more, or let the spec use other families and regions");
    }
    Finding::new(Verdict::Good, subject, words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::{Cloud, QuotaUnit};

    fn quota(limit: u64, used: u64) -> Quota {
        Quota {
            cloud: Cloud::Aws,
            region: "us-east-1".into(),
            market: Market::Spot,
            name: "All P".into(),
            unit: QuotaUnit::Vcpus,
            limit,
            used,
        }
    }

    #[test]
    fn a_limit_is_held_against_the_wish() {
        let check = |limit, used, need, verdict| {
            assert_eq!(finding(&quota(limit, used), need).verdict, verdict, "{limit} {used}");
        };
        check(100, 0, Some(100), Verdict::Good);
        check(100, 1, Some(100), Verdict::Doubtful);
        check(100, 50, None, Verdict::Good);
        check(0, 0, None, Verdict::Doubtful);
        check(10, 20, Some(0), Verdict::Doubtful);
        let words = finding(&quota(100, 4), Some(8)).words;
        assert_eq!(words, "All P: 4 of 100 vCPUs in use; all of the spec here would use 8");
    }
}
