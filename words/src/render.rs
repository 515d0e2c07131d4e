//! Values turned into screens: one module per screen and form.

pub mod applied;
pub mod attention;
pub mod columns;
pub mod cost_json;
pub mod explain;
pub mod explain_json;
pub mod history;
pub mod history_json;
pub mod plan_cost;
pub mod plan_markdown;
pub mod plan_text;
pub mod review_markdown;
pub mod review_text;
#[cfg(test)]
pub(crate) mod samples;
pub mod status;

use fleet_model::{Place, Zone};

/// A place in as few words as say it: most zones already name their region.
pub fn place(place: &Place) -> String {
    let (region, zone) = (place.region.as_str(), place.zone.as_str());
    if zone == Zone::REGIONAL || zone.is_empty() {
        format!("{} {region}", place.cloud)
    } else if zone.starts_with(region) {
        format!("{} {zone}", place.cloud)
    } else {
        format!("{} {region} {zone}", place.cloud)
    }
}
