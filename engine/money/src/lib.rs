//! Money, as pure arithmetic: how clouds bill, what was spent, what comes beside the price of a machine,
//! and what a job costs. Every fact of a cloud has its source beside it.

pub mod anomaly;
pub mod benchmark;
pub mod bill;
pub mod billing;
pub mod calendar;
pub mod chart;
pub mod compare;
pub mod covered;
pub mod entry;
pub mod extras;
mod few;
pub mod focus;
mod groups;
pub mod job;
pub mod ledger;
pub mod meter;
pub mod performance;
mod quick;
pub mod report;
mod spend;
#[cfg(test)]
mod testing;

pub use few::Few;
pub use spend::Spend;

/// Writes a cell of a CSV file.
pub fn csv_cell(out: &mut String, cell: &str) {
    if cell.contains(['"', ',', '\n', '\r']) {
        out.push('"');
        out.push_str(&cell.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(cell);
    }
}
