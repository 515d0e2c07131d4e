//! The words of readiness and of changes of template.

use super::{Said, said};
use crate::text::{clean_line, count, when};
use fleet_model::{HaltCause, RolloutNews, RolloutWait};

/// So many are unhealthy that none is replaced.
pub(super) fn many_unhealthy(unhealthy: u32, of: u32) -> Said {
    said(
        format!(
            "{unhealthy} of {of} machines are unhealthy, and more than one in five is not a matter of \
             single machines: none of them is replaced"
        ),
        "look at the template and at the spec's `health`; `fleet replace FLEET SLOT` replaces a machine \
         all the same",
    )
}

/// What a change of template waits for.
pub(super) fn rollout(updated: u32, left: u32, waits: &RolloutWait) -> Said {
    let far = format!("rollout: {}", far(updated.into(), left.into()));
    match waits {
        RolloutWait::Ready { wave, launching, failing } => {
            let which = format!("wave {wave}");
            let what = match (launching, failing) {
                (0, 0) if *wave == 1 => {
                    "some go first, the others follow when those are ready".into()
                }
                (0, 0) => format!("{which} is being replaced"),
                (0, failing) => {
                    format!("{which} waits: checks of {} fail", count(*failing, "new machine"))
                }
                (launching, 0) => {
                    format!("{which} waits for {} to be ready", count(*launching, "machine"))
                }
                (launching, failing) => {
                    format!("{which} waits for {launching} to be ready; checks of {failing} fail")
                }
            };
            said(
                format!("{far}; {what}"),
                "`fleet apply` waits for it, each `fleet reconcile` goes on with it; `fleet rollout status \
                 FLEET` shows it",
            )
        }
        RolloutWait::Pause { until } => said(
            format!("{far}; the last wave must stay ready until {}", when(*until)),
            "apply or reconcile again then",
        ),
        RolloutWait::Window { opens } => {
            let opens = match opens {
                Some(opens) => format!("the next window opens at {}", when(*opens)),
                None => "no window opens any more".into(),
            };
            said(
                format!("{far}; no wave begins outside of updates.windows: {opens}"),
                "apply or reconcile again then",
            )
        }
        RolloutWait::Person => said(
            format!("{far}; a person paused it"),
            "`fleet rollout resume FLEET` goes on, `fleet rollout undo FLEET` returns to the template before",
        ),
        RolloutWait::Halt { why } => said(
            format!("{far}; stopped: {}", halted(why)),
            "mend the template and apply; or `fleet rollout resume FLEET` to try again, `fleet rollout undo \
             FLEET` to return to the template before",
        ),
    }
}

/// How far a rollout has come.
pub fn far(updated: u64, left: u64) -> String {
    let have = if updated == 1 { "has" } else { "have" };
    format!("{} {have} the new template, {left} to go", count(updated, "machine"))
}

/// Why a rollout stopped by itself.
pub fn halted(why: &HaltCause) -> String {
    let HaltCause { failed, slot, words } = why;
    let mut text = format!("{} failed", count(*failed, "new machine"));
    if let Some(slot) = slot {
        text.push_str(&format!(", {slot} for one"));
    }
    if !words.is_empty() {
        text.push_str(&format!(" ({})", clean_line(words)));
    }
    text
}

/// What happened to a rollout, for its history.
pub fn rollout_news(news: &RolloutNews) -> String {
    match news {
        RolloutNews::Began { to, .. } => {
            let clouds: Vec<String> = to.keys().map(ToString::to_string).collect();
            format!("began on {}", clouds.join(", "))
        }
        RolloutNews::WaveBegan { slots, .. } => {
            let names: Vec<String> =
                slots.iter().take(4).map(|slot| slot.name.to_string()).collect();
            let more = if slots.len() > names.len() { ", …" } else { "" };
            let machines = count(slots.len() as u64, "machine");
            format!("replaces {machines}: {}{more}", names.join(", "))
        }
        RolloutNews::WaveDone => "a wave is done and ready".into(),
        RolloutNews::Halted { why } => format!("stopped: {}", halted(why)),
        RolloutNews::Done => "done: every machine has its template".into(),
        RolloutNews::Paused => "paused by hand".into(),
        RolloutNews::Resumed => "resumed by hand".into(),
        RolloutNews::Undone => "undone by hand: the template before it holds".into(),
    }
}
