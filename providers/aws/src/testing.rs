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
    body.split('&').map(|pair| decode(&pair.replacen('=', " = ", 1))).collect::<Vec<_>>().join("\n")
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let hex = [rest.next().expect("hex"), rest.next().expect("hex")];
            let hex = std::str::from_utf8(&hex).expect("hex");
            bytes.push(u8::from_str_radix(hex, 16).expect("hex"));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).expect("text")
}
