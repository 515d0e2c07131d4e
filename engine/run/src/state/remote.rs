//! Stores far away: S3, Google Cloud Storage, Azure Blob.

use object_store::path::Path;
use object_store::{ObjectStore, Result};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// How long a store may fail, or ask us to wait, before we report it to a person.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Opens a store by its address.
#[cfg(feature = "remote-state")]
pub(crate) fn open(url: &Url, settings: &Settings) -> Result<(Arc<dyn ObjectStore>, Path)> {
    use object_store::ObjectStoreScheme as Scheme;
    use object_store::aws::AmazonS3Builder;
    use object_store::azure::MicrosoftAzureBuilder;
    use object_store::gcp::GoogleCloudStorageBuilder;

    // The builders of the three share no trait.
    macro_rules! built {
        ($builder:ty, $prefix:literal) => {{
            let plain = <$builder>::new().with_url(url.as_str()).with_retry(retries());
            // `object_store` knows short names too (`TOKEN`, `BUCKET`, `TIMEOUT`), which mean other
            // things to other programs: only names with the store's own prefix count.
            let ours = settings
                .iter()
                .map(|(name, value)| (name.to_ascii_lowercase(), value))
                .filter(|(name, _)| name.starts_with($prefix));
            let set = ours.fold(plain, |builder, (name, value)| match name.parse() {
                Ok(name) => builder.with_config(name, value),
                Err(_) => builder,
            });
            Arc::new(set.build()?)
        }};
    }
    let (scheme, path) = Scheme::parse(url).map_err(object_store::Error::from)?;
    let store: Arc<dyn ObjectStore> = match scheme {
        Scheme::AmazonS3 => built!(AmazonS3Builder, "aws_"),
        Scheme::GoogleCloudStorage => built!(GoogleCloudStorageBuilder, "google_"),
        Scheme::MicrosoftAzure => built!(MicrosoftAzureBuilder, "azure_"),
        _ => return Err(unknown()),
    };
    Ok((store, path))
}

/// Without the feature, no store is known but local folders.
#[cfg(not(feature = "remote-state"))]
pub(crate) fn open(_: &Url, _: &Settings) -> Result<(Arc<dyn ObjectStore>, Path)> {
    Err(unknown())
}

fn unknown() -> object_store::Error {
    let known = if cfg!(feature = "remote-state") {
        "known are folders, file://, s3://, gs:// and az://"
    } else {
        "this fleet was built without `remote-state` and knows folders only"
    };
    object_store::Error::Generic { store: "state", source: known.into() }
}

/// Credentials and settings, by the names of variables of the environment.
pub(crate) type Settings = Vec<(String, String)>;

/// What the environment says. Values that are no text are none of ours.
pub(crate) fn environment() -> Settings {
    let text = |text: std::ffi::OsString| text.into_string().ok();
    std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
}

#[cfg(feature = "remote-state")]
fn retries() -> object_store::RetryConfig {
    object_store::RetryConfig {
        backoff: object_store::BackoffConfig {
            max_backoff: Duration::from_secs(4),
            ..Default::default()
        },
        max_retries: 12,
        retry_timeout: PATIENCE,
    }
}
