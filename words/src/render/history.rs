//! The journal in words.

use super::columns::{Columns, left};
use crate::sentences::{self, block_scope, fallback};
use crate::style::{BOLD, DIM, WARN};
use crate::text::{clean_line, count, markdown as md, thousands, when};
use fleet_model::{Busy, Departure, Event, FallbackStep, RolloutNews, SlotId, Timestamp};
use fleet_run::Record;
use std::collections::BTreeSet;

/// An event: its short name, what happened, and whether it is trouble.
pub fn words(event: &Event) -> (&'static str, String, bool) {
    match event {
        Event::Opened { fleet, uid } => {
            ("opened", format!("fleet {fleet} begins, identity {uid}"), false)
        }
        Event::Epoch { epoch, holder } => {
            ("lease", format!("epoch {epoch}, {}", clean_line(holder)), false)
        }
        Event::RoundStarted { create, destroy, hourly_after, .. } => (
            "round",
            format!("{create} to launch, {destroy} to destroy, then {hourly_after} per hour"),
            false,
        ),
        Event::CreateIntended { create } => (
            "launch",
            format!(
                "{} from {} for {}",
                create.slots.len(),
                sentences::from(create),
                slots(&create.slots)
            ),
            false,
        ),
        Event::Created { machines, missing, surplus, .. } => {
            let mut text = count(machines.len() as u64, "machine");
            if !missing.is_empty() {
                text.push_str(&format!(", {} missing", missing.len()));
            }
            if !surplus.is_empty() {
                text.push_str(&format!(", {} that nobody asked for", surplus.len()));
            }
            ("launched", text, !missing.is_empty() || !surplus.is_empty())
        }
        Event::CreateRefused { code, .. } => ("refused", clean_line(code), true),
        Event::CreateResent { .. } => ("resent", "the same request".into(), false),
        Event::CreateUnknown { code, .. } => ("in doubt", clean_line(code), true),
        Event::DestroyIntended { pool, slots: ended } => {
            ("destroy", format!("{} in {pool}: {}", ended.len(), slots(ended)), false)
        }
        Event::DestroyRefused { slots: kept, why } => {
            ("kept", format!("{}: {}", slots(kept), clean_line(why)), true)
        }
        Event::DestroyUnknown { slots: ended, code } => {
            ("no answer", format!("{}: {}", slots(ended), clean_line(code)), true)
        }
        Event::LabelsMeant { cloud, labels } => {
            let words = labels.iter().map(|(key, value)| clean_line(&format!("{key}={value}")));
            let words: Vec<String> = words.collect();
            let words = if words.is_empty() { "none".into() } else { words.join(", ") };
            ("labels", format!("on {cloud}: {words}"), false)
        }
        Event::TemplateMeant { cloud, fields, .. } => {
            let names: Vec<&str> = fields.keys().map(String::as_str).collect();
            let sets = if names.is_empty() { "nothing".into() } else { names.join(", ") };
            ("template", format!("on {cloud}, sets {}", clean_line(&sets)), false)
        }
        Event::Relabelled { slots: changed, .. } => {
            ("relabelled", format!("{}: {}", changed.len(), slots(changed)), false)
        }
        Event::Vacated { gone } => {
            let sum = |how| gone.iter().filter(|one| one.how == how).count();
            let kinds = [
                (sum(Departure::Ended), "destroyed"),
                (sum(Departure::Interrupted), "interrupted"),
                (sum(Departure::EndedByOther), "terminated by others"),
                (sum(Departure::Expired), "at the end of their time"),
                (sum(Departure::Failed), "never came up"),
                (sum(Departure::Terminated), "interrupted or terminated by others"),
                (sum(Departure::Vanished), "vanished"),
            ];
            let parts: Vec<String> = kinds
                .iter()
                .filter(|(n, _)| *n > 0)
                .map(|(n, how)| format!("{} {how}", thousands(*n as u64)))
                .collect();
            ("gone", parts.join(", "), kinds.iter().skip(1).any(|(n, _)| *n > 0))
        }
        Event::Failed { failed } => {
            let first = failed.first().map_or("", |one| &one.cause.words);
            let text = format!("{}: {}", count(failed.len() as u64, "machine"), clean_line(first));
            ("failed", text, true)
        }
        Event::AccountSeen { key, account } => {
            ("account", format!("{key} is {}", clean_line(account)), false)
        }
        Event::Readopted { machine, .. } => {
            ("back", format!("{} is there after all, for {}", machine.machine, machine.slot), false)
        }
        Event::NoticeTold { machine, notice } => {
            let text = format!("{machine} says that it is taken back at {}", when(notice.at));
            ("notice", text, true)
        }
        Event::BusyTold { told } => ("use", busy(told), false),
        Event::ReplaceAsked { slots: asked } => {
            ("replace", format!("asked for {}", slots(asked)), false)
        }
        Event::ReplaceWithdrawn { slots: kept } => {
            ("replace", format!("no longer asked for {}", slots(kept)), false)
        }
        Event::HealthSeen { news } => {
            let mut parts = Vec::new();
            if !news.ready.is_empty() {
                parts.push(format!("{} ready: {}", news.ready.len(), slots(&news.ready)));
            }
            if !news.failing.is_empty() {
                parts.push(format!(
                    "checks of {} fail: {}",
                    news.failing.len(),
                    slots(&news.failing)
                ));
            }
            ("health", parts.join("; "), !news.failing.is_empty())
        }
        Event::Rollout { news } => {
            let bad = matches!(news, RolloutNews::Halted { .. });
            ("rollout", crate::sentences::rollout_news(news), bad)
        }
        Event::Drained { slots: drained } => {
            ("drain", format!("asked the work on {} to end", slots(drained)), false)
        }
        Event::Frozen { reason, until } => {
            let until = crate::sentences::until_when(*until);
            ("frozen", format!("by hand{until}: {}", clean_line(reason)), false)
        }
        Event::Fallback { step } => {
            ("fallback", fallback::step(step), matches!(step, FallbackStep::Began { .. }))
        }
        Event::Cheaper { pools } => {
            let text = match pools.len() as u64 {
                0 => "no machine is worth moving any more".into(),
                pools => format!("machines of {} are worth moving", count(pools, "pool")),
            };
            ("cheaper", text, false)
        }
        Event::Priced { prices, commitments, extras } => {
            let text = match prices.as_slice() {
                [] if commitments.is_none() => {
                    let machines: usize = extras.iter().map(|step| step.slots.len()).sum();
                    let machines = count(machines as u64, "machine");
                    format!("disks, addresses or traffic of {machines} cost something else")
                }
                [] => {
                    let bought: u64 =
                        commitments.iter().flatten().map(|one| u64::from(one.count)).sum();
                    format!("{} bought ahead by the spec", count(bought, "machine"))
                }
                [one] => {
                    format!("{} costs {} an hour since {}", one.pool, one.price, when(one.since))
                }
                many => {
                    let pools: BTreeSet<_> = many.iter().map(|one| &one.pool).collect();
                    format!("prices of {} moved", count(pools.len() as u64, "pool"))
                }
            };
            ("price", text, false)
        }
        Event::Moving { moving } => {
            ("moving", format!("{}: {}", fallback::moved(moving.why), slots(&moving.slots)), false)
        }
        Event::Thawed => ("thawed", "by hand".to_owned(), false),
        Event::Renamed { from, to } => ("renamed", format!("from {from} to {to}"), false),
        Event::Adopted { machines, .. } => {
            let taken: Vec<SlotId> = machines.iter().map(|one| one.slot).collect();
            ("taken in", format!("{}: {}", taken.len(), slots(&taken)), false)
        }
        Event::Released { machines } => {
            let text = match machines.as_slice() {
                [] => "no machine".to_owned(),
                [one] => format!("{} of {}", clean_line(one.machine.as_str()), one.slot),
                [first, .., last] => {
                    format!("{} of {} … {}", machines.len(), first.slot, last.slot)
                }
            };
            ("released", text, false)
        }
        Event::Blocked { block } => (
            "blocked",
            format!(
                "{} until {} ({})",
                block_scope(&block.scope),
                crate::text::when(block.until),
                clean_line(&block.code)
            ),
            true,
        ),
        Event::RoundEnded { created, destroyed, refused, unknown, .. } => {
            let mut text = format!("{created} launched, {destroyed} destroyed");
            if refused + unknown > 0 {
                text.push_str(&format!(", {refused} refused, {unknown} in doubt"));
            }
            ("round end", text, refused + unknown > 0)
        }
    }
}

/// The first slot and the last.
fn slots(slots: &[SlotId]) -> String {
    match slots {
        [] => "no slot".into(),
        [one] => one.to_string(),
        [first, .., last] => format!("{first} … {last}"),
    }
}

/// Who was how busy.
fn busy(told: &[Busy]) -> String {
    let one = |busy: &Busy| format!("{} {} %", clean_line(busy.machine.as_str()), busy.percent);
    let (few, more) = told.split_at(told.len().min(3));
    let mut words = few.iter().map(one).collect::<Vec<_>>().join(", ");
    if !more.is_empty() {
        words.push_str(&format!(" and {} more", more.len()));
    }
    format!("busy until {}: {words}", told.last().map_or_else(String::new, |last| when(last.to)))
}

fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// For people.
pub fn text(fleet: &str, records: &[Record]) -> String {
    let mut table = Columns::default();
    let mut last = None;
    for record in records {
        for one in &record.events {
            let (name, what, trouble) = words(one);
            // A record's time is written once: what follows happened together.
            let at = if last == Some(record.seq) { String::new() } else { time(record.at) };
            last = Some(record.seq);
            let name = if trouble { left(name).style(WARN) } else { left(name) };
            table.row([left(at).style(DIM), name, left(what)]);
        }
    }
    format!(
        "{BOLD}fleet {}{BOLD:#}, {}, times in UTC\n{}",
        clean_line(fleet),
        count(records.len() as u64, "record"),
        table.render("  ")
    )
}

/// For comments.
pub fn markdown(fleet: &str, records: &[Record]) -> String {
    let mut out = format!("### History of `{}`\n\n| when | what | |\n|---|---|---|\n", md(fleet));
    for record in records {
        for one in &record.events {
            let (name, what, _) = words(one);
            out.push_str(&format!("| {} | {name} | {} |\n", time(record.at), md(&what)));
        }
    }
    out
}
