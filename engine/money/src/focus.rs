//! FOCUS 1.2, Cost and Usage: one row for each machine and hour, cut at its launch and its end, and rows of their own
//! for its disk, its public address and its traffic.
//!
//! What has no price is no row: FOCUS forbids a cost that is not known, and 0 would be a lie. Those machines
//! are beside the file. Costs are exact to the twelfth decimal, quantities to the ninth.

mod commitment;
mod kinds;

use crate::calendar::Calendar;
use crate::covered::{Cover, Held};
use crate::ledger::{Lost, Sink};
use crate::meter::Charge;
use crate::report::{Question, Unpriced};
use fleet_model::{Cloud, CostKind, Labels, Market, MicroUsd, NoPrice, Timestamp};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

const HOUR: i64 = 3_600_000;

/// Every column: those of FOCUS 1.2 in its order, then ours.
pub const COLUMNS: [&str; 64] = [
    "AvailabilityZone",
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingAccountType",
    "BillingCurrency",
    "BillingPeriodEnd",
    "BillingPeriodStart",
    "CapacityReservationId",
    "CapacityReservationStatus",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargeFrequency",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "CommitmentDiscountCategory",
    "CommitmentDiscountId",
    "CommitmentDiscountName",
    "CommitmentDiscountQuantity",
    "CommitmentDiscountStatus",
    "CommitmentDiscountType",
    "CommitmentDiscountUnit",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedCost",
    "ContractedUnitPrice",
    "EffectiveCost",
    "InvoiceId",
    "InvoiceIssuerName",
    "ListCost",
    "ListUnitPrice",
    "PricingCategory",
    "PricingCurrency",
    "PricingCurrencyContractedUnitPrice",
    "PricingCurrencyEffectiveCost",
    "PricingCurrencyListUnitPrice",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "RegionId",
    "RegionName",
    "ResourceId",
    "ResourceName",
    "ResourceType",
    "ServiceCategory",
    "ServiceName",
    "ServiceSubcategory",
    "SkuId",
    "SkuMeter",
    "SkuPriceDetails",
    "SkuPriceId",
    "SubAccountId",
    "SubAccountName",
    "SubAccountType",
    "Tags",
    "x_ServiceProviderName",
    "x_HostProviderName",
    "x_Fleet",
    "x_Estimated",
    "x_Waived",
    "x_OnDemandUnitPrice",
    "x_Machine",
];

/// The first line.
pub fn header() -> String {
    format!("{}\n", COLUMNS.join(","))
}

/// Rows of one fleet.
#[derive(Debug)]
pub struct FocusRows {
    fleet: Arc<str>,
    from: i64,
    to: i64,
    by_day: bool,
    days: Calendar,
    /// The rows.
    pub text: String,
    /// Machines without a price, and for how many milliseconds.
    pub unpriced: BTreeMap<Unpriced, u128>,
    /// What comes beside machines and has no price: what, why and where, and for how many milliseconds of machines.
    pub uncounted: BTreeMap<(CostKind, NoPrice, Cloud), u128>,
    /// Milliseconds of machines bought ahead at a price that nobody said: their `EffectiveCost` is too low.
    pub unknown_ms: u128,
}

impl FocusRows {
    /// No rows yet.
    pub fn new(fleet: &str, question: &Question, by_day: bool) -> Self {
        FocusRows {
            fleet: fleet.into(),
            from: question.from,
            to: question.to,
            by_day,
            // FOCUS is in UTC, whatever zone a report is in.
            days: Calendar::utc(),
            text: String::new(),
            unpriced: BTreeMap::new(),
            uncounted: BTreeMap::new(),
            unknown_ms: 0,
        }
    }

    fn row(&mut self, charge: &Charge<'_>, labels: Option<&Labels>) {
        let Some(hourly) = charge.hourly else {
            if !charge.is_machine() {
                let what = (charge.kind, charge.because, charge.life.pool.place.cloud);
                *self.uncounted.entry(what).or_default() += u128::from(charge.ms());
                return;
            }
            let (machine, pool) = (charge.machine().clone(), charge.life.pool.clone());
            let who = Unpriced { fleet: self.fleet.clone(), machine, pool };
            *self.unpriced.entry(who).or_default() += u128::from(charge.ms());
            return;
        };
        let fleet = self.fleet.clone();
        let pool = &charge.life.pool;
        let place = &pool.place;
        let (provider, service) = (called(place.cloud), kinds::service(place.cloud, charge.kind));
        let of = kinds::of(charge.kind);
        let nothing = || "0.0".to_owned();
        let list = match charge.waived {
            true => nothing(),
            false => commitment::cost(hourly, charge.ms().into()),
        };
        let (billed, effective) = match charge.covered {
            None => (list.clone(), list.clone()),
            Some(Cover { hourly: None }) => (nothing(), nothing()),
            Some(Cover { hourly: Some(hourly) }) => {
                (nothing(), commitment::cost(hourly, charge.ms().into()))
            }
        };
        let quantity = decimal(u128::from(charge.ms()), HOUR as u128, 9);
        let price = decimal(u128::from(hourly.0), 1_000_000, 6);
        let zone = Some(place.zone.as_str()).filter(|zone| *zone != fleet_model::Zone::REGIONAL);
        let month = self.days.day(charge.from).0.first_of_month();
        let next = month.saturating_add(jiff::Span::new().months(1));
        let account = place.region.account().unwrap_or(place.cloud.as_str());
        let [category, id, name, committed, status, kind, unit] =
            commitment::of_charge(&self.fleet, charge, &quantity);
        let pricing = match pool.market {
            _ if charge.covered.is_some() => "Committed",
            Market::Spot if charge.is_machine() => "Dynamic",
            Market::Spot => "Standard",
            Market::OnDemand | Market::Reserved => "Standard",
        };
        let market = pool.market.as_str();
        let (cloud, region) = (place.cloud, place.region.name());
        let sku = match of.sku {
            None => format!("{cloud}/{region}/{}/{market}", pool.instance_type),
            Some(of) => format!("{cloud}/{region}/{of}"),
        };
        let tags = tags(&self.fleet, charge, labels);
        let on_demand = charge.life.on_demand.filter(|_| charge.is_machine());
        let on_demand = on_demand.map(|price: MicroUsd| decimal(price.0.into(), 1_000_000, 6));
        let description = match of.sku {
            None => format!("{} {market} in {region}", pool.instance_type),
            Some(_) => format!("{} of {} {market} in {region}", of.meter, pool.instance_type),
        };
        let slot = format!("{}/{}", self.fleet, charge.life.slot.name);
        let details = format!("{{\"InstanceType\":{}}}", json(pool.instance_type.as_str()));
        let machine = charge.machine().as_str();
        // A disk and an address have names of their own, which nobody told us.
        let resource = match charge.is_machine() {
            true => [machine, &slot, "Instance"],
            false => [""; 3],
        };
        // A part of a second is a second.
        let end = charge.to.max(charge.from.div_euclid(1000) * 1000 + 1000);
        let line: [&str; 64] = [
            zone.unwrap_or_default(),
            &billed,
            account,
            account,
            "",
            "USD",
            &stamp(self.days.begins(next)),
            &stamp(self.days.begins(month)),
            "",
            "",
            "Usage",
            "",
            &description,
            "Usage-Based",
            &stamp(end),
            &stamp(charge.from),
            &category,
            &id,
            &name,
            &committed,
            &status,
            &kind,
            &unit,
            &quantity,
            "Hours",
            &list,
            &price,
            &effective,
            "",
            provider,
            &list,
            &price,
            pricing,
            "USD",
            &price,
            &effective,
            &price,
            &quantity,
            "Hours",
            provider,
            provider,
            place.region.name(),
            place.region.name(),
            resource[0],
            resource[1],
            resource[2],
            of.category,
            service,
            of.subcategory,
            &sku,
            of.meter,
            &details,
            &sku,
            account,
            account,
            "",
            &tags,
            provider,
            provider,
            &fleet,
            if charge.estimated || of.expected { "true" } else { "false" },
            if charge.waived { "true" } else { "false" },
            on_demand.as_deref().unwrap_or_default(),
            machine,
        ];
        self.write(&line);
    }

    fn write(&mut self, line: &[&str]) {
        for (nth, cell) in line.iter().enumerate() {
            if nth > 0 {
                self.text.push(',');
            }
            crate::csv_cell(&mut self.text, cell);
        }
        self.text.push('\n');
    }
}

impl Sink for FocusRows {
    fn charge(&mut self, charge: Charge<'_>, labels: Option<&Labels>) {
        let Some(charge) = charge.split_at(self.from).1 else { return };
        let Some(mut charge) = charge.split_at(self.to).0.filter(|charge| charge.ms() > 0) else {
            return;
        };
        loop {
            let next = match self.by_day {
                true => self.days.day(charge.from).1,
                false => (charge.from.div_euclid(HOUR) + 1) * HOUR,
            };
            let (now, later) = charge.split_at(next);
            if let Some(now) = now {
                self.row(&now, labels);
            }
            match later {
                Some(later) => charge = later,
                None => return,
            }
        }
    }

    fn lost(&mut self, _: &Lost, _: i64, _: Option<&Labels>) {}

    fn held(&mut self, held: Held<'_>) {
        self.unused(held);
    }
}

/// The cloud as it calls itself.
fn called(cloud: Cloud) -> &'static str {
    match cloud {
        Cloud::Aws => "AWS",
        Cloud::Gcp => "Google Cloud",
        Cloud::Azure => "Microsoft",
        Cloud::Lambda => "Lambda",
    }
}

/// Whole seconds: FOCUS knows no other form. Quantity and cost are exact all the same.
fn stamp(ms: i64) -> String {
    let at = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX);
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A fraction as a decimal number, at least one digit behind the point.
fn decimal(number: u128, of: u128, digits: u32) -> String {
    let scale = 10u128.pow(digits);
    let scaled = (number * scale + of / 2) / of;
    let mut text =
        format!("{}.{:0width$}", scaled / scale, scaled % scale, width = digits as usize);
    while text.ends_with('0') && !text.ends_with(".0") {
        text.pop();
    }
    text
}

/// Our own tag of what is no machine.
fn tags_of(fleet: &str) -> String {
    format!("{{\"fleet\":{}}}", json(fleet))
}

/// Our own tags, and the user's.
fn tags(fleet: &str, charge: &Charge<'_>, labels: Option<&Labels>) -> String {
    let mut text = format!("{{\"fleet\":{},\"slot\":\"{}\"", json(fleet), charge.life.slot.name);
    for (key, value) in
        labels.into_iter().flatten().filter(|(key, _)| !matches!(key.as_str(), "fleet" | "slot"))
    {
        let _ = write!(text, ",{}:{}", json(key), json(value));
    }
    text.push('}');
    text
}

fn json(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(price: Option<MicroUsd>, by_day: bool) -> FocusRows {
        let at = |text: &str| text.parse::<Timestamp>().expect("a time");
        let new = fleet_model::NewMachine {
            slot: "burst-3.1".parse().expect("a slot"),
            machine: "i-1".into(),
            launched_at: at("2026-01-31T21:30:00Z"),
            price,
            pool: None,
        };
        let pool = "aws/us-east-1@123456789012/use1-az1/m7i.large/spot".parse().expect("a pool");
        let extras = fleet_model::Extras {
            disk: fleet_model::Extra::Hourly(MicroUsd(20_000)),
            address: fleet_model::Extra::Unknown(NoPrice::SubnetDecides),
            ..Default::default()
        };
        let extras = Some(extras);
        let launch =
            crate::meter::Launch { pool: &pool, image: None, labels: 0, worth: None, extras };
        let mut meter = fleet_model::Meter::default();
        crate::meter::launched(&mut meter, &new, launch, None);
        let (by, calendar) = (Vec::new(), Calendar::utc());
        let question = Question { by, from: i64::MIN, to: i64::MAX, calendar };
        let mut rows = FocusRows::new("web", &question, by_day);
        let labels = [("team".to_owned(), "a \"b\"".to_owned())].into();
        crate::meter::accrued(&meter, at("2026-02-01T01:00:00Z"), &mut |charge: Charge<'_>| {
            rows.charge(charge, Some(&labels));
        });
        rows
    }

    #[test]
    fn a_row_for_each_hour_and_none_for_what_has_no_price() {
        let hours = rows(Some(MicroUsd(120_000)), false);
        // As many for the disk, and none for the address.
        assert_eq!(hours.text.lines().count(), 8, "{}", hours.text);
        assert_eq!(rows(Some(MicroUsd(120_000)), true).text.lines().count(), 4);
        let first = hours.text.lines().next().expect("a row");
        for part in [
            "use1-az1,0.06,123456789012,",
            "2026-02-01T00:00:00Z,2026-01-01T00:00:00Z",
            "2026-01-31T22:00:00Z,2026-01-31T21:30:00Z",
            "Dynamic",
            "\"{\"\"fleet\"\":\"\"web\"\",\"\"slot\"\":\"\"burst-3\"\",\"\"team\"\":\"\"a \\\"\"b\\\"\"\"\"}\"",
        ] {
            assert!(first.contains(part), "{part}: {first}");
        }
        let disk = hours.text.lines().nth(4).expect("a row of the disk");
        for part in [
            "use1-az1,0.01,123456789012,",
            ",Usage,,Disk Capacity of m7i.large spot in us-east-1,Usage-Based,",
            // A disk does not follow the market, and its own name is not known.
            ",Standard,USD,",
            ",us-east-1,us-east-1,,,,Storage,Amazon Elastic Block Store,Block Storage,",
            ",i-1",
        ] {
            assert!(disk.contains(part), "{part}: {disk}");
        }
        let unknown = rows(None, false);
        let what = (CostKind::Address, NoPrice::SubnetDecides, Cloud::Aws);
        assert_eq!(unknown.uncounted[&what], 3 * 3_600_000 + 1_800_000);
        assert_eq!(unknown.text.lines().filter(|row| row.contains("Compute Usage")).count(), 0);
        assert_eq!(unknown.unpriced.values().sum::<u128>(), 3 * 3_600_000 + 1_800_000);
    }

    #[test]
    fn fractions_are_written_exactly() {
        assert_eq!(decimal(1, 3, 9), "0.333333333");
        assert_eq!(decimal(3_600_000, 3_600_000, 9), "1.0");
        assert_eq!(decimal(1_500_000, 1_000_000, 6), "1.5");
        assert_eq!(stamp(1_767_225_600_000), "2026-01-01T00:00:00Z");
        assert_eq!(stamp(1_767_225_600_999), "2026-01-01T00:00:00Z");
        assert_eq!(json("a\"b\n"), "\"a\\\"b\\u000a\"");
    }
}
