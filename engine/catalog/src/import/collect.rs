//! What every cloud's reader does alike: kinds once, places once, faults counted.

use super::report::{CloudReport, Finding};
use super::table::Line;
use crate::assemble::Assembly;
use fleet_model::{Accelerators, CatalogRow, Cloud, InstanceKind, MicroUsd, Resources};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The facts about a type that every one of its lines repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stated {
    vcpus: Option<u32>,
    memory_mib: Option<u64>,
    accelerator: String,
    count_milli: Option<u32>,
}

/// Collects one cloud's kinds and offers.
pub(super) struct Collect<'a> {
    cloud: Cloud,
    assembly: &'a mut Assembly,
    kinds: HashMap<String, (u32, Stated)>,
    first_row: usize,
    lines: u32,
    findings: BTreeMap<Finding, u32>,
}

impl<'a> Collect<'a> {
    pub(super) fn new(cloud: Cloud, assembly: &'a mut Assembly) -> Self {
        let first_row = assembly.rows.len();
        let (kinds, findings) = (HashMap::new(), BTreeMap::new());
        Collect { cloud, assembly, kinds, first_row, lines: 0, findings }
    }

    /// Counts a line read.
    pub(super) fn line(&mut self) {
        self.lines += 1;
    }

    /// Counts a finding.
    pub(super) fn found(&mut self, finding: Finding) {
        *self.findings.entry(finding).or_default() += 1;
    }

    /// A price as it may be used: zero is unknown.
    pub(super) fn price(&mut self, price: Option<MicroUsd>) -> Option<MicroUsd> {
        if price == Some(MicroUsd(0)) {
            self.found(Finding::Zero);
            return None;
        }
        price
    }

    /// The kind a line speaks of; `resources` says what it has when it is met for the first time.
    pub(super) fn kind(
        &mut self,
        line: &Line<'_>,
        resources: impl FnOnce(&mut Self) -> Resources,
    ) -> u32 {
        if let Some((id, stated)) = self.kinds.get(line.kind) {
            let same = stated.vcpus == line.vcpus
                && stated.memory_mib == line.memory_mib
                && stated.accelerator == line.accelerator
                && stated.count_milli == line.count_milli;
            let id = *id;
            if !same {
                self.found(Finding::Contradiction);
            }
            return id;
        }
        let resources = resources(self);
        let kind = InstanceKind { cloud: self.cloud, name: line.kind.into(), resources };
        let id = self.assembly.add_kind(kind);
        let stated = Stated {
            vcpus: line.vcpus,
            memory_mib: line.memory_mib,
            accelerator: line.accelerator.to_owned(),
            count_milli: line.count_milli,
        };
        self.kinds.insert(line.kind.to_owned(), (id, stated));
        id
    }

    /// Adds an offer.
    pub(super) fn offer(
        &mut self,
        kind: u32,
        region: &str,
        zone: &str,
        on_demand: Option<MicroUsd>,
        spot: Option<MicroUsd>,
    ) {
        let place = self.assembly.place(self.cloud, region, zone);
        let has_spot = spot.is_some();
        self.assembly.rows.push(CatalogRow { kind, place, on_demand, spot, has_spot });
    }

    /// The accelerators a line states, in our vocabulary; `None` if it states none.
    pub(super) fn stated(&mut self, line: &Line<'_>) -> Option<Accelerators> {
        if line.accelerator.is_empty() {
            return None;
        }
        if !Accelerators::is_known(line.accelerator) {
            self.found(Finding::AcceleratorsUnnamed);
        }
        Some(Accelerators::named(line.accelerator, line.count_milli.unwrap_or(0)))
    }

    /// The accelerators of a type: what our table says, else what the list says.
    ///
    /// `certain` is our table's entry, `accelerated` whether the family surely has some.
    pub(super) fn settle(
        &mut self,
        stated: Option<Accelerators>,
        certain: Option<Accelerators>,
        accelerated: bool,
    ) -> Option<Accelerators> {
        match (stated, certain) {
            (None, None) if accelerated => {
                self.found(Finding::AcceleratorsUnknown);
                Some(Accelerators::unknown())
            }
            (stated, None) => stated,
            (None, certain) => {
                let unsure = certain.as_ref().is_some_and(|certain| certain.count_milli == 0);
                self.found(match unsure {
                    true => Finding::AcceleratorsUnknown,
                    false => Finding::AcceleratorsFilled,
                });
                certain
            }
            (Some(stated), Some(certain)) => {
                if (&stated.name, stated.count_milli) != (&certain.name, certain.count_milli) {
                    self.found(Finding::AcceleratorsCorrected);
                }
                Some(certain)
            }
        }
    }

    /// Looks at the offers once all are there.
    pub(super) fn finish(mut self) -> CloudReport {
        let rows = &mut self.assembly.rows[self.first_row..];
        // No spot price in one zone is a gap in the list; none anywhere means that the type is
        // not sold as spot.
        let spot: HashSet<u32> = rows.iter().filter(|r| r.has_spot).map(|r| r.kind).collect();
        let mut seen = HashMap::new();
        for (at, row) in rows.iter_mut().enumerate() {
            row.has_spot = spot.contains(&row.kind);
            let prices = seen.entry((row.place, row.kind)).or_insert((at, None, None));
            prices.1 = prices.1.max(row.on_demand);
            prices.2 = prices.2.max(row.spot);
        }
        let mut count = |finding, number: usize| {
            if number > 0 {
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                *self.findings.entry(finding).or_default() += number;
            }
        };
        count(Finding::Duplicate, rows.len() - seen.len());
        let dearer = |r: &&CatalogRow| r.on_demand.is_some() && r.spot > r.on_demand;
        count(Finding::SpotDearer, rows.iter().filter(dearer).count());
        count(Finding::Unpriced, seen.values().filter(|(_, price, _)| price.is_none()).count());
        let gaps = seen.values().filter(|(at, _, price)| rows[*at].has_spot && price.is_none());
        count(Finding::SpotUnpriced, gaps.count());
        CloudReport {
            cloud: self.cloud,
            lines: self.lines,
            kinds: u32::try_from(self.kinds.len()).unwrap_or(u32::MAX),
            offers: u32::try_from(seen.len()).unwrap_or(u32::MAX),
            findings: self.findings,
        }
    }
}
