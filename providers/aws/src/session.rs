//! Credentials and clients.
//!
//! Credentials come from the SDK's own chain: environment, profiles, SSO, web identity (OIDC in
//! CI), container and instance roles. Nothing is loaded before the first call, so that commands
//! which never reach the cloud need no account.

use crate::error::{Asked, read};
use crate::image::Image;
use crate::zones::Zones;
use aws_config::default_provider::region::DefaultRegionChain;
use aws_config::meta::region::RegionProviderChain;
use aws_config::retry::RetryConfig;
use aws_config::sts::AssumeRoleProvider;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use fleet_provider::Error;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;

/// A connection that is not there by then will not come.
const CONNECT: Duration = Duration::from_secs(5);

/// A launch of a hundred machines takes the service some seconds. What takes longer than this is
/// asked about, not waited for.
const ANSWER: Duration = Duration::from_secs(60);

/// Signing needs some region even before we know which one we talk to.
pub(crate) const ANY_REGION: &str = "us-east-1";

/// Where the price list is served.
const PRICES: Region = Region::from_static("us-east-1");

/// Whose account is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AwsSettings {
    /// A role to take on with the credentials found, for fleets in another account.
    pub role: Option<String>,
    /// What that role's owner asks for, if anything.
    pub external_id: Option<String>,
    /// Where to send requests instead of AWS's own addresses: an emulator, for tests. Users set
    /// `AWS_ENDPOINT_URL`.
    pub endpoint: Option<String>,
}

impl AwsSettings {
    /// From `FLEET_AWS_ROLE_ARN` and `FLEET_AWS_EXTERNAL_ID`. Everything else is the SDK's own:
    /// `AWS_PROFILE`, `AWS_ENDPOINT_URL`, …
    pub fn from_environment() -> Self {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        AwsSettings {
            role: set("FLEET_AWS_ROLE_ARN"),
            external_id: set("FLEET_AWS_EXTERNAL_ID"),
            // The SDK reads it itself, from the environment and from profiles.
            endpoint: None,
        }
    }
}

/// Clients, one set per region, all on one connection pool and one set of credentials.
pub(crate) struct Session {
    settings: AwsSettings,
    config: OnceCell<SdkConfig>,
    sites: Mutex<BTreeMap<String, Arc<Site>>>,
}

/// One region as this account sees it.
pub(crate) struct Site {
    /// The region's name.
    pub(crate) region: String,
    pub(crate) ec2: aws_sdk_ec2::Client,
    pub(crate) ssm: aws_sdk_ssm::Client,
    zones: OnceCell<Zones>,
    /// Images that were looked up. One run uses one answer, so that a request sent twice is the
    /// same request.
    images: tokio::sync::Mutex<BTreeMap<String, Image>>,
}

impl Session {
    pub(crate) fn new(settings: AwsSettings) -> Self {
        Session { settings, config: OnceCell::new(), sites: Mutex::default() }
    }

    /// The clients of a region.
    pub(crate) async fn site(&self, region: &str) -> Arc<Site> {
        let config = self.config.get_or_init(|| load(&self.settings)).await;
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let site =
            sites.entry(region.to_owned()).or_insert_with(|| Arc::new(Site::new(config, region)));
        site.clone()
    }

    /// The role that is taken on with the credentials found, if any.
    pub(crate) fn role(&self) -> Option<&str> {
        self.settings.role.as_deref()
    }

    /// Who we are. Asked where the credentials' own configuration points.
    pub(crate) async fn sts(&self) -> aws_sdk_sts::Client {
        aws_sdk_sts::Client::new(self.config.get_or_init(|| load(&self.settings)).await)
    }

    /// The price list, which AWS serves for all regions from a few of them.
    pub(crate) async fn pricing(&self) -> aws_sdk_pricing::Client {
        let config = self.config.get_or_init(|| load(&self.settings)).await;
        let here = aws_sdk_pricing::config::Builder::from(config).region(PRICES);
        aws_sdk_pricing::Client::from_conf(here.build())
    }

    /// The limits of the account in a region.
    pub(crate) async fn quotas(&self, region: &str) -> aws_sdk_servicequotas::Client {
        let config = self.config.get_or_init(|| load(&self.settings)).await;
        let here = aws_sdk_servicequotas::config::Builder::from(config);
        let here = here.region(Region::new(region.to_owned())).build();
        aws_sdk_servicequotas::Client::from_conf(here)
    }
}

impl Site {
    fn new(config: &SdkConfig, region: &str) -> Self {
        let here = Region::new(region.to_owned());
        let ec2 = aws_sdk_ec2::config::Builder::from(config).region(here.clone()).build();
        let ssm = aws_sdk_ssm::config::Builder::from(config).region(here).build();
        Site {
            region: region.to_owned(),
            ec2: aws_sdk_ec2::Client::from_conf(ec2),
            ssm: aws_sdk_ssm::Client::from_conf(ssm),
            zones: OnceCell::new(),
            images: tokio::sync::Mutex::default(),
        }
    }

    /// The region's zones. They do not change while we run.
    pub(crate) async fn zones(&self) -> Result<&Zones, Error> {
        self.zones
            .get_or_try_init(|| async {
                let asked = self.ec2.describe_availability_zones().all_availability_zones(true);
                let answer = asked.send().await.map_err(|error| read(Asked::Read, error))?;
                Ok(Zones::read(&answer))
            })
            .await
    }

    /// The image that was looked up under a name, if it was.
    pub(crate) async fn known_image(&self, name: &str) -> Option<Image> {
        self.images.lock().await.get(name).cloned()
    }

    /// Keeps an image for the rest of the run. The first answer stands.
    pub(crate) async fn keep_image(&self, name: String, image: Image) -> Image {
        self.images.lock().await.entry(name).or_insert(image).clone()
    }
}

async fn load(settings: &AwsSettings) -> SdkConfig {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT)
        .operation_timeout(ANSWER)
        .operation_attempt_timeout(ANSWER)
        .build();
    let region = RegionProviderChain::first_try(DefaultRegionChain::builder().build())
        .or_else(Region::from_static(ANY_REGION));
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .region(region)
        .timeout_config(timeouts)
        // Retries are the engine's: one layer, with a budget, that knows what must not be sent
        // twice.
        .retry_config(RetryConfig::disabled());
    if let Some(endpoint) = &settings.endpoint {
        loader = loader.endpoint_url(endpoint);
    }
    let config = loader.load().await;
    let Some(role) = &settings.role else { return config };
    let mut assumed = AssumeRoleProvider::builder(role).session_name("fleet").configure(&config);
    if let Some(id) = &settings.external_id {
        assumed = assumed.external_id(id);
    }
    let credentials = assumed.build().await;
    let shared = aws_credential_types::provider::SharedCredentialsProvider::new(credentials);
    config.into_builder().credentials_provider(shared).build()
}
