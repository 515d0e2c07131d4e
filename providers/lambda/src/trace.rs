//! What became of machines that the list lacks: each is asked for by its id.
//!
//! Lambda lists what runs. What ended is gone from the list at once or after some minutes, and can
//! still be asked for; what was never there cannot.

use crate::api::Api;
use crate::error::NOT_THERE;
use crate::machines::machine;
use crate::wire::Instance;
use fleet_model::{Machine, MachineState, SETTLE_WINDOW, Timestamp};
use fleet_provider::{Class, Error, Missing, TraceRequest, Traced};

/// So many are asked for at most: each takes a second of the whole account's. Of the others nobody
/// can say anything this time.
const AT_ONCE: usize = 30;

/// Asks for each of them.
pub(crate) async fn trace(
    api: &Api,
    request: &TraceRequest<'_>,
    now: Timestamp,
) -> Result<Vec<Traced>, Error> {
    let mut traced = vec![Traced::Unknown; request.missing.len()];
    for (place, missing) in traced.iter_mut().zip(request.missing).take(AT_ONCE) {
        let answer = one(api, missing).await;
        match answer {
            Err(error) if error.class == Class::Auth => return Err(error),
            // Whoever is told to ask less does not ask for the rest.
            Err(error) if error.throttled => break,
            Ok(_) | Err(_) => *place = fate(missing, answer, now),
        }
    }
    Ok(traced)
}

async fn one(api: &Api, missing: &Missing) -> Result<Instance, Error> {
    api.get(&format!("instances/{}", missing.machine)).await
}

/// What an answer says of a machine.
fn fate(missing: &Missing, answer: Result<Instance, Error>, now: Timestamp) -> Traced {
    match answer {
        // The answer to another question.
        Ok(instance) if instance.id != missing.machine.as_str() => Traced::Unknown,
        Ok(instance) => {
            let machine: Machine = machine(&instance, now);
            match machine.state {
                // Lambda does not tell who ended it.
                MachineState::Terminated => Traced::Gone(machine.cause),
                MachineState::Pending
                | MachineState::Running
                | MachineState::Failed
                | MachineState::Stopped
                | MachineState::Stopping => Traced::There(Box::new(machine)),
            }
        }
        // A young one may not be known everywhere yet.
        Err(error) if error.code == NOT_THERE => {
            let young = now.duration_since(missing.launched_at).unsigned_abs() < SETTLE_WINDOW;
            if young { Traced::Unknown } else { Traced::Gone(None) }
        }
        Err(_) => Traced::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::refused;
    use fleet_model::{Cause, CauseKind, MachineId};
    use serde_json::{from_value, json};
    use std::time::Duration;

    #[test]
    fn the_fate_of_a_machine_by_what_lambda_says_of_it() {
        let missing = Missing {
            machine: MachineId::new("0920"),
            slot: "base-3.2".parse().expect("a slot"),
            pool: "lambda/us-east-1/regional/gpu_1x_a10/on-demand".parse().expect("a pool"),
            launched_at: Timestamp::UNIX_EPOCH,
        };
        let at = |age: u64| Timestamp::UNIX_EPOCH + Duration::from_secs(age);
        let (young, old) = (at(299), at(300));
        let says = |id: &str, status: &str| -> Instance {
            from_value(json!({
                "id": id, "status": status, "region": { "name": "us-east-1" },
                "instance_type": { "name": "gpu_1x_a10", "price_cents_per_hour": 129 },
            }))
            .expect("an instance")
        };
        let told = |status: &str| fate(&missing, Ok(says("0920", status)), old);
        assert_eq!(told("terminated"), Traced::Gone(None));
        let words = "preempted".to_owned();
        let interrupted = Cause { kind: CauseKind::Interrupted, words };
        assert_eq!(told("preempted"), Traced::Gone(Some(interrupted)));
        for there in ["booting", "active", "unhealthy", "terminating", "dreaming"] {
            assert!(matches!(told(there), Traced::There(_)), "{there}");
        }
        assert_eq!(fate(&missing, Ok(says("other", "terminated")), old), Traced::Unknown);
        let fails = |class, code, now| fate(&missing, Err(refused(class, code, "")), now);
        assert_eq!(fails(Class::Invalid, NOT_THERE, young), Traced::Unknown);
        assert_eq!(fails(Class::Invalid, NOT_THERE, old), Traced::Gone(None));
        assert_eq!(fails(Class::Retry { after: None }, "Http404", old), Traced::Unknown);
        assert_eq!(fails(Class::Retry { after: None }, "Http502", old), Traced::Unknown);
    }
}
