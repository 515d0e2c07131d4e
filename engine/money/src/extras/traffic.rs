//! Traffic: free inside a region, by the GiB between regions and to the internet.
//!
//! Bands are summed: each GiB has the price of its own band. A fleet's traffic is priced as if all of it
//! took one way, so that every unit of capacity has the same share of the price wherever the others stand.

use super::Source;
use super::places::{Part, part};
use fleet_model::{Cloud, Extra, HOURS_PER_MONTH, MicroUsd, NoPrice, Place, Traffic, Units};

/// A part of a month's volume and its price.
pub(super) struct Band {
    /// Up to so many GiB; `None`: without end.
    pub(super) up_to_gib: Option<u64>,
    /// Micro-dollars per GiB.
    pub(super) each: u64,
}

const fn band(up_to_gib: u64, each: u64) -> Band {
    Band { up_to_gib: Some(up_to_gib), each }
}

const fn flat(each: u64) -> Band {
    Band { up_to_gib: None, each }
}

/// What leaves a place costs.
pub(super) struct Row {
    pub(super) cloud: Cloud,
    pub(super) from: From,
    pub(super) to: To,
    pub(super) bands: &'static [Band],
    pub(super) source: Source,
}

/// Where it comes from.
pub(super) enum From {
    /// These regions.
    Regions(&'static [&'static str]),
    /// Regions of one part of the world that have no row of their own: about so.
    Like(&'static [Part]),
    /// Anywhere.
    Anywhere,
}

/// Where it goes to.
#[derive(Clone, Copy)]
pub(super) enum To {
    /// Another cloud, or nobody knows where.
    Internet,
    /// This region of the same cloud.
    Region(&'static str),
    /// Another region of the same cloud, in one of these parts of the world.
    Parts(&'static [Part]),
    /// Any other region of the same cloud.
    Regions,
}

const AWS: Source = Source { name: "Infracost data_transfer_test", date: "2024-09", grade: 'B' };
const GCP_INTERNET: Source = Source {
    name: "Infracost VPN and registry tests; SkyPilot clouds/gcp.py agrees",
    date: "2024-07",
    grade: 'B',
};
const GCP_REGIONS: Source =
    Source { name: "Infracost compute_vpn_gateway_test", date: "2024-07", grade: 'B' };
const AZURE: Source = Source { name: "SkyPilot clouds/azure.py", date: "2026-08", grade: 'B' };
const LAMBDA: Source =
    Source { name: "SkyPilot clouds/lambda_cloud.py", date: "2026-08", grade: 'B' };

/// The internet prices of the regions that AWS charges least for.
const AWS_BANDS: &[Band] =
    &[band(10_240, 90_000), band(51_200, 85_000), band(153_600, 70_000), flat(50_000)];
const AWS_LEAST: &[&str] = &["us-east-1", "us-east-2", "us-west-2", "eu-west-1", "eu-central-1"];
const NORTH: &[Part] = &[Part::NorthAmerica, Part::Europe];
const NEAR: &[Part] = &[Part::NorthAmerica];
const EUROPE: &[Part] = &[Part::Europe];
const FAR: &[Part] = &[Part::NorthAmerica, Part::Europe, Part::Asia];
const SOUTH: &[Part] = &[Part::SouthAmerica];

const fn aws(from: From, to: To, bands: &'static [Band]) -> Row {
    Row { cloud: Cloud::Aws, from, to, bands, source: AWS }
}

const fn gcp(from: &'static [Part], to: &'static [Part], bands: &'static [Band]) -> Row {
    let (from, to) = (From::Like(from), To::Parts(to));
    Row { cloud: Cloud::Gcp, from, to, bands, source: GCP_REGIONS }
}

/// The first row that fits holds.
pub(super) const ROWS: [Row; 23] = [
    aws(From::Regions(AWS_LEAST), To::Internet, AWS_BANDS),
    aws(From::Regions(&["ap-northeast-1"]), To::Internet, &[band(10_240, 114_000)]),
    aws(From::Regions(&["ap-southeast-1"]), To::Internet, &[band(10_240, 120_000)]),
    aws(From::Regions(&["sa-east-1"]), To::Internet, &[band(10_240, 150_000)]),
    aws(From::Regions(&["af-south-1"]), To::Internet, &[band(10_240, 154_000)]),
    aws(From::Like(NORTH), To::Internet, AWS_BANDS),
    aws(From::Regions(&["us-east-1"]), To::Region("us-east-2"), &[flat(10_000)]),
    aws(From::Regions(&["us-east-2"]), To::Region("us-east-1"), &[flat(10_000)]),
    aws(From::Regions(AWS_LEAST), To::Regions, &[flat(20_000)]),
    aws(From::Regions(&["ap-northeast-1", "ap-southeast-1"]), To::Regions, &[flat(90_000)]),
    aws(From::Regions(&["sa-east-1"]), To::Regions, &[flat(138_000)]),
    aws(From::Regions(&["af-south-1"]), To::Regions, &[flat(147_000)]),
    aws(From::Like(NORTH), To::Regions, &[flat(20_000)]),
    Row {
        cloud: Cloud::Gcp,
        from: From::Anywhere,
        to: To::Internet,
        bands: &[band(1_024, 120_000), band(10_240, 110_000), flat(80_000)],
        source: GCP_INTERNET,
    },
    gcp(NEAR, NEAR, &[flat(20_000)]),
    gcp(EUROPE, EUROPE, &[flat(20_000)]),
    gcp(FAR, FAR, &[flat(80_000)]),
    gcp(SOUTH, SOUTH, &[flat(140_000)]),
    gcp(SOUTH, FAR, &[flat(140_000)]),
    gcp(FAR, SOUTH, &[flat(140_000)]),
    Row {
        cloud: Cloud::Azure,
        from: From::Like(NORTH),
        to: To::Internet,
        bands: &[band(10_240, 87_500), band(51_200, 83_000), band(153_600, 70_000), flat(50_000)],
        source: AZURE,
    },
    Row {
        cloud: Cloud::Lambda,
        from: From::Anywhere,
        to: To::Internet,
        bands: &[flat(0)],
        source: LAMBDA,
    },
    Row {
        cloud: Cloud::Lambda,
        from: From::Anywhere,
        to: To::Regions,
        bands: &[flat(0)],
        source: LAMBDA,
    },
];

/// A place that traffic leaves or reaches: a cloud and its own name of a region.
type Spot<'a> = (Cloud, &'a str);

/// What a month of a fleet's traffic costs, if all machines stand in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Micro-dollars.
    pub month: u128,
    /// Whether the price of another region was taken.
    pub about: bool,
}

impl Way {
    /// The share of a machine, per hour.
    pub fn of(self, weight: Units, target: Units) -> Extra {
        if target.is_zero() || self.month == 0 {
            return Extra::default();
        }
        let parts = u128::from(target.0) * u128::from(HOURS_PER_MONTH);
        let share = (self.month * u128::from(weight.0) + parts / 2) / parts;
        let share = MicroUsd(u64::try_from(share).unwrap_or(u64::MAX));
        if self.about { Extra::About(share) } else { Extra::Hourly(share) }
    }
}

/// The ways of a fleet's traffic.
#[derive(Debug, Clone, Copy)]
pub struct Ways<'a>(pub &'a Traffic);

impl Ways<'_> {
    /// What the fleet's traffic costs in a month if its machines stand in a place.
    pub fn from(self, place: &Place) -> Result<Way, NoPrice> {
        let Traffic { data, egress_milli_gib, returned_milli_gib } = self.0;
        let machines: Spot<'_> = (place.cloud, place.region.name());
        let data = data.as_ref().map(|(cloud, region)| (*cloud, region.as_str()));
        let ways = match data {
            Some(data) => vec![
                way(data, Some(machines), *egress_milli_gib)?,
                way(machines, Some(data), *returned_milli_gib)?,
            ],
            None => vec![way(machines, None, *egress_milli_gib)?],
        };
        let month = ways.iter().map(|way| way.month).sum();
        let about = ways.iter().any(|way| way.about && way.month > 0);
        Ok(Way { month, about })
    }
}

/// What it costs to send so much a day for a month.
fn way(from: Spot<'_>, to: Option<Spot<'_>>, milli_gib_per_day: u64) -> Result<Way, NoPrice> {
    if milli_gib_per_day == 0 || to == Some(from) {
        return Ok(Way { month: 0, about: false });
    }
    let (row, about) = row(from, to).ok_or(match to {
        Some(_) => NoPrice::Route,
        None => NoPrice::Internet,
    })?;
    let volume = u128::from(milli_gib_per_day) * u128::from(HOURS_PER_MONTH) / 24;
    Ok(Way { month: sum_over_bands(row.bands, volume).ok_or(NoPrice::Volume)?, about })
}

/// The price of so many thousandths of a GiB, each in its own band; `None` if the last band is too small.
fn sum_over_bands(bands: &[Band], milli_gib: u128) -> Option<u128> {
    let (mut sum, mut below) = (0u128, 0u128);
    for band in bands {
        let end = band.up_to_gib.map_or(milli_gib, |gib| milli_gib.min(u128::from(gib) * 1000));
        sum += end.saturating_sub(below) * u128::from(band.each);
        below = below.max(end);
    }
    (below == milli_gib).then_some(sum / 1000)
}

/// The row for a way, and whether it is that of another region.
fn row(from: Spot<'_>, to: Option<Spot<'_>>) -> Option<(&'static Row, bool)> {
    let (cloud, region) = from;
    let inside = to.filter(|(other, _)| *other == cloud);
    let to_part = to.map(|(cloud, region)| part(cloud, region));
    // Google's price depends on where the internet traffic goes, and for these two it is another.
    let far = matches!(to_part, Some(Part::Australia | Part::China));
    if cloud == Cloud::Gcp && inside.is_none() && far {
        return None;
    }
    let fits = |row: &'static Row| {
        let about = match row.from {
            From::Regions(regions) => regions.contains(&region).then_some(false),
            From::Like(parts) => parts.contains(&part(cloud, region)).then_some(true),
            From::Anywhere => Some(false),
        }?;
        let reaches = match (row.to, inside) {
            (To::Internet, None) => true,
            (To::Region(name), Some((_, other))) => name == other,
            (To::Parts(parts), Some(_)) => to_part.is_some_and(|part| parts.contains(&part)),
            (To::Regions, Some(_)) => true,
            (To::Internet, Some(_)) | (To::Region(_) | To::Parts(_) | To::Regions, None) => false,
        };
        // Google prices by part of the world, so that its rows are exact.
        let about = about && cloud != Cloud::Gcp;
        (row.cloud == cloud && reaches).then_some((row, about))
    };
    ROWS.iter().find_map(fits)
}
