//! Lists that come page by page.

use fleet_provider::Error;
use std::future::Future;

/// Asks for one page after another: `ask` gets the token of a page, and brings its items and the token of
/// the next. What is beyond so many pages is left out.
pub(crate) async fn paged<T, F>(
    pages: usize,
    ask: impl Fn(Option<String>) -> F,
) -> Result<Vec<T>, Error>
where
    F: Future<Output = Result<(Vec<T>, Option<String>), Error>>,
{
    let mut found = Vec::new();
    let mut page = None;
    for _ in 0..pages {
        let (items, next) = ask(page).await?;
        found.extend(items);
        page = next.filter(|token| !token.is_empty());
        if page.is_none() {
            break;
        }
    }
    Ok(found)
}
