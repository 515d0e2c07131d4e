//! Checks of machines as a world answers them: most are right, some machines never are well, and now and
//! then the check itself lies of all of them.

use crate::process::Process;
use async_trait::async_trait;
use fleet_model::{Health, Interruption, Probed, digest};
use fleet_run::{HookTarget, Hooks};
use std::sync::Arc;

/// One machine in so many is never well.
const SICK_ONE_IN: u64 = 12;
/// In one hour of so many every check fails.
const LIES_ONE_IN: u64 = 6;
/// In one world of so many the checks are bad ones: they fail for twenty minutes at a time, every other
/// time, so that machines which were well are seen to fail for long, and by many looks.
const BAD_CHECKS_ONE_IN: u64 = 4;
const BAD_SPELL: i64 = 1200;

/// What a process finds out about machines.
pub(crate) struct WorldHooks(pub(crate) Arc<Process>);

#[async_trait]
impl Hooks for WorldHooks {
    async fn check(&self, of: HookTarget<'_>, _: &Health) -> Probed {
        let world = &self.0.world;
        let (seed, calm) = {
            let inner = world.lock();
            (inner.seed.to_string(), inner.calm)
        };
        let now = world.now().as_second();
        let hour = (now / 3600).to_string();
        let id = of.machine.id.as_str();
        let draw = |what: &str, of: &str| digest(what, [seed.as_bytes(), of.as_bytes()]).as_u64();
        let sick = draw("sick", id) % SICK_ONE_IN == 0;
        let bad = draw("bad", "") % BAD_CHECKS_ONE_IN == 0;
        let lies = match bad {
            true => now / BAD_SPELL % 2 == 1,
            false => draw("lies", &hour) % LIES_ONE_IN == 0,
        };
        let passes = calm || !(sick || lies);
        world.judge(|judge| judge.checked(&of.machine.id, passes));
        match passes {
            true => Probed::Passed,
            false => Probed::Failed { words: "refused".into() },
        }
    }

    async fn drain(&self, of: HookTarget<'_>, _: &Interruption) -> Result<(), String> {
        self.0.world.trace(format_args!("p{} drains {}", self.0.id, of.slot));
        Ok(())
    }
}
