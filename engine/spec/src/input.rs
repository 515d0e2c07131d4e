//! Bytes → text, with limits checked before anything is read in full.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The largest spec that is read. Specs are a few kilobytes.
pub(crate) const MAX_FILE: u64 = 1024 * 1024;
/// How much of a file tells whether it is ours at all.
const HEAD: usize = 64 * 1024;

/// Why a file is refused.
pub(crate) enum Refusal {
    Io(io::Error),
    NotAFile,
    TooLarge {
        bytes: u64,
        most: u64,
    },
    /// Where the first bad byte stands: line and column, from 1.
    NotUtf8 {
        line: usize,
        column: usize,
    },
    Binary {
        line: usize,
        column: usize,
    },
}

impl Refusal {
    pub(crate) fn what(&self) -> String {
        match self {
            Refusal::Io(error) => format!("cannot be read: {}", plainly(error)),
            Refusal::NotAFile => "is not a regular file".into(),
            Refusal::TooLarge { bytes, most } => {
                format!("has {bytes} bytes; {most} are the most")
            }
            Refusal::NotUtf8 { line, column } => {
                format!("is not UTF-8 text: bad byte at line {line}, column {column}")
            }
            Refusal::Binary { line, column } => {
                format!("is binary: control character at line {line}, column {column}")
            }
        }
    }

    pub(crate) fn hint(&self) -> String {
        match self {
            Refusal::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                "check the path; it is relative to the current folder".into()
            }
            Refusal::Io(_) => "check the path and its permissions".into(),
            Refusal::NotAFile => "name a file or a folder".into(),
            Refusal::TooLarge { .. } => {
                "a spec has a few kilobytes; is this the right file?".into()
            }
            Refusal::NotUtf8 { .. } => "save the file as UTF-8".into(),
            Refusal::Binary { .. } => {
                "is this the right file? A spec is YAML text in UTF-8, not in UTF-16".into()
            }
        }
    }
}

/// An error of the file system without its number.
pub(crate) fn plainly(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}

/// Reads a text file of at most `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> Result<String, Refusal> {
    // Asked before opening: opening a pipe waits for somebody to write.
    let about = std::fs::metadata(path).map_err(Refusal::Io)?;
    if !about.is_file() {
        return Err(Refusal::NotAFile);
    }
    if about.len() > most {
        return Err(Refusal::TooLarge { bytes: about.len(), most });
    }
    let mut bytes = Vec::new();
    // The file may have grown meanwhile.
    let file = File::open(path).map_err(Refusal::Io)?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(Refusal::Io)?;
    if bytes.len() as u64 > most {
        return Err(Refusal::TooLarge { bytes: bytes.len() as u64, most });
    }
    text(bytes)
}

/// Bytes that are text: UTF-8 without control characters.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String, Refusal> {
    let place = |upto: &[u8]| {
        let line = upto.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = upto.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        (line, String::from_utf8_lossy(&upto[start..]).chars().count() + 1)
    };
    let control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
    if let Some(at) = bytes.iter().position(control) {
        let (line, column) = place(&bytes[..at]);
        return Err(Refusal::Binary { line, column });
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let upto = error.utf8_error().valid_up_to();
        let (line, column) = place(&error.as_bytes()[..upto]);
        Refusal::NotUtf8 { line, column }
    })?;
    Ok(text)
}

/// Whether the beginning of a file that cannot be read as a spec looks like one of ours.
pub(crate) fn looks_ours(path: &Path) -> bool {
    let mut head = Vec::new();
    let is_file = std::fs::metadata(path).is_ok_and(|about| about.is_file());
    if let (true, Ok(file)) = (is_file, File::open(path)) {
        // What cannot be read looks like nothing.
        let _ = file.take(HEAD as u64).read_to_end(&mut head);
    }
    // UTF-16, as some editors and shells write it, is our text with a zero beside each letter.
    head.retain(|byte| *byte != 0);
    mentions_us(&String::from_utf8_lossy(&head))
}

/// Whether a line of a text says `apiVersion: fleet/…`.
pub(crate) fn mentions_us(text: &str) -> bool {
    text.lines().any(|line| {
        line.split_once("apiVersion").is_some_and(|(_, rest)| {
            rest.trim_start_matches(['"', '\'', ':', ' ']).starts_with("fleet/")
        })
    })
}
