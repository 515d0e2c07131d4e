//! Lambda's names: `gpu_8x_h100_sxm5`. No zones to choose, no spot market.

use super::ImportError;
use super::collect::Collect;
use super::table::Table;
use fleet_model::{Architecture, Resources, Zone};

pub(super) fn read(table: Table, collect: &mut Collect<'_>) -> Result<(), ImportError> {
    table.each(|line| {
        collect.line();
        let kind = collect.kind(&line, |collect| {
            let stated = collect.stated(&line);
            Resources {
                vcpus: line.vcpus,
                memory_mib: line.memory_mib,
                architecture: architecture(line.kind),
                accelerators: collect.settle(stated, None, line.kind.starts_with("gpu_")),
                local_disk: Some(true),
                generation: None,
            }
        });
        let on_demand = collect.price(line.on_demand);
        collect.offer(kind, line.region, Zone::REGIONAL, on_demand, None);
    })
}

/// The Grace machines are Arm.
fn architecture(kind: &str) -> Architecture {
    if kind.contains("gh200") || kind.contains("gb200") || kind.contains("gb300") {
        Architecture::Arm64
    } else {
        Architecture::X86_64
    }
}
