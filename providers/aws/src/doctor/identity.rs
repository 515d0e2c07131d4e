//! Who we are, and whether our clock is right.

use crate::error::{Asked, read};
use crate::session::Session;
use aws_sdk_sts::config::interceptors::BeforeDeserializationInterceptorContextRef;
use aws_sdk_sts::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_sts::error::BoxError;
use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use fleet_model::Timestamp;
use fleet_provider::NO_CREDENTIALS;
use fleet_provider::{Clock, Error, Finding, Verdict};
use std::sync::{Arc, Mutex, PoisonError};

/// AWS refuses what is signed more than five minutes from its own time.
const REFUSED_FROM: u64 = 4 * 60;

/// No computer with a working time service is that far off.
const STRANGE_FROM: u64 = 60;

/// Who asks.
pub(super) struct Who {
    pub(super) account: Option<String>,
    pub(super) findings: Vec<Finding>,
}

/// Asks who we are; no right is needed for that.
pub(super) async fn look(session: &Session, clock: &dyn Clock) -> Who {
    let date = Date::default();
    let asked = session.sts().await.get_caller_identity().customize().interceptor(date.clone());
    let answer = asked.send().await.map_err(|error| read(Asked::Read, error));
    let now = clock.now();
    let (account, identity) = match answer {
        Ok(answer) => {
            let (account, arn) = (answer.account().unwrap_or("?"), answer.arn().unwrap_or("?"));
            (answer.account().map(str::to_owned), known(account, arn, session.role().as_deref()))
        }
        Err(error) => (None, unknown(&error, session.role().as_deref())),
    };
    Who { account, findings: vec![identity, time(date.seen(), now)] }
}

fn known(account: &str, arn: &str, role: Option<&str>) -> Finding {
    let through = role.map(|role| format!(", through {role}")).unwrap_or_default();
    let words = format!("account {account}, {}{through}", who(arn));
    if arn.ends_with(":root") {
        return Finding::new(Verdict::Doubtful, "identity", words)
            .hint("use a role or a user with the rights of `--print-policy`, not the root user");
    }
    Finding::new(Verdict::Good, "identity", words)
}

/// The name in an ARN, with what it is: `role deploy, session ci-7`.
fn who(arn: &str) -> String {
    let Some(name) = arn.splitn(6, ':').nth(5) else { return arn.to_owned() };
    match name.split('/').collect::<Vec<_>>().as_slice() {
        ["root"] => "the root user".into(),
        ["assumed-role", role, session] => format!("role {role}, session {session}"),
        ["user", .., user] => format!("user {user}"),
        _ => name.to_owned(),
    }
}

fn unknown(error: &Error, role: Option<&str>) -> Finding {
    let words = format!("{}: {}", error.code, error.message);
    let hint = match (error.code.as_str(), role) {
        (NO_CREDENTIALS, None) => {
            "set AWS_PROFILE, run `aws sso login`, or use an instance role; docs/aws.md lists all ways"
                .to_owned()
        }
        (_, Some(role)) => {
            format!("check that the credentials may take on {role} (FLEET_AWS_ROLE_ARN)")
        }
        (_, None) => "check the credentials and the network: `aws sts get-caller-identity`".into(),
    };
    Finding::new(Verdict::Bad, "identity", words).hint(hint)
}

/// How far our clock is from that of AWS.
fn time(seen: Option<i64>, now: Timestamp) -> Finding {
    let Some(theirs) = seen else {
        return Finding::new(Verdict::Doubtful, "clock", "no answer said what time it is");
    };
    let off = theirs.abs_diff(now.as_second());
    let words = format!("{off} s from the time of AWS");
    let verdict = match off {
        _ if off > REFUSED_FROM => Verdict::Bad,
        _ if off > STRANGE_FROM => Verdict::Doubtful,
        _ => return Finding::new(Verdict::Good, "clock", words),
    };
    Finding::new(verdict, "clock", words)
        .hint("AWS refuses requests that are signed five minutes off: set the clock by NTP")
}

/// Keeps the date of an answer, also of one that is a refusal.
#[derive(Debug, Clone, Default)]
struct Date(Arc<Mutex<Option<i64>>>);

impl Date {
    fn seen(&self) -> Option<i64> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Intercept for Date {
    fn name(&self) -> &'static str {
        "Date"
    }

    fn read_before_deserialization(
        &self,
        context: &BeforeDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let said = context.response().headers().get("date");
        let date = said.and_then(|text| DateTime::from_str(text, Format::HttpDate).ok());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = date.map(|date| date.secs());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::Cloud;
    use fleet_provider::Class;

    #[test]
    fn arns_are_told_in_words() {
        let check = |arn: &str, expect: &str| assert_eq!(who(arn), expect);
        check("arn:aws:sts::1:assumed-role/deploy/ci-7", "role deploy, session ci-7");
        check("arn:aws:iam::1:user/team/ann", "user ann");
        check("arn:aws:iam::1:root", "the root user");
        check("arn:aws:sts::1:federated-user/bob", "federated-user/bob");
        check("strange", "strange");
        assert_eq!(known("1", "arn:aws:iam::1:root", None).verdict, Verdict::Doubtful);
        assert_eq!(known("1", "arn:aws:iam::1:user/ann", None).verdict, Verdict::Good);
    }

    #[test]
    fn a_clock_may_be_off_by_a_minute() {
        let now = Timestamp::from_second(1_000_000).expect("a time");
        let check = |theirs: Option<i64>, expect| {
            assert_eq!(time(theirs, now).verdict, expect, "{theirs:?}");
        };
        check(Some(1_000_030), Verdict::Good);
        check(Some(999_940), Verdict::Good);
        check(Some(999_939), Verdict::Doubtful);
        check(Some(1_000_240), Verdict::Doubtful);
        check(Some(1_000_241), Verdict::Bad);
        check(Some(0), Verdict::Bad);
        check(None, Verdict::Doubtful);
    }

    #[test]
    fn a_failure_says_what_to_do() {
        let error = |code: &str| Error::new(Cloud::Aws, Class::Auth, code, "m");
        let hint = |code, role| unknown(&error(code), role).hint.unwrap_or_default();
        assert!(hint("NoCredentials", None).contains("AWS_PROFILE"));
        assert!(hint("AccessDenied", Some("arn:r")).contains("arn:r"));
        assert!(hint("ExpiredToken", None).contains("credentials"));
    }
}
