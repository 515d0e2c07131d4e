//! A world on disk, shared by several processes, each of which may die at any moment.
//!
//! ```text
//! world.json            settings and the number of the generation; replaced by one rename
//! snapshot.N            the world at the start of generation N (none for 0)
//! events.N.log          everything since: one line per operation, `CHECKSUM JSON`
//! lock                  held for the length of one operation
//! ```
//!
//! An operation takes the lock, reads what others appended, decides, appends one line in one
//! write, and lets go. A line that a dying process left half written fails its checksum and is
//! cut off by the next to hold the lock: the operation did not happen. Nothing is synced to the
//! platter, because a killed process does not lose what the kernel already has, and a world that
//! a power cut spoils is made anew.

use crate::event::Event;
use crate::line::{read_line, write_line};
use crate::settings::Settings;
use crate::world::World;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Format number of worlds on disk.
const FORMAT: u32 = 5;

/// A log this long is folded into a snapshot, which opens faster. Longer where the snapshot is
/// long, so that folding stays a fixed share of the work.
const FOLD_AT: u64 = 4 << 20;

/// Why a simulated world cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The file system said no.
    #[error("cannot use {}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A file holds what we did not write.
    #[error("{} cannot be read: {what}; `fleet sim reset` makes the world anew", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// There is a world already.
    #[error("{} holds a simulated world already; `reset` replaces it", .0.display())]
    Exists(PathBuf),
    /// No machine or pool by that name.
    #[error("nothing in the simulated clouds matches `{0}`")]
    NoMatch(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    format: u32,
    generation: u64,
    settings: Settings,
}

/// The folder of a world, and how much of its log has been read.
#[derive(Debug)]
pub(crate) struct Store {
    dir: PathBuf,
    lock: File,
    /// `world.json` as last read, to notice that it was replaced.
    head: Vec<u8>,
    generation: u64,
    log: Option<File>,
    read_to: u64,
    fold_at: u64,
}

/// The lock, let go when dropped.
#[derive(Debug)]
pub(crate) struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        // Closing the file would let go as well; there is nobody to tell.
        let _ = self.0.unlock();
    }
}

fn io_at(path: &Path) -> impl Fn(io::Error) -> SimError + '_ {
    move |source| SimError::Io { path: path.to_owned(), source }
}

fn damaged(path: &Path, what: impl ToString) -> SimError {
    SimError::Damaged { path: path.to_owned(), what: what.to_string() }
}

impl Store {
    /// Opens a folder, made if need be.
    pub(crate) fn new(dir: &Path) -> Result<Self, SimError> {
        fs::create_dir_all(dir).map_err(io_at(dir))?;
        let path = dir.join("lock");
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(io_at(&path))?;
        Ok(Store {
            dir: dir.to_owned(),
            lock,
            head: Vec::new(),
            generation: 0,
            log: None,
            read_to: 0,
            fold_at: FOLD_AT,
        })
    }

    /// Waits for the lock.
    pub(crate) fn hold(&self) -> Result<Held, SimError> {
        let at = io_at(&self.dir);
        let file = self.lock.try_clone().map_err(&at)?;
        file.lock().map_err(&at)?;
        Ok(Held(file))
    }

    /// Where the head of a world lies.
    pub(crate) fn head_path(dir: &Path) -> PathBuf {
        dir.join("world.json")
    }

    fn log_path(&self, generation: u64) -> PathBuf {
        self.dir.join(format!("events.{generation}.log"))
    }

    fn snapshot_path(&self, generation: u64) -> PathBuf {
        self.dir.join(format!("snapshot.{generation}"))
    }

    /// Makes a world under the lock. An old one makes way only for a `reset`; whoever has it open
    /// goes on in the new one.
    pub(crate) fn found(&mut self, settings: &Settings, reset: bool) -> Result<(), SimError> {
        let path = Store::head_path(&self.dir);
        let old = match fs::read(&path) {
            Ok(_) if !reset => return Err(SimError::Exists(self.dir.clone())),
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(io_at(&path)(error)),
        };
        match old {
            None => {
                // Left by a process that died before its world had a head.
                let log = self.log_path(0);
                fs::remove_file(&log).or_else(gone_is_fine).map_err(io_at(&log))?;
                self.write_head(0, settings)
            }
            Some(old) => {
                // A damaged head must not stand in the way of its replacement.
                let head: Option<Head> = serde_json::from_slice(&old).ok();
                let generation = head.map_or(1 << 32, |head| head.generation.saturating_add(1));
                self.begin(generation, &World::new(settings.clone()))
            }
        }
    }

    fn write_head(&self, generation: u64, settings: &Settings) -> Result<(), SimError> {
        let head = Head { format: FORMAT, generation, settings: settings.clone() };
        let path = Store::head_path(&self.dir);
        let mut text = serde_json::to_vec(&head).map_err(|error| damaged(&path, error))?;
        text.push(b'\n');
        replace(&path, &text)
    }

    /// Begins a generation with a snapshot. The rename of the head is the moment it counts.
    fn begin(&mut self, generation: u64, world: &World) -> Result<(), SimError> {
        let path = self.snapshot_path(generation);
        let snapshot = postcard::to_stdvec(world).map_err(|error| damaged(&path, error))?;
        replace(&path, &snapshot)?;
        // May be there from a process that died just here.
        let log = self.log_path(generation);
        File::create(&log).map_err(io_at(&log))?;
        self.write_head(generation, &world.settings)?;
        for old in generation.saturating_sub(2)..generation {
            // What cannot be removed only takes up room.
            let _ = fs::remove_file(self.log_path(old));
            let _ = fs::remove_file(self.snapshot_path(old));
        }
        self.head.clear();
        Ok(())
    }

    /// Brings `world` up to the end of the log. Under the lock.
    pub(crate) fn catch_up(&mut self, world: &mut World) -> Result<(), SimError> {
        let path = Store::head_path(&self.dir);
        let head = fs::read(&path).map_err(io_at(&path))?;
        if head != self.head || self.log.is_none() {
            *world = self.reload(&head)?;
        }
        self.read_tail(world)
    }

    fn reload(&mut self, head: &[u8]) -> Result<World, SimError> {
        self.log = None;
        let path = Store::head_path(&self.dir);
        let parsed: Head = serde_json::from_slice(head).map_err(|error| damaged(&path, error))?;
        if parsed.format != FORMAT {
            return Err(damaged(
                &path,
                format_args!("format {} is another version's", parsed.format),
            ));
        }
        let snapshot = self.snapshot_path(parsed.generation);
        let (world, size) = match fs::read(&snapshot) {
            Ok(bytes) => {
                let world: World =
                    postcard::from_bytes(&bytes).map_err(|error| damaged(&snapshot, error))?;
                let world = world
                    .reindexed()
                    .ok_or_else(|| damaged(&snapshot, "a machine stands in no pool"))?;
                (world, bytes.len() as u64)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && parsed.generation == 0 => {
                (World::new(parsed.settings), 0)
            }
            Err(error) => return Err(io_at(&snapshot)(error)),
        };
        let path = self.log_path(parsed.generation);
        let log = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(&path)
            .map_err(io_at(&path))?;
        self.generation = parsed.generation;
        self.head = head.to_vec();
        self.log = Some(log);
        self.read_to = 0;
        self.fold_at = FOLD_AT.max(size / 2);
        Ok(world)
    }

    fn read_tail(&mut self, world: &mut World) -> Result<(), SimError> {
        let path = self.log_path(self.generation);
        let at = io_at(&path);
        let Some(log) = self.log.as_mut() else { return Ok(()) };
        let length = log.metadata().map_err(&at)?.len();
        if length == self.read_to {
            return Ok(());
        }
        if length < self.read_to {
            self.log = None;
            return Err(damaged(&path, "it has become shorter"));
        }
        let mut tail = Vec::with_capacity((length - self.read_to) as usize);
        log.seek(SeekFrom::Start(self.read_to)).map_err(&at)?;
        log.take(length - self.read_to).read_to_end(&mut tail).map_err(&at)?;
        let mut good = 0;
        while let Some(line) = tail[good..].split_inclusive(|byte| *byte == b'\n').next() {
            match read_line(line) {
                Some(events) => events.iter().for_each(|event| world.apply(event)),
                // Only the end can be torn. In the middle, somebody else has been at work.
                None if good + line.len() < tail.len() => {
                    self.log = None;
                    let place = self.read_to + good as u64;
                    return Err(damaged(&path, format_args!("bad line at byte {place}")));
                }
                None => {
                    log.set_len(self.read_to + good as u64).map_err(&at)?;
                    break;
                }
            }
            good += line.len();
        }
        self.read_to += good as u64;
        Ok(())
    }

    /// Appends what an operation did, in one write. After an error the world must be read anew.
    pub(crate) fn append(&mut self, events: &[Event]) -> Result<(), SimError> {
        let path = self.log_path(self.generation);
        let line = write_line(events).map_err(|error| damaged(&path, error))?;
        let Some(log) = self.log.as_mut() else {
            return Err(damaged(&path, "it is not open"));
        };
        if let Err(source) = log.write_all(&line) {
            // Take back what got through; if that fails too, the checksum tells.
            let _ = log.set_len(self.read_to);
            self.log = None;
            return Err(SimError::Io { path, source });
        }
        self.read_to += line.len() as u64;
        Ok(())
    }

    /// Forgets what was read: the world in memory is not the one on disk.
    pub(crate) fn distrust(&mut self) {
        self.log = None;
    }

    /// Folds a long log into a snapshot.
    pub(crate) fn fold_if_long(&mut self, world: &World) -> Result<(), SimError> {
        if self.read_to < self.fold_at {
            return Ok(());
        }
        let generation = self.generation + 1;
        self.begin(generation, world)?;
        // The world in memory is the snapshot: no need to read it back.
        let (head, log) = (Store::head_path(&self.dir), self.log_path(generation));
        self.head = fs::read(&head).map_err(io_at(&head))?;
        let file = OpenOptions::new().read(true).append(true).open(&log).map_err(io_at(&log))?;
        let snapshot = self.snapshot_path(generation);
        let size = fs::metadata(&snapshot).map_err(io_at(&snapshot))?.len();
        self.log = Some(file);
        self.generation = generation;
        self.read_to = 0;
        self.fold_at = FOLD_AT.max(size / 2);
        Ok(())
    }
}

fn gone_is_fine(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// Puts a file in place of another, whole or not at all.
fn replace(path: &Path, content: &[u8]) -> Result<(), SimError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    fs::write(&new, content).map_err(io_at(&new))?;
    fs::rename(&new, path).map_err(io_at(path))
}
