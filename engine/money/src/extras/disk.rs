//! Boot disks, by kind and size.

use super::{Sent, Source, hourly, priced};
use fleet_model::{Cloud, Extra, NoPrice, PoolId};

/// How a kind of disk is billed.
pub(super) enum Billed {
    /// Micro-dollars per GiB and month.
    PerGib(u64),
    /// By the smallest tier that holds it: GiB, and micro-dollars per month.
    Tiers(&'static [(u32, u64)]),
    /// No price was found.
    Unknown,
}

/// What a kind of disk costs.
pub(super) struct Row {
    pub(super) cloud: Cloud,
    pub(super) kind: &'static str,
    pub(super) billed: Billed,
    /// Regions where exactly this holds; elsewhere it is about so.
    pub(super) holds_in: &'static [&'static str],
    /// What is not in it.
    pub(super) besides: &'static str,
    pub(super) source: Source,
}

const EBS: Source = Source { name: "Infracost ebs_volume_test", date: "2024-07", grade: 'B' };
const PD: Source = Source {
    name: "Infracost compute_disk_test; pd-standard and pd-ssd as on Google's page",
    date: "2024-07",
    grade: 'B',
};
const MANAGED: Source = Source {
    name: "Infracost managed_disk tests (P4, P10, E4, E30, S4, S10); the other tiers from public tables",
    date: "2024-07",
    grade: 'C',
};

pub(super) const ROWS: [Row; 10] = [
    Row {
        cloud: Cloud::Aws,
        kind: "gp3",
        billed: Billed::PerGib(80_000),
        holds_in: &["us-east-1"],
        besides: "3,000 IOPS and 125 MiB/s are in it; more is $0.005 per IOPS and $0.04 per MiB/s a month, and launches ask for no more",
        source: EBS,
    },
    Row {
        cloud: Cloud::Aws,
        kind: "gp2",
        billed: Billed::PerGib(100_000),
        holds_in: &["us-east-1"],
        besides: "",
        source: EBS,
    },
    Row {
        cloud: Cloud::Gcp,
        kind: "pd-standard",
        billed: Billed::PerGib(40_000),
        holds_in: &["us-central1"],
        besides: "",
        source: PD,
    },
    Row {
        cloud: Cloud::Gcp,
        kind: "pd-balanced",
        billed: Billed::PerGib(100_000),
        holds_in: &["us-central1"],
        besides: "",
        source: PD,
    },
    Row {
        cloud: Cloud::Gcp,
        kind: "pd-ssd",
        billed: Billed::PerGib(170_000),
        holds_in: &["us-central1"],
        besides: "",
        source: PD,
    },
    Row {
        cloud: Cloud::Gcp,
        kind: "hyperdisk-balanced",
        billed: Billed::Unknown,
        holds_in: &[],
        besides: "no price was found",
        source: Source { name: "none", date: "2026-11", grade: '–' },
    },
    Row {
        cloud: Cloud::Azure,
        kind: "StandardSSD_LRS",
        billed: Billed::Tiers(&[
            (4, 300_000),
            (8, 600_000),
            (16, 1_200_000),
            (32, 2_400_000),
            (64, 4_800_000),
            (128, 9_600_000),
            (256, 19_200_000),
            (512, 38_400_000),
            (1_024, 76_800_000),
            (2_048, 153_600_000),
            (4_096, 307_200_000),
        ]),
        holds_in: &["eastus"],
        besides: "operations are billed on top",
        source: MANAGED,
    },
    Row {
        cloud: Cloud::Azure,
        kind: "Premium_LRS",
        billed: Billed::Tiers(&[
            (32, 5_280_000),
            (64, 10_210_000),
            (128, 19_710_000),
            (256, 38_020_000),
            (512, 73_220_000),
            (1_024, 135_170_000),
        ]),
        holds_in: &["eastus"],
        besides: "smaller tiers than 32 GiB are priced as that one",
        source: MANAGED,
    },
    Row {
        cloud: Cloud::Azure,
        kind: "Standard_LRS",
        billed: Billed::Tiers(&[
            (32, 1_540_000),
            (64, 3_010_000),
            (128, 5_890_000),
            (256, 11_330_000),
            (512, 21_760_000),
            (1_024, 40_960_000),
        ]),
        holds_in: &["eastus"],
        besides: "operations are billed on top",
        source: MANAGED,
    },
    Row {
        cloud: Cloud::Lambda,
        kind: "local",
        billed: Billed::PerGib(0),
        holds_in: &[],
        besides: "in the price of the machine",
        source: Source { name: "dstackai/dstack#1553", date: "2026-11", grade: 'B' },
    },
];

/// What the boot disk of a machine costs.
pub(super) fn price(sent: &Sent<'_>, pool: &PoolId) -> Extra {
    let cloud = pool.place.cloud;
    let Some(kind) = sent.disk_of(cloud, &pool.instance_type) else { return Extra::default() };
    let row = ROWS.iter().find(|row| row.cloud == cloud && row.kind.eq_ignore_ascii_case(kind));
    let Some(row) = row else { return Extra::Unknown(NoPrice::DiskKind) };
    // The first thing to mend where the kind has no price either: without a size nothing has one.
    let Some(size) = sent.disk_gib else { return Extra::Unknown(NoPrice::ImageDecides) };
    if let Billed::Unknown = row.billed {
        return Extra::Unknown(NoPrice::DiskKind);
    }
    let per_month = match row.billed {
        Billed::PerGib(each) => Some(u128::from(each) * u128::from(size)),
        Billed::Tiers(tiers) => {
            let tier = tiers.iter().find(|(gib, _)| size <= *gib);
            tier.map(|(_, price)| u128::from(*price))
        }
        Billed::Unknown => None,
    };
    match per_month {
        Some(price) => priced(hourly(price), row.holds_in, pool.place.region.name()),
        None => Extra::Unknown(NoPrice::DiskSize),
    }
}
