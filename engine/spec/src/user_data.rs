//! What machines run at first boot: from the spec, or from a file beside it.

use crate::input;
use crate::reader::{Field, Reader};
use crate::source::quote;
use fleet_model::Cloud;
use std::path::{Component, Path};

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

/// Reads a file that a spec names. The file must lie in the spec's folder or below, links
/// followed: a spec from a pull request must not carry a runner's secrets into the user data.
pub(crate) fn read(reader: &mut Reader<'_>, field: &Field<'_>, path: &str) -> Option<String> {
    let part = reader.parts.get(usize::from(field.node.span.document));
    let folder = part.and_then(|part| part.folder.clone());
    let outside = "name a file in the spec's own folder or below, relative to it";
    let mut refuse = |what: String, hint: &str| {
        reader.error(field, format!("`{}` {what}", quote(path)), Some(hint.into()));
    };
    let Some(folder) = folder else {
        refuse("cannot be read: the spec is not a file".into(), "write the text under userData");
        return None;
    };
    let named = Path::new(path);
    if !named.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        refuse("leads out of the spec's folder".into(), outside);
        return None;
    }
    let real =
        folder.canonicalize().and_then(|root| Ok((folder.join(named).canonicalize()?, root)));
    let (file, root) = match real {
        Ok(real) => real,
        Err(error) => {
            let hint = "the path is relative to the folder of the spec";
            refuse(format!("cannot be read: {}", input::plainly(&error)), hint);
            return None;
        }
    };
    if !file.starts_with(&root) {
        refuse("leads out of the spec's folder".into(), outside);
        return None;
    }
    match input::read(&file, most(Cloud::Lambda) as u64) {
        Ok(text) => Some(text),
        Err(refusal) => {
            refuse(refusal.what(), "user data is a text of at most 256 KiB");
            None
        }
    }
}
