//! What a store's errors mean for a person.

use std::error::Error as _;

/// Kinds of trouble with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreFault {
    /// There is no such bucket or container.
    NoSuchPlace,
    /// The store knows us and says no, or does not accept who we say we are.
    Denied,
    /// There are no credentials.
    NoCredentials,
    /// Nobody answers.
    Unreachable,
    /// Something else.
    Other,
}

pub(crate) fn kind(error: &object_store::Error) -> StoreFault {
    let whole = whole(error);
    // Lists keep their errors to themselves: only the words tell the status.
    let says = |words: &[&str]| words.iter().any(|word| whole.contains(word));
    match error {
        object_store::Error::NotFound { .. } => StoreFault::NoSuchPlace,
        object_store::Error::PermissionDenied { .. }
        | object_store::Error::Unauthenticated { .. } => StoreFault::Denied,
        _ if says(&["404 Not Found"]) => StoreFault::NoSuchPlace,
        _ if says(&["401 Unauthorized", "403 Forbidden"]) => StoreFault::Denied,
        // The last place where clients look for credentials is the machine's own metadata server.
        _ if says(&["169.254.169.254", "metadata.google.internal"]) => StoreFault::NoCredentials,
        error if is_silence(error) => StoreFault::Unreachable,
        _ => StoreFault::Other,
    }
}

/// One line: what is wrong, and the code and message of the store if it sent some.
pub(crate) fn message(error: &object_store::Error) -> String {
    let whole = whole(error);
    let what = match kind(error) {
        StoreFault::NoSuchPlace => "there is no such bucket, container or folder",
        StoreFault::Denied => "access is denied",
        StoreFault::NoCredentials => "there are no credentials for it",
        StoreFault::Unreachable => "it does not answer",
        StoreFault::Other => "",
    };
    let part = |tag: &str| {
        let (_, rest) = whole.split_once(&format!("<{tag}>"))?;
        Some(rest.split_once("</")?.0.lines().next()?.trim().to_owned())
    };
    let said = match (part("Code"), part("Message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(code), None) => code,
        (None, _) if what.is_empty() => whole,
        (None, _) => innermost(error),
    };
    if what.is_empty() { said } else { format!("{what} ({said})") }
}

type Cause<'a> = &'a (dyn std::error::Error + 'static);

fn chain(error: &object_store::Error) -> impl Iterator<Item = Cause<'_>> {
    fn deeper<'a>(cause: &Cause<'a>) -> Option<Cause<'a>> {
        (**cause).source()
    }
    std::iter::successors(error.source(), deeper)
}

fn whole(error: &object_store::Error) -> String {
    chain(error).next().map_or_else(|| error.to_string(), ToString::to_string)
}

fn innermost(error: &object_store::Error) -> String {
    chain(error).last().map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(feature = "remote-state")]
fn is_silence(error: &object_store::Error) -> bool {
    use object_store::client::{HttpError, HttpErrorKind};
    chain(error).filter_map(|cause| cause.downcast_ref::<HttpError>()).any(|http| {
        matches!(
            http.kind(),
            HttpErrorKind::Connect | HttpErrorKind::Timeout | HttpErrorKind::Interrupted
        )
    })
}

#[cfg(not(feature = "remote-state"))]
fn is_silence(_: &object_store::Error) -> bool {
    false
}
