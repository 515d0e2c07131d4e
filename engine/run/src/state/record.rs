//! One journal record: some events, written together, with a checksum.

use crate::state::seams;
use fleet_model::{Event, JOURNAL_FORMAT, Timestamp, digest};
use serde::{Deserialize, Serialize};

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

fn checksum(body: &[u8]) -> String {
    digest("journal/1", [body]).to_string()
}

/// A value as it is stored: a line with the checksum, then a line of JSON.
pub(crate) fn seal(value: &impl Serialize) -> Result<Vec<u8>, BadRecord> {
    let body = serde_json::to_vec(value).map_err(|error| BadRecord::Json(error.to_string()))?;
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
    if seams::vouches(sum, checksum(body).as_bytes()) { Ok(body) } else { Err(BadRecord::Checksum) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_at_any_byte_is_found() {
        let record = Record {
            format: JOURNAL_FORMAT,
            seq: 7,
            epoch: 2,
            at: Timestamp::UNIX_EPOCH,
            events: vec![Event::Epoch { epoch: 2, holder: "me".into() }],
        };
        let bytes = seal(&record).expect("a record");
        assert_eq!(decode(&bytes), Ok(record));
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).is_err(), "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 1;
            assert!(decode(&altered).is_err(), "altered at {at}");
        }
    }
}
