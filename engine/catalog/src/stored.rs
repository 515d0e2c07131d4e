//! The cached binary form: 95,000 offers, loaded by every command in a few milliseconds.
//!
//! ```text
//! magic     8 bytes   FLEETCAT
//! format    u32       1
//! checksum  u64       of everything after it
//! head      u32       length of the head
//! head                postcard: source, date, kinds, places
//! rows                25 bytes each: kind u32, place u32, on-demand u64, spot u64, flags u8
//! ```
//!
//! Numbers are little-endian. Rows are fixed in width because decoding a varint per field took
//! most of the time of loading. The file is a cache, not a format for exchange: another format
//! number means importing again, not converting.

use crate::validate::{Flaw, validate};
use fleet_model::{Catalog, CatalogRow, InstanceKind, MicroUsd, Place, Timestamp};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"FLEETCAT";

/// Rises whenever the bytes or their meaning change, the model's types included.
const FORMAT: u32 = 1;

/// A hundred times what all clouds together need; more is not a catalog.
const MAX_BYTES: u64 = 256 << 20;

const ROW_BYTES: usize = 25;
const PRICED: u8 = 1;
const SPOT_PRICED: u8 = 2;
const HAS_SPOT: u8 = 4;

/// Why a stored catalog could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system cannot read the file.
    #[error("cannot read the catalog `{0}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The system cannot write the file.
    #[error("cannot write the catalog `{0}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is something else, or no longer whole.
    #[error("`{0}` is not a usable catalog", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Damage,
    },
}

/// What is wrong with the bytes of a stored catalog. Importing again mends all of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// It does not begin like a stored catalog.
    #[error("it is not a stored catalog")]
    Foreign,
    /// It was written by another version.
    #[error("it has format {found}, this version reads format {FORMAT}: import it again")]
    Format {
        /// The format number found.
        found: u32,
    },
    /// Bytes are missing or have changed.
    #[error("it is damaged or cut short: import it again")]
    Checksum,
    /// It is larger than any catalog.
    #[error("it is larger than {MAX_BYTES} bytes")]
    TooLarge,
    /// The bytes are whole and make no sense.
    #[error("its content makes no sense: import it again")]
    Content,
    /// The bytes make sense, and the catalog breaks its promises.
    #[error("its content is inconsistent: import it again")]
    Flaw(#[from] Flaw),
}

#[derive(Serialize, Deserialize)]
struct Head {
    source: String,
    as_of_second: i64,
    kinds: Vec<Arc<InstanceKind>>,
    places: Vec<Place>,
}

/// Writes a catalog. Readers see the old file or the new one, never half of it.
pub fn save(catalog: &Catalog, path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Write { path: path.to_owned(), source };
    let bytes = encode(catalog).map_err(|error| failed(std::io::Error::other(error)))?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(&bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Reads what [`save`] wrote.
pub fn load(path: &Path) -> Result<Catalog, StoreError> {
    let failed = |source| StoreError::Read { path: path.to_owned(), source };
    let unusable = |source| StoreError::Unusable { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    if size > MAX_BYTES {
        return Err(unusable(Damage::TooLarge));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    // The bound holds even for files that have no length, such as pipes.
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    decode(&bytes).map_err(unusable)
}

fn encode(catalog: &Catalog) -> Result<Vec<u8>, postcard::Error> {
    let Catalog { source, as_of, kinds, places, rows } = catalog;
    let head = postcard::to_stdvec(&Head {
        source: source.clone(),
        as_of_second: as_of.as_second(),
        kinds: kinds.clone(),
        places: places.clone(),
    })?;
    let mut body = Vec::with_capacity(4 + head.len() + rows.len() * ROW_BYTES);
    body.extend(u32::try_from(head.len()).unwrap_or(u32::MAX).to_le_bytes());
    body.extend(&head);
    for CatalogRow { kind, place, on_demand, spot, has_spot } in rows {
        body.extend(kind.to_le_bytes());
        body.extend(place.to_le_bytes());
        body.extend(on_demand.unwrap_or_default().0.to_le_bytes());
        body.extend(spot.unwrap_or_default().0.to_le_bytes());
        let flag = |yes: bool, flag: u8| if yes { flag } else { 0 };
        let flags = flag(on_demand.is_some(), PRICED) | flag(spot.is_some(), SPOT_PRICED);
        body.push(flags | flag(*has_spot, HAS_SPOT));
    }
    let mut bytes = Vec::with_capacity(20 + body.len());
    bytes.extend(MAGIC);
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend(checksum(&body).to_le_bytes());
    bytes.append(&mut body);
    Ok(bytes)
}

fn decode(bytes: &[u8]) -> Result<Catalog, Damage> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(Damage::Foreign)?;
    let (format, rest) = rest.split_first_chunk().ok_or(Damage::Checksum)?;
    let found = u32::from_le_bytes(*format);
    if found != FORMAT {
        return Err(Damage::Format { found });
    }
    let (sum, body) = rest.split_first_chunk().ok_or(Damage::Checksum)?;
    if u64::from_le_bytes(*sum) != checksum(body) {
        return Err(Damage::Checksum);
    }
    let (length, rest) = body.split_first_chunk().ok_or(Damage::Content)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| Damage::Content)?;
    let (head, rows) = rest.split_at_checked(length).ok_or(Damage::Content)?;
    let (head, left): (Head, _) = postcard::take_from_bytes(head).map_err(|_| Damage::Content)?;
    let (rows, odd) = rows.as_chunks::<ROW_BYTES>();
    if !left.is_empty() || !odd.is_empty() {
        return Err(Damage::Content);
    }
    let Head { source, as_of_second, kinds, places } = head;
    let as_of = Timestamp::from_second(as_of_second).map_err(|_| Damage::Content)?;
    let rows = rows.iter().map(row).collect();
    let catalog = Catalog { source, as_of, kinds, places, rows };
    validate(&catalog)?;
    Ok(catalog)
}

fn row(bytes: &[u8; ROW_BYTES]) -> CatalogRow {
    let [a, b, c, d, e, f, g, h, prices @ .., flags] = bytes;
    let [j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y] = prices;
    let price =
        |bytes: [u8; 8], flag| (flags & flag != 0).then_some(MicroUsd(u64::from_le_bytes(bytes)));
    CatalogRow {
        kind: u32::from_le_bytes([*a, *b, *c, *d]),
        place: u32::from_le_bytes([*e, *f, *g, *h]),
        on_demand: price([*j, *k, *l, *m, *n, *o, *p, *q], PRICED),
        spot: price([*r, *s, *t, *u, *v, *w, *x, *y], SPOT_PRICED),
        has_spot: flags & HAS_SPOT != 0,
    }
}

/// FNV-1a over words of eight bytes: against accidents, not against malice, and eight times as
/// fast as over bytes. A change within one word is always found.
fn checksum(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mix = |sum: u64, word: [u8; 8]| (sum ^ u64::from_le_bytes(word)).wrapping_mul(PRIME);
    let (words, tail) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(0xcbf2_9ce4_8422_2325, |sum, word| mix(sum, *word));
    let mut last = [0; 8];
    last[..tail.len()].copy_from_slice(tail);
    // The length tells a missing tail from one of zeros.
    mix(mix(sum, last), (bytes.len() as u64).to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::small;

    #[test]
    fn what_is_saved_is_loaded() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deep/catalog.bin");
        let catalog = small();
        save(&catalog, &path).expect("saved");
        assert_eq!(load(&path).expect("loaded"), catalog);
        save(&catalog, &path).expect("saved over the old one");
        let left = std::fs::read_dir(path.parent().expect("a parent")).expect("a folder").count();
        assert_eq!(left, 1, "no temporary file is left");
    }

    #[test]
    fn no_damage_goes_unnoticed() {
        let whole = encode(&small()).expect("bytes");
        assert!(decode(&whole).is_ok());
        for cut in 0..whole.len() {
            assert!(decode(&whole[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..whole.len() {
            for flip in [1, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= flip;
                assert!(decode(&bytes).is_err(), "byte {at} ^ {flip}");
            }
        }
        let mut longer = whole.clone();
        longer.push(0);
        assert!(decode(&longer).is_err());
    }

    /// As if someone had mended the checksum: the content must still not be believed blindly.
    #[test]
    fn nonsense_with_a_good_checksum_is_refused_or_harmless() {
        let whole = encode(&small()).expect("bytes");
        for at in 20..whole.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                let sum = checksum(&bytes[20..]).to_le_bytes();
                bytes[12..20].copy_from_slice(&sum);
                if let Ok(catalog) = decode(&bytes) {
                    assert_eq!(validate(&catalog), Ok(()));
                }
            }
        }
        // A head that claims four billion kinds.
        let head = [0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f];
        let mut body = Vec::from(u32::try_from(head.len()).expect("small").to_le_bytes());
        body.extend(head);
        let mut bytes = Vec::from(*MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend(checksum(&body).to_le_bytes());
        bytes.extend(body);
        assert_eq!(decode(&bytes), Err(Damage::Content));
    }

    #[test]
    fn other_files_and_other_versions_are_named() {
        assert_eq!(decode(b""), Err(Damage::Foreign));
        assert_eq!(decode(b"InstanceType,Price"), Err(Damage::Foreign));
        let mut newer = encode(&small()).expect("bytes");
        newer[8] = 2;
        assert_eq!(decode(&newer), Err(Damage::Format { found: 2 }));
        assert!(matches!(load(Path::new("/nonexistent/x")), Err(StoreError::Read { .. })));
    }
}
