//! Records as a ledger reads them: their entries in one list, and nothing else of them.

use crate::state::record::{self, BadRecord};
use fleet_model::{JOURNAL_FORMAT, Timestamp};
use fleet_money::entry::Entry;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use std::fmt;

/// Some records, as far as they matter to a ledger. One list for all of them: a list for each, made by one thread and
/// dropped by another, is slower.
#[derive(Debug, Default)]
pub(super) struct Pages {
    entries: Vec<Entry>,
    /// When each record was written, and where its entries end.
    records: Vec<(Timestamp, usize)>,
}

impl Pages {
    /// Nothing yet, and room for so many entries.
    pub(super) fn with_room(entries: usize) -> Self {
        Pages { entries: Vec::with_capacity(entries), records: Vec::new() }
    }

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Hands out the entries, in order, each with the time of its record.
    pub(super) fn turn(self, take: &mut impl FnMut(Timestamp, Entry)) {
        let mut entries = self.entries.into_iter();
        let mut begun = 0;
        for (at, end) in self.records {
            entries.by_ref().take(end - begun).for_each(|entry| take(at, entry));
            begun = end;
        }
    }

    /// Reads one more record. One that cannot be read adds nothing.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<(), BadRecord> {
        let body = record::body(bytes)?;
        // Once over the whole, and not again for each name in it.
        let text = std::str::from_utf8(body).map_err(|error| BadRecord::Json(error.to_string()))?;
        let begun = self.entries.len();
        let mut json = serde_json::Deserializer::from_str(text);
        let read = Page(&mut self.entries).deserialize(&mut json);
        let why = match read.and_then(|read| json.end().map(|()| read)) {
            Ok((JOURNAL_FORMAT, at)) => {
                self.records.push((at, self.entries.len()));
                return Ok(());
            }
            Ok((format, _)) => BadRecord::Format(format),
            // What a newer version wrote may not be readable at all; its number is.
            Err(error) => record::decode(bytes).err().unwrap_or(BadRecord::Json(error.to_string())),
        };
        self.entries.truncate(begun);
        Err(why)
    }
}

/// Reads a record: adds its events that matter to a list, and says its format and its time.
struct Page<'a>(&'a mut Vec<Entry>);

impl<'de> DeserializeSeed<'de> for Page<'_> {
    type Value = (u32, Timestamp);
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Page<'_> {
    type Value = (u32, Timestamp);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut format, mut at, mut events) = (None, None, None);
        while let Some(key) = map.next_key::<&str>()? {
            match key {
                "format" => format = Some(map.next_value()?),
                "at" => at = Some(map.next_value()?),
                "events" => events = Some(map.next_value_seed(ThatMatter(&mut *self.0))?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let lacks = A::Error::missing_field;
        events.ok_or_else(|| lacks("events"))?;
        Ok((format.ok_or_else(|| lacks("format"))?, at.ok_or_else(|| lacks("at"))?))
    }
}

/// Reads events, without those that are nothing to a ledger.
struct ThatMatter<'a>(&'a mut Vec<Entry>);

impl<'de> DeserializeSeed<'de> for ThatMatter<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ThatMatter<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(entry) = list.next_element()? {
            if entry != Entry::Other {
                self.0.push(entry);
            }
        }
        Ok(())
    }
}
