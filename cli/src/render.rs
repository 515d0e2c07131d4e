//! Values turned into screens: one module per screen and form.

pub(crate) mod anomalies;
pub(crate) mod applied;
pub(crate) mod attention;
pub(crate) mod bill;
pub(crate) mod calibration;
pub(crate) mod catalog;
pub(crate) mod columns;
pub(crate) mod compare;
pub(crate) mod compare_rows;
pub(crate) mod compare_words;
pub(crate) mod cost;
pub(crate) mod cost_chart;
pub(crate) mod doctor;
pub(crate) mod executed;
pub(crate) mod explain;
pub(crate) mod explain_json;
#[cfg(test)]
mod guards_page;
pub(crate) mod history;
pub(crate) mod history_json;
pub(crate) mod import;
pub(crate) mod inventory;
pub(crate) mod plan_cost;
pub(crate) mod plan_markdown;
pub(crate) mod plan_text;
pub(crate) mod review_markdown;
pub(crate) mod review_text;
#[cfg(test)]
mod samples;
pub(crate) mod simulate;
pub(crate) mod status;

use fleet_model::{Place, Zone};

/// A place in as few words as say it: most zones already name their region.
pub(crate) fn place(place: &Place) -> String {
    let (region, zone) = (place.region.as_str(), place.zone.as_str());
    if zone == Zone::REGIONAL || zone.is_empty() {
        format!("{} {region}", place.cloud)
    } else if zone.starts_with(region) {
        format!("{} {zone}", place.cloud)
    } else {
        format!("{} {region} {zone}", place.cloud)
    }
}
