//! One journal record: some events, written together, with a checksum.

use crate::state::seams;
use fleet_model::{Event, JOURNAL_FORMAT, Timestamp, digest};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

/// Events that were written down together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Format number.
    pub format: u32,
    /// Its number, from 1.
    pub seq: u64,
    /// The epoch of the lease under which it was written.
    pub epoch: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub events: Vec<Event>,
}

impl Record {
    /// As it is stored.
    pub fn sealed(&self) -> serde_json::Result<Vec<u8>> {
        seal(self)
    }
}

/// Why some bytes are no record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadRecord {
    #[error("it is cut off or altered (its checksum does not match)")]
    Checksum,
    #[error("it was written by a newer version (format {0})")]
    Format(u32),
    #[error("it cannot be read: {0}")]
    Json(String),
}

/// What the checksum of a record begins with. Records from before it have 32 hex digits of SHA-256 alone.
const XXH3: &str = "xxh3 ";

/// Against accidents, not against attackers: they could write a checksum as well. Reading a long journal took a third
/// of its time for SHA-256.
fn checksum(body: &[u8]) -> String {
    format!("{XXH3}{:032x}", XxHash3_128::oneshot(body))
}

fn former_checksum(body: &[u8]) -> String {
    digest("journal/1", [body]).to_string()
}

/// A value as it is stored: a line with the checksum, then a line of JSON.
pub(crate) fn seal(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let body = serde_json::to_vec(value)?;
    let mut bytes = checksum(&body).into_bytes();
    bytes.push(b'\n');
    bytes.extend(body);
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads a record back.
pub(crate) fn decode(bytes: &[u8]) -> Result<Record, BadRecord> {
    let body = body(bytes)?;
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let json = |error: serde_json::Error| BadRecord::Json(error.to_string());
    let Format { format } = serde_json::from_slice(body).map_err(json)?;
    if format != JOURNAL_FORMAT {
        return Err(BadRecord::Format(format));
    }
    serde_json::from_slice(body).map_err(json)
}

/// The part of some stored bytes that the checksum vouches for.
pub(crate) fn body(bytes: &[u8]) -> Result<&[u8], BadRecord> {
    let split = bytes.iter().position(|byte| *byte == b'\n').ok_or(BadRecord::Checksum)?;
    let (sum, rest) = bytes.split_at(split);
    let body = rest.strip_prefix(b"\n").and_then(|rest| rest.strip_suffix(b"\n"));
    let body = body.ok_or(BadRecord::Checksum)?;
    let own = if sum.starts_with(XXH3.as_bytes()) { checksum(body) } else { former_checksum(body) };
    if seams::vouches(sum, own.as_bytes()) { Ok(body) } else { Err(BadRecord::Checksum) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_record() -> Record {
        Record {
            format: JOURNAL_FORMAT,
            seq: 7,
            epoch: 2,
            at: Timestamp::UNIX_EPOCH,
            events: vec![Event::Epoch { epoch: 2, holder: "me".into() }],
        }
    }

    #[test]
    fn damage_at_any_byte_is_found() {
        find_damage(&a_record().sealed().expect("a record"));
    }

    /// As the first versions wrote it, byte for byte.
    #[test]
    fn records_from_before_xxh3_are_read() {
        let before = b"a7b731b5f3f7d95d59604882806a67a1\n{\"format\":1,\"seq\":7,\"epoch\":2,\"at\":\"1970-01-01T00:00:00Z\",\
            \"events\":[{\"event\":\"epoch\",\"epoch\":2,\"holder\":\"me\"}]}\n";
        find_damage(before);
    }

    fn find_damage(bytes: &[u8]) {
        assert_eq!(decode(bytes), Ok(a_record()));
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).is_err(), "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut altered = bytes.to_vec();
            altered[at] ^= 1;
            assert!(decode(&altered).is_err(), "altered at {at}");
        }
    }
}
