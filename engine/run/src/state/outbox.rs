//! Messages that must arrive: written down before they are sent, marked when they were taken.
//!
//! They lie beside the journals and follow the same rule: created, never replaced. A message that was not marked
//! is sent again by whoever finds it, with the same name.

use crate::state::store::{Store, StoreError};

const FOLDER: &str = "controller/outbox";
/// Ends the name of the mark beside a message.
const TAKEN: &str = ".taken";

/// A message that nobody has marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// What it is about.
    pub key: String,
    /// Which message about it.
    pub number: u64,
    /// The message.
    pub body: Vec<u8>,
}

impl Store {
    /// Writes a message down, if the last one about the same thing does not make it unnecessary. `None` if it does,
    /// or if somebody else was faster. Keys are letters, digits and hyphens.
    pub async fn post(
        &self,
        key: &str,
        body: Vec<u8>,
        wanted: impl FnOnce(Option<&[u8]>) -> bool,
    ) -> Result<Option<Posted>, StoreError> {
        let folder = format!("{FOLDER}/{key}");
        let names = self.list(&folder, None).await?;
        let last = numbers(&names).last().copied();
        let before = match last {
            Some(number) => self.read(&format!("{folder}/{number:012}")).await?,
            None => None,
        };
        if !wanted(before.as_deref()) {
            return Ok(None);
        }
        let number = last.unwrap_or_default() + 1;
        let created = self.create(&format!("{folder}/{number:012}"), body.clone()).await?;
        Ok(created.then(|| Posted { key: key.to_owned(), number, body }))
    }

    /// Messages that nobody has marked.
    pub async fn posted(&self) -> Result<Vec<Posted>, StoreError> {
        let mut waiting = Vec::new();
        for key in self.folders(FOLDER).await? {
            let folder = format!("{FOLDER}/{key}");
            let names = self.list(&folder, None).await?;
            for number in numbers(&names) {
                if names.contains(&format!("{number:012}{TAKEN}")) {
                    continue;
                }
                if let Some(body) = self.read(&format!("{folder}/{number:012}")).await? {
                    waiting.push(Posted { key: key.clone(), number, body });
                }
            }
        }
        Ok(waiting)
    }

    /// Marks a message: it was taken, or given up. Those before it that are marked too are forgotten.
    pub async fn mark_taken(&self, posted: &Posted) -> Result<(), StoreError> {
        let folder = format!("{FOLDER}/{}", posted.key);
        let mark = |number: u64| format!("{folder}/{number:012}{TAKEN}");
        self.create(&mark(posted.number), Vec::new()).await?;
        let names = self.list(&folder, None).await?;
        for number in numbers(&names).into_iter().filter(|number| *number < posted.number) {
            if names.contains(&format!("{number:012}{TAKEN}")) {
                // The message first: a mark without one does no harm.
                self.remove(&format!("{folder}/{number:012}")).await?;
                self.remove(&mark(number)).await?;
            }
        }
        Ok(())
    }
}

/// The numbers of messages among the names in a folder, sorted.
fn numbers(names: &[String]) -> Vec<u64> {
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_message_waits_until_it_is_marked() {
        let store = Store::in_memory();
        let post =
            |body: &str, wanted: bool| store.post("a", body.as_bytes().to_vec(), move |_| wanted);
        let first = post("one", true).await.expect("a store").expect("posted");
        assert_eq!(post("two", false).await.expect("a store"), None);
        assert_eq!(store.posted().await.expect("a list"), std::slice::from_ref(&first));
        store.mark_taken(&first).await.expect("marked");
        store.mark_taken(&first).await.expect("marked twice is marked");
        assert_eq!(store.posted().await.expect("a list"), []);
        let second = post("three", true).await.expect("a store").expect("posted");
        assert_eq!(second.number, 2);
        store.mark_taken(&second).await.expect("marked");
        assert_eq!(store.list("controller/outbox/a", None).await.expect("a list").len(), 2);
        // Whoever asks sees the last message.
        let body = b"four".to_vec();
        let same = store.post("a", body, |last| last != Some(b"three")).await.expect("a store");
        assert_eq!(same, None);
    }
}
