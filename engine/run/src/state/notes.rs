//! Small facts that replicas leave for each other: the last word under a key.

use crate::state::store::{Store, StoreError};

/// Notes kept of one key: the last one counts, those before it are for whoever reads meanwhile.
const KEPT: usize = 3;

impl Store {
    /// The last word under a key.
    pub async fn noted(&self, key: &str) -> Result<Option<String>, StoreError> {
        let folder = format!("controller/notes/{key}");
        let last = self.list(&folder, None).await?.pop();
        Ok(last.and_then(|name| name.split_once('-').map(|(_, word)| word.to_owned())))
    }

    /// Leaves a word under a key, if it is another than the last. Words are letters, digits, dots and hyphens.
    pub async fn note(&self, key: &str, word: &str) -> Result<(), StoreError> {
        let folder = format!("controller/notes/{key}");
        let names = self.list(&folder, None).await?;
        let last = names.last().and_then(|name| name.split_once('-'));
        if last.is_some_and(|(_, known)| known == word) {
            return Ok(());
        }
        let number =
            last.and_then(|(number, _)| number.parse::<u64>().ok()).unwrap_or_default() + 1;
        // Another replica may leave the same word at the same time, which is as good.
        self.create(&format!("{folder}/{number:012}-{word}"), Vec::new()).await?;
        for old in names.iter().rev().skip(KEPT) {
            self.remove(&format!("{folder}/{old}")).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_word_counts_and_few_are_kept() {
        let store = Store::in_memory();
        assert_eq!(store.noted("good").await.expect("a store"), None);
        for nth in 0..20 {
            store.note("good", &format!("commit-{nth}")).await.expect("a note");
            store.note("good", &format!("commit-{nth}")).await.expect("a note");
        }
        assert_eq!(store.noted("good").await.expect("a store").as_deref(), Some("commit-19"));
        let kept = store.list("controller/notes/good", None).await.expect("a list").len();
        assert_eq!(kept, KEPT + 1);
    }
}
