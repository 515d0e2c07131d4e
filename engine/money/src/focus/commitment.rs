//! What FOCUS says of commitments: on rows of machines that they paid for, and rows of their own for the part
//! that lay unused.
//!
//! The id of a commitment is ours: a spec names what the bill covers, not the contract. What was paid for it is
//! no row, because nobody knows when that was asked; `EffectiveCost` spreads it over the hours.

use super::{COLUMNS, FocusRows, HOUR, called, decimal, kinds, stamp, tags_of};
use crate::covered::Held;
use crate::meter::Charge;
use fleet_model::{Cloud, Commitment, CostKind, InstanceType, MicroUsd};

/// The seven columns `CommitmentDiscount…`, in their order.
pub(super) type Columns = [String; 7];

const TYPE: &str = "Committed machines";

fn id(fleet: &str, cloud: Cloud, region: &str, instance_type: &InstanceType) -> String {
    format!("fleet/{fleet}/{cloud}/{region}/{instance_type}")
}

fn columns(id: String, quantity: &str, status: &str) -> Columns {
    let text = |text: &str| text.to_owned();
    let category = text("Usage");
    [category, id.clone(), id, text(quantity), text(status), text(TYPE), text("Hours")]
}

/// Those of a machine: empty where no commitment paid.
pub(super) fn of_charge(fleet: &str, charge: &Charge<'_>, quantity: &str) -> Columns {
    if charge.covered.is_none() {
        return Columns::default();
    }
    let pool = &charge.life.pool;
    let id = id(fleet, pool.place.cloud, pool.place.region.name(), &pool.instance_type);
    columns(id, quantity, "Used")
}

/// What so many milliseconds cost at a price.
pub(super) fn cost(hourly: MicroUsd, ms: u128) -> String {
    decimal(u128::from(hourly.0) * ms, 3_600_000 * 1_000_000, 12)
}

impl FocusRows {
    /// Rows of what a commitment cost while it lay unused: one for each hour or day.
    pub(super) fn unused(&mut self, held: Held<'_>) {
        let Held { commitment, from, to, used } = held;
        let idle = u128::from(commitment.count.saturating_sub(used));
        let (mut from, to) = (from.max(self.from), to.min(self.to));
        if from >= to {
            return;
        }
        let Some(hourly) = commitment.hourly else {
            self.unknown_ms += (to - from) as u128 * u128::from(commitment.count);
            return;
        };
        while idle > 0 && from < to {
            let next = match self.by_day {
                true => self.days.day(from).1,
                false => (from.div_euclid(HOUR) + 1) * HOUR,
            };
            let until = next.min(to);
            self.unused_row(commitment, hourly, (from, until), (until - from) as u128 * idle);
            from = until;
        }
    }

    fn unused_row(
        &mut self,
        commitment: &Commitment,
        hourly: MicroUsd,
        (from, to): (i64, i64),
        ms: u128,
    ) {
        let Commitment { cloud, region, instance_type, .. } = commitment;
        let (provider, service) = (called(*cloud), kinds::service(*cloud, CostKind::Machine));
        let id = id(&self.fleet, *cloud, region, instance_type);
        let (cost, quantity) = (cost(hourly, ms), decimal(ms, HOUR as u128, 9));
        let month = self.days.day(from).0.first_of_month();
        let next = month.saturating_add(jiff::Span::new().months(1));
        let (month, next) = (stamp(self.days.begins(month)), stamp(self.days.begins(next)));
        let (from, to) = (stamp(from), stamp(to.max(from.div_euclid(1000) * 1000 + 1000)));
        let description = format!("{instance_type} in {region}, bought ahead and not used");
        let tags = tags_of(&self.fleet);
        let price = decimal(hourly.0.into(), 1_000_000, 6);
        let fleet = self.fleet.clone();
        let [category, id, name, quantity, status, kind, unit] = columns(id, &quantity, "Unused");
        let cell = |column: &str| match column {
            "BilledCost" => "0.0",
            "EffectiveCost" | "ListCost" | "ContractedCost" | "PricingCurrencyEffectiveCost" => {
                &cost
            }
            "ListUnitPrice"
            | "ContractedUnitPrice"
            | "PricingCurrencyListUnitPrice"
            | "PricingCurrencyContractedUnitPrice" => &price,
            "BillingAccountId" | "BillingAccountName" | "SubAccountId" | "SubAccountName" => {
                cloud.as_str()
            }
            "BillingCurrency" | "PricingCurrency" => "USD",
            "BillingPeriodStart" => &month,
            "BillingPeriodEnd" => &next,
            "ChargeCategory" => "Usage",
            "ChargeDescription" => &description,
            "ChargeFrequency" => "Usage-Based",
            "ChargePeriodStart" => &from,
            "ChargePeriodEnd" => &to,
            "CommitmentDiscountCategory" => &category,
            "CommitmentDiscountId" | "ResourceId" | "SkuId" | "SkuPriceId" => &id,
            "CommitmentDiscountName" | "ResourceName" => &name,
            "CommitmentDiscountQuantity" | "PricingQuantity" => &quantity,
            "CommitmentDiscountStatus" => &status,
            "CommitmentDiscountType" | "ResourceType" => &kind,
            "CommitmentDiscountUnit" | "PricingUnit" => &unit,
            "InvoiceIssuerName" | "ProviderName" | "PublisherName" => provider,
            "x_ServiceProviderName" | "x_HostProviderName" => provider,
            "PricingCategory" => "Committed",
            "RegionId" | "RegionName" => region,
            "ServiceCategory" => "Compute",
            "ServiceName" => service,
            "ServiceSubcategory" => "Virtual Machines",
            "SkuMeter" => "Compute Usage",
            "Tags" => &tags,
            "x_Fleet" => &fleet,
            "x_Estimated" | "x_Waived" => "false",
            _ => "",
        };
        let line = COLUMNS.map(cell);
        self.write(&line);
    }
}
