//! What EC2 says of a call that did not succeed, and what no answer at all means.
//!
//! Codes are judged by the table of evidence that all clouds share. EC2 carries a want of capacity
//! in a 500; other 5xx say that something is broken, whatever words they carry: after one, a launch
//! may or may not have happened.

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_ec2::config::http::HttpResponse;
use aws_sdk_ec2::error::{ProvideErrorMetadata, SdkError};
use fleet_model::Cloud;
use fleet_provider::evidence::{Call, judge};
pub(crate) use fleet_provider::{Asked, LOOK_AGAIN};
use fleet_provider::{Class, Error, NO_CREDENTIALS, in_one_line};
use std::error::Error as StdError;
use std::io::ErrorKind;

/// What a status, a code and its words mean for whoever asked: the table of evidence decides.
pub(crate) fn classify(asked: Asked, status: u16, code: &str, message: &str) -> Error {
    let call = match asked {
        Asked::Read => Call::Look,
        Asked::Launch => Call::Launch,
        Asked::End => Call::End,
    };
    judge(Cloud::Aws, call, status, code, message, None)
}

/// An error of our own making: nothing was sent.
pub(crate) fn refused(class: Class, code: &str, message: impl Into<String>) -> Error {
    Error::new(Cloud::Aws, class, code, message)
}

/// Reads what the SDK says of a call that did not succeed.
pub(crate) fn read<E>(asked: Asked, error: SdkError<E, HttpResponse>) -> Error
where
    E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
{
    match &error {
        SdkError::ServiceError(answer) => {
            let status = answer.raw().status().as_u16();
            let meta = answer.err().meta();
            let code = match meta.code() {
                Some(code) => code.to_owned(),
                None => format!("Http{status}"),
            };
            classify(asked, status, &code, meta.message().unwrap_or("(no message)"))
        }
        SdkError::ConstructionFailure(_) | SdkError::DispatchFailure(_) => {
            let (class, code) = unsent(asked, &error);
            let why = in_one_line(&error);
            if code == NO_CREDENTIALS {
                // The SDK's own words are a chain of everywhere it looked.
                tracing::debug!(why, "no credentials");
                return Error::new(Cloud::Aws, class, code, NO_KEY);
            }
            Error::new(Cloud::Aws, class, code, why)
        }
        SdkError::TimeoutError(_) => {
            Error::new(Cloud::Aws, asked.silence(), "RequestTimeout", in_one_line(&error))
        }
        _ => Error::new(Cloud::Aws, asked.silence(), "UnreadableAnswer", in_one_line(&error)),
    }
}

/// What a person does about it.
const NO_KEY: &str = "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or log in with `aws sso login`";

/// A call of which no answer came: most often we cannot know whether the request arrived.
fn unsent(asked: Asked, error: &(dyn StdError + 'static)) -> (Class, &'static str) {
    let mut cause = Some(error);
    while let Some(this) = cause {
        if this.is::<CredentialsError>() {
            return (Class::Auth, NO_CREDENTIALS);
        }
        if let Some(io) = this.downcast_ref::<std::io::Error>()
            && io.kind() == ErrorKind::ConnectionRefused
        {
            return (Class::Retry { after: None }, "ConnectionRefused");
        }
        cause = this.source();
    }
    (asked.silence(), "NoAnswer")
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
