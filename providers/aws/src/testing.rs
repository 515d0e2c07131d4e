//! Request bodies as they leave for EC2, caught at the last moment and never sent.

use aws_credential_types::Credentials;
use aws_sdk_ec2::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_ec2::config::{BehaviorVersion, ConfigBag, Intercept, Region, RuntimeComponents};
use aws_sdk_ec2::error::BoxError;
use std::sync::{Arc, Mutex};

/// Takes the body and stops the request.
#[derive(Debug, Clone, Default)]
struct Catch(Arc<Mutex<String>>);

impl Intercept for Catch {
    fn name(&self) -> &'static str {
        "Catch"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let body = context.request().body().bytes().unwrap_or_default();
        *self.0.lock().expect("alone") = String::from_utf8_lossy(body).into_owned();
        Err("caught".into())
    }
}

/// A body as lines, each `key = value`, in the order in which they are sent.
pub(crate) async fn caught(send: impl AsyncFnOnce(aws_sdk_ec2::Client)) -> String {
    let catch = Catch::default();
    let config = aws_sdk_ec2::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .endpoint_url("http://127.0.0.1:1")
        .credentials_provider(Credentials::new("key", "secret", None, None, "test"))
        .interceptor(catch.clone())
        .build();
    send(aws_sdk_ec2::Client::from_conf(config)).await;
    let body = catch.0.lock().expect("alone").clone();
    let fields = url::form_urlencoded::parse(body.as_bytes());
    fields.map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join("\n")
}
