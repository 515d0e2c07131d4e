//! Operations under way: asked after until they end, or until we have waited long enough.

use crate::api::{Answer, Api};
use crate::error::{Asked, LATE, of_body};
use crate::wire::{ErrorBody, Operation};
use fleet_provider::Error;
use std::time::Duration;

/// How long an operation is waited for. A machine is made in a minute or two; one that takes longer
/// is seen in the lists.
const LONGEST: Duration = Duration::from_secs(180);

/// How often it is asked after, if the cloud does not say.
const OFTEN: Duration = Duration::from_secs(5);

/// How an operation ended.
#[derive(Debug)]
pub(crate) enum End {
    /// It did what it was to do.
    Done,
    /// It failed: nothing more will come of it.
    Failed(Error),
    /// It goes on, or nobody knows.
    Open,
}

/// Waits for what an answer has set going. An answer that names no operation is its own end.
pub(crate) async fn wait(api: &Api, asked: Asked, answer: &Answer) -> End {
    let link = answer.header("azure-asyncoperation").or_else(|| answer.header("location"));
    let Some(link) = link.map(str::to_owned) else { return End::Done };
    let by_body = answer.header("azure-asyncoperation").is_some();
    let mut pause = answer.wish().unwrap_or(OFTEN);
    let mut waited = Duration::ZERO;
    while waited < LONGEST {
        let step = pause.clamp(Duration::from_secs(1), LONGEST - waited);
        api.clock.sleep(step).await;
        waited += step;
        // Silence about an operation says nothing about it.
        let Ok(answer) = api.follow(&link).await else { continue };
        pause = answer.wish().unwrap_or(OFTEN);
        match judge(asked, &answer, by_body) {
            Some(end) => return end,
            None => continue,
        }
    }
    End::Open
}

/// What an answer says of an operation; `None`: not ended.
pub(crate) fn judge(asked: Asked, answer: &Answer, by_body: bool) -> Option<End> {
    match answer.status {
        202 => return None,
        200 | 201 | 204 => {}
        _ => return None,
    }
    if !by_body {
        // `Location` answers with the thing itself once it is there.
        return Some(End::Done);
    }
    let operation: Operation = answer.json(asked).ok()?;
    match operation.status.as_str() {
        "Succeeded" => Some(End::Done),
        "Failed" | "Canceled" => {
            let error = operation.error.unwrap_or_else(|| ErrorBody {
                code: operation.status.clone(),
                ..ErrorBody::default()
            });
            Some(End::Failed(of_body(asked, LATE, &error, None)))
        }
        _ => None,
    }
}
