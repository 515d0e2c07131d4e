//! The catalog as a market: what each pool holds and costs at a moment.

use crate::chance::{below, mix, mix2, text, wander};
use crate::prices::{STEPS, moved};
use crate::settings::{Preset, Settings};
use crate::spells::carried;
use crate::tides::Tides;
use crate::time::{BUCKET, EPOCH, Ms};
use fleet_model::{
    Catalog, CatalogRow, Cloud, Market, MicroUsd, Obtainability, Place, PoolId, SignalSource,
};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The catalog, indexed when it is first asked.
#[derive(Debug)]
pub(crate) struct Pools {
    catalog: Arc<Catalog>,
    index: OnceLock<Rows>,
    /// A recording, if spot follows one.
    pub(crate) tides: Option<Arc<dyn Tides>>,
}

#[derive(Debug)]
struct Rows {
    /// Numbers of rows, by place and then by name of the type.
    order: Vec<u32>,
    /// Where in `order` each place has its rows.
    places: HashMap<Place, Range<usize>>,
    place_hashes: Vec<u64>,
    kind_hashes: Vec<u64>,
}

/// A pool that the catalog knows, at a moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pool<'a> {
    /// Which row of the catalog, as a number.
    pub(crate) number: usize,
    row: &'a CatalogRow,
    pub(crate) cloud: Cloud,
    pub(crate) market: Market,
    pub(crate) vcpus: Option<u32>,
    accelerated: bool,
    hash: u64,
}

impl Pools {
    pub(crate) fn new(catalog: Arc<Catalog>, tides: Option<Arc<dyn Tides>>) -> Self {
        Pools { catalog, index: OnceLock::new(), tides }
    }

    fn rows(&self) -> &Rows {
        self.index.get_or_init(|| {
            let catalog = &*self.catalog;
            let sound = |row: &CatalogRow| {
                (row.kind as usize) < catalog.kinds.len()
                    && (row.place as usize) < catalog.places.len()
            };
            let mut order: Vec<u32> = (0u32..)
                .zip(&catalog.rows)
                .filter(|(_, row)| sound(row))
                .map(|(number, _)| number)
                .collect();
            let key = |number: &u32| {
                let row = &catalog.rows[*number as usize];
                (row.place, catalog.kind(row).name.as_str())
            };
            if !order.is_sorted_by_key(key) {
                order.sort_by_key(key);
            }
            let mut places = HashMap::new();
            let mut start = 0;
            for chunk in order.chunk_by(|a, b| key(a).0 == key(b).0) {
                let place = catalog.place(&catalog.rows[chunk[0] as usize]).clone();
                places.insert(place, start..start + chunk.len());
                start += chunk.len();
            }
            Rows {
                order,
                places,
                place_hashes: catalog.places.iter().map(|p| text(&p.to_string())).collect(),
                kind_hashes: catalog.kinds.iter().map(|k| text(k.name.as_str())).collect(),
            }
        })
    }

    /// The pool by its id; `None` if nobody sells it.
    pub(crate) fn find(&self, id: &PoolId) -> Option<Pool<'_>> {
        self.walk().find(id)
    }

    /// Finds pools one after another, fastest in the order of their ids.
    pub(crate) fn walk(&self) -> Walk<'_> {
        Walk { catalog: &self.catalog, rows: self.rows(), at: 0 }
    }
}

/// Looks pools up near the one before: who asks for all pools asks in the order of the catalog.
pub(crate) struct Walk<'a> {
    catalog: &'a Catalog,
    rows: &'a Rows,
    at: usize,
}

impl<'a> Walk<'a> {
    pub(crate) fn find(&mut self, id: &PoolId) -> Option<Pool<'a>> {
        let catalog = self.catalog;
        let row_at = |at: usize| self.rows.order.get(at).map(|n| &catalog.rows[*n as usize]);
        // Every account sees the same market.
        let of_market = id
            .place
            .region
            .account()
            .is_some()
            .then(|| Place { region: id.place.region.name().into(), ..id.place.clone() });
        let place = of_market.as_ref().unwrap_or(&id.place);
        let is_it = |row: &CatalogRow| {
            catalog.kind(row).name == id.instance_type && catalog.place(row) == place
        };
        let near = (self.at..self.at + 2).find(|at| row_at(*at).is_some_and(is_it));
        let at = match near {
            Some(at) => at,
            None => {
                let range = self.rows.places.get(place)?.clone();
                let name = id.instance_type.as_str();
                let rows = &self.rows.order[range.clone()];
                range.start
                    + rows
                        .binary_search_by(|n| {
                            catalog.kind(&catalog.rows[*n as usize]).name.as_str().cmp(name)
                        })
                        .ok()?
            }
        };
        self.at = at;
        let row = row_at(at)?;
        let kind = catalog.kind(row);
        let sold = match id.market {
            Market::OnDemand => true,
            Market::Spot => row.has_spot && id.place.cloud != Cloud::Lambda,
            // Nobody has bought anything ahead of time here.
            Market::Reserved => false,
        };
        let hash = mix2(
            self.rows.place_hashes[row.place as usize],
            self.rows.kind_hashes[row.kind as usize] ^ (id.market as u64),
        );
        sold.then_some(Pool {
            number: at,
            row,
            cloud: id.place.cloud,
            market: id.market,
            vcpus: kind.resources.vcpus,
            accelerated: kind.resources.accelerators.is_some(),
            hash,
        })
    }
}

/// The signal by which a cloud speaks of launches. A twin has no other.
pub(crate) fn launch_signal(cloud: Cloud) -> SignalSource {
    match cloud {
        Cloud::Aws => SignalSource::SpotPlacementScore,
        Cloud::Gcp => SignalSource::CapacityAdvice,
        Cloud::Azure => SignalSource::PlacementScore,
        Cloud::Lambda => SignalSource::RegionsWithCapacity,
    }
}

impl Pool<'_> {
    /// How many machines of ours the pool can carry at a moment, by the seed.
    pub(crate) fn capacity(&self, settings: &Settings, now: Ms) -> u32 {
        if settings.preset == Preset::Calm {
            return u32::MAX;
        }
        let hash = mix2(settings.seed, self.hash);
        let size = |least: u64, span: u64| least + below(mix(hash ^ 1), span);
        let bucket = now / BUCKET;
        let capacity = match (self.accelerated, self.market) {
            (true, Market::Spot) => carried(hash, bucket, size(6, 19)),
            (true, _) if self.cloud == Cloud::Lambda => carried(hash, bucket, size(6, 19)),
            (true, _) => size(4, 57),
            // Deep pools stay deep: at least half of them is there.
            (false, Market::Spot) => {
                let size = size(400, 4_600);
                size / 2 + size / 2 * wander(hash, bucket).min(56_000) / 56_000
            }
            (false, _) => size(2_000, 18_000),
        };
        capacity as u32
    }

    /// Price per hour at a moment.
    pub(crate) fn price(&self, settings: &Settings, now: Ms) -> Option<MicroUsd> {
        let CatalogRow { on_demand, spot, .. } = *self.row;
        if self.market != Market::Spot || settings.preset == Preset::Calm {
            return if self.market == Market::Spot { spot } else { on_demand };
        }
        let listed = spot?;
        let hash = mix2(settings.seed, self.hash ^ 0x9e1c_e500);
        let bucket = now / BUCKET;
        // 75 % to 125 % of the listed price. CPU pools go there within hours, more than in any recording, so
        // that a first hour shows what prices do. Accelerators begin there, and move as they were seen to.
        let (value, steps) = match self.accelerated {
            true => (wander(hash, EPOCH / BUCKET), moved(hash, self.cloud, bucket)),
            false => (wander(hash, bucket), STEPS),
        };
        let price = u128::from(listed.0) * (u128::from(value) + 98_304) / 131_072;
        let price = price * u128::from(steps) / u128::from(STEPS);
        // Nobody pays more than on-demand, except where the catalog itself says so.
        let most = on_demand.map_or(u64::MAX, |on_demand| on_demand.max(listed).0);
        Some(MicroUsd(u64::try_from(price).unwrap_or(u64::MAX).min(most)))
    }

    /// What the cloud says about getting machines, given the room that is left, which is
    /// asked for only where it matters. More room never
    /// says less; the noise is the pool's and the half hour's.
    pub(crate) fn obtainability(
        &self,
        settings: &Settings,
        now: Ms,
        room: impl FnOnce() -> u32,
    ) -> Option<Obtainability> {
        if self.cloud != Cloud::Lambda && self.market != Market::Spot {
            return None;
        }
        // Half at six machines, four fifths at two dozen: nobody asks for certainty in thousands.
        let room = u64::from(room());
        let score = 100 * room / (room + 6);
        let noise = below(mix2(settings.seed ^ (now / BUCKET), self.hash ^ 2), 9);
        let score = (score + noise).saturating_sub(4).min(100);
        let percent = match self.cloud {
            // Scores from 1 to 10.
            Cloud::Aws => (score + 5) / 10 * 10,
            Cloud::Gcp => score,
            // Low, medium, high.
            Cloud::Azure => match score {
                0..30 => 20,
                30..65 => 55,
                _ => 90,
            },
            // A region is on the list or not; being on it promises one machine, not ten.
            Cloud::Lambda => {
                if room > 0 {
                    70
                } else {
                    0
                }
            }
        };
        let source = launch_signal(self.cloud);
        Some(Obtainability { percent: percent.clamp(0, 100) as u8, source })
    }
}
