//! Who may ask a controller, and `fleet token`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Who is let in, and how much.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Who may ask")]
pub(crate) struct DoorArgs {
    /// File of tokens that let in, as `fleet token new` writes it; any address but loopback needs one, or OpenID
    #[arg(long, value_name = "FILE", env = "FLEET_TOKENS")]
    pub tokens: Option<PathBuf>,
    /// OpenID provider whose tokens let in
    #[arg(long, value_name = "URL", requires = "oidc_audience")]
    pub oidc_issuer: Option<String>,
    /// Audience that its tokens must be for
    #[arg(long, value_name = "TEXT", requires = "oidc_issuer")]
    pub oidc_audience: Option<String>,
    /// Claim of those who may act: groups=sre, email=ada@example.com; several are alternatives
    #[arg(long, value_name = "CLAIM=VALUE", requires = "oidc_issuer")]
    pub oidc_operators: Vec<String>,
    /// Claim of those who may look [default: everybody with a token for the audience]
    #[arg(long, value_name = "CLAIM=VALUE", requires = "oidc_issuer")]
    pub oidc_viewers: Vec<String>,
    /// Certificate chain in PEM; read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Its private key in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Requests per second and caller; four times as many at once
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rate: u32,
    /// Connections at the same time; one address gets at most half
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub connections: u32,
}

/// What to do with tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token, print it once, and keep its digest
    New(NewTokenArgs),
}

/// `fleet token new`.
#[derive(Debug, Args)]
pub(crate) struct NewTokenArgs {
    /// Whose it is: journals say so
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What it may do
    #[arg(long, value_enum, value_name = "ROLE")]
    pub role: TokenRole,
    /// File of tokens; made if missing
    #[arg(long, value_name = "FILE", env = "FLEET_TOKENS")]
    pub tokens: PathBuf,
}

/// What a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenRole {
    /// Look
    Viewer,
    /// Look and act: reconcile, freeze, thaw, rollout, notice
    Operator,
    /// Tell of a machine, that it is taken back or how busy it is, and nothing else: for the machines themselves
    Agent,
}
