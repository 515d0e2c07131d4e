//! Predicted losses against those that were observed.

use crate::output::simulate::{self as output, CalibrationBin};
use crate::render::columns::{Columns, right};
use crate::style::{BOLD, DIM};
use crate::text::wrap;
use fleet_replay::{Bin, Calibration};

const HEADS: [&str; 3] = ["predictions", "predicted", "observed"];

/// For people.
pub(crate) fn text(all: &[Calibration]) -> String {
    let mut out = format!("\n{BOLD}Predicted losses{BOLD:#}\n");
    if all.is_empty() {
        out.push_str(&format!("{}\n", wrap("  - ", NONE)));
        return out;
    }
    out.push_str(&format!("{}\n", wrap("  ", WHAT)));
    for one in all {
        let mut columns = Columns::default();
        columns.styled(DIM, HEADS.iter().map(right));
        for bin in &one.bins {
            columns.row(cells(bin).iter().map(right));
        }
        out.push_str(&format!("\n  {}\n{}", score(one), columns.render("  ")));
    }
    out
}

/// For comments on pull requests.
pub(crate) fn markdown(all: &[Calibration]) -> String {
    if all.is_empty() {
        return format!("\n**Predicted losses**: {NONE}\n");
    }
    let mut out = format!("\n**Predicted losses.** {WHAT}\n");
    for one in all {
        let rows: String =
            one.bins.iter().map(|bin| format!("| {} |\n", cells(bin).join(" | "))).collect();
        let heads = HEADS.join(" | ");
        out.push_str(&format!("\n{}\n\n| {heads} |\n|--:|--:|--:|\n{rows}", score(one)));
    }
    out
}

/// For programs.
pub(crate) fn document(all: &[Calibration]) -> Vec<output::Calibration> {
    let bin = |bin: &Bin| CalibrationBin {
        predictions: bin.count as u64,
        predicted_percent: bin.predicted * 100.0,
        observed_percent: bin.observed * 100.0,
    };
    let one = |one: &Calibration| output::Calibration {
        hours: one.hours,
        predictions: one.count as u64,
        brier: one.brier,
        brier_of_mean: one.brier_of_mean,
        bins: one.bins.iter().map(bin).collect(),
    };
    all.iter().map(one).collect()
}

const NONE: &str = "Nothing was predicted: the policy `fleet` is not among those that were replayed, or \
                    held no spot machines long enough in the second half of a recording.";

const WHAT: &str = "At each sample of the second half of each recording: the chance that a spot machine \
                    of the fleet is lost in time, and the share that was. A tenth of the predictions per \
                    row, from low to high; equal ones are together.";

fn score(one: &Calibration) -> String {
    let Calibration { hours, count, brier, brier_of_mean, .. } = one;
    format!(
        "within {hours} h: {count} predictions, Brier score {brier:.4} (always predicting the mean: \
         {brier_of_mean:.4}; lower is better)"
    )
}

fn cells(bin: &Bin) -> [String; 3] {
    let percent = |share: f64| format!("{:.1}%", share * 100.0);
    [bin.count.to_string(), percent(bin.predicted), percent(bin.observed)]
}
