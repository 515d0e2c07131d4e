//! `fleet cost …`.

use clap::{Args, Subcommand, ValueEnum};
use fleet_model::Timestamp;
use fleet_money::calendar::{Calendar, Date};
use fleet_money::report::By;
use std::ffi::OsString;
use std::path::PathBuf;

/// What to do with what was spent.
#[derive(Debug, Subcommand)]
pub(crate) enum CostCommand {
    /// Show what fleets cost, from their journals
    Report(ReportArgs),
    /// Compare a bill of a cloud with the journals
    Reconcile(ReconcileBillArgs),
    /// Show what is odd about the cost of fleets, and which apply caused it
    Anomalies(AnomaliesArgs),
}

/// `fleet cost anomalies`.
#[derive(Debug, Args)]
pub(crate) struct AnomaliesArgs {
    /// Names of fleets [default: every fleet with a journal]
    #[arg(value_name = "FLEET")]
    pub fleets: Vec<String>,
    /// How many days to look at; they are compared with as many before
    #[arg(long, value_name = "DAYS", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=366))]
    pub days: u16,
    /// The label that says whose a machine is
    #[arg(long, value_name = "NAME", default_value = "team")]
    pub label: String,
}

/// `fleet cost report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Names of fleets [default: every fleet with a journal]
    #[arg(value_name = "FLEET")]
    pub fleets: Vec<String>,
    /// Groups: team, fleet, pool, type, market, provider, region, day, month, kind or label:NAME; several at once
    #[arg(long, value_name = "GROUP", value_delimiter = ',', default_value = "fleet")]
    pub by: Vec<By>,
    #[command(flatten)]
    pub period: Period,
    /// A file for other programs: csv, or focus (FOCUS 1.2). `-o csv` and `-o focus` do the same
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<CostFormat>,
    /// Also write the report as a chart: lines over days if it is grouped by days, bars otherwise
    #[arg(long, value_name = "FILE.svg", value_parser = crate::args::svg_file)]
    pub chart: Option<PathBuf>,
    /// Rows of a FOCUS file: one for each machine and hour, or day
    #[arg(long, value_enum, value_name = "TIME", default_value_t = Rows::Hour)]
    pub rows: Rows,
}

/// A stretch of time.
#[derive(Debug, Clone, Args)]
pub(crate) struct Period {
    /// From this day or moment on: 2026-11-01, 2026-11-01T08:00:00Z [default: the beginning]
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    pub from: Option<Moment>,
    /// Until the end of this day, or until this moment [default: now]
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    pub to: Option<Moment>,
    /// Where days begin and end: a name such as Europe/Berlin
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = zone)]
    pub time_zone: Zone,
}

/// A time zone and its name.
#[derive(Debug, Clone)]
pub(crate) struct Zone {
    /// As it was written.
    pub name: String,
    /// Its days.
    pub calendar: Calendar,
}

fn zone(name: &str) -> Result<Zone, String> {
    match fleet_model::time_zone(name) {
        Some(zone) => Ok(Zone { name: name.into(), calendar: Calendar::new(zone) }),
        None => Err("there is no time zone of that name; write Europe/Berlin or UTC".into()),
    }
}

/// A day, or a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A whole day.
    Day(Date),
    /// A moment.
    At(Timestamp),
}

impl Moment {
    fn parse(text: &str) -> Result<Self, String> {
        // A date is also the beginning of a moment: what is longer comes first.
        let at = text.parse().map(Moment::At).ok();
        at.or_else(|| text.parse().map(Moment::Day).ok()).ok_or_else(|| {
            format!("`{text}` is neither a day such as 2026-11-01 nor a time such as 2026-11-01T08:00:00Z")
        })
    }
}

impl Period {
    /// The milliseconds from which and until which, as seen from a moment.
    pub(crate) fn bounds(&self, now: Timestamp) -> (i64, i64) {
        let calendar = &self.time_zone.calendar;
        let from = match self.from {
            None => i64::MIN,
            Some(Moment::Day(day)) => calendar.begins(day),
            Some(Moment::At(at)) => at.as_millisecond(),
        };
        let to = match self.to {
            None => now.as_millisecond(),
            Some(Moment::Day(day)) => day.tomorrow().map_or(i64::MAX, |next| calendar.begins(next)),
            Some(Moment::At(at)) => at.as_millisecond(),
        };
        (from, to)
    }
}

/// Files for other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CostFormat {
    /// A table with a header.
    Csv,
    /// FOCUS 1.2: a row for each machine and hour.
    Focus,
}

/// How finely a FOCUS file is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rows {
    /// By hours.
    Hour,
    /// By days.
    Day,
}

/// `fleet cost reconcile`.
#[derive(Debug, Args)]
pub(crate) struct ReconcileBillArgs {
    /// The bill: AWS CUR 2.0 or FOCUS, a BigQuery billing export, an Azure cost export, as CSV
    #[arg(value_name = "BILL.csv")]
    pub bill: PathBuf,
    #[command(flatten)]
    pub period: Period,
    /// Differences of a machine up to this much are rounding
    #[arg(long, value_name = "USD", default_value = "0.01")]
    pub tolerance: fleet_model::MicroUsd,
}

/// `-o` is a flag of every command and knows text, json and markdown; of `cost report` it knows csv and focus
/// besides, which are its `--format`.
pub(crate) fn with_formats(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    let Some(at) = args.windows(2).position(|two| two[0] == "cost" && two[1] == "report") else {
        return args;
    };
    for nth in at + 2..args.len() {
        let word = args[nth].to_string_lossy().into_owned();
        let joined = word
            .strip_prefix("--output=")
            .or_else(|| word.strip_prefix("-o="))
            .or_else(|| word.strip_prefix("-o").filter(|rest| !rest.is_empty()));
        let extra = |format: &str| matches!(format, "csv" | "focus");
        if let Some(format) = joined.filter(|format| extra(format)) {
            args[nth] = format!("--format={format}").into();
        } else if (word == "-o" || word == "--output")
            && args.get(nth + 1).is_some_and(|next| extra(&next.to_string_lossy()))
        {
            args[nth] = "--format".into();
        }
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_the_report_are_read_behind_o() {
        let check = |line: &str, expect: &str| {
            let args = line.split(' ').map(OsString::from);
            let got: Vec<String> = with_formats(args)
                .into_iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            assert_eq!(got.join(" "), expect);
        };
        check("fleet cost report -o csv x", "fleet cost report --format csv x");
        check("fleet cost report -ofocus", "fleet cost report --format=focus");
        check("fleet cost report --output=csv", "fleet cost report --format=csv");
        check("fleet cost report -o json", "fleet cost report -o json");
        check("fleet plan -o csv", "fleet plan -o csv");
    }

    #[test]
    fn days_last_until_their_end() {
        let day = Moment::parse("2026-11-01").expect("a day");
        assert!(matches!(day, Moment::Day(_)));
        assert!(matches!(Moment::parse("2026-11-01T08:00:00Z"), Ok(Moment::At(_))));
        assert!(Moment::parse("yesterday").is_err());
        let zone = zone("Europe/Berlin").expect("a zone");
        let period = Period { from: Some(day), to: Some(day), time_zone: zone };
        let (from, to) = period.bounds(Timestamp::MAX);
        assert_eq!(to - from, 86_400_000);
    }
}
