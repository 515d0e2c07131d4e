//! What clouds answer, and how we know: one table that classifiers, twins and fakes share.
//!
//! A row is a pair of status and code that a cloud was seen to answer with, what that means for the
//! caller, and where it was seen. A row without a source is a guess and says so. What is in no row
//! is judged by the general rule of [`judge`].

mod aws;
mod azure;
mod gcp;
mod lambda;

use crate::{Class, Error, Reach};
use fleet_model::Cloud;
use std::time::Duration;

/// What was asked when the answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// A list, or a question about one thing.
    Look,
    /// A launch.
    Launch,
    /// The end of a machine.
    End,
    /// Any of them.
    Any,
}

/// What an answer means for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// We ask too much. Nothing happened, whatever status carries it.
    Throttled,
    /// Nothing happened; ask again after so many seconds.
    Later(u64),
    /// The pool has nothing for us for so many minutes.
    Capacity(u64, Reach),
    /// A limit is reached; leave what shares it alone for so many minutes.
    Quota(u64, Reach),
    /// Credentials or rights.
    Auth(Reach),
    /// The request is wrong and stays wrong.
    Invalid(Reach),
    /// Turned down for another reason: not again for so many minutes.
    Refused(u64, Reach),
    /// Says nothing of what happened.
    Silence,
    /// Something that must not be: a person has to look.
    Freeze,
}

/// One thing that a cloud answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// To what.
    pub call: Call,
    /// The HTTP status; 0 for an error inside an operation that was accepted before; `None` if
    /// it was seen with several, or nobody noted it. Such a row holds for every status below 500.
    pub status: Option<u16>,
    /// The code. A trailing `*` stands for any ending.
    pub code: &'static str,
    /// Words that must be in the message, whatever their case; empty: any message.
    pub words: &'static str,
    /// What it means.
    pub means: Means,
    /// Where it was seen. `GUESS` if nowhere.
    pub source: &'static str,
}

/// The source of a row that nobody has evidence for.
pub const GUESS: &str = "guess";

impl Row {
    /// Whether anybody has seen it.
    pub fn is_seen(&self) -> bool {
        self.source != GUESS
    }

    fn fits(&self, call: Call, status: u16, code: &str, message: &str) -> bool {
        let status = match self.status {
            Some(seen) => seen == status,
            None => status < 500 || self.means == Means::Throttled,
        };
        let code_fits = match self.code.strip_suffix('*') {
            Some(head) => code.starts_with(head),
            None => code == self.code,
        };
        status && code_fits && (self.call == Call::Any || self.call == call) && self.is_in(message)
    }

    /// Whether a message has the words of this row, whatever their case.
    pub fn is_in(&self, message: &str) -> bool {
        message.to_ascii_lowercase().contains(&self.words.to_ascii_lowercase())
    }
}

/// A row of one cloud's table.
const fn entry(
    call: Call,
    status: Option<u16>,
    code: &'static str,
    words: &'static str,
    means: Means,
    source: &'static str,
) -> Row {
    Row { call, status, code, words, means, source }
}

/// A code that was seen with any words.
const fn seen(
    call: Call,
    status: Option<u16>,
    code: &'static str,
    means: Means,
    source: &'static str,
) -> Row {
    entry(call, status, code, "", means, source)
}

/// Every row of a cloud. The first that fits is the one that counts.
pub fn rows(cloud: Cloud) -> &'static [Row] {
    match cloud {
        Cloud::Aws => aws::ROWS,
        Cloud::Gcp => gcp::ROWS,
        Cloud::Azure => azure::ROWS,
        Cloud::Lambda => lambda::ROWS,
    }
}

/// The row of a code, for those who play a cloud: twins, fakes and proxies. Panics if there is none,
/// so that nobody answers with a code that the table does not know. Of several, the one whose words
/// are in the message, then the one that needs none.
pub fn row(cloud: Cloud, call: Call, code: &str, message: &str) -> &'static Row {
    let rank = |row: &Row| match (row.words.is_empty(), row.is_in(message)) {
        (false, true) => 0,
        (true, _) => 1,
        (false, false) => 2,
    };
    let fits = |row: &&Row| row.code == code && (row.call == call || row.call == Call::Any);
    match rows(cloud).iter().filter(fits).min_by_key(|row| rank(row)) {
        Some(row) => row,
        None => panic!("the table of evidence has no {code} of {cloud} for {call:?}"),
    }
}

/// An unknown refusal keeps its pool from being asked for so long.
pub const UNKNOWN_REFUSAL: Duration = Duration::from_secs(600);

/// What an answer that is no success means.
///
/// A row of the table decides if one fits. Otherwise: 429 is throttling; a 4xx turns the request
/// down, whatever its code (408, 409 and 425 excepted: those may speak of something in progress);
/// 401 and 403 are about rights; everything else says nothing of what happened.
pub fn judge(
    cloud: Cloud,
    call: Call,
    status: u16,
    code: &str,
    message: &str,
    after: Option<Duration>,
) -> Error {
    let known = rows(cloud).iter().find(|row| row.fits(call, status, code, message));
    let means = known.map_or_else(|| unknown(call, status), |row| row.means);
    let error = |class| Error::new(cloud, class, code, message);
    let time = |minutes: u64| Duration::from_secs(60 * minutes);
    match means {
        Means::Throttled => error(Class::Retry { after }).throttled(),
        Means::Later(seconds) => {
            error(Class::Retry { after: after.or(Some(Duration::from_secs(seconds))) })
        }
        Means::Capacity(minutes, reach) => {
            error(Class::Capacity { block: time(minutes) }).reaching(reach)
        }
        Means::Quota(minutes, reach) => {
            error(Class::Quota { block: time(minutes) }).reaching(reach)
        }
        Means::Auth(reach) => error(Class::Auth).reaching(reach),
        Means::Invalid(reach) => error(Class::Invalid).reaching(reach),
        Means::Refused(minutes, reach) => {
            error(Class::Refused { block: time(minutes) }).reaching(reach)
        }
        Means::Silence => error(silence(call, after)),
        Means::Freeze => error(Class::Freeze),
    }
}

fn unknown(call: Call, status: u16) -> Means {
    let minutes = UNKNOWN_REFUSAL.as_secs() / 60;
    match status {
        429 => Means::Throttled,
        401 => Means::Auth(Reach::Account),
        // Often one image, one region or one resource.
        403 => Means::Auth(Reach::Region),
        408 | 409 | 425 => Means::Silence,
        400..=499 if call != Call::Look => Means::Refused(minutes, Reach::Pool),
        _ => Means::Silence,
    }
}

/// What no answer means: a question may be asked again, of a change nobody knows.
fn silence(call: Call, after: Option<Duration>) -> Class {
    match call {
        Call::Look => Class::Retry { after },
        Call::Launch | Call::End | Call::Any => Class::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(cloud: Cloud, call: Call, status: u16, code: &str) -> Class {
        judge(cloud, call, status, code, "", None).class
    }

    #[test]
    fn a_refusal_is_one_whatever_its_number_and_silence_is_silence() {
        for cloud in Cloud::ALL {
            let refused = Class::Refused { block: UNKNOWN_REFUSAL };
            assert_eq!(class(cloud, Call::Launch, 400, "NeverHeardOf"), refused);
            assert_eq!(class(cloud, Call::End, 422, "NeverHeardOf"), refused);
            for status in [0, 408, 409, 500, 502, 503, 504] {
                assert_eq!(class(cloud, Call::Launch, status, "NeverHeardOf"), Class::Unknown);
            }
            assert_eq!(class(cloud, Call::Look, 500, "X"), Class::Retry { after: None });
            assert!(judge(cloud, Call::Launch, 429, "X", "", None).throttled);
        }
        let full = "InsufficientInstanceCapacity";
        assert!(matches!(class(Cloud::Aws, Call::Launch, 500, full), Class::Capacity { .. }));
        for status in [502, 503, 504] {
            assert_eq!(class(Cloud::Aws, Call::Launch, status, full), Class::Unknown);
        }
    }

    /// A row that an earlier one hides would never be used.
    #[test]
    fn every_row_counts() {
        for cloud in Cloud::ALL {
            for row in rows(cloud) {
                let code = row.code.replace('*', "Anything");
                let call = if row.call == Call::Any { Call::Launch } else { row.call };
                let first = rows(cloud)
                    .iter()
                    .find(|other| other.fits(call, row.status.unwrap_or(400), &code, row.words));
                assert_eq!(first, Some(row), "hidden by an earlier row");
            }
        }
    }
}
