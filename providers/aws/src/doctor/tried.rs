//! What was tried in each region, brought together: one line per right, not one per region.

use crate::error::Asked;
use crate::error::read;
use aws_sdk_ec2::config::http::HttpResponse;
use aws_sdk_ec2::error::{ProvideErrorMetadata, SdkError};
use fleet_provider::{Class, Error, Finding, Verdict};
use std::error::Error as StdError;

/// Where a policy that has a missing right comes from.
const POLICY: &str =
    "`fleet doctor --print-policy` prints a policy with exactly the rights that this spec needs";

/// What is lost without something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// An apply would fail.
    Must,
    /// It works, less well: in which way.
    Helps(&'static str),
}

/// How a try ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// In order; what was found.
    Good(String),
    /// A right is missing; its name.
    Missing(String),
    /// Turned down, and would be again.
    Refused(String),
    /// Nobody knows.
    Unknown(String),
}

/// One try in one region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tried {
    pub(super) subject: &'static str,
    pub(super) region: String,
    pub(super) need: Need,
    pub(super) outcome: Outcome,
}

/// Reads an answer to a dry run, or to a look.
pub(super) fn judge<T, E>(action: &str, answer: Result<T, SdkError<E, HttpResponse>>) -> Outcome
where
    E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
{
    match answer {
        Ok(_) => Outcome::Good("allowed".into()),
        Err(error) => refusal(action, &read(Asked::Read, error)),
    }
}

/// What a refusal means. EC2 looks at rights before it looks at anything else.
pub(super) fn refusal(action: &str, error: &Error) -> Outcome {
    let words = || format!("{}: {}", error.code, error.message);
    match error.code.as_str() {
        "DryRunOperation" | "InvalidInstanceID.NotFound" | "InvalidInstanceID.Malformed" => {
            Outcome::Good("allowed".into())
        }
        "UnauthorizedOperation" | "AccessDenied" | "AccessDeniedException" => {
            Outcome::Missing(missing(&error.message).unwrap_or(action).to_owned())
        }
        _ => match error.class {
            Class::Auth | Class::Invalid | Class::Refused { .. } | Class::Freeze => {
                Outcome::Refused(words())
            }
            Class::Retry { .. } | Class::Capacity { .. } | Class::Quota { .. } | Class::Unknown => {
                Outcome::Unknown(words())
            }
        },
    }
}

/// The right that a message names: a launch may fail for want of the right to tag.
fn missing(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("not authorized to perform: ")?;
    let action = rest.split_whitespace().next()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == ':' || c == '-';
    (action.contains(':') && action.chars().all(plain)).then_some(action)
}

/// One finding per subject and outcome, with the regions it holds in.
pub(super) fn summary(tried: &[Tried]) -> Vec<Finding> {
    let mut groups: Vec<(&Tried, Vec<&str>)> = Vec::new();
    for one in tried {
        let same = |other: &&mut (&Tried, Vec<&str>)| {
            (other.0.subject, &other.0.outcome) == (one.subject, &one.outcome)
        };
        match groups.iter_mut().find(same) {
            Some((_, regions)) => regions.push(&one.region),
            None => groups.push((one, vec![&one.region])),
        }
    }
    // In the order of the first try of each subject, so that its outcomes stand together.
    let order = |subject: &str| tried.iter().position(|one| one.subject == subject);
    groups.sort_by_key(|(one, _)| order(one.subject));
    groups.iter().map(|(one, regions)| finding(one, regions)).collect()
}

fn finding(tried: &Tried, regions: &[&str]) -> Finding {
    let place = regions.join(", ");
    let found = |verdict, words: String| Finding::new(verdict, tried.subject, words);
    match (&tried.outcome, tried.need) {
        (Outcome::Good(words), _) => found(Verdict::Good, format!("{words} in {place}")),
        (Outcome::Missing(action), Need::Must) => {
            found(Verdict::Bad, format!("{action} is missing in {place}")).hint(POLICY)
        }
        (Outcome::Missing(action), Need::Helps(lost)) => {
            found(Verdict::Doubtful, format!("{action} is missing in {place}: {lost}")).hint(POLICY)
        }
        (Outcome::Refused(words), Need::Must) => {
            found(Verdict::Bad, format!("refused in {place}: {words}"))
        }
        (Outcome::Refused(words), Need::Helps(lost)) => {
            found(Verdict::Doubtful, format!("refused in {place}: {words}; {lost}"))
        }
        (Outcome::Unknown(words), _) => {
            found(Verdict::Doubtful, format!("not known in {place}: {words}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::Cloud;

    fn error(class: Class, code: &str, message: &str) -> Error {
        Error::new(Cloud::Aws, class, code, message)
    }

    #[test]
    fn a_dry_run_that_would_succeed_is_a_right() {
        let good = Outcome::Good("allowed".into());
        for code in ["DryRunOperation", "InvalidInstanceID.NotFound"] {
            assert_eq!(refusal("ec2:X", &error(Class::Unknown, code, "")), good);
        }
        let denied =
            |message| refusal("ec2:X", &error(Class::Auth, "UnauthorizedOperation", message));
        assert_eq!(denied("You are not."), Outcome::Missing("ec2:X".into()));
        let words = "User: arn:aws:iam::1:user/a is not authorized to perform: ec2:CreateTags on resource: x";
        assert_eq!(denied(words), Outcome::Missing("ec2:CreateTags".into()));
        let hostile = "not authorized to perform: ec2:\u{1b}[31m on";
        assert_eq!(denied(hostile), Outcome::Missing("ec2:X".into()));
        let off = refusal("ec2:X", &error(Class::Invalid, "InvalidKeyPair.NotFound", "no k"));
        assert_eq!(off, Outcome::Refused("InvalidKeyPair.NotFound: no k".into()));
        let quiet = refusal("ec2:X", &error(Class::Retry { after: None }, "NoAnswer", "m"));
        assert_eq!(quiet, Outcome::Unknown("NoAnswer: m".into()));
    }

    #[test]
    fn regions_are_brought_together() {
        let one = |subject, region: &str, need, outcome| Tried {
            subject,
            region: region.into(),
            need,
            outcome,
        };
        let good = || Outcome::Good("allowed".into());
        let lost = Need::Helps("prices are old");
        let tried = [
            one("ec2:A", "r1", Need::Must, good()),
            one("ec2:B", "r1", lost, Outcome::Missing("ec2:B".into())),
            one("ec2:A", "r2", Need::Must, Outcome::Missing("ec2:A".into())),
            one("ec2:B", "r2", lost, Outcome::Missing("ec2:B".into())),
            one("ec2:A", "r3", Need::Must, good()),
        ];
        let lines: Vec<(Verdict, String)> = summary(&tried)
            .into_iter()
            .map(|f| (f.verdict, format!("{} {}", f.subject, f.words)))
            .collect();
        assert_eq!(
            lines,
            [
                (Verdict::Good, "ec2:A allowed in r1, r3".into()),
                (Verdict::Bad, "ec2:A ec2:A is missing in r2".into()),
                (Verdict::Doubtful, "ec2:B ec2:B is missing in r1, r2: prices are old".into()),
            ]
        );
    }
}
