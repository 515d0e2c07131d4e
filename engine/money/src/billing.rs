//! How each cloud bills a machine: in what steps, from which state to which, and what is free when it takes
//! a machine back. One table; each row with its source.
//!
//! Steps and minima are [`fleet_model::CloudFacts::billing`]. Where a page leaves two readings, the dearer one
//! is in the table and the row says so.

use fleet_model::{Cloud, Market, Product};

const HOUR: u64 = 3_600_000;

/// From when a machine is billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// From its launch.
    Launch,
    /// From when it runs: the time before is free.
    Running,
}

/// Until when a machine is billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Until it leaves *running*: from the moment that its end is asked for it is free.
    LeavesRunning,
    /// Until it has stopped: the time that stopping takes is paid.
    Stopped,
}

/// What is not billed when the cloud takes a spot machine back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenBack {
    /// Everything that ran is billed.
    Billed,
    /// A machine that ran for less than so many milliseconds is free.
    FreeWithin(u64),
    /// The same, and of one that ran for longer the step under way is free.
    FreeWithinAndStep(u64),
}

/// How a cloud bills a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The cloud.
    pub cloud: Cloud,
    /// What runs on the machine.
    pub product: Product,
    /// Milliseconds of one step; a step that was begun is billed.
    pub step: u64,
    /// Milliseconds that are billed at the least.
    pub least: u64,
    /// From when.
    pub from: From,
    /// Until when.
    pub until: Until,
    /// What is free when the cloud takes a spot machine back.
    pub taken_back: TakenBack,
    /// What of it is one of two readings, or our own.
    pub reading: Option<&'static str>,
    /// Where it is said.
    pub source: &'static str,
}

const fn row(
    cloud: Cloud,
    (from, until): (From, Until),
    taken_back: TakenBack,
    reading: Option<&'static str>,
    source: &'static str,
) -> Rule {
    let billing = cloud.facts().billing;
    Rule {
        cloud,
        product: Product::Usual,
        step: billing.step.as_millis() as u64,
        least: billing.least.as_millis() as u64,
        from,
        until,
        taken_back,
        reading,
        source,
    }
}

/// Every rule.
pub const RULES: [Rule; 5] = [
    row(
        Cloud::Aws,
        (From::Running, Until::LeavesRunning),
        TakenBack::FreeWithin(HOUR),
        Some(
            "the spot price of each moment counts: which one counts within an hour is not documented",
        ),
        "re:Post \"EC2 instance hour billing\"; EC2 User Guide \"Instance lifecycle\", \"Billing for interrupted Spot Instances\"",
    ),
    Rule {
        product: Product::Suse,
        step: HOUR,
        least: HOUR,
        ..row(
            Cloud::Aws,
            (From::Running, Until::LeavesRunning),
            TakenBack::FreeWithinAndStep(HOUR),
            None,
            "re:Post \"EC2 instance hour billing\"; EC2 User Guide \"Billing for interrupted Spot Instances\"",
        )
    },
    row(
        Cloud::Gcp,
        (From::Launch, Until::Stopped),
        TakenBack::FreeWithin(60_000),
        None,
        "Compute Engine \"VM instance pricing\", \"Spot VMs\"",
    ),
    row(
        Cloud::Azure,
        (From::Launch, Until::LeavesRunning),
        TakenBack::Billed,
        Some(
            "seconds with a minute at least; Microsoft's own page drops the seconds of a broken minute",
        ),
        "Azure \"States and billing status\", \"Use Azure Spot Virtual Machines\"",
    ),
    row(
        Cloud::Lambda,
        (From::Launch, Until::LeavesRunning),
        TakenBack::Billed,
        Some("from the launch; Lambda's page says from the first passed health check"),
        "Lambda docs \"Billing\"",
    ),
];

/// The rule for a machine.
pub fn rule(cloud: Cloud, product: Product) -> &'static Rule {
    let [aws, suse, gcp, azure, lambda] = &RULES;
    match (cloud, product) {
        (Cloud::Aws, Product::Usual) => aws,
        (Cloud::Aws, Product::Suse) => suse,
        (Cloud::Gcp, Product::Usual | Product::Suse) => gcp,
        (Cloud::Azure, Product::Usual | Product::Suse) => azure,
        (Cloud::Lambda, Product::Usual | Product::Suse) => lambda,
    }
}

/// Whether the bill of a machine follows the price of the market, or is fixed at launch.
pub fn follows_market(market: Market) -> bool {
    match market {
        Market::Spot => true,
        Market::OnDemand | Market::Reserved => false,
    }
}

/// What runs on machines from an image, as far as its name tells.
pub fn product_of(image: Option<&str>) -> Product {
    let said = image.unwrap_or_default().to_ascii_lowercase();
    if ["suse", "sles"].iter().any(|name| said.contains(name)) {
        Product::Suse
    } else {
        Product::Usual
    }
}

impl Rule {
    /// Milliseconds that are billed for a machine that ran for some; 0 if its cloud takes it back and asks
    /// nothing for it.
    pub fn billed(&self, ran: u64, taken_back: bool) -> u64 {
        let begun = ran.div_ceil(self.step).saturating_mul(self.step).max(self.least);
        match self.taken_back {
            TakenBack::FreeWithin(free) | TakenBack::FreeWithinAndStep(free)
                if taken_back && ran < free =>
            {
                0
            }
            TakenBack::FreeWithinAndStep(_) if taken_back => ran / self.step * self.step,
            TakenBack::Billed | TakenBack::FreeWithin(_) | TakenBack::FreeWithinAndStep(_) => begun,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_billed() {
        let check = |cloud, product, ran: u64, taken, expect: u64| {
            let billed = rule(cloud, product).billed(ran, taken);
            assert_eq!(billed, expect, "{cloud} {product:?} {ran} {taken}");
        };
        use Product::{Suse, Usual};
        check(Cloud::Aws, Usual, 1, false, 60_000);
        check(Cloud::Aws, Usual, 61_001, false, 62_000);
        check(Cloud::Aws, Usual, HOUR - 1, true, 0);
        check(Cloud::Aws, Usual, HOUR, true, HOUR);
        check(Cloud::Aws, Suse, HOUR + 1, false, 2 * HOUR);
        check(Cloud::Aws, Suse, 2 * HOUR - 1, true, HOUR);
        check(Cloud::Aws, Suse, HOUR - 1, true, 0);
        check(Cloud::Gcp, Usual, 59_999, true, 0);
        check(Cloud::Gcp, Usual, 59_999, false, 60_000);
        check(Cloud::Gcp, Usual, 60_000, true, 60_000);
        check(Cloud::Azure, Usual, 405_000, true, 405_000);
        check(Cloud::Lambda, Usual, 60_001, false, 120_000);
    }

    #[test]
    fn every_machine_has_its_rule() {
        for cloud in Cloud::ALL {
            assert_eq!(rule(cloud, Product::Usual).cloud, cloud);
        }
        assert_eq!(rule(Cloud::Aws, Product::Suse).product, Product::Suse);
        assert_eq!(product_of(Some("suse-sles-15-sp6-v2026")), Product::Suse);
        assert_eq!(product_of(Some("ubuntu-24.04")), Product::Usual);
    }
}
