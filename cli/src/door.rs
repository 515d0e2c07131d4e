//! Who is let in to a controller, from the flags.

use crate::args::DoorArgs;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use fleet_controller::door::tokens::Tokens;
use fleet_controller::door::{Amounts, Door};
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// Listens at an address of this machine that nobody else reaches: for pages that ask nobody who they are.
pub(crate) async fn listen_here(address: &str) -> Answer<(TcpListener, Door)> {
    let (meant, here) = meant(address).await?;
    if !here {
        return Err(Failure::new("anybody who reaches this address could look at fleets")
            .at(place(address))
            .hint("listen at 127.0.0.1, or run `fleet controller --dry-run` with --tokens")
            .exit(Exit::Usage));
    }
    let listener =
        TcpListener::bind(meant.as_slice()).await.map_err(|cause| cannot(address, &cause))?;
    Ok((listener, Door::loopback(Amounts::default())))
}

fn place(address: &str) -> String {
    format!("--listen {address}")
}

fn cannot(address: &str, cause: &std::io::Error) -> Failure {
    Failure::new(format!("cannot listen: {cause}"))
        .at(place(address))
        .hint("name another address such as 127.0.0.1:0")
}

/// The addresses that a name stands for, and whether this machine alone reaches them.
async fn meant(address: &str) -> Answer<(Vec<SocketAddr>, bool)> {
    let found = tokio::net::lookup_host(address).await.map_err(|cause| cannot(address, &cause))?;
    let found: Vec<SocketAddr> = found.collect();
    let here = found.iter().all(|address| address.ip().is_loopback());
    Ok((found, here))
}

/// Listens at an address that the flags make safe to listen at.
pub(crate) async fn listen(address: &str, args: &DoorArgs) -> Answer<(TcpListener, Door)> {
    let (meant, here) = meant(address).await?;
    if !here && args.tokens.is_none() && args.oidc_issuer.is_none() {
        return Err(Failure::new("anybody who reaches this address could change fleets")
            .at(place(address))
            .hint("add --tokens FILE (`fleet token new` makes one) or --oidc-issuer, or listen at 127.0.0.1")
            .exit(Exit::Usage));
    }
    if !here && args.tls_cert.is_none() {
        tracing::warn!(
            address,
            "tokens cross the network as they are: add --tls-cert and --tls-key, or put a proxy with TLS in front"
        );
    }
    let door = door(args)?;
    let listener =
        TcpListener::bind(meant.as_slice()).await.map_err(|cause| cannot(address, &cause))?;
    Ok((listener, door))
}

fn door(args: &DoorArgs) -> Answer<Door> {
    let amounts = Amounts { rate: f64::from(args.rate), connections: args.connections as usize };
    let mut door = Door::loopback(amounts);
    if let Some(file) = &args.tokens {
        door = door.with_tokens(Tokens::open(file)?);
    }
    with_tls(door, args)
}

#[cfg(feature = "tls")]
fn with_tls(mut door: Door, args: &DoorArgs) -> Answer<Door> {
    use fleet_controller::door::oidc::{Membership, Oidc};
    use fleet_controller::door::tls::Certificate;
    let members = |some: &[String], flag: &str| -> Answer<Vec<Membership>> {
        let parsed = some.iter().map(|one| one.parse::<Membership>());
        let parsed: Result<Vec<_>, String> = parsed.collect();
        parsed.map_err(|cause| Failure::new(cause).at(flag).exit(Exit::Usage))
    };
    if let (Some(issuer), Some(audience)) = (&args.oidc_issuer, &args.oidc_audience) {
        let operators = members(&args.oidc_operators, "--oidc-operators")?;
        let viewers = members(&args.oidc_viewers, "--oidc-viewers")?;
        door = door.with_oidc(Oidc::new(issuer, audience, operators, viewers)?);
    }
    if let (Some(certificate), Some(key)) = (&args.tls_cert, &args.tls_key) {
        door = door.with_tls(Certificate::open(certificate, key)?);
    }
    Ok(door)
}

#[cfg(not(feature = "tls"))]
fn with_tls(door: Door, args: &DoorArgs) -> Answer<Door> {
    let flags =
        [("--oidc-issuer", args.oidc_issuer.is_some()), ("--tls-cert", args.tls_cert.is_some())];
    match flags.iter().find(|(_, given)| *given) {
        None => Ok(door),
        Some((flag, _)) => Err(Failure::new("this build has no TLS")
            .at(flag)
            .hint("build `fleet` with the feature `tls`")
            .exit(Exit::Usage)),
    }
}
