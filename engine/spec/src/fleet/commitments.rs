//! What was bought ahead of time.

use crate::reader::{Field, Reader};
use crate::scalar::Number;
use crate::wire;
use crate::words::CLOUDS;
use fleet_model::{Commitment, InstanceType};

/// Reads a list of commitments, of a fleet or of a policy.
pub(crate) fn read(reader: &mut Reader<'_>, field: &Field<'_>) -> Vec<Commitment> {
    reader.list(field, commitment)
}

fn commitment(reader: &mut Reader<'_>, item: &Field<'_>) -> Option<Commitment> {
    let object = reader.object(item, wire::Commitment::FIELDS)?;
    let cloud = object
        .require(reader, "provider")
        .and_then(|field| reader.word(&field, "provider", CLOUDS));
    let region = object.require(reader, "region").and_then(|field| name(reader, &field));
    let instance_type = object.require(reader, "type").and_then(|field| name(reader, &field));
    let count = object
        .require(reader, "count")
        .and_then(|field| reader.number(&field, Number::whole(1, 1_000_000)));
    let until = match object.get(reader, "until") {
        Some(field) => Some(reader.moment(&field)?),
        None => None,
    };
    let hourly = match object.get(reader, "usdPerHour") {
        Some(field) => Some(reader.usd(&field)?),
        None => None,
    };
    Some(Commitment {
        cloud: cloud?,
        region: region?,
        instance_type: InstanceType::new(instance_type?),
        count: u32::try_from(count?).ok()?,
        until,
        hourly,
    })
}

/// A name in full: what is paid for is one type in one region.
fn name(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<String> {
    let pattern = reader.pattern(field)?;
    if pattern.as_str().contains(['*', '?']) {
        let message = format!("`{}` must be a name, found the pattern `{pattern}`", field.name());
        let hint = "name what the bill names; write one entry for each";
        reader.error(field, message, Some(hint.into()));
        return None;
    }
    Some(pattern.as_str().to_owned())
}
