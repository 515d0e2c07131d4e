//! Screens that are the command's own; those that pages share are in `fleet-words`.

pub(crate) mod anomalies;
pub(crate) mod bill;
mod bill_tables;
pub(crate) mod calibration;
pub(crate) mod catalog;
pub(crate) mod compare;
pub(crate) mod compare_rows;
pub(crate) mod compare_words;
pub(crate) mod cost;
pub(crate) mod cost_chart;
pub(crate) mod cost_commitments;
pub(crate) mod doctor;
pub(crate) mod executed;
#[cfg(test)]
mod guards_page;
pub(crate) mod import;
pub(crate) mod inventory;
pub(crate) mod simulate;

pub(crate) use fleet_words::render::*;
