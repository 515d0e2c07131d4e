//! One destroy, under the same order: written down, sent, written down.

use crate::apply::seams;
use crate::apply::sent::{NotSent, Sent};
use crate::apply::session::Session;
use crate::apply::step::{Blocked, Ended, no_provider};
use crate::calls::Patience;
use crate::error::RunError;
use crate::progress::StepResult;
use fleet_model::{Destroy, Event, Operation, SlotId};
use fleet_provider::{Class, DestroyRequest};

impl Session<'_> {
    /// Destroys machines.
    pub(super) async fn end(
        &self,
        destroy: &Destroy,
        blocked: &Blocked,
    ) -> Result<Ended, RunError> {
        let engine = self.engine;
        let cloud = destroy.pool.place.cloud;
        let scope = destroy.pool.place.scope();
        if let Some(open) = engine.calls.open_breaker(&scope, Operation::End) {
            return Ok(blocked.not_asked(open));
        }
        let slots: Vec<SlotId> = destroy.victims.iter().map(|victim| victim.slot).collect();
        let pool = destroy.pool.clone();
        self.journal.append(vec![Event::DestroyIntended { pool, slots }]).await?;
        let (Some(provider), Some(fleet)) =
            (engine.providers.get(&cloud), self.journal.recorded_uid())
        else {
            let why = no_provider(cloud).to_string();
            return Ok(Ended::end(0, StepResult::Refused(why)));
        };
        let request = DestroyRequest { fleet: &fleet, scope: &scope, victims: &destroy.victims };
        let seed = fleet_model::digest("end/1", [destroy.victims[0].machine.as_str().as_bytes()]);
        let answer = engine
            .calls
            .retrying(seed.as_u64(), Patience::Change, || async {
                engine.calls.limits.turn(&scope, Operation::End).await;
                if !self.lease.is_held() {
                    return Ok(Err(NotSent::LeaseLost));
                }
                let asked = provider.destroy(&request);
                let answer = engine.calls.measured.cloud(cloud, "destroy", asked).await;
                engine.calls.paced(&scope, Operation::End, answer).map(Ok)
            })
            .await;
        let answer = match Sent::of(answer) {
            Sent::Answered(answer) => answer,
            Sent::Not(why) => {
                let slots = destroy.victims.iter().map(|victim| victim.slot).collect();
                let event = Event::DestroyRefused { slots, why: why.code().into() };
                self.journal.append(vec![event]).await?;
                return Ok(Ended::end(0, StepResult::Refused(why.to_string())));
            }
        };
        if let Some(opened) = engine.calls.note_end(&scope, Operation::End, &answer) {
            self.journal.append(vec![opened]).await?;
        }
        match answer {
            Ok(done) if done.refused.is_empty() => {
                let destroyed = done.ended.len() as u32;
                Ok(Ended::end(destroyed, StepResult::Done))
            }
            Ok(done) => {
                let refused = |id| done.refused.iter().find(|(machine, _)| machine == id);
                let slots = destroy.victims.iter().filter(|v| refused(&v.machine).is_some());
                let slots: Vec<SlotId> = slots.map(|victim| victim.slot).collect();
                let why = done.refused[0].1.escape_debug().to_string();
                let event = Event::DestroyRefused { slots, why: why.clone() };
                self.journal.append(vec![event]).await?;
                let destroyed = done.ended.len() as u32;
                Ok(Ended::end(destroyed, StepResult::Refused(why)))
            }
            // Ending is idempotent, and the next look shows what is left. What is gone by then was
            // ended by us.
            Err(error) => {
                let slots = destroy.victims.iter().map(|victim| victim.slot).collect();
                let code = error.code.clone();
                let unknown = match error.class {
                    Class::Unknown | Class::Freeze => true,
                    Class::Retry { .. }
                    | Class::Capacity { .. }
                    | Class::Quota { .. }
                    | Class::Auth
                    | Class::Refused { .. }
                    | Class::Invalid => false,
                };
                let (event, result) = match unknown {
                    true => {
                        let result = StepResult::Unknown(error.to_string());
                        (Event::DestroyUnknown { slots, code }, result)
                    }
                    false => {
                        let result = StepResult::Refused(error.to_string());
                        (Event::DestroyRefused { slots, why: code }, result)
                    }
                };
                self.journal.append(vec![event]).await?;
                let victims = destroy.victims.len() as u32;
                let perhaps_destroyed = if unknown { seams::perhaps_destroyed(victims) } else { 0 };
                Ok(Ended { perhaps_destroyed, ..Ended::end(0, result) })
            }
        }
    }
}
