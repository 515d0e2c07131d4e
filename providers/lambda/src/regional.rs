//! What belongs to one region of the account: firewall rulesets and images.
//!
//! A spec names them once for all regions. A launch takes those of its own region; where none fits,
//! the plan says so, and nothing is sent that Lambda would turn down.

use crate::api::Api;
use crate::launch::NO_KEY;
use crate::prices::is_arm;
use crate::wire::{ImageItem, RulesetItem};
use fleet_model::{PoolId, Template};
use fleet_provider::Error;
use std::collections::{BTreeMap, BTreeSet};

/// Has no firewall: every port of a machine is open, and no ruleset belongs to it.
const NO_FIREWALL: &str = "us-south-1";

/// Region of each ruleset, by id.
pub(crate) type Rulesets = BTreeMap<String, String>;

/// What the account has of what a template names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Belongings {
    pub(crate) rulesets: Rulesets,
    pub(crate) images: Vec<ImageItem>,
}

/// Asks for what a template names, and for nothing else: each call takes a second.
pub(crate) async fn look(api: &Api, template: &Template) -> Result<Belongings, Error> {
    let mut found = Belongings::default();
    if !template.security_groups.is_empty() {
        found.rulesets = rulesets(api).await?;
    }
    if template.image.is_some() {
        found.images = api.get("images").await?;
    }
    Ok(found)
}

/// Every ruleset of the account.
pub(crate) async fn rulesets(api: &Api) -> Result<Rulesets, Error> {
    let all: Vec<RulesetItem> = api.get("firewall-rulesets").await?;
    Ok(all.into_iter().map(|ruleset| (ruleset.id, ruleset.region.name)).collect())
}

/// Why a launch from a pool cannot succeed with this template; `None` if nothing speaks against it.
pub(crate) fn refusal(pool: &PoolId, template: &Template, found: &Belongings) -> Option<String> {
    let keyless = template.key.is_none().then(|| NO_KEY.to_owned());
    keyless
        .or_else(|| unfit_rulesets(pool, template, found))
        .or_else(|| unfit_image(pool, template, found))
}

/// Why a pool has no use for the rulesets that a template names.
pub(crate) fn unfit_rulesets(
    pool: &PoolId,
    template: &Template,
    found: &Belongings,
) -> Option<String> {
    fitting(pool.place.region.as_str(), &template.security_groups, &found.rulesets).err()
}

/// Why a pool has no use for the image that a template names.
pub(crate) fn unfit_image(
    pool: &PoolId,
    template: &Template,
    found: &Belongings,
) -> Option<String> {
    let arm = is_arm(pool.instance_type.as_str());
    unfit(template.image.as_ref()?, pool.place.region.as_str(), arm, &found.images)
}

/// The wanted rulesets that belong to a region, or why no machine may be launched there.
///
/// A machine without any of the rulesets that somebody named would be open where they meant it to be
/// closed, so that is refused rather than launched.
pub(crate) fn fitting(
    region: &str,
    wanted: &[String],
    known: &Rulesets,
) -> Result<Vec<String>, String> {
    if let Some(stranger) = wanted.iter().find(|id| !known.contains_key(*id)) {
        return Err(format!("the account has no firewall ruleset `{stranger}`"));
    }
    let here = |id: &&String| known.get(*id).is_some_and(|other| other == region);
    let fits: Vec<String> = wanted.iter().filter(here).cloned().collect();
    if fits.is_empty() && !wanted.is_empty() {
        if region == NO_FIREWALL {
            return Err(format!("{region} has no firewall, and the spec names firewall rulesets"));
        }
        let regions: BTreeSet<&str> =
            wanted.iter().filter_map(|id| known.get(id)).map(String::as_str).collect();
        let regions: Vec<&str> = regions.into_iter().collect();
        return Err(format!(
            "no firewall ruleset of the spec is of {region}; they are of {}",
            regions.join(", ")
        ));
    }
    Ok(fits)
}

/// `43336648-096d-4cba-9aa2-f9bb7727639d` is one image, `lambda-stack-24-04` the newest of a family.
pub(crate) fn is_image_id(text: &str) -> bool {
    text.len() == 36 && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

/// Why an image cannot boot a type in a region. An id is of one region; a family is of all of them.
fn unfit(image: &str, region: &str, arm: bool, all: &[ImageItem]) -> Option<String> {
    let by_id = is_image_id(image);
    let named = |item: &&ImageItem| if by_id { item.id == image } else { item.family == image };
    let known: Vec<&ImageItem> = all.iter().filter(named).collect();
    if known.is_empty() {
        return Some(format!("no image has the id or family `{image}`"));
    }
    if by_id && !known.iter().any(|item| item.region.name == region) {
        let regions: BTreeSet<&str> = known.iter().map(|item| item.region.name.as_str()).collect();
        let regions: Vec<&str> = regions.into_iter().collect();
        return Some(format!(
            "image `{image}` is of {}: name its family to launch in other regions",
            regions.join(", ")
        ));
    }
    let wanted = if arm { "arm64" } else { "x86_64" };
    // What does not say its architecture is not held against anybody.
    let boots = |item: &&ImageItem| item.architecture.is_empty() || item.architecture == wanted;
    (!known.iter().any(boots)).then(|| format!("image `{image}` is not for {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    const ID: &str = "43336648-096d-4cba-9aa2-f9bb7727639d";

    fn found() -> Belongings {
        let image = |id: &str, family: &str, architecture: &str, region: &str| {
            json!({ "id": id, "name": family, "family": family, "architecture": architecture,
                "region": { "name": region } })
        };
        let images = json!([
            image(ID, "stack", "x86_64", "us-east-1"),
            image("2", "stack", "arm64", "us-east-3"),
            image("3", "old", "x86_64", "us-east-1"),
        ]);
        let of = |id: &str, region: &str| (id.to_owned(), region.to_owned());
        Belongings {
            rulesets: [of("east", "us-east-1"), of("east2", "us-east-1"), of("west", "us-west-1")]
                .into(),
            images: from_value(images).expect("images"),
        }
    }

    #[test]
    fn a_launch_takes_the_rulesets_of_its_region() {
        let check = |region: &str, wanted: &[&str], expect: Result<&[&str], &str>| {
            let wanted: Vec<String> = wanted.iter().map(|&id| id.to_owned()).collect();
            match (fitting(region, &wanted, &found().rulesets), expect) {
                (Ok(fits), Ok(expect)) => assert_eq!(fits, expect, "{region}"),
                (Err(why), Err(part)) => assert!(why.contains(part), "{why}"),
                (other, expect) => panic!("{region}: {other:?}, not {expect:?}"),
            }
        };
        check("us-east-1", &["east", "west", "east2"], Ok(&["east", "east2"]));
        check("us-west-1", &["east", "west"], Ok(&["west"]));
        check("us-west-2", &[], Ok(&[]));
        check("us-south-1", &[], Ok(&[]));
        check("us-west-2", &["east", "west"], Err("they are of us-east-1, us-west-1"));
        check("us-south-1", &["east"], Err("us-south-1 has no firewall"));
        check("us-east-1", &["east", "gone"], Err("no firewall ruleset `gone`"));
    }

    #[test]
    fn an_image_fits_a_region_and_a_processor() {
        let check = |region: &str, kind: &str, image: &str, expect: Option<&str>| {
            let pool = format!("lambda/{region}/regional/{kind}/on-demand").parse();
            let template = Template {
                key: Some("laptop".into()),
                image: Some(image.into()),
                ..Template::default()
            };
            let why = refusal(&pool.expect("a pool"), &template, &found());
            match (&why, expect) {
                (None, None) => {}
                (Some(why), Some(part)) => assert!(why.contains(part), "{why}"),
                (other, expect) => panic!("{region} {kind} {image}: {other:?}, not {expect:?}"),
            }
        };
        check("us-east-1", "gpu_1x_a10", ID, None);
        check("us-west-1", "gpu_1x_a10", ID, Some("is of us-east-1"));
        check("us-east-1", "gpu_1x_gh200", ID, Some("not for arm64"));
        check("us-west-1", "gpu_1x_a10", "stack", None);
        check("us-west-1", "gpu_1x_gh200", "stack", None);
        check("us-west-1", "gpu_1x_gh200", "old", Some("not for arm64"));
        check("us-west-1", "gpu_1x_a10", "none", Some("no image"));
    }
}
