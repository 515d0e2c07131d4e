//! Credentials and clients.
//!
//! Credentials come from Google's own chain: a service account's key or a workload identity
//! federation file (`GOOGLE_APPLICATION_CREDENTIALS`), `gcloud auth application-default login`,
//! and the metadata server. Nothing is loaded before the first call, so that commands which never
//! reach the cloud need no account.

use crate::error::refused;
use fleet_provider::{Class, Error, NO_CREDENTIALS, NOT_SET_UP, in_one_line};
use google_cloud_auth::credentials::{Builder, Credentials, anonymous, impersonated};
use google_cloud_billing_v1::client::CloudCatalog;
use google_cloud_compute_v1::client::{
    Advice, Images, Instances, MachineTypes, Projects, RegionInstances, RegionOperations, Regions,
    Reservations, ZoneOperations,
};
use google_cloud_gax::retry_policy::NeverRetry;
use google_cloud_resourcemanager_v3::client::Projects as Resources;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::{Mutex, OnceCell};

/// What takes longer than this is asked about, not waited for. `operations.wait` itself holds an
/// answer back for up to two minutes.
const ANSWER: Duration = Duration::from_secs(150);

/// The longest that flex-start machines may run.
const LONGEST_FLEX_START: u64 = 7 * 24;

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// Whose project is used, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GcpSettings {
    /// The project that machines are made in.
    pub project: Option<String>,
    /// A service account to act as with the credentials found, for fleets in another project.
    pub impersonate: Option<String>,
    /// On-demand machines with accelerators are asked for as flex-start, and run for at most this
    /// many hours.
    pub flex_start_hours: Option<u64>,
    /// Where to send requests instead of Google's own addresses, without credentials: an emulator.
    pub endpoint: Option<String>,
}

impl GcpSettings {
    /// From `FLEET_GCP_PROJECT` (else `GOOGLE_CLOUD_PROJECT`, else the project of the key file),
    /// `FLEET_GCP_IMPERSONATE`, `FLEET_GCP_FLEX_START_HOURS` and `FLEET_GCP_ENDPOINT`.
    pub fn from_environment() -> Self {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let hours = set("FLEET_GCP_FLEX_START_HOURS").and_then(|hours| hours.parse().ok());
        GcpSettings {
            project: set("FLEET_GCP_PROJECT")
                .or_else(|| set("GOOGLE_CLOUD_PROJECT"))
                .or_else(|| project_of_key(&set("GOOGLE_APPLICATION_CREDENTIALS")?)),
            impersonate: set("FLEET_GCP_IMPERSONATE"),
            flex_start_hours: hours.filter(|hours| (1..=LONGEST_FLEX_START).contains(hours)),
            endpoint: set("FLEET_GCP_ENDPOINT"),
        }
    }
}

impl GcpSettings {
    /// The same in another project. `{project}` in the account to act as stands for its name.
    pub(crate) fn for_project(&self, project: &str) -> Self {
        GcpSettings { project: Some(project.to_owned()), ..self.clone() }
    }

    fn acts_as(&self) -> Option<String> {
        let project = self.project.as_deref().unwrap_or_default();
        self.impersonate.as_ref().map(|account| account.replace("{project}", project))
    }
}

/// The project that a service account's key speaks of.
fn project_of_key(path: &str) -> Option<String> {
    of_key(path, "project_id")
}

fn of_key(path: &str, field: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let key: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(key.get(field)?.as_str()?.to_owned())
}

/// Clients, made at the first call.
pub(crate) struct Session {
    pub(crate) settings: GcpSettings,
    clients: OnceCell<Clients>,
    /// Images that were looked up. One run uses one answer, so that a request sent twice is the
    /// same request.
    images: Mutex<BTreeMap<String, String>>,
}

/// A client per resource, all with the same credentials, and the project they work in.
pub(crate) struct Clients {
    pub(crate) project: String,
    pub(crate) advice: Advice,
    pub(crate) catalog: CloudCatalog,
    pub(crate) images: Images,
    pub(crate) instances: Instances,
    pub(crate) machine_types: MachineTypes,
    pub(crate) projects: Projects,
    pub(crate) region_instances: RegionInstances,
    pub(crate) region_operations: RegionOperations,
    pub(crate) regions: Regions,
    pub(crate) reservations: Reservations,
    pub(crate) resources: Resources,
    pub(crate) zone_operations: ZoneOperations,
}

impl Session {
    pub(crate) fn new(settings: GcpSettings) -> Self {
        Session { settings, clients: OnceCell::new(), images: Mutex::default() }
    }

    /// The clients. A failure is not kept: the next call looks again.
    pub(crate) async fn clients(&self) -> Result<&Clients, Error> {
        self.clients.get_or_try_init(|| connect(&self.settings)).await
    }

    /// The account that we act as, where it is known without asking anybody: operations name the
    /// account that began them.
    pub(crate) fn account(&self) -> Option<String> {
        let key = || std::env::var("GOOGLE_APPLICATION_CREDENTIALS").ok();
        self.settings.acts_as().or_else(|| of_key(&key()?, "client_email"))
    }

    /// The image that was looked up under a name, if it was.
    pub(crate) async fn known_image(&self, name: &str) -> Option<String> {
        self.images.lock().await.get(name).cloned()
    }

    /// Keeps an image for the rest of the run. The first answer stands.
    pub(crate) async fn keep_image(&self, name: String, link: String) -> String {
        self.images.lock().await.entry(name).or_insert(link).clone()
    }
}

async fn connect(settings: &GcpSettings) -> Result<Clients, Error> {
    let Some(project) = settings.project.clone() else {
        let words = "no project is named; set FLEET_GCP_PROJECT or GOOGLE_CLOUD_PROJECT";
        return Err(refused(Class::Auth, NOT_SET_UP, words));
    };
    let credentials = credentials(settings)?;
    macro_rules! client {
        ($client:ty) => {{
            let mut builder = <$client>::builder()
                .with_credentials(credentials.clone())
                // Retries are the engine's: one layer, with a budget, that knows what must not be
                // sent twice.
                .with_retry_policy(NeverRetry)
                .with_attempt_timeout(ANSWER);
            if let Some(endpoint) = &settings.endpoint {
                builder = builder.with_endpoint(endpoint);
            }
            builder.build().await.map_err(|error| no_credentials(&error))?
        }};
    }
    Ok(Clients {
        project,
        advice: client!(Advice),
        catalog: client!(CloudCatalog),
        images: client!(Images),
        instances: client!(Instances),
        machine_types: client!(MachineTypes),
        projects: client!(Projects),
        region_instances: client!(RegionInstances),
        region_operations: client!(RegionOperations),
        regions: client!(Regions),
        reservations: client!(Reservations),
        resources: client!(Resources),
        zone_operations: client!(ZoneOperations),
    })
}

fn credentials(settings: &GcpSettings) -> Result<Credentials, Error> {
    if settings.endpoint.is_some() {
        return Ok(anonymous::Builder::new().build());
    }
    let found =
        Builder::default().with_scopes([SCOPE]).build().map_err(|error| no_credentials(&error))?;
    match settings.acts_as() {
        None => Ok(found),
        Some(account) => impersonated::Builder::from_source_credentials(found)
            .with_target_principal(account)
            .build()
            .map_err(|error| no_credentials(&error)),
    }
}

fn no_credentials(error: &(dyn std::error::Error + 'static)) -> Error {
    refused(Class::Auth, NO_CREDENTIALS, in_one_line(error))
}
