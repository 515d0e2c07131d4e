//! What tests share.

use fleet_model::{Accelerators, Architecture, Cloud, InstanceKind, InstanceType, Resources};

/// A machine of which only the accelerators matter.
pub(crate) fn kind(name: &str, accelerator: &str, count: u32) -> InstanceKind {
    let resources = Resources {
        vcpus: None,
        memory_mib: None,
        architecture: Architecture::X86_64,
        accelerators: Some(Accelerators::named(accelerator, count * 1000)),
        local_disk: None,
        generation: None,
    };
    InstanceKind { cloud: Cloud::Aws, name: InstanceType::from(name), resources }
}
