//! What the fleet is expected to send and receive.

use crate::reader::{Field, Object, Reader};
use crate::scalar::Number;
use crate::source::quote;
use crate::words::{CLOUDS, names};
use fleet_model::{Cloud, Traffic};

/// A petabyte a day is a slip of the finger.
const GIB: Number = Number { places: 3, min: 0, max: 1_000_000_000 };

/// Reads where the data is, and how much of it moves.
pub(super) fn read(reader: &mut Reader<'_>, placement: &Object<'_>) -> Traffic {
    let data_at = placement.get(reader, "dataRegion");
    let data = data_at.as_ref().and_then(|field| region(reader, field));
    let egress_at = placement.get(reader, "egressGiBPerDay");
    let egress = egress_at.as_ref().and_then(|field| reader.number(field, GIB));
    let returned_at = placement.get(reader, "returnGiBPerDay");
    let returned = returned_at.as_ref().and_then(|field| reader.number(field, GIB));
    if let (Some(field), None) = (&returned_at, &data_at) {
        let message = "`returnGiBPerDay` needs `dataRegion`: nobody knows where it goes".into();
        let hint = "name the region of the data; for traffic to the internet, use egressGiBPerDay";
        reader.error(field, message, Some(hint.into()));
    }
    if let (Some(field), None, None) = (&data_at, &egress_at, &returned_at) {
        let message = "`dataRegion` alone changes nothing: no traffic is expected".into();
        let hint = "say how much the fleet reads from it with egressGiBPerDay";
        reader.warn(field, message, Some(hint.into()));
    }
    Traffic {
        data,
        egress_milli_gib: egress.unwrap_or_default(),
        returned_milli_gib: returned.unwrap_or_default(),
    }
}

/// A cloud and a region: `aws/us-east-1`.
fn region(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<(Cloud, String)> {
    let text = reader.text(field)?;
    let plain = |region: &str| {
        let plain = |char: char| char.is_ascii_alphanumeric() || char == '-';
        !region.is_empty() && region.len() <= 64 && region.chars().all(plain)
    };
    let parts = text.split_once('/').filter(|(_, region)| plain(region));
    let read = parts.and_then(|(cloud, region)| {
        let cloud = CLOUDS.iter().find(|(name, _)| *name == cloud)?.1;
        Some((cloud, region.to_owned()))
    });
    if read.is_none() {
        let message = format!("`{}` is not a region of a cloud", quote(&text));
        let hint = format!(
            "write the cloud and its name of the region, such as aws/us-east-1; clouds are {}",
            names(CLOUDS).join(", ")
        );
        reader.error(field, message, Some(hint));
    }
    read
}
