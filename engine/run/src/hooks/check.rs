//! Checks of one machine: a connection, a GET, a program.

use crate::hooks::HookTarget;
use crate::hooks::command::{self, Failed};
use bytes::Bytes;
use fleet_model::{Health, Probe, ProbeAddress, Probed};
use http_body_util::Empty;
use hyper::Request;
use hyper_util::rt::TokioIo;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;

/// All checks of a machine, until one fails.
pub(super) async fn all(of: HookTarget<'_>, health: &Health) -> Probed {
    let within = Duration::from_secs(health.timeout_seconds.into());
    for probe in &health.probes {
        let said = match probe {
            Probe::Command { argv } => match command::run(of, argv, within).await {
                Ok(()) => Probed::Passed,
                Err(Failed::Ended(words)) => Probed::Failed { words },
                Err(Failed::NotStarted(words)) => Probed::NotMade { words },
            },
            Probe::Tcp { port } => over_network(of, health, within, *port, None).await,
            Probe::Http { port, path } => over_network(of, health, within, *port, Some(path)).await,
        };
        if said != Probed::Passed {
            return said;
        }
    }
    Probed::Passed
}

async fn over_network(
    of: HookTarget<'_>,
    health: &Health,
    within: Duration,
    port: u16,
    path: Option<&String>,
) -> Probed {
    let access = &of.machine.access;
    let ip = match health.address {
        ProbeAddress::Private => access.private_ip,
        ProbeAddress::Public => access.public_ip,
    };
    let Some(ip) = ip else {
        let words = format!("it has no {} address", health.address.as_str());
        return Probed::Failed { words };
    };
    let asked = async {
        match path {
            None => connect(ip, port).await.map(|_| ()),
            Some(path) => get(ip, port, path).await,
        }
    };
    match tokio::time::timeout(within, asked).await {
        Ok(Ok(())) => Probed::Passed,
        Ok(Err(words)) => Probed::Failed { words },
        Err(_) => Probed::Failed { words: format!("port {port} did not answer within {within:?}") },
    }
}

async fn connect(ip: IpAddr, port: u16) -> Result<TcpStream, String> {
    let stream = TcpStream::connect(SocketAddr::new(ip, port)).await;
    stream.map_err(|error| format!("port {port}: {error}"))
}

async fn get(ip: IpAddr, port: u16, path: &str) -> Result<(), String> {
    let stream = connect(ip, port).await?;
    let wrong = |error: hyper::Error| format!("port {port}: {error}");
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(wrong)?;
    let host = SocketAddr::new(ip, port).to_string();
    let request = Request::get(path)
        .header(hyper::header::HOST, host)
        .header(hyper::header::USER_AGENT, "fleet")
        .header(hyper::header::CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    let answer = async {
        let answer = sender.send_request(request).await.map_err(wrong)?;
        let status = answer.status();
        match status.is_success() || status.is_redirection() {
            true => Ok(()),
            false => Err(format!("GET {path} answered {status}")),
        }
    };
    // The connection does its work only while somebody waits for it.
    let mut answer = std::pin::pin!(answer);
    tokio::select! {
        biased;
        answer = &mut answer => answer,
        ended = connection => match ended {
            // What came before the end is there.
            Ok(()) => answer.await,
            Err(error) => Err(wrong(error)),
        },
    }
}
