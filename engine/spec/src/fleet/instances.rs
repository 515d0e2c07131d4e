//! Which machines are allowed.

use crate::reader::{Field, Object, Reader};
use crate::scalar::Number;
use crate::wire;
use crate::words::{ARCHITECTURES, LOCAL_DISK, MAKERS};
use fleet_model::{AcceleratorRules, InstanceRules, Pattern, Unit};

const VCPUS: Number = Number::whole(0, 1_000_000);
const GENERATION: Number = Number::whole(0, 65_535);

pub(super) fn read(
    reader: &mut Reader<'_>,
    spec: Option<&Object<'_>>,
    unit: Unit,
) -> InstanceRules {
    let Some(field) = spec.and_then(|spec| spec.get(reader, "instances")) else {
        return InstanceRules::default();
    };
    let Some(object) = reader.object(&field, wire::Instances::FIELDS) else {
        return InstanceRules::default();
    };
    let get = |reader: &mut Reader<'_>, name: &str| object.get(reader, name);
    let mut rules = InstanceRules::default();
    if let Some(field) = get(reader, "families") {
        rules.families = reader.patterns(&field);
    }
    if let Some(field) = get(reader, "types") {
        rules.types = reader.patterns(&field);
    }
    if let Some(field) = get(reader, "exclude") {
        rules.exclude = reader.patterns(&field);
    }
    if let Some(field) = get(reader, "vcpus") {
        rules.vcpus = reader.bounds(&field, VCPUS);
    }
    if let Some(field) = get(reader, "memoryGiB") {
        rules.memory_mib = reader.gib_bounds(&field);
    }
    if let Some(field) = get(reader, "gibPerVcpu") {
        rules.mib_per_vcpu = reader.gib_bounds(&field);
    }
    if let Some(field) = get(reader, "architectures") {
        let list =
            reader.list(&field, |reader, item| reader.word(item, "architecture", ARCHITECTURES));
        rules.architectures = list.into_iter().collect();
    }
    if let Some(field) = get(reader, "localDisk") {
        rules.local_disk =
            reader.word(&field, "value of localDisk", LOCAL_DISK).unwrap_or_default();
    }
    if let Some(field) = get(reader, "generation") {
        rules.generation = reader.bounds(&field, GENERATION);
    }
    if let Some(field) = get(reader, "accelerators") {
        rules.accelerators = accelerators(reader, &field, unit);
    }
    excluded(reader, &field, &rules);
    rules
}

fn accelerators(reader: &mut Reader<'_>, field: &Field<'_>, unit: Unit) -> AcceleratorRules {
    let mut rules = AcceleratorRules::default();
    let Some(object) = reader.object(field, wire::Accelerators::FIELDS) else {
        return rules;
    };
    if let Some(field) = object.get(reader, "names") {
        rules.names = reader.patterns(&field);
    }
    if let Some(field) = object.get(reader, "makers") {
        let makers =
            reader.list(&field, |reader, item| reader.word(item, "accelerator maker", MAKERS));
        rules.makers = makers.into_iter().collect();
    }
    if let Some(field) = object.get(reader, "perInstance") {
        rules.count_milli = reader.bounds(&field, Number::MILLI);
        if rules.count_milli.max == Some(0) && matches!(unit, Unit::Gpus | Unit::Figure(_)) {
            let message = format!("no machine without accelerators counts in {unit}");
            let hint = "raise perInstance.max, or count in instances or vcpus";
            reader.error(&field, message, Some(hint.into()));
        } else if rules.count_milli.max == Some(0) && !rules.names.is_empty() {
            let message = "accelerators are named, and none is allowed in a machine".into();
            let hint = "raise perInstance.max, or remove names";
            reader.error(&field, message, Some(hint.into()));
        }
    }
    if let Some(field) = object.get(reader, "memoryGiB") {
        rules.memory_mib = reader.gib_bounds(&field);
    }
    rules
}

/// An exclusion that covers an allowed name leaves nothing of it; that is never meant.
fn excluded(reader: &mut Reader<'_>, field: &Field<'_>, rules: &InstanceRules) {
    for (name, list) in [("families", &rules.families), ("types", &rules.types)] {
        let items = field.entries().find(|(key, _)| *key == name).map(|(_, inner)| inner);
        for (item, wanted) in items.iter().flat_map(Field::items).zip(list) {
            if let Some(by) = rules.exclude.iter().find(|exclude| covers(exclude, wanted)) {
                let message = format!("`{wanted}` is allowed and excluded");
                let hint = format!("remove it here, or remove `{by}` from exclude");
                reader.error(&item, message, Some(hint));
            }
        }
    }
}

/// Whether a pattern matches everything that another one matches. Errs toward no.
pub(crate) fn covers(wide: &Pattern, narrow: &Pattern) -> bool {
    let (w, n) = (wide.as_str(), narrow.as_str());
    // A `?` would match the other's `*` as if it were a letter.
    w.eq_ignore_ascii_case(n) || (wide.matches(n) && !(w.contains('?') && n.contains('*')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_errs_toward_no() {
        let check = |wide: &str, narrow: &str, expect: bool| {
            assert_eq!(covers(&wide.into(), &narrow.into()), expect, "{wide} {narrow}");
        };
        check("us-*", "us-east-1", true);
        check("us-*", "us-east-*", true);
        check("us-east-*", "us-*", false);
        check("us-?", "us-*", false);
        check("P5", "p5", true);
        check("*", "us-*-1", true);
    }
}
