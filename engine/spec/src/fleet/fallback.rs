//! On-demand in the place of spot that is lost or cannot be had.

use crate::reader::{Field, Object, Reader};
use crate::scalar::Number;
use crate::wire;
use fleet_model::Fallback;
use std::ops::RangeInclusive;

/// A minute to a day: what was seen of spot is kept for a day.
const SPAN: RangeInclusive<u32> = 60..=24 * 3600;

/// The rule, if the spec has one.
pub(super) fn read(reader: &mut Reader<'_>, spec: Option<&Object<'_>>) -> Option<Fallback> {
    let field = spec?.get(reader, "fallback")?;
    let object = reader.object(&field, wire::Fallback::FIELDS)?;
    let mut rule = Fallback::default();
    if let Some(after) = object.get(reader, "after") {
        read_after(reader, &after, &mut rule);
    }
    let share_at = object.get(reader, "share");
    let share = share_at.as_ref().and_then(|field| reader.share(field));
    if let Some(at) = share_at.filter(|_| share.is_some_and(|share| share.ppm() == 0)) {
        let message = "`share: 0%` never falls back".into();
        reader.error(&at, message, Some("write more than 0%, or remove fallback".into()));
    }
    let back = object.get(reader, "returnAfter");
    let back = back.and_then(|field| reader.span(&field, SPAN));
    rule.share = share.unwrap_or(rule.share);
    rule.return_after_seconds = back.unwrap_or(rule.return_after_seconds);
    Some(rule)
}

fn read_after(reader: &mut Reader<'_>, field: &Field<'_>, rule: &mut Fallback) {
    const LOSSES: Number = Number { places: 0, min: 1, max: 1_000_000 };
    let Some(object) = reader.object(field, wire::FallbackAfter::FIELDS) else { return };
    let losses = object.get(reader, "losses").and_then(|field| reader.number(&field, LOSSES));
    let within = object.get(reader, "within").and_then(|field| reader.span(&field, SPAN));
    let unfilled = object.get(reader, "unfilled").and_then(|field| reader.span(&field, SPAN));
    rule.losses = losses.and_then(|losses| u32::try_from(losses).ok());
    rule.within_seconds = within.unwrap_or(rule.within_seconds);
    rule.unfilled_seconds = unfilled.unwrap_or(rule.unfilled_seconds);
}
