//! What a ledger reads of a journal, and no more: a journal of a million events is read in a second.

use crate::Few;
use crate::quick::QuickMap;
use fleet_model::{
    Cloud, Commitment, Create, Event, Extras, ExtrasStep, Labels, MicroUsd, NewMachine, PoolId,
    PriceStep, ReleasedMachine, SlotId, Timestamp, Units, Vacated, Worth,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use twox_hash::XxHash3_128;

/// An event of the journal, as far as it matters to a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A launch was about to be sent.
    Intended(Intended),
    /// A launch made machines.
    Created(Created),
    /// A launch made nothing.
    Refused(Request),
    /// The end of machines was asked for.
    Asked(Few<SlotId>),
    /// Their cloud declined.
    NotEnded(Few<SlotId>),
    /// Machines are gone.
    Gone(Few<Vacated>),
    /// Machines of a cloud carry these labels from here on.
    Labels(Cloud, Labels),
    /// Machines carry the labels of a version.
    Relabelled(u32, Few<SlotId>),
    /// A machine is there after all.
    Returned(NewMachine),
    /// Machines of somebody else are the fleet's from here on.
    Adopted(Few<NewMachine>, u32),
    /// Machines are the fleet's no longer.
    Released(Few<ReleasedMachine>),
    /// Prices moved, or other machines are bought ahead.
    Priced(Prices),
    /// What machines of some pools are worth.
    Worth(Vec<Worth>),
    /// Nothing to a ledger.
    Other,
}

/// Prices that moved, and what is bought ahead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    /// How prices of pools moved.
    pub prices: Vec<PriceStep>,
    /// What is bought ahead from here on; `None`: what was before.
    pub commitments: Option<Vec<Commitment>>,
    /// What comes beside machines from here on, where that is news.
    pub extras: Vec<ExtrasStep>,
}

/// A launch that was about to be sent.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct Intended {
    /// Which request.
    #[serde(rename = "token")]
    pub request: Request,
    /// The pool that it names first.
    #[serde(deserialize_with = "known_pool")]
    pub pool: PoolId,
    /// The image.
    #[serde(default)]
    pub image: Option<String>,
}

/// A request, by a digest of its token: a ledger only asks which answer belongs to which launch, and texts that one
/// thread makes and another drops take time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Request(u128);

impl From<&str> for Request {
    fn from(token: &str) -> Self {
        Request(XxHash3_128::oneshot(token.as_bytes()))
    }
}

impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Request;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a token")
            }
            fn visit_str<E: Error>(self, token: &str) -> Result<Request, E> {
                Ok(token.into())
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// A launch that made machines.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct Created {
    /// Which request.
    #[serde(rename = "token")]
    pub request: Request,
    /// The machines.
    pub machines: Few<NewMachine>,
    /// How many that nobody asked for.
    #[serde(default)]
    pub surplus: Vec<fleet_model::MachineId>,
}

impl From<&Event> for Entry {
    fn from(event: &Event) -> Self {
        match event {
            Event::CreateIntended { create } => {
                let Create { token, pool, image, .. } = create;
                let (pool, image) = (pool.clone(), image.clone());
                Entry::Intended(Intended { request: token.as_str().into(), pool, image })
            }
            Event::Created { token, machines, surplus, .. } => Entry::Created(Created {
                request: token.as_str().into(),
                machines: machines.clone().into(),
                surplus: surplus.clone(),
            }),
            Event::CreateRefused { token, .. } => Entry::Refused(token.as_str().into()),
            Event::DestroyIntended { slots, .. } => Entry::Asked(slots.clone().into()),
            Event::DestroyRefused { slots, .. } => Entry::NotEnded(slots.clone().into()),
            Event::Vacated { gone } => Entry::Gone(gone.clone().into()),
            Event::LabelsMeant { cloud, labels } => Entry::Labels(*cloud, labels.clone()),
            Event::Relabelled { version, slots } => {
                Entry::Relabelled(*version, slots.clone().into())
            }
            Event::Readopted { machine, .. } => Entry::Returned(machine.clone()),
            Event::Adopted { machines, labels, .. } => {
                Entry::Adopted(machines.clone().into(), *labels)
            }
            Event::Released { machines } => Entry::Released(machines.clone().into()),
            Event::Priced { prices, commitments, extras } => Entry::Priced(Prices {
                prices: prices.clone(),
                commitments: commitments.clone(),
                extras: extras.clone(),
            }),
            Event::RoundStarted { worth, .. } if !worth.is_empty() => Entry::Worth(worth.clone()),
            Event::Opened { .. }
            | Event::Epoch { .. }
            | Event::RoundStarted { .. }
            | Event::CreateResent { .. }
            | Event::CreateUnknown { .. }
            | Event::DestroyUnknown { .. }
            | Event::Failed { .. }
            | Event::AccountSeen { .. }
            | Event::TemplateMeant { .. }
            | Event::NoticeTold { .. }
            | Event::BusyTold { .. }
            | Event::ReplaceAsked { .. }
            | Event::ReplaceWithdrawn { .. }
            | Event::HealthSeen { .. }
            | Event::Rollout { .. }
            | Event::Drained { .. }
            | Event::Frozen { .. }
            | Event::Thawed
            | Event::Renamed { .. }
            | Event::Fallback { .. }
            | Event::Cheaper { .. }
            | Event::Moving { .. }
            | Event::Blocked { .. }
            | Event::RoundEnded { .. } => Entry::Other,
        }
    }
}

/// Reads an event without a copy of what is left out. Relies on the kind of an event being its first field,
/// as every journal has it; serde's own way for tagged enums keeps each event as a tree first, which takes
/// five times as long.
impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Kind)
    }
}

struct Kind;

impl<'de> Visitor<'de> for Kind {
    type Value = Entry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event that begins with its kind")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entry, A::Error> {
        if map.next_key::<&str>()? != Some("event") {
            return Err(A::Error::custom("an event begins with its kind"));
        }
        let kind: &str = map.next_value()?;
        fn rest<'de, T: Deserialize<'de>, A: MapAccess<'de>>(map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
        Ok(match kind {
            "createIntended" => Entry::Intended(rest::<Wrapped, A>(map)?.create),
            "created" => Entry::Created(rest(map)?),
            "createRefused" => Entry::Refused(rest::<Asked, A>(map)?.token),
            "destroyIntended" => Entry::Asked(rest::<Slots, A>(map)?.slots),
            "destroyRefused" => Entry::NotEnded(rest::<Slots, A>(map)?.slots),
            "vacated" => Entry::Gone(rest::<Gone, A>(map)?.gone),
            "labelsMeant" => {
                let Labelled { cloud, labels } = rest(map)?;
                Entry::Labels(cloud, labels)
            }
            "relabelled" => {
                let Relabelled { version, slots } = rest(map)?;
                Entry::Relabelled(version, slots)
            }
            "readopted" => Entry::Returned(rest::<Returned, A>(map)?.machine),
            "adopted" => {
                let Adopted { machines, labels } = rest(map)?;
                Entry::Adopted(machines, labels)
            }
            "released" => Entry::Released(rest::<Released, A>(map)?.machines),
            "priced" => {
                let Steps { prices, commitments, extras } = rest(map)?;
                let step = |Step { pool, since, price }| PriceStep { pool, since, price };
                let prices = prices.into_iter().map(step).collect();
                Entry::Priced(Prices { prices, commitments, extras })
            }
            "roundStarted" => match rest::<Round, A>(map)?.worth {
                worth if worth.is_empty() => Entry::Other,
                worth => Entry::Worth(worth.into_iter().map(Valued::into).collect()),
            },
            _ => {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Entry::Other
            }
        })
    }
}

macro_rules! fields {
    ($($name:ident { $($(#[$meta:meta])* $field:ident: $kind:ty),* })*) => {$(
        #[derive(serde::Deserialize)]
        struct $name { $($(#[$meta])* $field: $kind),* }
    )*};
}

fields! {
    Wrapped { create: Intended }
    Asked { token: Request }
    Slots { slots: Few<SlotId> }
    Gone { gone: Few<Vacated> }
    Labelled { cloud: Cloud, labels: Labels }
    Relabelled { version: u32, slots: Few<SlotId> }
    Returned { machine: NewMachine }
    Adopted { machines: Few<NewMachine>, labels: u32 }
    Released { machines: Few<ReleasedMachine> }
    Steps {
        prices: Vec<Step>, #[serde(default)] commitments: Option<Vec<Commitment>>,
        #[serde(default)] extras: Vec<ExtrasStep>
    }
    Step { #[serde(deserialize_with = "known_pool")] pool: PoolId, since: Timestamp, price: MicroUsd }
    Round { #[serde(default)] worth: Vec<Valued> }
}

/// [`Worth`], with a pool that is mostly known.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Valued {
    #[serde(deserialize_with = "known_pool")]
    pool: PoolId,
    #[serde(default)]
    on_demand: Option<MicroUsd>,
    #[serde(default)]
    units: Option<Units>,
    unit: String,
    #[serde(default)]
    extras: Option<Extras>,
}

impl From<Valued> for Worth {
    fn from(Valued { pool, on_demand, units, unit, extras }: Valued) -> Self {
        Worth { pool, on_demand, units, unit, extras }
    }
}

/// So many pools are remembered; a journal that names more is read more slowly.
const POOLS_KNOWN: usize = 4_096;

/// Reads a pool. A journal names the same few over and over: each is made once for a thread.
fn known_pool<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PoolId, D::Error> {
    thread_local! {
        static KNOWN: RefCell<QuickMap<Box<str>, PoolId>> = RefCell::default();
    }
    let text = Cow::<str>::deserialize(deserializer)?;
    KNOWN.with_borrow_mut(|known| {
        if let Some(pool) = known.get(&*text) {
            return Ok(pool.clone());
        }
        let pool: PoolId = text.parse().map_err(D::Error::custom)?;
        if known.len() >= POOLS_KNOWN {
            known.clear();
        }
        known.insert(text.into(), pool.clone());
        Ok(pool)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_from_text_and_from_events_are_the_same() {
        let json = r#"[
            {"event":"opened","fleet":"f","uid":"u"},
            {"event":"roundStarted","spec":"00000000000000000000000000000000","create":1,"destroy":0,"hourlyAfter":5,
             "worth":[{"pool":"aws/r/z/t/spot","onDemand":7,"units":1000,"unit":"gpus"}]},
            {"event":"createIntended","create":{"pool":"aws/r/z/t/spot","slots":["burst-0.1"],"token":"t","price":3,
             "maxPrice":null,"template":"00000000000000000000000000000000"}},
            {"event":"created","token":"t","machines":[{"slot":"burst-0.1","machine":"i-1",
             "launchedAt":"2026-01-01T00:00:00Z","price":3}],"missing":[],"surplus":["i-2"]},
            {"event":"createRefused","token":"x","code":"no"},
            {"event":"priced","prices":[{"pool":"aws/r/z/t/spot","since":"2026-01-01T01:00:00Z","price":4}]},
            {"event":"roundStarted","spec":"00000000000000000000000000000000","create":1,"destroy":0,"hourlyAfter":5,
             "worth":[{"pool":"aws/r/z/t/spot","unit":"gpus","extras":{"disk":{"about":9},"egress":{"unknown":"route"}}}]},
            {"event":"priced","prices":[],"extras":[{"slots":["burst-0.1"],"extras":{"address":{"hourly":5000}}}]},
            {"event":"priced","prices":[],"commitments":[{"cloud":"aws","region":"r","instanceType":"t","count":2,
             "until":"2027-01-01T00:00:00Z","hourly":5}]},
            {"event":"destroyIntended","pool":"aws/r/z/t/spot","slots":["burst-0.1"]},
            {"event":"destroyRefused","slots":["burst-0.1"],"why":"w"},
            {"event":"labelsMeant","cloud":"aws","labels":{"team":"a"}},
            {"event":"relabelled","version":2,"slots":["burst-0.1"]},
            {"event":"released","machines":[{"slot":"burst-0","machine":"i-1"}]},
            {"event":"thawed"},
            {"event":"vacated","gone":[{"slot":"burst-0","machine":"i-1","how":"interrupted","at":"2026-01-01T02:00:00Z"}]}
        ]"#;
        let events: Vec<Event> = serde_json::from_str(json).expect("events");
        let entries: Vec<Entry> = serde_json::from_str(json).expect("entries");
        let converted: Vec<Entry> = events.iter().map(Entry::from).collect();
        assert_eq!(entries, converted);
        let step = PriceStep {
            pool: "aws/r/z/t/spot".parse().expect("a pool"),
            since: "2026-01-01T01:00:00Z".parse::<Timestamp>().expect("a time"),
            price: MicroUsd(4),
        };
        let priced = |entry: &Entry| matches!(entry, Entry::Priced(Prices { prices, .. }) if *prices == [step.clone()]);
        assert!(entries.iter().any(priced));
        assert!(serde_json::from_str::<Entry>(r#"{"fleet":"f","event":"opened"}"#).is_err());
    }
}
