//! Public IPv4 addresses: who gives them, and what they cost.

use super::{Sent, Source, priced};
use fleet_model::{Cloud, Extra, Market, MicroUsd, NoPrice, PoolId};

/// What an address costs.
pub(super) struct Row {
    pub(super) cloud: Cloud,
    /// `None`: every market.
    pub(super) market: Option<Market>,
    pub(super) hourly: MicroUsd,
    /// Regions where exactly this holds; empty: everywhere.
    pub(super) holds_in: &'static [&'static str],
    /// Who gets one.
    pub(super) given: &'static str,
    pub(super) source: Source,
}

pub(super) const ROWS: [Row; 5] = [
    Row {
        cloud: Cloud::Aws,
        market: None,
        hourly: MicroUsd(5_000),
        holds_in: &[],
        given: "machines in a default subnet; a subnet of your own decides itself",
        source: Source { name: "Infracost eip_test", date: "2024-07", grade: 'B' },
    },
    Row {
        cloud: Cloud::Gcp,
        market: Some(Market::Spot),
        hourly: MicroUsd(2_500),
        holds_in: &["us-central1"],
        given: "machines on the default network, and none on a network of your own",
        source: Source { name: "Infracost compute_address_test", date: "2026-04", grade: 'B' },
    },
    Row {
        cloud: Cloud::Gcp,
        market: None,
        hourly: MicroUsd(5_000),
        holds_in: &["us-central1"],
        given: "machines on the default network, and none on a network of your own",
        source: Source { name: "Infracost compute_address_test", date: "2026-04", grade: 'B' },
    },
    Row {
        cloud: Cloud::Azure,
        market: None,
        hourly: MicroUsd(5_000),
        holds_in: &[],
        given: "no machine of ours",
        source: Source { name: "Infracost public_ip_test", date: "2026-04", grade: 'B' },
    },
    Row {
        cloud: Cloud::Lambda,
        market: None,
        hourly: MicroUsd(0),
        holds_in: &[],
        given: "every machine, in its price",
        source: Source { name: "Lambda docs, Billing", date: "2026-11", grade: 'A' },
    },
];

/// What the address of a machine costs.
pub(super) fn price(sent: &Sent<'_>, pool: &PoolId) -> Extra {
    let cloud = pool.place.cloud;
    let nothing = Extra::default();
    match cloud {
        Cloud::Aws if sent.own_network => return Extra::Unknown(NoPrice::SubnetDecides),
        Cloud::Gcp if sent.own_network => return nothing,
        Cloud::Azure => return nothing,
        Cloud::Aws | Cloud::Gcp | Cloud::Lambda => {}
    }
    let fits =
        |row: &&Row| row.cloud == cloud && row.market.is_none_or(|market| market == pool.market);
    let row = ROWS.iter().find(fits);
    row.map_or(nothing, |row| priced(row.hourly, row.holds_in, pool.place.region.name()))
}
