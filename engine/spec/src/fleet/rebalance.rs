//! Cheaper pools for machines that run.

use crate::reader::{Object, Reader};
use crate::scalar::Number;
use crate::wire;
use fleet_model::Rebalance;

/// The rule, if the spec has one.
pub(super) fn read(reader: &mut Reader<'_>, spec: Option<&Object<'_>>) -> Option<Rebalance> {
    const MACHINES: Number = Number { places: 0, min: 1, max: 1_000_000 };
    let field = spec?.get(reader, "rebalance")?;
    let object = reader.object(&field, wire::Rebalance::FIELDS)?;
    let mut rule = Rebalance::default();
    let saving_at = object.get(reader, "minSaving");
    let saving = saving_at.as_ref().and_then(|field| reader.share(field));
    if let Some(at) = saving_at.filter(|_| saving.is_some_and(|share| share.ppm() < 10_000)) {
        let message = "`minSaving` is below 1%: every wavering price would move machines".into();
        reader.error(&at, message, Some("write 5% or more; 15% suits most".into()));
    }
    let most = object.get(reader, "maxPerHour");
    let most = most.and_then(|field| reader.number(&field, MACHINES));
    rule.min_saving = saving.unwrap_or(rule.min_saving);
    rule.max_per_hour = most.and_then(|most| u32::try_from(most).ok());
    Some(rule)
}
