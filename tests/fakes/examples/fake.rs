//! A fake cloud on a port, for programs outside: `fake lambda 4100`, `fake azure 4200`,
//! `fake gcp 4016`.

use fleet_fakes::azure::AzureCloud;
use fleet_fakes::lambda::LambdaCloud;
use fleet_fakes::{Server, gcp};
use fleet_testkit::RealClock;
use std::io::{Error, Result, Write};
use std::sync::Arc;

#[tokio::main]
async fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let cloud = args.next().unwrap_or_default();
    let port = args.next().and_then(|port| port.parse().ok()).unwrap_or_default();
    let clock = Arc::new(RealClock);
    match cloud.as_str() {
        "lambda" => {
            let server = Server::start(LambdaCloud::default(), clock, port).await?;
            say(&server.url());
            std::future::pending::<()>().await;
        }
        "azure" => {
            let server = Server::start(AzureCloud::quick(), clock, port).await?;
            say(&server.url());
            std::future::pending::<()>().await;
        }
        "gcp" => gcp::serve_on(port).await?,
        _ => return Err(Error::other("name a cloud: azure, gcp, lambda")),
    }
    Ok(())
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
