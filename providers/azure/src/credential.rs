//! Who we are: environment, workload identity, managed identity, then the Azure CLI.

use crate::error::refused;
use azure_core::credentials::{AccessToken, Secret, TokenCredential};
use azure_core::time::{Duration as Span, OffsetDateTime};
use azure_identity::{
    AzureCliCredential, ClientSecretCredential, ManagedIdentityCredential,
    ManagedIdentityCredentialOptions, UserAssignedId, WorkloadIdentityCredential,
};
use fleet_provider::{Class, Error, NO_CREDENTIALS};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// What tokens are for.
const SCOPE: &str = "https://management.azure.com/.default";

/// Outside of Azure nobody answers for a managed identity; it is not waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Who was found nowhere is not looked for again at once.
const PAUSE: Duration = Duration::from_secs(60);

/// A token is renewed when it has less than this left.
const MARGIN: Span = Span::minutes(5);

/// What answered, and the last token that it gave.
#[derive(Debug)]
struct Source {
    credential: Arc<dyn TokenCredential>,
    token: AccessToken,
}

/// Looks for credentials at the first call, and keeps to what it found.
#[derive(Debug, Default)]
pub(crate) struct Chain(Mutex<Found>);

#[derive(Debug, Default)]
struct Found {
    source: Option<Source>,
    /// When and why nothing was found. Looking takes seconds, and a run asks for many regions.
    nothing: Option<(Instant, Error)>,
}

impl Chain {
    /// A token that holds for some time yet.
    pub(crate) async fn token(&self) -> Result<Secret, Error> {
        let mut found = self.0.lock().await;
        if let Some(source) = &mut found.source {
            if source.token.expires_on - MARGIN <= OffsetDateTime::now_utc() {
                let renewed = source.credential.get_token(&[SCOPE], None).await;
                source.token = renewed.map_err(|why| none(&why))?;
            }
            return Ok(source.token.token.clone());
        }
        if let Some((at, error)) = &found.nothing
            && at.elapsed() < PAUSE
        {
            return Err(error.clone());
        }
        let mut reasons = Vec::new();
        for (name, credential) in candidates() {
            let Some(credential) = credential else { continue };
            let asked = credential.get_token(&[SCOPE], None);
            match tokio::time::timeout(patience(name), asked).await {
                Ok(Ok(token)) => {
                    let secret = token.token.clone();
                    found.source = Some(Source { credential, token });
                    return Ok(secret);
                }
                Ok(Err(_)) | Err(_) => reasons.push(name),
            }
        }
        let words = format!(
            "no credentials: tried {}. Set AZURE_TENANT_ID, AZURE_CLIENT_ID and \
             AZURE_CLIENT_SECRET, or run `az login`",
            reasons.join(", ")
        );
        let error = refused(Class::Auth, NO_CREDENTIALS, words);
        found.nothing = Some((Instant::now(), error.clone()));
        Err(error)
    }
}

/// The CLI starts an interpreter, which takes its time.
fn patience(name: &str) -> Duration {
    if name == "managed identity" { PATIENCE } else { Duration::from_secs(30) }
}

fn none(why: &azure_core::Error) -> Error {
    refused(Class::Auth, NO_CREDENTIALS, why.to_string())
}

/// What may know who we are, in the order in which it is asked. `None`: not set up.
fn candidates() -> Vec<(&'static str, Option<Arc<dyn TokenCredential>>)> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let mut all: Vec<(&'static str, Option<Arc<dyn TokenCredential>>)> = Vec::new();
    let mut add = |name, credential| all.push((name, credential));
    let (tenant, client) = (set("AZURE_TENANT_ID"), set("AZURE_CLIENT_ID"));
    let secret = match (&tenant, &client, set("AZURE_CLIENT_SECRET")) {
        (Some(tenant), Some(client), Some(secret)) => {
            ClientSecretCredential::new(tenant, client.clone(), Secret::new(secret), None).ok()
        }
        _ => None,
    };
    add("environment", secret.map(|found| found as Arc<dyn TokenCredential>));
    let workload = WorkloadIdentityCredential::new(None).ok();
    add("workload identity", workload.map(|found| found as Arc<dyn TokenCredential>));
    let managed = ManagedIdentityCredentialOptions {
        user_assigned_id: client.map(UserAssignedId::ClientId),
        ..ManagedIdentityCredentialOptions::default()
    };
    let managed = ManagedIdentityCredential::new(Some(managed)).ok();
    add("managed identity", managed.map(|found| found as Arc<dyn TokenCredential>));
    let cli = AzureCliCredential::new(None).ok();
    add("Azure CLI", cli.map(|found| found as Arc<dyn TokenCredential>));
    all
}
