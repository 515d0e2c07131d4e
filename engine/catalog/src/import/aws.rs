//! Amazon's list: what it says of a type, and what the type's name says.

use super::ImportError;
use super::collect::Collect;
use super::table::Table;
use fleet_model::{AwsName, Resources, Zone};

pub(super) fn read(table: Table, collect: &mut Collect<'_>) -> Result<(), ImportError> {
    table.each(|line| {
        collect.line();
        let kind = collect.kind(&line, |collect| {
            let name = AwsName::of(line.kind);
            let stated = collect.stated(&line);
            Resources {
                vcpus: line.vcpus,
                memory_mib: line.memory_mib,
                architecture: name.architecture(),
                accelerators: collect.settle(stated, name.accelerators(), name.is_accelerated()),
                local_disk: name.local_disk(),
                generation: name.generation(),
            }
        });
        let (on_demand, spot) = (collect.price(line.on_demand), collect.price(line.spot));
        let zone = if line.zone.is_empty() { Zone::REGIONAL } else { line.zone };
        collect.offer(kind, line.region, zone, on_demand, spot);
    })
}
