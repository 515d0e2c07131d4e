//! What is done to machines besides asking their clouds: checks of the user's own, and the end of the work
//! on one.

mod check;
mod command;

use async_trait::async_trait;
use fleet_model::{FleetName, Health, Interruption, Machine, Probed, SlotId};

/// A machine that a hook is for.
#[derive(Debug, Clone, Copy)]
pub struct HookTarget<'a> {
    /// Its fleet.
    pub fleet: &'a FleetName,
    /// The slot it fills.
    pub slot: SlotId,
    /// The machine, as its cloud describes it.
    pub machine: &'a Machine,
}

/// What reaches machines.
#[async_trait]
pub trait Hooks: Send + Sync {
    /// Makes the checks of one machine.
    async fn check(&self, of: HookTarget<'_>, health: &Health) -> Probed;

    /// Asks the work on a machine to end, and waits for as long as the grace time. What went wrong, if
    /// something did.
    async fn drain(&self, of: HookTarget<'_>, interruption: &Interruption) -> Result<(), String>;
}

/// Hooks over the network and on this computer.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealHooks;

#[async_trait]
impl Hooks for RealHooks {
    async fn check(&self, of: HookTarget<'_>, health: &Health) -> Probed {
        check::all(of, health).await
    }

    async fn drain(&self, of: HookTarget<'_>, interruption: &Interruption) -> Result<(), String> {
        let grace = std::time::Duration::from_secs(interruption.grace_seconds.into());
        command::run(of, &interruption.drain, grace).await.map_err(|failed| failed.words())
    }
}
