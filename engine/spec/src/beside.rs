//! Files beside a spec, which it names.

use crate::input;
use crate::reader::{Field, Reader};
use crate::source::quote;
use std::path::{Component, Path};

/// What a file that a spec names is.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// The most bytes that are read.
    pub(crate) most: u64,
    /// What such a file is, as a hint.
    pub(crate) is: &'static str,
    /// What to do where there are no files.
    pub(crate) instead: &'static str,
}

/// Reads a file that a spec names. The file must lie in the spec's folder or below, links
/// followed: a spec from a pull request must not carry a runner's secrets into the user data. `kind` says
/// what file it is.
pub(crate) fn read(
    reader: &mut Reader<'_>,
    field: &Field<'_>,
    path: &str,
    kind: Kind,
) -> Option<String> {
    let part = reader.parts.get(usize::from(field.node.span.document));
    let folder = part.and_then(|part| part.folder.clone());
    let outside = "name a file in the spec's own folder or below, relative to it";
    let mut refuse = |what: String, hint: &str| {
        reader.error(field, format!("`{}` {what}", quote(path)), Some(hint.into()));
    };
    let Some(folder) = folder else {
        refuse("cannot be read: the spec is not a file".into(), kind.instead);
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
    match input::read(&file, kind.most) {
        Ok(text) => Some(text),
        Err(refusal) => {
            refuse(refusal.what(), kind.is);
            None
        }
    }
}
