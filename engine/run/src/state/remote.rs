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
        #[cfg(feature = "state-s3")]
        Scheme::AmazonS3 => built!(object_store::aws::AmazonS3Builder, "aws_"),
        #[cfg(feature = "state-gcs")]
        Scheme::GoogleCloudStorage => {
            built!(object_store::gcp::GoogleCloudStorageBuilder, "google_")
        }
        #[cfg(feature = "state-azure")]
        Scheme::MicrosoftAzure => built!(object_store::azure::MicrosoftAzureBuilder, "azure_"),
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
    let built = [
        (cfg!(feature = "state-s3"), "s3://", "state-s3"),
        (cfg!(feature = "state-gcs"), "gs://", "state-gcs"),
        (cfg!(feature = "state-azure"), "az://", "state-azure"),
    ];
    let mut known = String::from("known are folders, file://");
    let mut without = Vec::new();
    for (is_there, scheme, feature) in built {
        if is_there {
            known.push_str(&format!(", {scheme}"));
        } else {
            without.push(format!("`{feature}`"));
        }
    }
    if !without.is_empty() {
        known.push_str(&format!("; this fleet was built without {}", without.join(", ")));
    }
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
