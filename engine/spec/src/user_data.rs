//! What machines run at first boot: from the spec, or from a file beside it.

use crate::beside;
use crate::reader::{Field, Reader};
use fleet_model::Cloud;

/// The most that a cloud takes, in bytes before encoding.
fn most(cloud: Cloud) -> usize {
    match cloud {
        // 16 KiB, less what it takes to say what kind of text it is.
        Cloud::Aws => 16 * 1024 - 512,
        Cloud::Azure => 64 * 1024,
        Cloud::Gcp => 256 * 1024,
        Cloud::Lambda => 1024 * 1024,
    }
}

/// Whether user data is small enough for its cloud; for all clouds, the largest limit holds here
/// and the smaller ones only warn: the cloud may turn out not to be used.
pub(crate) fn fits(
    reader: &mut Reader<'_>,
    field: &Field<'_>,
    cloud: Option<Cloud>,
    text: &str,
) -> bool {
    let limit = most(cloud.unwrap_or(Cloud::Gcp));
    if text.len() <= limit {
        if cloud.is_none() && text.len() > most(Cloud::Aws) {
            let message = format!("user data of {} bytes is more than aws takes", text.len());
            let hint = format!("aws takes {} bytes; give aws a shorter one", most(Cloud::Aws));
            reader.warn(field, message, Some(hint));
        }
        return true;
    }
    let message = format!("user data has {} bytes", text.len());
    let name = cloud.map_or("the largest cloud", Cloud::as_str);
    let hint = format!("{name} takes {limit} bytes at most; let the machine fetch the rest");
    reader.error_at(field.key, &field.path, message, Some(hint));
    false
}

/// Files with user data.
pub(crate) const FILE: beside::Kind = beside::Kind {
    most: 1024 * 1024,
    is: "user data is a text of at most 256 KiB",
    instead: "write the text under userData",
};
