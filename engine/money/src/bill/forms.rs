//! Reading bills. Columns by AWS's table dictionaries of Data Exports, Google's "Cloud Billing data tables in
//! BigQuery", Microsoft's cost details and FOCUS 1.2.

use super::lines::Counted;
use super::{Bill, Billed, BilledMachine, NanoUsd, same_name};
use fleet_model::Timestamp;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// The form of a bill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// FOCUS, of whatever cloud.
    Focus,
    /// AWS Cost and Usage Report 2.0.
    AwsCur,
    /// Google's detailed export from BigQuery.
    Gcp,
    /// Azure's cost details.
    Azure,
}

impl Form {
    /// Its name for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Form::Focus => "focus",
            Form::AwsCur => "aws-cur",
            Form::Gcp => "gcp",
            Form::Azure => "azure",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Focus => "FOCUS",
            Form::AwsCur => "AWS CUR 2.0",
            Form::Gcp => "Google Cloud billing export",
            Form::Azure => "Azure cost details",
        })
    }
}

/// Why a file is no bill that can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadBill {
    /// Its columns are those of none that we know.
    NotABill {
        /// The first of them.
        columns: Vec<String>,
    },
    /// It is one, and lacks a column.
    Lacks {
        /// Of which form.
        form: Form,
        /// Which, in words.
        column: &'static str,
    },
    /// A row cannot be read.
    Row {
        /// Which line of the file.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
}

impl fmt::Display for BadBill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadBill::NotABill { columns } => {
                write!(f, "its columns are those of no bill that is known: {}", columns.join(", "))
            }
            BadBill::Lacks { form, column } => write!(f, "this is {form}, and it has no {column}"),
            BadBill::Row { line, why } => write!(f, "line {line}: {why}"),
        }
    }
}

/// Where the columns are.
struct Columns {
    form: Form,
    /// Names of the machine, the better one first.
    machine: Vec<usize>,
    start: usize,
    end: Option<usize>,
    cost: usize,
    credits: Option<usize>,
    quantity: Option<usize>,
    unit: Option<usize>,
    kind: Option<usize>,
    what: Option<usize>,
    tags: Option<usize>,
    /// Whether a commitment paid, or lay unused; and what is billed beside it.
    commitment: Option<usize>,
    billed: Option<usize>,
}

impl Bill {
    /// Reads a bill.
    pub fn read(file: impl Read) -> Result<Self, BadBill> {
        let (file, lines) = Counted::new(file);
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(file);
        let line_of = |at: &csv::Position| lines.of(at.byte()).unwrap_or(at.line());
        let broken = |error: csv::Error| BadBill::Row {
            line: error.position().map_or(1, line_of),
            why: match error.kind() {
                csv::ErrorKind::Utf8 { .. } => "it is not text in UTF-8".into(),
                _ => error.to_string(),
            },
        };
        let heads = reader.headers().map_err(broken)?.clone();
        let columns = Columns::of(&heads)?;
        let mut rows = 0;
        let mut found: Vec<Row> = Vec::new();
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(broken)? {
            rows += 1;
            let line = record.position().map_or(0, line_of);
            let row = columns.row(&record).map_err(|why| BadBill::Row { line, why })?;
            found.extend(row);
        }
        let longest = found.iter().map(|row| row.end - row.start).max().unwrap_or(HOUR);
        let grain = if longest > HOUR || columns.form == Form::Azure { DAY } else { HOUR };
        let mut bill = Bill {
            form: columns.form,
            grain,
            rows,
            machine_rows: found.len() as u64,
            machines: BTreeMap::new(),
            from: found.iter().map(|row| row.start).min().unwrap_or(0),
            to: found.iter().map(|row| row.end).max().unwrap_or(0),
        };
        for row in found {
            let machine: &mut BilledMachine =
                bill.machines.entry(same_name(&row.machine)).or_default();
            machine.name = row.machine;
            machine.fleet = machine.fleet.take().or(row.fleet);
            let at = row.start.div_euclid(grain) * grain;
            let Billed { cost, ms } = machine.times.entry(at).or_default();
            cost.0 += row.cost.0;
            *ms = match (*ms, row.ms) {
                (Some(a), Some(b)) => Some(a + b),
                (known, more) => known.or(more),
            };
        }
        Ok(bill)
    }
}

struct Row {
    machine: String,
    fleet: Option<String>,
    start: i64,
    end: i64,
    cost: NanoUsd,
    ms: Option<u64>,
}

impl Columns {
    fn of(heads: &csv::StringRecord) -> Result<Self, BadBill> {
        // BigQuery has no dots in column names of flat files; people write either.
        let plain = |text: &str| -> String {
            text.trim_start_matches('\u{feff}')
                .chars()
                .filter(char::is_ascii_alphanumeric)
                .collect::<String>()
                .to_ascii_lowercase()
        };
        let names: Vec<String> = heads.iter().map(plain).collect();
        let find = |name: &str| names.iter().position(|known| *known == plain(name));
        let first = |wanted: &[&str]| wanted.iter().find_map(|name| find(name));
        let all = |wanted: &[&str]| wanted.iter().filter_map(|name| find(name)).collect::<Vec<_>>();
        let form = if find("ChargePeriodStart").is_some() {
            Form::Focus
        } else if find("line_item_usage_start_date").is_some() {
            Form::AwsCur
        } else if find("usage_start_time").is_some() {
            Form::Gcp
        } else if find("MeterCategory").is_some()
            && first(&["Date", "UsageDateTime", "UsageDate"]).is_some()
        {
            Form::Azure
        } else {
            let columns = heads.iter().take(6).map(str::to_owned).collect();
            return Err(BadBill::NotABill { columns });
        };
        let lacks = |column| BadBill::Lacks { form, column };
        let (machine, start, end, cost, quantity, unit, kind, what, tags, credits) = match form {
            Form::Focus => (
                all(&["ResourceId"]),
                find("ChargePeriodStart"),
                find("ChargePeriodEnd"),
                first(&["EffectiveCost", "BilledCost"]),
                find("ConsumedQuantity"),
                find("ConsumedUnit"),
                find("ChargeCategory"),
                first(&["ServiceCategory", "ServiceName"]),
                find("Tags"),
                None,
            ),
            Form::AwsCur => (
                all(&["line_item_resource_id"]),
                find("line_item_usage_start_date"),
                find("line_item_usage_end_date"),
                find("line_item_unblended_cost"),
                find("line_item_usage_amount"),
                None,
                find("line_item_line_item_type"),
                find("line_item_usage_type"),
                find("resource_tags"),
                None,
            ),
            Form::Gcp => (
                all(&["resource.global_name", "resource.name"]),
                find("usage_start_time"),
                find("usage_end_time"),
                find("cost"),
                None,
                None,
                find("cost_type"),
                find("sku.description"),
                find("labels"),
                first(&["credits.amount", "credits"]),
            ),
            Form::Azure => (
                all(&["ResourceId", "InstanceId", "InstanceName"]),
                first(&["Date", "UsageDateTime", "UsageDate"]),
                None,
                first(&["CostInBillingCurrency", "PreTaxCost", "Cost"]),
                first(&["Quantity", "UsageQuantity"]),
                find("UnitOfMeasure"),
                find("ChargeType"),
                find("MeterCategory"),
                find("Tags"),
                None,
            ),
        };
        if machine.is_empty() {
            return Err(lacks("column that names machines (export it with resources)"));
        }
        Ok(Columns {
            form,
            machine,
            start: start.ok_or_else(|| lacks("column for the beginning of a charge"))?,
            end,
            cost: cost.ok_or_else(|| lacks("column for the cost"))?,
            credits,
            quantity,
            unit,
            kind,
            what,
            tags,
            commitment: find("CommitmentDiscountStatus").filter(|_| form == Form::Focus),
            billed: find("BilledCost"),
        })
    }

    /// A row, if it is about what a machine costs.
    fn row(&self, record: &csv::StringRecord) -> Result<Option<Row>, String> {
        let at = |column: usize| record.get(column).unwrap_or_default().trim();
        let some = |column: Option<usize>| column.map(at).filter(|text| !text.is_empty());
        let Some(machine) = self.machine.iter().map(|column| at(*column)).find(|id| !id.is_empty())
        else {
            return Ok(None);
        };
        if !self.is_machine(machine, some(self.kind), some(self.what)) {
            return Ok(None);
        }
        let start = moment(at(self.start))?;
        let end = match some(self.end) {
            Some(end) => moment(end)?,
            None => start + DAY,
        };
        if end <= start {
            return Err("a charge ends before it begins".into());
        }
        // A commitment is paid for by itself: what is compared is what was paid beside it.
        let cost = match some(self.commitment) {
            Some("Unused") => return Ok(None),
            Some(_) => self.billed.unwrap_or(self.cost),
            None => self.cost,
        };
        let mut cost = amount(at(cost))?;
        if let Some(credits) = some(self.credits) {
            cost.0 += amount(credits)?.0;
        }
        let counts_hours = match some(self.unit) {
            Some(unit) => unit.to_ascii_lowercase().contains("hour"),
            None => self.form == Form::AwsCur,
        };
        let ms = match some(self.quantity).filter(|_| counts_hours) {
            Some(hours) => {
                Some((amount(hours)?.0.max(0) * i128::from(HOUR) / 1_000_000_000) as u64)
            }
            None => None,
        };
        let fleet = some(self.tags).and_then(fleet_of);
        Ok(Some(Row { machine: machine.to_owned(), fleet, start, end, cost, ms }))
    }

    /// Whether a row is about a machine itself: not its disk, its traffic, a tax or a fee.
    fn is_machine(&self, machine: &str, kind: Option<&str>, what: Option<&str>) -> bool {
        let what = what.unwrap_or_default();
        match self.form {
            Form::Focus => {
                kind.is_none_or(|kind| kind == "Usage")
                    && matches!(what, "" | "Compute" | "AI and Machine Learning")
                    && !machine.to_ascii_lowercase().contains("/disks/")
            }
            Form::AwsCur => {
                let used = ["Usage", "DiscountedUsage", "SavingsPlanCoveredUsage"];
                let machines =
                    ["BoxUsage", "SpotUsage", "DedicatedUsage", "HostBoxUsage", "Reservation"];
                machine.starts_with("i-")
                    && kind.is_none_or(|kind| used.contains(&kind))
                    && (what.is_empty() || machines.iter().any(|name| what.contains(name)))
            }
            Form::Gcp => {
                let part = ["Core", "Ram", "GPU", "Gpu", "vCPU", "Memory", "TPU", "Tpu"];
                let other = [
                    "Storage",
                    "PD Capacity",
                    "SSD",
                    "Egress",
                    "Network",
                    "External IP",
                    "Licensing",
                ];
                kind.is_none_or(|kind| kind == "regular")
                    && (what.is_empty() || part.iter().any(|name| what.contains(name)))
                    && !other.iter().any(|name| what.contains(name))
            }
            Form::Azure => {
                kind.is_none_or(|kind| kind.eq_ignore_ascii_case("usage"))
                    && (what.is_empty() || what == "Virtual Machines")
                    && !machine.to_ascii_lowercase().contains("/disks/")
            }
        }
    }
}

/// The fleet that tags name, in whatever way they are written: JSON, a map of Athena, `"a": "b"` pairs.
fn fleet_of(tags: &str) -> Option<String> {
    let keys = ["fleet:name", "user_fleet_name", "fleet-name", "fleet_name", "\"fleet\""];
    let (key, at) = keys.iter().find_map(|key| Some((key, tags.find(key)?)))?;
    let rest = tags[at + key.len()..].trim_start_matches(['"', '\'', ':', '=', ' ', '\\']);
    let end = rest.find(['"', ',', '}', '\'', ';', '\\']).unwrap_or(rest.len());
    // BigQuery writes labels as a list of {"key": …, "value": …}.
    let name = rest[..end].trim();
    if name.is_empty() {
        let value = rest.split("\"value\"").nth(1)?;
        return value.split('"').nth(1).map(str::to_owned);
    }
    Some(name.to_owned())
}

/// Billionths, exactly.
fn amount(text: &str) -> Result<NanoUsd, String> {
    let bad = || format!("`{}` is no number", text.escape_debug());
    if text.is_empty() {
        return Ok(NanoUsd(0));
    }
    if text.contains(['e', 'E']) {
        let number: f64 = text.parse().map_err(|_| bad())?;
        return Ok(NanoUsd((number * 1e9).round() as i128));
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let numeric = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && part.is_empty())
        || !numeric(whole)
        || !numeric(part)
        || whole.len() > 18
    {
        return Err(bad());
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| bad())? };
    let nine: String = part.chars().chain(std::iter::repeat('0')).take(9).collect();
    let up = i128::from(part.as_bytes().get(9).is_some_and(|digit| *digit >= b'5'));
    let nano: i128 = nine.parse().map_err(|_| bad())?;
    Ok(NanoUsd(sign * (whole * 1_000_000_000 + nano + up)))
}

/// A moment as bills write it: RFC 3339, with a space and UTC as BigQuery does, a day, or a day as Azure
/// writes it.
fn moment(text: &str) -> Result<i64, String> {
    let bad = || format!("`{}` is no time", text.escape_debug());
    let plain = text.trim_end_matches(" UTC").trim_end_matches('Z').replacen(' ', "T", 1);
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at.as_millisecond());
    }
    if let Ok(at) = plain.parse::<jiff::civil::DateTime>() {
        return Ok(at
            .to_zoned(jiff::tz::TimeZone::UTC)
            .map_err(|_| bad())?
            .timestamp()
            .as_millisecond());
    }
    let day: Vec<i16> = text.split('/').filter_map(|part| part.parse().ok()).collect();
    let &[month, day, year] = day.as_slice() else { return Err(bad()) };
    let (month, day) =
        (i8::try_from(month).map_err(|_| bad())?, i8::try_from(day).map_err(|_| bad())?);
    let date = jiff::civil::Date::new(year, month, day).map_err(|_| bad())?;
    Ok(date.to_zoned(jiff::tz::TimeZone::UTC).map_err(|_| bad())?.timestamp().as_millisecond())
}

#[cfg(test)]
#[path = "forms_tests.rs"]
mod tests;
