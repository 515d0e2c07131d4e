//! From kinds, places and rows in any order to a catalog that keeps its promises.

use fleet_model::{Catalog, CatalogRow, Cloud, InstanceKind, Place, Region, Timestamp, Zone};
use std::collections::HashMap;
use std::sync::Arc;

/// Collects what is sold where; every name is kept once.
#[derive(Default)]
pub(crate) struct Assembly {
    pub(crate) kinds: Vec<Arc<InstanceKind>>,
    places: Vec<Place>,
    pub(crate) rows: Vec<CatalogRow>,
    place_ids: HashMap<Cloud, HashMap<String, HashMap<String, u32>>>,
}

impl Assembly {
    /// Adds a kind; the caller sees to it that none comes twice.
    pub(crate) fn add_kind(&mut self, kind: InstanceKind) -> u32 {
        self.kinds.push(Arc::new(kind));
        index(self.kinds.len() - 1)
    }

    /// The number of a place, new or known.
    pub(crate) fn place(&mut self, cloud: Cloud, region: &str, zone: &str) -> u32 {
        let regions = self.place_ids.entry(cloud).or_default();
        if let Some(id) = regions.get(region).and_then(|zones| zones.get(zone)) {
            return *id;
        }
        // Zones of one region share its name.
        let shared = |place: &&Place| place.cloud == cloud && place.region.as_str() == region;
        let name = self.places.iter().rfind(shared).map(|place| place.region.clone());
        let id = index(self.places.len());
        self.places.push(Place {
            cloud,
            region: name.unwrap_or_else(|| Region::from(region)),
            zone: Zone::from(zone),
        });
        regions.entry(region.to_owned()).or_default().insert(zone.to_owned(), id);
        id
    }

    /// Sorts kinds, places and rows. Rows of the same kind and place are merged; the number of
    /// rows that went that way is given back.
    pub(crate) fn finish(self, source: String, as_of: Timestamp) -> (Catalog, u32) {
        let Assembly { kinds, places, mut rows, place_ids: _ } = self;
        let (kinds, kind_ids) = sorted(kinds);
        let (places, place_ids) = sorted(places);
        for row in &mut rows {
            row.kind = kind_ids[row.kind as usize];
            row.place = place_ids[row.place as usize];
        }
        rows = by_number(rows, kinds.len(), |row| row.kind);
        rows = by_number(rows, places.len(), |row| row.place);
        let before = rows.len();
        rows.dedup_by(|later, kept| {
            let same = (later.place, later.kind) == (kept.place, kept.kind);
            if same {
                // The row with a price wins. Of two prices the dearer does: a plan may turn out
                // cheaper than it said, not dearer.
                kept.on_demand = kept.on_demand.max(later.on_demand);
                kept.spot = kept.spot.max(later.spot);
                kept.has_spot |= later.has_spot;
            }
            same
        });
        let merged = index(before - rows.len());
        (Catalog { source, as_of, kinds, places, rows }, merged)
    }
}

/// Counts stay far below 2³²: a catalog of that many rows would not fit into memory.
fn index(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The items in order, and for each old number the new one.
fn sorted<T: Ord + Clone>(items: Vec<T>) -> (Vec<T>, Vec<u32>) {
    if items.is_sorted() {
        let ids = (0..index(items.len())).collect();
        return (items, ids);
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|&a, &b| items[a].cmp(&items[b]));
    let mut ids = vec![0; items.len()];
    for (new, &old) in order.iter().enumerate() {
        ids[old] = index(new);
    }
    (order.into_iter().map(|old| items[old].clone()).collect(), ids)
}

/// Sorts by a number below `below`, keeping the order of equals: linear, where comparing took
/// half of the time of reading the snapshot.
fn by_number(rows: Vec<CatalogRow>, below: usize, of: fn(&CatalogRow) -> u32) -> Vec<CatalogRow> {
    if rows.is_sorted_by_key(of) {
        return rows;
    }
    let mut starts = vec![0; below + 1];
    for row in &rows {
        starts[of(row) as usize + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut sorted = rows.clone();
    for row in rows {
        let start = &mut starts[of(&row) as usize];
        sorted[*start] = row;
        *start += 1;
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::MicroUsd;

    #[test]
    fn any_order_ends_in_the_one_order() {
        let mut catalog = crate::testing::small();
        let rows = catalog.rows.clone();
        let (kinds, places) = (catalog.kinds.len(), catalog.places.len());
        let backwards = rows.iter().rev().copied().collect();
        let by_kind = by_number(backwards, kinds, |row| row.kind);
        catalog.rows = by_number(by_kind, places, |row| row.place);
        assert_eq!(catalog.rows, rows);
        assert_eq!(crate::validate(&catalog), Ok(()));
        assert_eq!(by_number(Vec::new(), 0, |row| row.kind), []);
        let twin = CatalogRow { on_demand: Some(MicroUsd(1)), ..rows[0] };
        let both = by_number(vec![rows[1], rows[0], twin], places, |row| row.place);
        assert_eq!((both[0], both[1]), (rows[0], twin));
    }
}
