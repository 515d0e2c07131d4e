//! Limits of the subscription: cores per family, cores in all, and cores of spot machines.

use crate::api::{Api, COMPUTE};
use crate::wire::Usage;
use fleet_model::{Cloud, Market, Quota, QuotaUnit, Region};
use fleet_provider::Error;

/// All on-demand cores of a region together.
const ALL: &str = "cores";
/// All spot cores of a region together.
const SPOT: &str = "lowPriorityCores";

/// A size of which not all cores can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Constrained {
    pub(crate) usable: u32,
    /// What counts toward limits; never 0.
    pub(crate) full: u32,
}

/// What a region's limits are and what is used of them.
pub(crate) async fn usages(
    api: &Api,
    subscription: &str,
    region: &str,
) -> Result<Vec<Usage>, Error> {
    let path = format!(
        "/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{region}/usages"
    );
    api.list(&path, &[("api-version", COMPUTE)]).await
}

/// The limits that machines of a family and market count toward, of those that are known.
///
/// A size of which fewer cores can be used than it has counts in full. Machines are counted by what can
/// be used, so for such a size the limit is told as that much smaller.
pub(crate) fn of(
    usages: &[Usage],
    region: &Region,
    family: &str,
    market: Market,
    constrained: Option<Constrained>,
) -> Vec<Quota> {
    let named: &[&str] = match market {
        Market::Spot => &[SPOT],
        Market::OnDemand => &[family, ALL],
        // What is reserved was counted when it was reserved; its machines need no more.
        Market::Reserved => &[],
    };
    let find = |name: &&str| {
        let usage = usages.iter().find(|usage| usage.name.value.eq_ignore_ascii_case(name))?;
        let mut name = match usage.name.localized_value.as_str() {
            "" => usage.name.value.clone(),
            words => words.to_owned(),
        };
        let mut limit = u64::try_from(usage.limit).ok()?;
        let mut used = u64::try_from(usage.current_value).unwrap_or(0);
        if let Some(Constrained { usable, full }) = constrained {
            name = format!("{name} (for {usable} of {full} vCPUs)");
            let left = limit.saturating_sub(used) / u64::from(full) * u64::from(usable);
            used = used * u64::from(usable) / u64::from(full);
            limit = used + left;
        }
        let (cloud, region, unit) = (Cloud::Azure, region.clone(), QuotaUnit::Vcpus);
        Some(Quota { cloud, region, market, name, unit, limit, used })
    };
    named.iter().filter_map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn machines_count_toward_family_and_region_or_toward_spot() {
        let usage = |name: &str, used: i64, limit: i64| -> Usage {
            from_value(json!({ "unit": "Count", "currentValue": used, "limit": limit,
                               "name": { "value": name, "localizedValue": name } }))
            .expect("a usage")
        };
        let usages = [
            usage("cores", 10, 100),
            usage("standardDSv5Family", 4, 20),
            usage("lowPriorityCores", 0, 3),
            usage("odd", 0, -1),
        ];
        let names = |family: &str, market| -> Vec<(String, u64, u64)> {
            let quotas = of(&usages, &"eastus".into(), family, market, None);
            quotas.into_iter().map(|quota| (quota.name, quota.used, quota.limit)).collect()
        };
        let both = [("standardDSv5Family".to_owned(), 4, 20), ("cores".to_owned(), 10, 100)];
        assert_eq!(names("StandardDSv5Family", Market::OnDemand), both);
        assert_eq!(names("StandardDSv5Family", Market::Spot), [("lowPriorityCores".into(), 0, 3)]);
        assert_eq!(names("StandardDSv5Family", Market::Reserved), []);
        assert_eq!(names("new", Market::OnDemand), [("cores".to_owned(), 10, 100)]);
        assert_eq!(names("odd", Market::OnDemand).len(), 1);
        // 4 of 20 cores are used: two more of a size with 8 cores, of which 2 can be used.
        let few = Some(Constrained { usable: 2, full: 8 });
        let found = of(&usages, &"eastus".into(), "standardDSv5Family", Market::OnDemand, few);
        assert_eq!((found[0].used, found[0].limit), (1, 5));
    }
}
