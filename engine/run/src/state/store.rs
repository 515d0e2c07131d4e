//! Where state lives: an object store, a local folder by default.

use crate::calls::Measured;
use crate::state::remote;
use crate::state::seams;
use crate::state::store_errors::{self, StoreFault};
use futures::TryStreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutOptions, PutPayload};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Why state cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder cannot be made or opened.
    #[error("cannot open the state folder {}: {source}", .path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The address names no store that we know.
    #[error("`{url}` is not a place for state: {why}")]
    Url {
        /// The address.
        url: String,
        /// Why not.
        why: String,
    },
    /// A read or write failed.
    #[error("state at {at}: {}", store_errors::message(.cause))]
    Io {
        /// Which object.
        at: String,
        /// Why. Not a source: its own words are for the developers of the store's client.
        cause: object_store::Error,
    },
}

impl StoreError {
    /// What kind of fault it is, for hints.
    pub fn fault(&self) -> StoreFault {
        match self {
            StoreError::Folder { .. } | StoreError::Url { .. } => StoreFault::Other,
            StoreError::Io { cause, .. } => store_errors::kind(cause),
        }
    }
}

/// An object store, with the only write that we use: create, never replace.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<dyn ObjectStore>,
    root: Path,
    folder: Option<PathBuf>,
    shown: String,
    pub(crate) measured: Measured,
}

impl Store {
    /// Opens `s3://…`, `gs://…`, `az://…`, `file://…`, `memory:///` or a path to a folder, which is
    /// made if it is not there. Credentials and settings come from the environment.
    pub fn open(address: &str) -> Result<Self, StoreError> {
        Store::open_with(address, remote::environment())
    }

    /// The same with credentials and settings from elsewhere, by the names that they have in the
    /// environment.
    pub fn open_with(address: &str, settings: Vec<(String, String)>) -> Result<Self, StoreError> {
        let shown = shown(address);
        let bad = |why: String| StoreError::Url { url: shown.clone(), why };
        if !address.contains("://") {
            return Store::folder(PathBuf::from(address));
        }
        let url = url::Url::parse(address).map_err(|error| bad(error.to_string()))?;
        if url.scheme() == "file" {
            let path = url.to_file_path().map_err(|()| bad("it names no local folder".into()))?;
            return Store::folder(path);
        }
        if url.scheme() == "memory" {
            return Ok(Store::in_memory());
        }
        let (inner, root) =
            remote::open(&url, &settings).map_err(|error| bad(store_errors::message(&error)))?;
        Ok(Store { inner, root, folder: None, shown, measured: Measured::default() })
    }

    fn folder(path: PathBuf) -> Result<Self, StoreError> {
        let fail = |source| StoreError::Folder { path: path.clone(), source };
        std::fs::create_dir_all(&path).map_err(fail)?;
        let path = path.canonicalize().map_err(fail)?;
        let inner = LocalFileSystem::new_with_prefix(&path)
            .map_err(|error| fail(std::io::Error::other(error)))?
            .with_fsync(true);
        let shown = path.display().to_string();
        Ok(Store {
            inner: Arc::new(inner),
            root: Path::default(),
            folder: Some(path),
            shown,
            measured: Measured::default(),
        })
    }

    /// State that lives as long as the process, for tests.
    pub fn in_memory() -> Self {
        Store::over(Arc::new(object_store::memory::InMemory::new()))
    }

    /// State in any object store that refuses to create what exists: for tests, and for those who
    /// embed the engine.
    pub fn over(inner: Arc<dyn ObjectStore>) -> Self {
        let shown = inner.to_string();
        let root = Path::default();
        Store { inner, root, folder: None, shown, measured: Measured::default() }
    }

    /// The local folder, if the store is one.
    pub fn local_folder(&self) -> Option<&std::path::Path> {
        self.folder.as_deref()
    }

    fn path(&self, name: &str) -> Path {
        name.split('/').fold(self.root.clone(), |path, part| path.join(part))
    }

    fn io(&self, name: &str) -> impl FnOnce(object_store::Error) -> StoreError {
        let at = format!("{}/{name}", self.shown);
        move |cause| StoreError::Io { at, cause }
    }

    /// Writes an object that must not exist yet; `false` if another one is there.
    ///
    /// A store may say no to what it did itself: the answer to a first try is lost, and the next
    /// one finds its own object. It may also say no because somebody else's try is under way (S3:
    /// 409). So what is there decides, and writers that race must not write the same bytes.
    pub(crate) async fn create(&self, name: &str, body: Vec<u8>) -> Result<bool, StoreError> {
        self.measured.store("create", self.try_create(name, body)).await
    }

    async fn try_create(&self, name: &str, body: Vec<u8>) -> Result<bool, StoreError> {
        let deadline = Instant::now() + remote::PATIENCE;
        let mut pause = Duration::from_millis(50);
        loop {
            let options = PutOptions::from(seams::put_mode());
            let payload = PutPayload::from(body.clone());
            let error = match self.inner.put_opts(&self.path(name), payload, options).await {
                Ok(_) => return Ok(true),
                Err(error) => error,
            };
            let refused = matches!(error, object_store::Error::AlreadyExists { .. });
            let answer_lost = matches!(error, object_store::Error::Generic { .. });
            if !refused && (!answer_lost || self.folder.is_some()) {
                return Err(self.io(name)(error));
            }
            if let Some(there) = self.read(name).await? {
                return Ok(seams::is_ours(Some(&there), &body));
            }
            if Instant::now() >= deadline {
                return Err(self.io(name)(error));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(2));
        }
    }

    /// How old an object is, by the store's clock and ours; `None` if there is none.
    pub(crate) async fn age(&self, name: &str) -> Result<Option<Duration>, StoreError> {
        let age = async {
            match self.inner.head(&self.path(name)).await {
                Ok(meta) => {
                    let written = std::time::SystemTime::from(meta.last_modified);
                    Ok(Some(written.elapsed().unwrap_or_default()))
                }
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(self.io(name)(error)),
            }
        };
        self.measured.store("head", age).await
    }

    /// Reads an object; `None` if there is none.
    pub(crate) async fn read(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let read = async {
            let found = match self.inner.get(&self.path(name)).await {
                Ok(found) => found.bytes().await,
                Err(error) => Err(error),
            };
            match found {
                Ok(bytes) => Ok(Some(bytes.to_vec())),
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(self.io(name)(error)),
            }
        };
        self.measured.store("read", read).await
    }

    /// Removes an object; one that is gone already is fine.
    pub(crate) async fn remove(&self, name: &str) -> Result<(), StoreError> {
        let removed = async {
            match self.inner.delete(&self.path(name)).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                Err(error) => Err(self.io(name)(error)),
            }
        };
        self.measured.store("delete", removed).await
    }

    /// Removes every lease: what happens to a dead holder's lease, without the wait.
    ///
    /// For tests, and for a person who knows that the holder is dead. A holder that is alive is
    /// still fenced off by the journal.
    pub async fn forget_leases(&self) -> Result<(), StoreError> {
        for fleet in self.folders("fleets").await? {
            let folder = format!("fleets/{fleet}/lease");
            for name in self.list(&folder, None).await? {
                self.remove(&format!("{folder}/{name}")).await?;
            }
        }
        Ok(())
    }

    /// Names of the objects right under a prefix, sorted; with `after`, only later ones.
    pub(crate) async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
    ) -> Result<Vec<String>, StoreError> {
        let at = self.path(prefix);
        let found = match after {
            Some(after) => self.inner.list_with_offset(Some(&at), &at.clone().join(after)),
            None => self.inner.list(Some(&at)),
        };
        let name = |meta: object_store::ObjectMeta| meta.location.filename().map(str::to_owned);
        let names = found.try_filter_map(|meta| async move { Ok(name(meta)) }).try_collect();
        let names = self.measured.store("list", names).await;
        let mut names: Vec<String> = names.map_err(self.io(prefix))?;
        names.sort();
        Ok(names)
    }

    /// Folder and name of the objects in folders right under a prefix, sorted. One question, however many folders.
    pub(crate) async fn list_in_folders(
        &self,
        prefix: &str,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let at = &self.path(prefix);
        let spot = |meta: object_store::ObjectMeta| {
            let mut parts = meta.location.prefix_match(at)?;
            let (folder, name) = (parts.next()?, parts.next()?);
            parts.next().is_none().then(|| (folder.as_ref().to_owned(), name.as_ref().to_owned()))
        };
        let found = self.inner.list(Some(at));
        let spots = found.try_filter_map(|meta| async move { Ok(spot(meta)) }).try_collect();
        let spots = self.measured.store("list", spots).await;
        let mut spots: Vec<(String, String)> = spots.map_err(self.io(prefix))?;
        spots.sort();
        Ok(spots)
    }

    /// Whether there is anything under a prefix.
    pub(crate) async fn has_any(&self, prefix: &str) -> Result<bool, StoreError> {
        let mut found = self.inner.list(Some(&self.path(prefix)));
        let first = self.measured.store("list", found.try_next()).await;
        Ok(first.map_err(self.io(prefix))?.is_some())
    }

    /// Names of the folders right under a prefix, sorted.
    pub(crate) async fn folders(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let at = self.path(prefix);
        let asked = self.inner.list_with_delimiter(Some(&at));
        let found = self.measured.store("list", asked).await;
        let found = found.map_err(self.io(prefix))?;
        let names = found.common_prefixes.iter().filter_map(|path| path.filename());
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        Ok(names)
    }
}

/// An address as it may be shown: what could be a password or a signature is left out.
pub fn shown(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.into() };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let authority = rest.find('/').unwrap_or(rest.len());
    match rest[..authority].rfind('@') {
        Some(at) => format!("{scheme}://…@{}", &rest[at + 1..]),
        None => format!("{scheme}://{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_secrets() {
        assert_eq!(shown(".fleet"), ".fleet");
        assert_eq!(shown("s3://bucket/team?x=secret#y"), "s3://bucket/team");
        assert_eq!(shown("s3://key:secret@bucket/a@b"), "s3://…@bucket/a@b");
    }

    #[tokio::test]
    async fn what_is_there_decides() {
        let store = Store::in_memory();
        assert!(store.create("a", b"one".to_vec()).await.expect("created"));
        assert!(store.create("a", b"one".to_vec()).await.expect("the answer was lost"));
        assert!(!store.create("a", b"two".to_vec()).await.expect("another's"));
    }
}
