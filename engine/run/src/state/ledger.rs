//! Journals as a ledger reads them: record by record, in order, without keeping them.

use crate::state::journal::JournalError;
use crate::state::names::{self, journal_folder};
use crate::state::pages::Pages;
use crate::state::store::Store;
use fleet_model::{FleetName, Timestamp};
use fleet_money::entry::Entry;
use futures::{StreamExt, stream};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};

/// Records that a remote store is asked for at once.
const READS_AT_ONCE: usize = 32;
/// Records that a thread reads before it hands them over, and how often it may do so before they are wanted.
/// A record holds hundreds of events in a busy fleet: more would only take memory.
const CHUNK: usize = 64;
const CHUNKS_AHEAD: usize = 4;

/// Reads the journal of a fleet, oldest record first.
pub async fn read_ledger(
    store: &Store,
    fleet: &FleetName,
    mut take: impl FnMut(Timestamp, Entry) + Send,
) -> Result<(), JournalError> {
    let folder = journal_folder(fleet);
    if let Some(root) = store.local_folder() {
        // Many small files: the operating system is asked directly, by as many threads as there are cores.
        let root = root.join(&folder);
        let (names, files) = (whole(&root).map_err(|error| no_folder(fleet, error))?, root);
        check_numbers(fleet, &names)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        let chunks: Vec<&[String]> = names.chunks(CHUNK).collect();
        let chunks = &chunks;
        return std::thread::scope(|scope| {
            let readers: Vec<Receiver<(Pages, Result<(), JournalError>)>> = (0..threads)
                .map(|nth| {
                    let (send, receive) = sync_channel(CHUNKS_AHEAD);
                    let files: &PathBuf = &files;
                    scope.spawn(move || {
                        let mut bytes = Vec::new();
                        let mut most = 0;
                        for chunk in chunks.iter().skip(nth).step_by(threads) {
                            let mut pages = Pages::with_room(most);
                            let add = |name: &String| {
                                add_file(&mut pages, fleet, files, name, &mut bytes)
                            };
                            let read = chunk.iter().try_for_each(add);
                            most = most.max(pages.len());
                            if send.send((pages, read)).is_err() {
                                // Nobody wants more: an earlier record could not be read.
                                return;
                            }
                        }
                    });
                    receive
                })
                .collect();
            for nth in 0..chunks.len() {
                let Ok((pages, read)) = readers[nth % threads].recv() else { break };
                pages.turn(&mut take);
                read?;
            }
            Ok(())
        });
    }
    let names = names::record_names(store, fleet, 0).await?;
    check_numbers(fleet, &names)?;
    let read = |name: String| {
        let folder = &folder;
        async move {
            let bytes = store.read(&format!("{folder}/{name}")).await?;
            let bytes = bytes.ok_or_else(|| damaged(fleet, &name, "it is missing".into()))?;
            let mut pages = Pages::default();
            pages.add(&bytes).map_err(|bad| damaged(fleet, &name, bad.to_string()))?;
            Ok::<_, JournalError>(pages)
        }
    };
    let mut pages = std::pin::pin!(stream::iter(names).map(read).buffered(READS_AT_ONCE));
    while let Some(pages) = pages.next().await {
        pages?.turn(&mut take);
    }
    Ok(())
}

/// Reads a record from its file; `bytes` is used again from file to file.
fn add_file(
    pages: &mut Pages,
    fleet: &FleetName,
    folder: &Path,
    name: &str,
    bytes: &mut Vec<u8>,
) -> Result<(), JournalError> {
    let read = File::open(folder.join(name)).and_then(|file| read_whole(file, bytes));
    let read = read.map_err(|error| damaged(fleet, name, error.to_string()))?;
    pages.add(&bytes[..read]).map_err(|bad| damaged(fleet, name, bad.to_string()))
}

/// Reads a file into a buffer that only ever grows, and says how long the file is. Fewer bytes than asked for are the
/// end of a file, so that a small one takes one question to the operating system; if not, the checksum says so.
fn read_whole(mut file: File, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
    let mut filled = 0;
    loop {
        if filled == bytes.len() {
            bytes.resize((2 * filled).max(64 * 1024), 0);
        }
        match file.read(&mut bytes[filled..]) {
            Ok(read) => {
                filled += read;
                if filled < bytes.len() {
                    return Ok(filled);
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Names of all records in a folder, though others are written meanwhile.
fn whole(folder: &Path) -> std::io::Result<Vec<String>> {
    let first = names_in(folder)?;
    match names::has_gap(&first, 0) {
        true => Ok(names::up_to(first.last(), names_in(folder)?)),
        false => Ok(first),
    }
}

fn names_in(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    let found = match std::fs::read_dir(folder) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(names),
        Err(error) => return Err(error),
    };
    for file in found {
        // Something that is being written has another name until it is there.
        names.extend(
            file?.file_name().into_string().ok().filter(|name| name.parse::<u64>().is_ok()),
        );
    }
    names.sort_unstable();
    Ok(names)
}

/// A missing record is an error, not a shorter journal. One that begins later is on its way to another name.
fn check_numbers(fleet: &FleetName, names: &[String]) -> Result<(), JournalError> {
    for (expected, name) in (1u64..).zip(names) {
        if name.parse() != Ok(expected) {
            let seq = expected;
            let why = format!("it is missing, and record {name} is there");
            return Err(JournalError::Damaged { fleet: fleet.clone(), seq, why });
        }
    }
    Ok(())
}

fn damaged(fleet: &FleetName, name: &str, why: String) -> JournalError {
    JournalError::Damaged { fleet: fleet.clone(), seq: name.parse().unwrap_or_default(), why }
}

fn no_folder(fleet: &FleetName, error: std::io::Error) -> JournalError {
    JournalError::Damaged { fleet: fleet.clone(), seq: 0, why: error.to_string() }
}
