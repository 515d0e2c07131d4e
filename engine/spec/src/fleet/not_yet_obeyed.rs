//! Sections that are read and checked now, and obeyed later.

use crate::NotYetObeyed;
use crate::places::Places;
use crate::reader::{Field, Object, Reader};
use crate::scalar::Number;
use crate::wire;
use crate::words::{ON_NOTICE, UPDATE_STRATEGIES};

pub(super) fn read(
    reader: &mut Reader<'_>,
    spec: Option<&Object<'_>>,
    places: &Places,
) -> Vec<NotYetObeyed> {
    let mut found = Vec::new();
    let Some(spec) = spec else {
        return found;
    };
    let mut note = |path: &str| {
        found.push(NotYetObeyed { path: path.to_owned(), place: places.location(path) });
    };
    if let Some(field) = spec.get(reader, "updates") {
        updates(reader, &field);
        field.entries().for_each(|(_, inner)| note(&inner.path));
    }
    if let Some(field) = spec.get(reader, "interruption") {
        interruption(reader, &field);
        field.entries().for_each(|(_, inner)| note(&inner.path));
    }
    found
}

fn updates(reader: &mut Reader<'_>, field: &Field<'_>) {
    let Some(object) = reader.object(field, wire::Updates::FIELDS) else {
        return;
    };
    if let Some(field) = object.get(reader, "strategy") {
        reader.word(&field, "update strategy", UPDATE_STRATEGIES);
    }
    let mut limits = Vec::new();
    for name in ["maxUnavailable", "maxSurge"] {
        let Some(field) = object.get(reader, name) else {
            continue;
        };
        let value = if Reader::is_share(&field) {
            reader.share(&field).map(|share| u64::from(share.ppm()))
        } else {
            reader.number(&field, Number::whole(0, 1_000_000))
        };
        limits.push(value);
    }
    if limits == [Some(0), Some(0)] {
        let message = "`maxUnavailable` and `maxSurge` are both 0: nothing could ever be replaced";
        reader.error(field, message.into(), Some("raise one of them".into()));
    }
}

fn interruption(reader: &mut Reader<'_>, field: &Field<'_>) {
    let Some(object) = reader.object(field, wire::Interruption::FIELDS) else {
        return;
    };
    if let Some(field) = object.get(reader, "onNotice") {
        reader.word(&field, "answer to a notice", ON_NOTICE);
    }
    if let Some(field) = object.get(reader, "graceSeconds") {
        reader.number(&field, Number::whole(0, 3600));
    }
}
