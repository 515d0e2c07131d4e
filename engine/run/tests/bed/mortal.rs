//! A process that dies at a chosen moment: around any write of the journal and any request.

use async_trait::async_trait;
use fleet_model::{Cloud, Machine, MachineId, Scope};
use fleet_provider::{
    CreateRequest, Created, DestroyRequest, Destroyed, Error, Listing, Offered, OfferingsRequest,
    Provider, RelabelRequest, TraceRequest, Traced,
};
use fleet_sim::Sim;
use futures::future::{Either, select};
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result as StoreResult,
};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::Notify;

/// The moments around a mutation at which a process can die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Moment {
    /// The intent is about to be written down.
    BeforeIntent,
    /// The intent is written down, and nothing is sent.
    AfterIntent,
    /// The request is under way: it may have taken effect, in whole or in part.
    UnderWay,
    /// The request was answered, and nothing is written down.
    Answered,
    /// The outcome is written down.
    AfterOutcome,
    /// Around records that belong to no mutation: epochs, rounds, slots seen to be free.
    Elsewhere,
}

/// When a process dies, and what it lived through.
#[derive(Debug, Default)]
pub(crate) struct Fate {
    /// The moment that is its last, counted from 1; 0: it lives.
    fatal: u32,
    lived: AtomicU32,
    /// How many mutations each kind of moment stood around.
    around: Mutex<BTreeMap<Moment, u32>>,
    dead: Notify,
    /// A store that takes so long over each intent.
    slow: Option<(Sim, Duration)>,
}

impl Fate {
    pub(crate) fn at(fatal: u32) -> Arc<Self> {
        Arc::new(Fate { fatal, ..Fate::default() })
    }

    /// A process that lives, and whose store is slow.
    pub(crate) fn slow(sim: &Sim, by: Duration) -> Arc<Self> {
        Arc::new(Fate { slow: Some((sim.clone(), by)), ..Fate::default() })
    }

    /// How many moments there were.
    pub(crate) fn moments(&self) -> u32 {
        self.lived.load(Ordering::Relaxed)
    }

    pub(crate) fn around(&self) -> BTreeMap<Moment, u32> {
        self.around.lock().expect("counts").clone()
    }

    /// Lives through a moment, or dies in it.
    async fn moment(&self, moment: Moment, mutations: u32) {
        if mutations > 0 {
            *self.around.lock().expect("counts").entry(moment).or_default() += mutations;
        }
        if self.lived.fetch_add(1, Ordering::Relaxed) + 1 == self.fatal {
            self.dead.notify_one();
            std::future::pending::<()>().await;
        }
    }

    /// Runs something until its end or until the process dies; nothing of it is left then.
    pub(crate) async fn run<T>(&self, deed: impl Future<Output = T>) -> Option<T> {
        let dead = pin!(self.dead.notified());
        match select(dead, pin!(deed)).await {
            Either::Left(_) => None,
            Either::Right((done, _)) => Some(done),
        }
    }

    /// A request: it can be left while it is under way, and when it is answered.
    async fn request<T>(&self, request: impl Future<Output = T>) -> T {
        let mut request = pin!(request);
        let at_once = poll_fn(|context| Poll::Ready(request.as_mut().poll(context))).await;
        self.moment(Moment::UnderWay, 1).await;
        let answer = match at_once {
            Poll::Ready(answer) => answer,
            Poll::Pending => request.await,
        };
        self.moment(Moment::Answered, 1).await;
        answer
    }
}

/// A cloud as a mortal process reaches it.
pub(crate) struct MortalProvider {
    pub(crate) inner: Arc<dyn Provider>,
    pub(crate) fate: Arc<Fate>,
}

#[async_trait]
impl Provider for MortalProvider {
    fn cloud(&self) -> Cloud {
        self.inner.cloud()
    }
    async fn offerings(&self, request: &OfferingsRequest<'_>) -> Result<Offered, Error> {
        self.inner.offerings(request).await
    }
    async fn machines(&self, scope: &Scope) -> Result<Listing, Error> {
        self.inner.machines(scope).await
    }
    async fn list(&self, scopes: &[Scope]) -> Vec<Result<Listing, Error>> {
        self.inner.list(scopes).await
    }
    async fn trace(&self, request: &TraceRequest<'_>) -> Result<Vec<Traced>, Error> {
        self.inner.trace(request).await
    }
    async fn made(&self, request: &CreateRequest<'_>) -> Result<Vec<Machine>, Error> {
        self.inner.made(request).await
    }
    async fn identity(&self, scope: &Scope) -> Result<Option<String>, Error> {
        self.inner.identity(scope).await
    }
    async fn create(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        self.fate.request(self.inner.create(request)).await
    }
    async fn destroy(&self, request: &DestroyRequest<'_>) -> Result<Destroyed, Error> {
        self.fate.request(self.inner.destroy(request)).await
    }

    async fn relabel(&self, request: &RelabelRequest<'_>) -> Result<Vec<MachineId>, Error> {
        self.fate.request(self.inner.relabel(request)).await
    }
}

/// An object store as a mortal process reaches it. What it holds outlives the process.
#[derive(Debug)]
pub(crate) struct MortalStore {
    pub(crate) inner: Arc<InMemory>,
    pub(crate) fate: Arc<Fate>,
}

impl std::fmt::Display for MortalStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("mortal")
    }
}

fn count(text: &str, events: &[&str]) -> u32 {
    events.iter().map(|event| text.matches(&format!("\"event\":\"{event}\"")).count() as u32).sum()
}

#[async_trait]
impl ObjectStore for MortalStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> StoreResult<PutResult> {
        if !location.as_ref().contains("/journal/") {
            return self.inner.put_opts(location, payload, options).await;
        }
        let bytes: Vec<u8> = payload.iter().flat_map(|part| part.to_vec()).collect();
        let text = String::from_utf8_lossy(&bytes);
        let intents = count(&text, &["createIntended", "destroyIntended"]);
        let outcomes =
            count(&text, &["created", "createRefused", "createUnknown", "destroyRefused"]);
        let before = if intents > 0 { Moment::BeforeIntent } else { Moment::Elsewhere };
        self.fate.moment(before, intents).await;
        if let Some((sim, by)) = self.fate.slow.as_ref().filter(|_| intents > 0) {
            sim.advance(*by).expect("time");
        }
        let done = self.inner.put_opts(location, payload, options).await;
        // One record may hold the outcomes of some requests and the intents of others.
        let after = match (intents, outcomes) {
            (0, 0) => Moment::Elsewhere,
            (_, 0) => Moment::AfterIntent,
            (0, _) => Moment::AfterOutcome,
            (_, _) => {
                *self
                    .fate
                    .around
                    .lock()
                    .expect("counts")
                    .entry(Moment::AfterIntent)
                    .or_default() += intents;
                Moment::AfterOutcome
            }
        };
        let around = if after == Moment::AfterIntent { intents } else { outcomes };
        self.fate.moment(after, around).await;
        done
    }
    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> StoreResult<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, options).await
    }
    async fn get_opts(&self, location: &Path, options: GetOptions) -> StoreResult<GetResult> {
        self.inner.get_opts(location, options).await
    }
    fn delete_stream(
        &self,
        locations: BoxStream<'static, StoreResult<Path>>,
    ) -> BoxStream<'static, StoreResult<Path>> {
        self.inner.delete_stream(locations)
    }
    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        self.inner.list(prefix)
    }
    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> StoreResult<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }
    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> StoreResult<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
