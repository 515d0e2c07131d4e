//! The store as one process meets it: what is written is written, but the way there is long.

use crate::process::Process;
use crate::weather::Kind;
use async_trait::async_trait;
use fleet_model::{Event, RolloutNews};
use fleet_run::Record;
use futures::stream::{self, BoxStream, StreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A process' view of the store.
pub(crate) struct Bench(pub(crate) Arc<Process>);

impl fmt::Debug for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store of p{}", self.0.id)
    }
}

/// Which deaths lie around a record.
fn deaths(record: Option<&Record>) -> Option<(Kind, Kind)> {
    let events = &record?.events;
    let intent = |event: &Event| {
        matches!(
            event,
            Event::CreateIntended { .. }
                | Event::CreateResent { .. }
                | Event::DestroyIntended { .. }
        )
    };
    let outcome = |event: &Event| {
        matches!(
            event,
            Event::Created { .. }
                | Event::CreateRefused { .. }
                | Event::CreateUnknown { .. }
                | Event::DestroyRefused { .. }
                | Event::DestroyUnknown { .. }
        )
    };
    if events.iter().any(intent) {
        Some((Kind::CrashBeforeAppend, Kind::CrashAfterAppend))
    } else if events.iter().any(outcome) {
        Some((Kind::CrashAfterResponse, Kind::CrashAfterCommit))
    } else {
        None
    }
}

/// Reads a record as it is stored: a line with a checksum, then a line of JSON.
pub(crate) fn read_record(path: &str, bytes: &[u8]) -> Option<Record> {
    if !path.contains("/journal/") {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    serde_json::from_str(text.split_once('\n')?.1).ok()
}

fn unavailable(what: &'static str) -> Error {
    Error::Generic { store: "bench", source: what.into() }
}

impl Bench {
    /// The way to the store, which may be slow or blocked.
    async fn reach(&self) -> Result<()> {
        let world = &self.0.world;
        self.0.awake().await;
        let usual = Duration::from_millis(5 + world.below(40));
        let slow = world.strikes(Kind::StoreSlow);
        tokio::time::sleep(if slow { world.up_to(Duration::from_secs(20)) } else { usual }).await;
        self.0.awake().await;
        if world.strikes(Kind::StoreDown) {
            return Err(unavailable("503 Slow Down"));
        }
        Ok(())
    }

    /// The way back.
    async fn back(&self) {
        let world = &self.0.world;
        if world.strikes(Kind::StoreSlow) {
            tokio::time::sleep(world.up_to(Duration::from_secs(12))).await;
        }
        self.0.awake().await;
    }
}

#[async_trait]
impl ObjectStore for Bench {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let process = &self.0;
        let world = &process.world;
        let bytes: Vec<u8> = payload.iter().flat_map(|part| part.iter().copied()).collect();
        let record = read_record(location.as_ref(), &bytes);
        let around = deaths(record.as_ref());
        if let Some((before, _)) = around {
            process.pass(before).await;
        }
        self.reach().await?;
        if world.lock().disk_full {
            world.count(Kind::DiskFull);
            return Err(unavailable("no space left"));
        }
        let overwrites = !matches!(options.mode, PutMode::Create);
        if !overwrites && world.strikes_later(Kind::StoreBusy) {
            world.count(Kind::StoreBusy);
            let source = "409 ConditionalRequestConflict".into();
            return Err(Error::AlreadyExists { path: location.to_string(), source });
        }
        let put = world.disk.put_opts(location, payload, options).await;
        world.trace(format_args!(
            "p{} writes {location} {} {}",
            process.id,
            if put.is_ok() { "ok" } else { "no" },
            record.as_ref().map(|r| summary(&r.events)).unwrap_or_default(),
        ));
        if put.is_ok() {
            let id = process.id;
            if record.is_some() {
                world.look();
            }
            world.judge(|judge| judge.written(id, location.as_ref(), record, overwrites));
        }
        if let Some((_, after)) = around.filter(|_| put.is_ok()) {
            process.pass(after).await;
        }
        self.back().await;
        if put.is_ok() && world.strikes(Kind::StoreLost) {
            return Err(unavailable("the connection was reset"));
        }
        if put.is_ok() && world.strikes(Kind::StoreConflict) {
            let path = location.to_string();
            return Err(Error::AlreadyExists { path, source: "412 Precondition Failed".into() });
        }
        put
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(unavailable("the engine writes no object in parts"))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.reach().await?;
        self.0.world.disk.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let process = self.0.clone();
        let reached = stream::once(async move {
            let bench = Bench(process);
            bench.reach().await.map(|()| bench.0.world.disk.delete_stream(locations))
        });
        flattened(reached.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (process, prefix) = (self.0.clone(), prefix.cloned());
        let reached = stream::once(async move {
            let bench = Bench(process);
            bench.reach().await?;
            let (id, world) = (bench.0.id, &bench.0.world);
            if prefix.as_ref().is_some_and(|prefix| prefix.as_ref().contains("/snapshot")) {
                world.judge(|judge| judge.opens(id));
            }
            Ok(world.disk.list(prefix.as_ref()))
        });
        flattened(reached.boxed())
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.reach().await?;
        self.0.world.disk.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(unavailable("the engine copies no object"))
    }
}

type Streams<T> = BoxStream<'static, Result<BoxStream<'static, Result<T>>>>;

fn flattened<T: Send + 'static>(streams: Streams<T>) -> BoxStream<'static, Result<T>> {
    streams
        .flat_map(|reached| match reached {
            Ok(found) => found,
            Err(error) => stream::once(async { Err(error) }).boxed(),
        })
        .boxed()
}

/// The events of a record in a few words.
fn summary(events: &[Event]) -> String {
    let word = |event: &Event| match event {
        Event::Opened { .. } => "opened".into(),
        Event::Epoch { epoch, .. } => format!("epoch={epoch}"),
        Event::RoundStarted { create, destroy, .. } => format!("round+{create}-{destroy}"),
        Event::CreateIntended { create } => {
            let slots: Vec<String> = create.slots.iter().map(ToString::to_string).collect();
            format!("intend[{} {} {}]", short(create.token.as_str()), create.pool, slots.join(" "))
        }
        Event::TemplateMeant { cloud, template, .. } => format!("template[{cloud} {template}]"),
        Event::LabelsMeant { cloud, labels } => format!("labels[{cloud} {labels:?}]"),
        Event::Relabelled { version, slots } => {
            let slots: Vec<String> = slots.iter().map(ToString::to_string).collect();
            format!("relabelled[{version} {}]", slots.join(" "))
        }
        Event::CreateResent { token } => format!("resend[{}]", short(token.as_str())),
        Event::Created { token, machines, missing, surplus, .. } => format!(
            "created[{} {} -{} +{}]",
            short(token.as_str()),
            machines
                .iter()
                .map(|m| format!("{}={}", m.slot, m.machine))
                .collect::<Vec<_>>()
                .join(" "),
            missing.len(),
            surplus.len()
        ),
        Event::CreateRefused { token, code, .. } => {
            format!("refused[{} {code}]", short(token.as_str()))
        }
        Event::CreateUnknown { token, code } => {
            format!("unknown[{} {code}]", short(token.as_str()))
        }
        Event::DestroyIntended { pool, slots } => {
            let slots: Vec<String> = slots.iter().map(ToString::to_string).collect();
            format!("end[{pool} {}]", slots.join(" "))
        }
        Event::Failed { failed } => {
            let ids: Vec<String> =
                failed.iter().map(|one| format!("{}={}", one.slot, one.machine)).collect();
            format!("failed[{}]", ids.join(" "))
        }
        Event::AccountSeen { key, account } => format!("account[{key}={account}]"),
        Event::Readopted { machine, .. } => format!("back[{}={}]", machine.slot, machine.machine),
        Event::NoticeTold { machine, .. } => format!("told[{machine}]"),
        Event::BusyTold { told } => format!("busy[{}]", told.len()),
        Event::ReplaceAsked { slots } => format!("replace[{}]", slots.len()),
        Event::Frozen { .. } => "frozen".into(),
        Event::Thawed => "thawed".into(),
        Event::HealthSeen { news } => {
            format!("health[{} {}]", news.ready.len(), news.failing.len())
        }
        Event::Rollout { news } => match news {
            RolloutNews::WaveBegan { slots, .. } => {
                let slots: Vec<String> = slots.iter().map(ToString::to_string).collect();
                format!("wave[{}]", slots.join(" "))
            }
            news => format!("rollout[{news:?}]"),
        },
        Event::Drained { slots } => format!("drained[{}]", slots.len()),
        Event::Renamed { from, to } => format!("renamed[{from} {to}]"),
        Event::Adopted { machines, .. } => format!("adopted[{}]", machines.len()),
        Event::Released { machines } => format!("released[{}]", machines.len()),
        Event::Fallback { step } => format!("fallback[{step:?}]"),
        Event::Cheaper { pools } => format!("cheaper[{}]", pools.len()),
        Event::Priced { prices, commitments, extras: _ } => {
            format!("priced[{} {}]", prices.len(), commitments.as_ref().map_or(0, Vec::len))
        }
        Event::Moving { moving } => format!("moving[{}]", moving.slots.len()),
        Event::ReplaceWithdrawn { slots } => format!("withdrawn[{}]", slots.len()),
        Event::DestroyRefused { slots, why } => format!("kept[{} {why}]", slots.len()),
        Event::DestroyUnknown { slots, code } => format!("unanswered[{} {code}]", slots.len()),
        Event::Vacated { gone } => {
            let gone: Vec<String> =
                gone.iter().map(|g| format!("{}={} {:?}", g.slot, g.machine, g.how)).collect();
            format!("vacated[{}]", gone.join(" "))
        }
        Event::Blocked { block } => format!("blocked[{} {}]", block.code, block.until),
        Event::RoundEnded { created, destroyed, refused, unknown, .. } => {
            format!("ended+{created}-{destroyed}r{refused}u{unknown}")
        }
    };
    events.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// The part of a token that tells it from others.
pub(crate) fn short(token: &str) -> &str {
    let start = token.len().saturating_sub(6);
    token.get(start..).unwrap_or(token)
}
