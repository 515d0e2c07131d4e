//! The forms of bills: columns, and which rows are about machines. By AWS's table dictionaries of Data Exports, Google's "Cloud Billing data tables in
//! BigQuery", Microsoft's cost details and FOCUS 1.2.

use super::NanoUsd;
use super::bad::{BadBill, BadRow};
use super::cells::{amount, fleet_of, moment};
use super::kinds::beside;
use super::read::{DAY, HOUR};
use fleet_model::{Cloud, CostKind};
use std::fmt;

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

    /// Whether a row of some kind is about what was used: no tax, credit or fee.
    fn is_usage(self, kind: Option<&str>) -> bool {
        kind.is_none_or(|kind| match self {
            Form::Focus | Form::Azure => kind.eq_ignore_ascii_case("usage"),
            Form::AwsCur => ["Usage", "DiscountedUsage", "SavingsPlanCoveredUsage"].contains(&kind),
            Form::Gcp => kind == "regular",
        })
    }

    /// The cloud whose bills have this form; `None`: those of several.
    pub(super) fn cloud(self) -> Option<Cloud> {
        match self {
            Form::Focus => None,
            Form::AwsCur => Some(Cloud::Aws),
            Form::Gcp => Some(Cloud::Gcp),
            Form::Azure => Some(Cloud::Azure),
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

/// Where the columns are.
pub(super) struct Columns {
    pub(super) form: Form,
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
    /// What else says what a row is about, where the column of `what` is wide.
    detail: Vec<usize>,
    tags: Option<usize>,
    currency: Option<usize>,
    /// Whose service it is, where a form is of several clouds.
    provider: Option<usize>,
    /// Whether a commitment paid, or lay unused; and what is billed beside it.
    commitment: Option<usize>,
    billed: Option<usize>,
}

/// A row about a machine, or about what came beside a fleet's machines.
pub(super) struct Row {
    pub(super) kind: CostKind,
    /// Nothing for what is no machine: disks and addresses have names of their own.
    pub(super) machine: String,
    pub(super) fleet: Option<String>,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) cost: NanoUsd,
    pub(super) ms: Option<u64>,
}

impl Columns {
    pub(super) fn of(heads: &csv::StringRecord) -> Result<Self, BadBill> {
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
        // Of several columns the one whose currency the cost is in.
        let (currency, provider) = match form {
            Form::Focus => (
                find("BillingCurrency"),
                first(&["ProviderName", "ServiceProviderName", "PublisherName"]),
            ),
            Form::AwsCur => (first(&["line_item_currency_code", "pricing_currency"]), None),
            Form::Gcp => (find("currency"), None),
            Form::Azure => (first(&["BillingCurrency", "BillingCurrencyCode", "Currency"]), None),
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
            detail: match form {
                Form::Focus => {
                    all(&["ServiceSubcategory", "SkuMeter", "ChargeDescription", "x_UsageType"])
                }
                Form::AwsCur | Form::Gcp | Form::Azure => Vec::new(),
            },
            tags,
            currency,
            provider,
            commitment: find("CommitmentDiscountStatus").filter(|_| form == Form::Focus),
            billed: find("BilledCost"),
        })
    }

    /// Whose service a row is about, where a form is of several clouds.
    pub(super) fn provider<'a>(&self, record: &'a csv::StringRecord) -> Option<&'a str> {
        record.get(self.provider?).map(str::trim).filter(|name| !name.is_empty())
    }

    /// A row, if it is about what a machine costs, or what came beside a fleet's machines.
    pub(super) fn row(&self, record: &csv::StringRecord) -> Result<Option<Row>, BadRow> {
        let at = |column: usize| record.get(column).unwrap_or_default().trim();
        let some = |column: Option<usize>| column.map(at).filter(|text| !text.is_empty());
        let machine = self.machine.iter().map(|column| at(*column)).find(|id| !id.is_empty());
        let (kind, what) = (some(self.kind), some(self.what));
        let detail: Vec<&str> = self.detail.iter().map(|column| at(*column)).collect();
        let fleet = some(self.tags).and_then(fleet_of);
        let is_used = self.form.is_usage(kind);
        let beside = beside(self.form, what.unwrap_or_default(), &detail).filter(|_| is_used);
        let (kind, machine) = match (beside, machine) {
            (Some(kind), _) if fleet.is_some() => (kind, ""),
            (Some(_), _) => return Ok(None),
            (None, Some(machine)) if self.is_machine(machine, kind, what) => {
                (CostKind::Machine, machine)
            }
            (None, _) => return Ok(None),
        };
        let start = moment(at(self.start))?;
        let end = match some(self.end) {
            Some(end) => moment(end)?,
            None => start + DAY,
        };
        if end <= start {
            return Err(BadRow::EndsFirst);
        }
        if let Some(code) = some(self.currency).filter(|code| !code.eq_ignore_ascii_case("USD")) {
            return Err(BadRow::Currency(code.to_owned()));
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
        Ok(Some(Row { kind, machine: machine.to_owned(), fleet, start, end, cost, ms }))
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
