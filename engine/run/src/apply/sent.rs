//! Requests that were not sent after all, told apart from what clouds answer.

use fleet_provider::Error;
use std::fmt;

/// Why a request was not sent. Nothing is in doubt then, and no cloud has refused anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotSent {
    /// Somebody else may hold the lease.
    LeaseLost,
    /// A pool of it said no to another launch meanwhile.
    SaidNo,
}

impl NotSent {
    /// The word for it in the journal.
    pub(crate) fn code(self) -> &'static str {
        match self {
            NotSent::LeaseLost => "LeaseLost",
            NotSent::SaidNo => "NotAsked",
        }
    }
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotSent::LeaseLost => "another run took over; nothing was sent",
            NotSent::SaidNo => "another launch was refused meanwhile; this one was not sent",
        })
    }
}

/// What became of a request.
#[derive(Debug)]
pub(crate) enum Sent<T> {
    /// It was sent, and this is the answer to its last sending.
    Answered(Result<T, Error>),
    /// It was not.
    Not(NotSent),
}

impl<T> Sent<T> {
    /// From the result of a call that says `Err` of its own if it did not send.
    pub(crate) fn of(result: Result<Result<T, NotSent>, Error>) -> Self {
        match result {
            Ok(Ok(answer)) => Sent::Answered(Ok(answer)),
            Ok(Err(why)) => Sent::Not(why),
            Err(error) => Sent::Answered(Err(error)),
        }
    }
}
