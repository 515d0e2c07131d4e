//! Images: what a name of the spec stands for.
//!
//! The version `latest` is another one next week. It is looked up when a plan is made, and the
//! plan's launches carry the version itself.

use crate::api::{Api, COMPUTE};
use crate::error::{Asked, refused};
use fleet_model::Template;
use fleet_provider::{Class, Error};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What machines run if the spec does not say, and the same for Arm.
const IMAGE: &str = "Canonical:ubuntu-24_04-lts:server:latest";
const IMAGE_ARM: &str = "Canonical:ubuntu-24_04-lts:server-arm64:latest";

/// Versions that `latest` stood for, by region and name, looked up once.
#[derive(Default)]
pub(crate) struct Images(Mutex<Versions>);

type Versions = BTreeMap<(String, String), String>;

#[derive(Deserialize)]
struct Version {
    name: String,
}

/// The name of the image for machines of a processor.
pub(crate) fn text(template: &Template, arm: bool) -> &str {
    template.image.as_deref().unwrap_or(if arm { IMAGE_ARM } else { IMAGE })
}

/// The kind of firmware that an image is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generation {
    One,
    Two,
}

/// The generation of an image, where its name says it: the one that we use without being told is of
/// the second, and many are named after theirs.
pub(crate) fn generation(template: &Template) -> Option<Generation> {
    let Some(name) = template.image.as_deref() else { return Some(Generation::Two) };
    let name = name.to_ascii_lowercase();
    let has = |mark: &str| name.contains(mark);
    if has("gen1") {
        Some(Generation::One)
    } else if has("gen2") || has("-g2:") || name.starts_with("canonical:ubuntu-24_04-lts:server:") {
        Some(Generation::Two)
    } else {
        None
    }
}

impl Images {
    /// Never held while we ask: regions are asked side by side.
    fn lock(&self) -> MutexGuard<'_, Versions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A name that stands for one image for ever: that of the newest version, or the name itself.
    pub(crate) async fn pin(&self, api: &Api, region: &str, text: &str) -> Result<String, Error> {
        let Some((publisher, offer, sku)) = latest(text) else { return Ok(text.to_owned()) };
        let key = (region.to_owned(), text.to_owned());
        if let Some(pinned) = self.lock().get(&key) {
            return Ok(pinned.clone());
        }
        let path = format!(
            "/subscriptions/{}/providers/Microsoft.Compute/locations/{region}/publishers/{publisher}\
             /artifacttypes/vmimage/offers/{offer}/skus/{sku}/versions",
            api.group()?.subscription
        );
        let query = [("api-version", COMPUTE), ("$top", "1"), ("$orderby", "name desc")];
        let answer = api.send(Asked::Read, Method::GET, &path, &query, None).await?;
        let versions: Vec<Version> = match answer.status {
            200 => answer.json(Asked::Read)?,
            404 => Vec::new(),
            _ => return Err(answer.error(Asked::Read)),
        };
        let Some(Version { name }) = versions.into_iter().next() else {
            let words = format!("{region} has no image {publisher}:{offer}:{sku}");
            return Err(refused(Class::Invalid, "ImageNotFound", words));
        };
        let pinned = format!("{publisher}:{offer}:{sku}:{name}");
        self.lock().insert(key, pinned.clone());
        Ok(pinned)
    }
}

/// The parts of `publisher:offer:sku:latest`; `None` for any other name.
fn latest(text: &str) -> Option<(&str, &str, &str)> {
    let parts: Vec<&str> = text.split(':').collect();
    let plain = |part: &str| !part.is_empty() && !part.contains(['/', '?', '#', '%', ' ']);
    match parts[..] {
        [publisher, offer, sku, version] if version.eq_ignore_ascii_case("latest") => {
            [publisher, offer, sku].into_iter().all(plain).then_some((publisher, offer, sku))
        }
        _ => None,
    }
}

/// `publisher:offer:sku:version`, or the address of an image.
pub(crate) fn reference(text: &str) -> Value {
    let parts: Vec<&str> = text.split(':').collect();
    if let [publisher, offer, sku, version] = parts[..] {
        return json!({ "publisher": publisher, "offer": offer, "sku": sku, "version": version });
    }
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("/communitygalleries/") {
        json!({ "communityGalleryImageId": text })
    } else if lower.starts_with("/sharedgalleries/") {
        json!({ "sharedGalleryImageId": text })
    } else {
        json!({ "id": text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_by_name() {
        let of = |image: Option<&str>| {
            generation(&Template { image: image.map(str::to_owned), ..Template::default() })
        };
        assert_eq!(of(None), Some(Generation::Two));
        assert_eq!(
            of(Some("Canonical:ubuntu-24_04-lts:server-gen1:latest")),
            Some(Generation::One)
        );
        assert_eq!(of(Some("Debian:debian-12:12-gen2:1.0")), Some(Generation::Two));
        assert_eq!(of(Some("/subscriptions/s/x/images/y")), None);
    }

    #[test]
    fn only_the_latest_version_is_looked_up() {
        assert_eq!(latest("p:o:s:latest"), Some(("p", "o", "s")));
        for other in
            ["p:o:s:1.2.3", "/subscriptions/s/x/images/y", "p:o:latest", "p:o/../x:s:latest"]
        {
            assert_eq!(latest(other), None, "{other}");
        }
        assert_eq!(reference("p:o:s:1.2")["version"], "1.2");
        assert_eq!(reference("/subscriptions/s/x")["id"], "/subscriptions/s/x");
    }
}
