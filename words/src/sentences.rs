//! Every reason in words. Exhaustive on purpose: a new reason does not compile without its words.

mod uncounted;
mod upkeep;

pub use uncounted::{beside, uncounted, way_to_a_price, why as why_uncounted};
pub use upkeep::{far, halted, rollout_news};
pub mod budget;
pub mod fallback;
pub mod rebalance;

use crate::text::{clean_line, count, monthly, when};
use fleet_core::PoolOdds;
use fleet_model::{
    Action, BlockScope, Bounds, CauseKind, Cloud, Create, DefaultRule, Departure, Gap, GapCause,
    Heeded, Hold, Market, MoveWhy, Notice, Plan, PoolReason, Rejection, Says, Scope, Shortfall,
    Strategy, TemplateChange, Unit, Units, WhenDone, Why, Word,
};
use std::collections::{BTreeMap, BTreeSet};

/// What one signal of a cloud says, and how far it is believed.
pub fn signal(heeded: &Heeded) -> String {
    let Heeded { word: Word { source, share }, weight, steady_since } = heeded;
    let says = match source.row().says {
        Says::Launch => {
            let stood =
                steady_since.map(|since| format!(", taken to have stood since {}", when(since)));
            format!("a launch is {share} likely{}", stood.unwrap_or_default())
        }
        Says::Interruption { usual_percent } => {
            format!("{share} of machines are interrupted (usual: {usual_percent}%)")
        }
        Says::PriceMovement { usual_percent } => {
            format!("the price moved by {share} (usual: {usual_percent}%)")
        }
    };
    let weight = f64::from(weight.ppm()) / 10_000.0;
    format!("{source}: {says}; believed to {weight:.0}%")
}

/// A sentence, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What is the case.
    pub what: String,
    /// What to do about it, if anything.
    pub next: Option<String>,
}

fn said(what: String, next: impl Into<String>) -> Said {
    Said { what, next: Some(next.into()) }
}

/// Where a launch takes its machines from.
pub fn from(create: &Create) -> String {
    match create.others.len() {
        0 => create.pool.to_string(),
        n => format!("any of {} pools in {}, the first {}", n + 1, scope(create), create.pool),
    }
}

/// Launches that leave a choice to the cloud: "40 spot from any of 5 pools in aws us-east-1".
pub fn choices(plan: &Plan) -> Vec<String> {
    let mut sums: BTreeMap<(Scope, Market, usize), u64> = BTreeMap::new();
    for step in &plan.steps {
        if let Action::Create(create) = &step.action
            && !create.others.is_empty()
        {
            let pool = &create.pool;
            let key = (pool.place.scope(), pool.market, create.others.len() + 1);
            *sums.entry(key).or_default() += create.slots.len() as u64;
        }
    }
    let line = |((scope, market, pools), machines)| {
        let Scope { cloud, region } = scope;
        let machines: u64 = machines;
        format!("{machines} {market} from any of {pools} pools in {cloud} {region}, as it has them")
    };
    sums.into_iter().map(line).collect()
}

fn scope(create: &Create) -> String {
    let place = &create.pool.place;
    format!("{} {}", place.cloud, place.region)
}

/// Why a step is in the plan: completes "… because".
pub fn why(why: &Why) -> String {
    match why {
        Why::BelowTarget { group } => format!("{group} is below its target"),
        Why::ReplaceInterrupted { group } => {
            format!("machines of {group} were interrupted, or soon will be")
        }
        Why::ReplaceDisallowed { group } => {
            format!("machines of {group} stand in pools that the spec no longer allows")
        }
        Why::TargetLowered { group, from, to } => {
            format!("you lowered the target of {group} from {from} to {to}")
        }
        Why::AboveTarget { group } => format!("{group} is above its target"),
        Why::PoolNotAllowed { because } => {
            format!("the spec no longer allows the pool ({})", rejection(because))
        }
        Why::OverBudget { limit, cap } => budget::over(*limit, *cap),
        Why::TemplateChanged => "made from an older template, and its successor is ready".into(),
        Why::ReplaceRequested { group } => {
            format!("you asked to replace machines of {group}: their successors come first")
        }
        Why::InPlaceOfSpot => "spot is lost or cannot be had".into(),
        Why::Moved { why: MoveWhy::BackToSpot } => "spot holds again: back to spot".into(),
        Why::Moved { why: MoveWhy::Cheaper } => "another pool is cheaper".into(),
        Why::Requested => "you asked to replace it, and its successor is up".into(),
        Why::AtRisk => "its cloud recommends to move off it, and its successor is ready".into(),
        Why::ReplaceOldTemplate { group } => {
            format!("machines of {group} were made from an older template")
        }
        Why::Failed { kind: CauseKind::NeverReady | CauseKind::LaunchFailed } => {
            "it never came up".into()
        }
        Why::Failed { kind: CauseKind::NotReady } => "it is unhealthy".into(),
        Why::Failed { .. } => "its cloud says that it failed".into(),
        Why::Stopped => "it is shut down and still costs money".into(),
        Why::CameBack => "it came back after its slot was filled again".into(),
        Why::FleetDestroyed => "the whole fleet is to be destroyed".into(),
    }
}

/// What is held back, and what lets it go.
pub fn hold(hold: &Hold) -> Said {
    match hold {
        Hold::DestroyLimit { wanted, held, said: Some(number), .. } => said(
            format!(
                "destroy limit: {held} of {} to be destroyed are kept for now: --allow-destroy {number} is not that number",
                count(*wanted, "machine")
            ),
            format!("if all of them may be destroyed, give --allow-destroy {wanted}"),
        ),
        Hold::DestroyLimit { allowed: 0, wanted, held: _, said: None, lowered: 0 } => said(
            format!(
                "destroy limit: {} to be destroyed are kept for now: this apply has destroyed as many as one apply may",
                count(*wanted, "machine")
            ),
            format!("apply again to continue, or allow all at once with --allow-destroy {wanted}"),
        ),
        Hold::DestroyLimit { wanted, held, said: None, lowered, .. } if *lowered > 0 => said(
            format!(
                "destroy limit: {held} of {} to be destroyed are kept for now: the target was lowered so \
                 far that it takes a person",
                count(*wanted, "machine")
            ),
            format!(
                "apply without --yes and type the number, or allow it with --allow-destroy {wanted}; a \
                 policy's maxDestroyPerApply sets how far `--yes` may go"
            ),
        ),
        Hold::DestroyLimit { allowed, wanted, held, said: None, .. } => said(
            format!(
                "destroy limit: {held} of {} to be destroyed are kept for now: one apply destroys at most {allowed}",
                count(*wanted, "machine")
            ),
            format!("apply again to continue, or allow all at once with --allow-destroy {wanted}"),
        ),
        Hold::JournalLost { machines } => said(
            format!(
                "frozen: there is no journal of this fleet here, and {} its name: the journal was lost, \
                 or another state is in charge of them; nothing is changed until a person has looked",
                if *machines == 1 {
                    "a machine carries".into()
                } else {
                    format!("{machines} machines carry")
                }
            ),
            format!(
                "check --state; if they are to be left alone and a new fleet begun beside them, \
                 say --accept-loss {machines}"
            ),
        ),
        Hold::WaitingForReplacement { machines } => said(
            format!("{} are kept until their replacements are up", count(*machines, "old machine")),
            "apply again in a few minutes",
        ),
        Hold::SuccessorsNotUp { slots, starting: _ } => {
            let names: Vec<String> = slots.iter().take(5).map(ToString::to_string).collect();
            let more = if slots.len() > names.len() { ", …" } else { "" };
            said(
                format!("destroyed when a successor is up: {}{more}", names.join(", ")),
                "each apply and reconcile goes on with it; `fleet replace FLEET SLOT --cancel` withdraws a \
                 request of yours",
            )
        }
        Hold::ManyUnhealthy { unhealthy, of } => upkeep::many_unhealthy(*unhealthy, *of),
        Hold::Rollout { updated, left, waits } => upkeep::rollout(*updated, *left, waits),
        Hold::NotSeenYet { machines } => said(
            format!(
                "{} launched moments ago cannot be destroyed before their clouds list them",
                count(*machines, "machine")
            ),
            "apply and destroy wait for them, for at most five minutes",
        ),
        Hold::Surge { missing, unit, surge } => said(
            format!(
                "{missing} {unit} wait until old machines are gone: at most {surge} {unit} beyond \
                 the target stand at once"
            ),
            "apply again; each apply continues where the last one stopped",
        ),
        Hold::Frozen { missing, of } => said(
            format!(
                "frozen: {missing} of {of} machines vanished and nobody said why: nothing is changed \
                 until a person has looked"
            ),
            format!(
                "look at the clouds' consoles; if they are really gone, run again with \
                 --accept-loss {missing}"
            ),
        ),
        Hold::AttemptLimit { slot, tries, until } => said(
            format!(
                "attempt limit: slot {slot} was tried {tries} times within an hour, so {} launches \
                 nothing until {}",
                slot.group,
                when(*until)
            ),
            "apply again then, or allow more regions and families now",
        ),
        Hold::BootFailures { group, failures, until } => said(
            format!(
                "boot failures: {failures} machines of {group} never came up, or failed or ended soon \
                 after their launch, so {group} launches nothing until {}",
                when(*until)
            ),
            "look at their console output and mend the template: a changed template is tried at once",
        ),
        Hold::ByHand { reason, until, launches, destroys } => said(
            format!(
                "frozen by hand{}: {} to launch and {} to destroy wait ({})",
                until_when(*until),
                launches,
                destroys,
                clean_line(reason)
            ),
            "`fleet thaw FLEET` lets it change again",
        ),
        Hold::Budget { limit, needed, cap } => said(
            format!(
                "budget: the target would cost {needed}/h, {}, and the spec says to hold then",
                budget::is(*limit, *cap)
            ),
            "raise the budget, lower capacity.target, or set budget.atCap: shrink-burst",
        ),
        Hold::Gap { scope, machines } => said(
            format!(
                "{scope} did not answer: {} recorded there are kept as they are",
                count(*machines, "machine")
            ),
            format!("try again when {scope} answers"),
        ),
    }
}

/// What could not be placed.
pub fn shortfall(short: &Shortfall) -> Said {
    let Shortfall { group, missing, unit, because } = short;
    let what = format!("{missing} {unit} of {group} could not be placed");
    let next = because.iter().find_map(|(reason, _)| relax(reason));
    Said { what, next }
}

/// Why pools are not used, a line each. Regions of one cloud that did not answer are one reason.
pub fn because(reasons: &[(Rejection, u32)]) -> Vec<String> {
    let mut silent: BTreeMap<Cloud, (u32, BTreeSet<&Scope>)> = BTreeMap::new();
    for (reason, pools) in reasons {
        if let Rejection::InGap { scope } = reason {
            let (all, scopes) = silent.entry(scope.cloud).or_default();
            *all += pools;
            scopes.insert(scope);
        }
    }
    let mut said = BTreeSet::new();
    let mut lines = Vec::new();
    for (reason, pools) in reasons {
        let (pools, words) = match reason {
            Rejection::InGap { scope } => match silent.get(&scope.cloud) {
                Some((_, scopes)) if scopes.len() < 2 => (*pools, rejection(reason)),
                Some(_) if !said.insert(scope.cloud) => continue,
                Some((all, scopes)) => {
                    let regions = count(scopes.len() as u64, "region");
                    (*all, format!("{regions} of {} did not answer", scope.cloud))
                }
                None => (*pools, rejection(reason)),
            },
            _ => (*pools, rejection(reason)),
        };
        lines.push(format!("{}: {words}", count(pools, "pool")));
    }
    lines
}

/// Why a pool is not used: completes "n pools: …".
pub fn rejection(rejection: &Rejection) -> String {
    match rejection {
        Rejection::CloudNotAllowed { cloud } => format!("the spec does not name {cloud}"),
        Rejection::RegionNotAllowed => "the spec does not name the region".into(),
        Rejection::ZoneNotAllowed => "the spec does not name the zone".into(),
        Rejection::NeedsOptIn => {
            "a local zone, which an account must opt into, and the spec does not name it".into()
        }
        Rejection::NotByDefault { rule } => default_rule(rule),
        Rejection::Apart { together, place } => {
            let place = clean_line(place);
            format!("the fleet stands together in one {}: {place}", together.as_str())
        }
        Rejection::NeedsApproval { policy, .. } => {
            format!("policy {} wants an approval first", clean_line(policy))
        }
        Rejection::FamilyNotAllowed => "no family or type of the spec matches".into(),
        Rejection::Excluded { pattern } => format!("excluded by `{}`", clean_line(pattern)),
        Rejection::OutOfBounds { requirement, has, wants } => {
            let has = has.map_or_else(|| "unknown".into(), |has| amount_of(requirement, has));
            let wants = bounds(requirement, *wants);
            format!("{} is {has}, the spec asks for {wants}", clean_line(requirement))
        }
        Rejection::ArchitectureNotAllowed => "the architecture is not allowed".into(),
        Rejection::AcceleratorNotAllowed { has: Some(name) } => {
            format!("the spec does not name its accelerator {}", clean_line(name))
        }
        Rejection::AcceleratorNotAllowed { has: None } => {
            "it has no accelerator with a name".into()
        }
        Rejection::LocalDisk => "its local disk is not as the spec asks".into(),
        Rejection::NoWeight { unit: Unit::Figure(figure) } => {
            format!("no figure is published for its {}", figure.describe())
        }
        Rejection::NoWeight { unit: Unit::Work } => "the workFile has no figure for it".into(),
        Rejection::NoWeight { unit } => format!("it has no {unit}, or nobody knows how many"),
        Rejection::NotSold { market } => format!("not sold as {market}"),
        Rejection::Unpriced => "its price is not known, so no budget could be kept".into(),
        Rejection::UnpricedTraffic { because } => format!(
            "what its traffic costs is not known, so no budget could be kept: {}",
            why_uncounted(*because)
        ),
        Rejection::AboveMaxSpotPrice { limit } => {
            format!("spot costs more than the allowed {limit}/h")
        }
        Rejection::SpotNotCheaper => "spot costs as much as on-demand, or more".into(),
        Rejection::Blocked { scope, until, code } => format!(
            "{} said no ({}), and is retried after {}",
            block_scope(scope),
            clean_line(code),
            when(*until)
        ),
        Rejection::InGap { scope } => format!("{scope} did not answer"),
        Rejection::GaveNotice => "its cloud is taking back a machine of it right now".into(),
        Rejection::TriedFirst { most } => format!(
            "it refused or interrupted machines lately, and is tried with {most} before it is asked for \
             more"
        ),
        Rejection::ShareReached { of, limit } => {
            format!("the {} already holds {limit} of the target, its limit", clean_line(of))
        }
        Rejection::LargerThanShare { of, limit, weight } => format!(
            "one machine counts for {weight}, more than the {limit} allowed per {}",
            clean_line(of)
        ),
        Rejection::CannotLaunch { why } => clean_line(why),
        Rejection::QuotaReached { region, name, limit, unit } => {
            let unit = unit.as_str();
            format!("the quota of {limit} {unit} in {region} ({name}) is used up")
        }
        Rejection::NotCommitted => {
            "it is on demand in place of spot, and no commitment covers it any more".into()
        }
        Rejection::BudgetReached { limit, cap } => budget::reached(*limit, *cap),
        Rejection::Outranked { by } => format!("better pools were enough, the last of them {by}"),
    }
}

/// What a spec that does not say otherwise leaves out.
fn default_rule(rule: &DefaultRule) -> String {
    match rule {
        DefaultRule::Burstable => "burstable, and the spec does not name it".into(),
        DefaultRule::Small => "less than 2 vCPUs, and the spec does not name the size".into(),
        DefaultRule::Accelerated => "it has accelerators, and the spec asks for none".into(),
        DefaultRule::SeveralHosts => "a slice of several hosts, which is no one machine".into(),
        DefaultRule::RestrictedRegion => {
            "a region for some customers only, and the spec does not name it".into()
        }
        DefaultRule::Architecture { fleet } => {
            format!("the fleet is {fleet}, as the spec does not say otherwise")
        }
        DefaultRule::Accelerator { fleet } => {
            format!("the fleet has {}, as the spec names no accelerator", clean_line(fleet))
        }
    }
}

/// How to have what is left out by default.
fn default_way_out(rule: &DefaultRule) -> Option<&'static str> {
    match rule {
        DefaultRule::Burstable | DefaultRule::Accelerated => {
            Some("name the family under instances.families to use it")
        }
        DefaultRule::Small => Some("name the type under instances.types, or set vcpus.min: 1"),
        DefaultRule::SeveralHosts => None,
        DefaultRule::RestrictedRegion => Some("name the region under placement.clouds to use it"),
        DefaultRule::Architecture { .. } => Some("set instances.architectures"),
        DefaultRule::Accelerator { .. } => Some("set instances.accelerators.names"),
    }
}

/// What is to be expected of one more machine in a spot pool.
pub fn odds(odds: &PoolOdds) -> String {
    let percent = |share: fleet_model::Share| format!("{:.0}%", f64::from(share.ppm()) / 1e4);
    let lasts: Vec<String> = fleet_core::ODDS_HOURS
        .into_iter()
        .zip(odds.lasts)
        .map(|(hours, share)| format!("{hours} h with {}", percent(share)))
        .collect();
    let seen = odds.seen.map_or("nothing seen there yet".to_owned(), |seen| seen.to_string());
    let launch = percent(odds.launch);
    format!("a launch succeeds with {launch}; one more machine lasts {} ({seen})", lasts.join(", "))
}

/// The short name of a kind of rejection, for counting: "12 pools: …".
pub fn rejection_kind(why: &Rejection) -> String {
    match why {
        Rejection::OutOfBounds { requirement, wants, .. } => {
            format!("{} is not {}", clean_line(requirement), bounds(requirement, *wants))
        }
        Rejection::AcceleratorNotAllowed { .. } => {
            "it has no accelerator that the spec names".into()
        }
        Rejection::Outranked { .. } => "better pools were enough".into(),
        Rejection::CloudNotAllowed { .. }
        | Rejection::RegionNotAllowed
        | Rejection::ZoneNotAllowed
        | Rejection::NeedsOptIn
        | Rejection::NotByDefault { .. }
        | Rejection::Apart { .. }
        | Rejection::NeedsApproval { .. }
        | Rejection::FamilyNotAllowed
        | Rejection::Excluded { .. }
        | Rejection::ArchitectureNotAllowed
        | Rejection::LocalDisk
        | Rejection::NoWeight { .. }
        | Rejection::NotSold { .. }
        | Rejection::Unpriced
        | Rejection::UnpricedTraffic { .. }
        | Rejection::AboveMaxSpotPrice { .. }
        | Rejection::SpotNotCheaper
        | Rejection::Blocked { .. }
        | Rejection::InGap { .. }
        | Rejection::TriedFirst { .. }
        | Rejection::GaveNotice
        | Rejection::ShareReached { .. }
        | Rejection::LargerThanShare { .. }
        | Rejection::QuotaReached { .. }
        | Rejection::CannotLaunch { .. }
        | Rejection::NotCommitted
        | Rejection::BudgetReached { .. } => rejection(why),
    }
}

/// How to get an approval.
fn approval(label: &str, value: Option<&str>, message: Option<&str>) -> String {
    let value =
        value.map_or_else(String::new, |value| format!(" that matches {}", clean_line(value)));
    let message = message.map_or_else(String::new, |text| format!(": {}", clean_line(text)));
    format!("give the fleet the label {}{value}{message}", clean_line(label))
}

/// What would take a rejection out of the way, where a person can do it.
pub fn relax(rejection: &Rejection) -> Option<String> {
    let text = match rejection {
        Rejection::CloudNotAllowed { .. } | Rejection::RegionNotAllowed => {
            "add clouds or regions under placement.clouds"
        }
        Rejection::NeedsOptIn => "name the zone under placement.clouds to use it",
        Rejection::NotByDefault { rule } => default_way_out(rule)?,
        Rejection::NeedsApproval { label, value, message, .. } => {
            return Some(approval(label, value.as_deref(), message.as_deref()));
        }
        Rejection::Apart { .. } => "widen or remove placement.together",
        Rejection::ZoneNotAllowed => "add zones under placement.clouds, or leave zones out",
        Rejection::FamilyNotAllowed => "add to instances.families or instances.types",
        Rejection::Excluded { .. } => "take the pattern out of instances.exclude",
        Rejection::OutOfBounds { requirement, .. } => {
            return Some(format!("widen instances.{}", clean_line(requirement)));
        }
        Rejection::ArchitectureNotAllowed => "add to instances.architectures",
        Rejection::AcceleratorNotAllowed { .. } => "add to instances.accelerators.names",
        Rejection::LocalDisk => "set instances.localDisk: any",
        Rejection::NoWeight { unit: Unit::Work } => "add it to the workFile",
        Rejection::NoWeight { .. } => "count in another unit (capacity.unit)",
        Rejection::NotSold { .. } => "allow other families or regions, or less spot",
        Rejection::Unpriced => "import a catalog with prices, or lift the budget",
        Rejection::UnpricedTraffic { because } => {
            return Some(format!("{}, or lift the budget", way_to_a_price(*because)));
        }
        Rejection::AboveMaxSpotPrice { .. } => "raise placement.maxSpotPrice",
        Rejection::Blocked { .. } | Rejection::TriedFirst { .. } | Rejection::GaveNotice => {
            "apply again later, or allow more regions and families"
        }
        Rejection::InGap { .. } => "apply again when it answers, or allow other regions",
        Rejection::ShareReached { .. } | Rejection::LargerThanShare { .. } => {
            "raise the limit under placement.spread, or allow more pools"
        }
        Rejection::CannotLaunch { .. } => "mend the template, or see `fleet doctor`",
        Rejection::QuotaReached { .. } => "ask the cloud for more quota, or allow other regions",
        Rejection::BudgetReached { .. } => "raise the budget, or allow cheaper pools",
        Rejection::NotCommitted => "name it under placement.commitments if it is still paid for",
        Rejection::SpotNotCheaper | Rejection::Outranked { .. } => return None,
    };
    Some(text.into())
}

/// Why machines are launched in one pool and not in another, in a few words.
pub fn pool_reason(reason: &PoolReason) -> String {
    match reason {
        PoolReason::PaidFor => "paid for already".into(),
        PoolReason::Best { strategy } => match strategy {
            Strategy::LowestPrice => "cheapest",
            Strategy::PriceCapacityOptimized => "cheapest for its risk",
            Strategy::CapacityOptimized | Strategy::CapacityOptimizedPrioritized => "likeliest",
            Strategy::Prioritized => "first choice",
            Strategy::Diversified => "one of all",
        }
        .into(),
        PoolReason::OthersFull { because } => format!("next best: {}", full(because)),
        PoolReason::OthersCrowded => "next best: others crowded".into(),
        PoolReason::AnotherZone => "another zone".into(),
        PoolReason::Even => "one of all".into(),
        PoolReason::Size => "its size fits best".into(),
        PoolReason::Hedge => "price for its risk".into(),
        PoolReason::InPlaceOfSpot => "spot may be missing".into(),
    }
}

/// Why pools take no more, in a few words.
fn full(because: &Rejection) -> String {
    match because {
        Rejection::ShareReached { of, limit } => format!("{} limit of {limit}", clean_line(of)),
        Rejection::LargerThanShare { of, .. } => format!("too large for a {}", clean_line(of)),
        Rejection::QuotaReached { .. } => "quota".into(),
        Rejection::TriedFirst { .. } => "tried with a few".into(),
        Rejection::GaveNotice => "gave notice".into(),
        Rejection::BudgetReached { .. } => "budget".into(),
        other => rejection_kind(other),
    }
}

/// Something to know that is no change.
pub fn notice(notice: &Notice) -> Said {
    match notice {
        Notice::NotRecorded { machine, pool } => said(
            format!(
                "{} in {pool} carries our tags, but the journal does not know it; it is left alone",
                clean_line(machine.as_str())
            ),
            "`fleet sweep` lists such machines",
        ),
        Notice::NeedsApproval { policy, label, value, message, pools } => Said {
            what: format!(
                "{} that the spec allows {} not used: policy {} wants an approval first",
                count(*pools, "pool"),
                if *pools == 1 { "is" } else { "are" },
                clean_line(policy)
            ),
            next: Some(approval(label, value.as_deref(), message.as_deref())),
        },
        Notice::CommitmentUnused { cloud, region, instance_type, count: of, unused } => said(
            format!(
                "{unused} of {of} × {} in {cloud} {} that are paid for will not run",
                clean_line(instance_type.as_str()),
                clean_line(region)
            ),
            "`fleet explain --pool` says why; or lower its count under placement.commitments",
        ),
        Notice::AtRisk { machine, slot } => Said {
            what: format!(
                "{}, which fills {slot}, is more likely to be interrupted than it was",
                clean_line(machine.as_str())
            ),
            next: None,
        },
        Notice::TagsLost { machine, slot } => said(
            format!(
                "{} fills {slot}, but no longer carries our tags; it is left alone",
                clean_line(machine.as_str())
            ),
            "put the tags back, or terminate the machine by hand",
        ),
        Notice::Gone { machine, slot, how, words } => {
            let how = match how {
                Departure::Ended => "is destroyed",
                Departure::Interrupted => "was interrupted by its cloud",
                Departure::EndedByOther => "was terminated by somebody else or shut itself down",
                Departure::Expired => "reached the end of its time",
                Departure::Failed => "never came up",
                Departure::Terminated => "was interrupted, or terminated by somebody else",
                Departure::Vanished => "is gone, and its cloud does not say why",
            };
            let words = match words.is_empty() {
                true => String::new(),
                false => format!(" ({})", clean_line(words)),
            };
            Said {
                what: format!("{} {how}{words}; it filled {slot}", clean_line(machine.as_str())),
                next: None,
            }
        }
        Notice::Namesakes { machines, uid } => said(
            format!(
                "{} carry this fleet's name and another identity, {}: another state is in charge \
                 of them",
                count(*machines, "machine"),
                clean_line(uid.as_str())
            ),
            "use one state for one fleet; `fleet sweep` lists them",
        ),
        Notice::Failed { machine, slot, words } => said(
            format!(
                "{} fills {slot} and does not work: {}",
                clean_line(machine.as_str()),
                if words.is_empty() {
                    "its cloud does not say why".into()
                } else {
                    clean_line(words)
                }
            ),
            "`fleet apply` replaces and destroys it; if new ones fail as well, look at the image",
        ),
        Notice::ChecksFail { machine, slot, words } => said(
            format!(
                "checks of {}, which fills {slot}, fail{}",
                clean_line(machine.as_str()),
                if words.is_empty() { String::new() } else { format!(": {}", clean_line(words)) }
            ),
            "it is replaced if they go on to fail for as long as health.unhealthyAfter",
        ),
        Notice::Undone { since } => said(
            format!(
                "the spec's template was undone by hand at {}: the one before it holds",
                when(*since)
            ),
            "change the template in the spec; or `fleet rollout resume FLEET` to use it all the same",
        ),
        Notice::Stopped { machine, slot, words } => said(
            format!(
                "{} fills {slot} and is shut down; its disk still costs money{}",
                clean_line(machine.as_str()),
                if words.is_empty() { String::new() } else { format!(" ({})", clean_line(words)) }
            ),
            "`fleet apply` replaces and destroys it",
        ),
        Notice::CameBack { machine, slot } => Said {
            what: format!(
                "{} was recorded as gone and is there after all; it filled {slot}",
                clean_line(machine.as_str())
            ),
            next: None,
        },
        Notice::LeftBehind { machine, scope } => said(
            format!(
                "{} in {scope} is gone and left a disk or an interface, which cost money; it stays on \
                 record until they are cleared away",
                clean_line(machine.as_str())
            ),
            "the next `fleet apply` or `fleet destroy` clears them away",
        ),
        Notice::Oversized { group, surplus, unit, slot } => said(
            format!(
                "{group} holds {} more than wanted, in machines that are too large to be destroyed",
                amount(*surplus, *unit)
            ),
            format!("`fleet replace FLEET {slot}` replaces one by what is needed"),
        ),
        Notice::Scheduled { target, unit, since, next } => Said {
            what: format!(
                "the schedule wants {} since {}{}",
                amount(*target, *unit),
                when(*since),
                next.map_or(String::new(), |(at, then)| {
                    format!(", and {} from {} on", amount(then, *unit), when(at))
                })
            ),
            next: None,
        },
        Notice::Fallback { on_demand, burst, unit, since, why, back } => {
            fallback::fallen_back((*on_demand, *burst, *unit), *since, why, back)
        }
        Notice::SpotShort { since, on_demand_from } => fallback::short(*since, *on_demand_from),
        Notice::ByHand { reason, since, until } => said(
            format!(
                "frozen by hand since {}{}: {}",
                when(*since),
                until_when(*until),
                clean_line(reason)
            ),
            "`fleet thaw FLEET` lets it change again",
        ),
        Notice::Expires { at, over: true } => said(
            format!("the fleet expired at {}: its target is 0", when(*at)),
            "remove the spec, or move `expires` to a later time to have it again",
        ),
        Notice::Expires { at, over: false } => said(
            format!("the fleet expires at {}: every machine is destroyed then", when(*at)),
            "move `expires` to a later time, or remove it, to keep the fleet",
        ),
        Notice::StrategyChanged { from, to } => Said {
            what: format!(
                "the strategy is {} now, it was {}: new machines follow it, those that stand stay",
                to.as_str(),
                from.as_str()
            ),
            next: None,
        },
        Notice::OldTemplate { machines } => Said {
            what: format!("{} made from an older template", count(*machines, "machine")),
            next: None,
        },
        Notice::OldLabels { cloud, machines } => Said {
            what: format!(
                "{} on {cloud} carry labels of an earlier spec; {cloud} cannot change them, new \
                 machines get the new ones",
                count(*machines, "machine")
            ),
            next: None,
        },
        Notice::FewerZones { zones, wanted } => said(
            format!("machines stand in {}, the spec asks for {wanted}", count(*zones, "zone")),
            "allow more regions or zones, or lower placement.spread.minZones",
        ),
        Notice::Surplus { machine } => said(
            format!(
                "{} was launched although nobody requested it; it is left alone and costs money",
                clean_line(machine.as_str())
            ),
            "terminate it in the cloud's console",
        ),
        Notice::UnknownType { pool, machines } => said(
            format!(
                "{} in {pool} are kept and do not count: the catalog does not know the type",
                count(*machines, "machine")
            ),
            "import a newer catalog: `fleet catalog import DIR`",
        ),
        Notice::OldPrices { cloud, seconds } => Said {
            what: format!(
                "spot prices of {cloud} are {} old",
                crate::text::span(std::time::Duration::from_secs(*seconds))
            ),
            next: None,
        },
        Notice::UnpricedMachines { machines } => said(
            format!("{} without a known price; costs leave them out", count(*machines, "machine")),
            "import a catalog with prices: `fleet catalog import DIR`",
        ),
    }
}

/// How wide a refusal reaches.
pub fn block_scope(scope: &BlockScope) -> String {
    match scope {
        BlockScope::Pool { pool } => pool.to_string(),
        BlockScope::Quota { cloud, region, market } => format!("{market} in {cloud}/{region}"),
        BlockScope::Class { cloud, region, market, class } => {
            format!("{market} of class {class} in {cloud}/{region}")
        }
        BlockScope::Zone { place } => format!("zone {place}"),
        BlockScope::Region { cloud, region } => format!("{cloud}/{region}"),
        BlockScope::Account { cloud, account, market, class } => {
            let what = match (market, class) {
                (Some(market), _) => format!("{market} of"),
                (None, Some(class)) => format!("class {class} of"),
                (None, None) => "all of".into(),
            };
            match account {
                Some(account) => format!("{what} {cloud} account {account}"),
                None => format!("{what} {cloud}"),
            }
        }
        BlockScope::Cloud { cloud } => format!("all of {cloud}"),
        BlockScope::Breaker { cloud, region, operation } => {
            format!("the breaker for {operation} in {cloud}/{region}")
        }
    }
}

/// The end of a way that takes several plans.
pub fn when_done(done: &WhenDone) -> String {
    let WhenDone { hourly, applies, allow_destroy } = done;
    let how = match allow_destroy {
        Some(machines) => {
            let applies =
                if *applies == 1 { "1 apply".into() } else { format!("{applies} applies") };
            format!(", after about {applies}, or one with --allow-destroy {machines}")
        }
        None => ", at the end of this apply".into(),
    };
    format!("when done {hourly} per hour, {} per month{how}", monthly(*hourly))
}

/// Scopes that did not answer. Those of one cloud with one reason are one gap.
pub fn gaps(gaps: &[Gap]) -> Vec<Said> {
    let mut alike: BTreeMap<(Cloud, GapCause, &str), Vec<&Scope>> = BTreeMap::new();
    for gap in gaps {
        alike.entry((gap.scope.cloud, gap.cause, &gap.detail)).or_default().push(&gap.scope);
    }
    let said = alike.into_iter().map(|((cloud, cause, detail), scopes)| {
        let detail = clean_line(detail);
        let what = match (cause, scopes.as_slice()) {
            (GapCause::NoCredentials, _) => {
                format!("{cloud}: no credentials found; {detail}")
            }
            (_, [scope]) => format!("{scope} {cause}{}", in_brackets(&detail)),
            (_, many) => {
                let regions = count(many.len() as u64, "region");
                format!("{cloud} {cause} in {regions}{}", in_brackets(&detail))
            }
        };
        let there = if scopes.len() == 1 { "in it" } else { "there" };
        let what = format!("{what}: nothing {there} is created, destroyed or forgotten");
        Said { what, next: Some(gap_next(cause).into()) }
    });
    said.collect()
}

fn in_brackets(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(" ({detail})") }
}

/// What to do about a gap.
pub fn gap_next(cause: GapCause) -> &'static str {
    match cause {
        GapCause::Unreachable | GapCause::PartialList => "try again when it answers in full",
        GapCause::NoCredentials => "`fleet doctor` shows what is found and what is missing",
        GapCause::NotAllowed => "check the credentials and their permissions",
        GapCause::Throttled => "try again in a few minutes",
        GapCause::BreakerOpen => "try again after that; one request is then let through",
        GapCause::ListWrong => "try again when the list shows them",
        GapCause::OtherAccount => "use the credentials of the account that the fleet runs in",
    }
}

/// How many of the model's units make one of the spec's: the model counts memory in MiB and
/// accelerators in thousandths, so that it can count exactly.
pub fn divisor(requirement: &str) -> f64 {
    match requirement {
        "memoryGiB" | "gibPerVcpu" | "accelerators.memoryGiB" => 1024.0,
        "accelerators.perInstance" => 1000.0,
        _ => 1.0,
    }
}

fn amount_of(requirement: &str, value: u64) -> String {
    let amount = value as f64 / divisor(requirement);
    // Two decimals at most, and none that say nothing.
    format!("{}", (amount * 100.0).round() / 100.0)
}

/// `8 to 96`, `at least 8`, `at most 96`, `exactly 8`, in the spec's own unit.
pub fn bounds(requirement: &str, bounds: Bounds) -> String {
    let show = |value: u64| amount_of(requirement, value);
    match (bounds.min, bounds.max) {
        (Some(min), Some(max)) if min == max => format!("exactly {}", show(min)),
        (Some(min), Some(max)) => format!("{} to {}", show(min), show(max)),
        (Some(min), None) => format!("at least {}", show(min)),
        (None, Some(max)) => format!("at most {}", show(max)),
        (None, None) => "anything".into(),
    }
}

/// ` until` a moment, if there is one.
pub fn until_when(until: Option<fleet_model::Timestamp>) -> String {
    until.map_or(String::new(), |until| format!(" until {}", when(until)))
}

/// An amount with its unit: `24 gpus`, `1 instance`.
pub fn amount(units: Units, unit: Unit) -> String {
    let counted = matches!(unit, Unit::Instances | Unit::Vcpus | Unit::Gpus);
    match unit.as_str().strip_suffix('s') {
        Some(one) if counted && units == Units::whole(1) => format!("1 {one}"),
        _ => format!("{units} {unit}"),
    }
}

/// A field of the template that changed.
pub fn template_change(change: &TemplateChange) -> String {
    let TemplateChange { cloud, field, from, to } = change;
    let head = format!("template of {cloud}: {}", clean_line(field));
    // Of user data there is only a fingerprint, which tells people nothing.
    let shown = |value: &Option<String>| value.as_deref().map(clean_line);
    match (shown(from), shown(to)) {
        (Some(_), Some(_)) if field == "userData" => format!("{head} changed"),
        (Some(_), None) => format!("{head} removed"),
        (None, Some(_)) if field == "userData" => format!("{head} added"),
        (None, Some(to)) => format!("{head} set to {to}"),
        (Some(from), Some(to)) => format!("{head} {from} → {to}"),
        (None, None) => head,
    }
}
