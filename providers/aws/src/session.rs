//! Credentials and clients.
//!
//! Credentials come from the SDK's own chain: environment, profiles, SSO, web identity (OIDC in
//! CI), container and instance roles. Nothing is loaded before the first call, so that commands
//! which never reach the cloud need no account.

use crate::error::{Asked, read};
use crate::image::Image;
use crate::types::{self, Facts};
use crate::zones::Zones;
use aws_config::default_provider::region::DefaultRegionChain;
use aws_config::meta::region::RegionProviderChain;
use aws_config::retry::RetryConfig;
use aws_config::sts::AssumeRoleProvider;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use fleet_model::InstanceType;
use fleet_provider::Error;
use std::collections::{BTreeMap, BTreeSet};
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
    /// A role to take on with the credentials found, for fleets in another account: an ARN, or a
    /// name. With accounts named in the spec, the name is that of the role in each of them.
    pub role: Option<String>,
    /// What that role's owner asks for, if anything.
    pub external_id: Option<String>,
    /// Where to send requests instead of AWS's own addresses: an emulator, for tests. Users set
    /// `AWS_ENDPOINT_URL`.
    pub endpoint: Option<String>,
    /// A queue that EventBridge fills with spot warnings of every region and account.
    pub events_queue: Option<String>,
    /// The file of AWS's Spot Advisor: how often machines of a type are taken back.
    pub spot_advisor: Option<std::path::PathBuf>,
}

impl AwsSettings {
    /// From `FLEET_AWS_ROLE_ARN`, `FLEET_AWS_EXTERNAL_ID`, `FLEET_AWS_EVENTS_QUEUE` and
    /// `FLEET_AWS_SPOT_ADVISOR`. Everything else is the SDK's own: `AWS_PROFILE`,
    /// `AWS_ENDPOINT_URL`, …
    pub fn from_environment() -> Self {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        AwsSettings {
            role: set("FLEET_AWS_ROLE_ARN"),
            external_id: set("FLEET_AWS_EXTERNAL_ID"),
            // The SDK reads it itself, from the environment and from profiles.
            endpoint: None,
            events_queue: set("FLEET_AWS_EVENTS_QUEUE"),
            spot_advisor: set("FLEET_AWS_SPOT_ADVISOR").map(Into::into),
        }
    }
}

/// Clients of one account, one set per region. All accounts share the credentials that were found, and
/// one connection pool.
pub(crate) struct Session {
    pub(crate) settings: AwsSettings,
    /// The account that a spec names; `None`: the one that the credentials are for.
    account: Option<String>,
    /// As the credentials are found, before any role.
    found: Arc<OnceCell<SdkConfig>>,
    /// With the role that is set, if any.
    home: Arc<OnceCell<SdkConfig>>,
    /// With the role in this account.
    config: OnceCell<SdkConfig>,
    sites: Mutex<BTreeMap<fleet_model::Region, Arc<Site>>>,
    /// The account behind the credentials.
    identity: tokio::sync::Mutex<Option<String>>,
}

/// The role that a fleet takes on in accounts that a spec names, if no other is set.
const ROLE: &str = "fleet";

/// One region as this account sees it.
pub(crate) struct Site {
    /// The region.
    pub(crate) region: fleet_model::Region,
    pub(crate) ec2: aws_sdk_ec2::Client,
    /// For the clients of other services, which few commands need.
    pub(crate) config: SdkConfig,
    zones: OnceCell<Zones>,
    types: tokio::sync::Mutex<BTreeMap<InstanceType, Facts>>,
    /// Images that were looked up. One run uses one answer, so that a request sent twice is the
    /// same request.
    images: tokio::sync::Mutex<BTreeMap<String, Image>>,
    /// Security groups that were looked up, by network and name.
    pub(crate) groups: tokio::sync::Mutex<BTreeMap<(String, String), String>>,
    /// The network that machines are plugged into if nobody names one, if there is one.
    pub(crate) default_network: OnceCell<Option<String>>,
    /// Names of launch templates that are there.
    pub(crate) templates: tokio::sync::Mutex<BTreeSet<String>>,
}

impl Session {
    pub(crate) fn new(settings: AwsSettings) -> Self {
        Session {
            settings,
            account: None,
            found: Arc::default(),
            home: Arc::default(),
            config: OnceCell::new(),
            sites: Mutex::default(),
            identity: tokio::sync::Mutex::default(),
        }
    }

    /// The same with the role in an account that a spec names.
    pub(crate) fn of_account(&self, account: &str) -> Self {
        Session {
            account: Some(account.to_owned()),
            found: self.found.clone(),
            home: self.home.clone(),
            ..Session::new(self.settings.clone())
        }
    }

    /// The clients of a region.
    pub(crate) async fn site(&self, region: &fleet_model::Region) -> Arc<Site> {
        let config = self.config().await;
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let site = sites
            .entry(region.clone())
            .or_insert_with(|| Arc::new(Site::new(config, region.clone())));
        site.clone()
    }

    /// The configuration for this account.
    async fn config(&self) -> &SdkConfig {
        match &self.account {
            Some(account) => self.config.get_or_init(|| self.assumed(Some(account))).await,
            None => self.home().await,
        }
    }

    /// The configuration for the account that the credentials are for, or the role that is set.
    pub(crate) async fn home(&self) -> &SdkConfig {
        self.home.get_or_init(|| self.assumed(None)).await
    }

    async fn assumed(&self, account: Option<&str>) -> SdkConfig {
        let found = self.found.get_or_init(|| load(&self.settings)).await;
        match role(&self.settings, account) {
            Some(role) => assume(found, &role, self.settings.external_id.as_deref()).await,
            None => found.clone(),
        }
    }

    /// The role that is taken on with the credentials found, if any.
    pub(crate) fn role(&self) -> Option<String> {
        role(&self.settings, self.account.as_deref())
    }

    /// Who we are. Asked where the credentials' own configuration points.
    pub(crate) async fn sts(&self) -> aws_sdk_sts::Client {
        aws_sdk_sts::Client::new(self.config().await)
    }

    /// The account behind the credentials, asked once per run.
    pub(crate) async fn identity(&self) -> Result<Option<String>, Error> {
        let mut known = self.identity.lock().await;
        if known.is_none() {
            let answer = self.sts().await.get_caller_identity().send().await;
            *known = answer.map_err(|error| read(Asked::Read, error))?.account;
        }
        Ok(known.clone())
    }

    /// The price list, which AWS serves for all regions from a few of them.
    pub(crate) async fn pricing(&self) -> aws_sdk_pricing::Client {
        let here = aws_sdk_pricing::config::Builder::from(self.home().await).region(PRICES);
        aws_sdk_pricing::Client::from_conf(here.build())
    }
}

/// The role to take on in an account.
fn role(settings: &AwsSettings, account: Option<&str>) -> Option<String> {
    let set = settings.role.as_deref();
    let Some(account) = account else { return set.map(str::to_owned) };
    let name = set.unwrap_or(ROLE);
    let name = name.rsplit_once(":role/").map_or(name, |(_, name)| name);
    let partition =
        set.and_then(|arn| arn.strip_prefix("arn:")).and_then(|arn| arn.split_once(':'));
    let partition = partition.map_or("aws", |(partition, _)| partition);
    Some(format!("arn:{partition}:iam::{account}:role/{name}"))
}

impl Site {
    fn new(config: &SdkConfig, region: fleet_model::Region) -> Self {
        let here = Region::new(region.name().to_owned());
        let config = config.to_builder().region(here).build();
        Site {
            region,
            ec2: aws_sdk_ec2::Client::new(&config),
            config,
            zones: OnceCell::new(),
            types: tokio::sync::Mutex::default(),
            images: tokio::sync::Mutex::default(),
            groups: tokio::sync::Mutex::default(),
            default_network: OnceCell::new(),
            templates: tokio::sync::Mutex::default(),
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

    /// What is known of some types, asked once per run. Types that EC2 does not know are left out.
    pub(crate) async fn types(
        &self,
        wanted: &BTreeSet<&InstanceType>,
    ) -> Result<BTreeMap<InstanceType, Facts>, Error> {
        let mut known = self.types.lock().await;
        let new: Vec<&InstanceType> =
            wanted.iter().copied().filter(|kind| !known.contains_key(*kind)).collect();
        known.extend(types::facts(&self.ec2, &new).await?);
        let found = |kind: &&InstanceType| Some(((*kind).clone(), known.get(*kind)?.clone()));
        Ok(wanted.iter().filter_map(found).collect())
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
    loader.load().await
}

async fn assume(config: &SdkConfig, role: &str, external_id: Option<&str>) -> SdkConfig {
    let mut assumed = AssumeRoleProvider::builder(role).session_name("fleet").configure(config);
    if let Some(id) = external_id {
        assumed = assumed.external_id(id);
    }
    let credentials = assumed.build().await;
    let shared = aws_credential_types::provider::SharedCredentialsProvider::new(credentials);
    config.to_builder().credentials_provider(shared).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_of_accounts() {
        let settings = |role: &str| AwsSettings {
            role: (!role.is_empty()).then(|| role.to_owned()),
            ..AwsSettings::default()
        };
        let check = |set: &str, account: Option<&str>, expect: Option<&str>| {
            assert_eq!(role(&settings(set), account).as_deref(), expect, "{set} {account:?}");
        };
        check("", None, None);
        check("", Some("123456789012"), Some("arn:aws:iam::123456789012:role/fleet"));
        check("ops", Some("1"), Some("arn:aws:iam::1:role/ops"));
        check("arn:aws-cn:iam::9:role/x/ops", Some("1"), Some("arn:aws-cn:iam::1:role/x/ops"));
        check("arn:aws:iam::9:role/ops", None, Some("arn:aws:iam::9:role/ops"));
    }
}
