//! Reading the snapshot's text.

use super::HEADER;
use crate::assemble::Assembly;
use crate::validate::{Flaw, validate};
use fleet_model::{
    Accelerators, Architecture, Catalog, CatalogRow, Cloud, InstanceKind, MicroUsd, Resources,
    Timestamp,
};

/// Why a text is not a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// A line that cannot be understood.
    #[error("line {line} of file {file}: {what}")]
    Line {
        /// Which of the texts, from 1.
        file: usize,
        /// Which line of it, from 1.
        line: usize,
        /// What was expected.
        what: &'static str,
    },
    /// The lines are good, and the catalog breaks its promises.
    #[error("the snapshot is inconsistent")]
    Flaw(#[from] Flaw),
}

/// Reads texts in the form described in [`crate::write_snapshot`]'s module into one catalog.
/// Source and date are the first text's.
pub fn parse_snapshot(texts: &[&str]) -> Result<Catalog, SnapshotError> {
    let mut all = Assembly::default();
    let mut head = None;
    for (file, text) in texts.iter().enumerate() {
        let mut parser = Parser { all: &mut all, cloud: None, regions: Vec::new(), kind: None };
        let at = |line: usize, what| SnapshotError::Line { file: file + 1, line: line + 1, what };
        let mut lines = text.lines().enumerate();
        let mut expect = |prefix: &'static str| {
            let (line, text) = lines.next().ok_or_else(|| at(0, "the text is empty"))?;
            text.strip_prefix(prefix).ok_or_else(|| at(line, "expected header, source and as-of"))
        };
        expect(HEADER)?;
        let source = expect("source ")?;
        let as_of = expect("as-of ")?;
        let as_of: Timestamp = as_of.parse().map_err(|_| at(2, "expected a date"))?;
        head.get_or_insert((source.to_owned(), as_of));
        for (line, text) in lines {
            parser.line(text).map_err(|what| at(line, what))?;
        }
    }
    let nothing = SnapshotError::Line { file: 0, line: 0, what: "there is no text" };
    let (source, as_of) = head.ok_or(nothing)?;
    let (catalog, merged) = all.finish(source, as_of);
    if merged > 0 {
        return Err(Flaw::Rows(0).into());
    }
    validate(&catalog)?;
    Ok(catalog)
}

struct Parser<'a, 't> {
    all: &'a mut Assembly,
    cloud: Option<Cloud>,
    /// Sorted by name, as written; each with its zones' labels and places.
    regions: Vec<(&'t str, Vec<(u8, u32)>)>,
    /// The type that lines of offers speak of, and the region of the last one.
    kind: Option<(u32, usize)>,
}

type Told = Result<(), &'static str>;

impl<'t> Parser<'_, 't> {
    fn line(&mut self, line: &'t str) -> Told {
        if let Some(offers) = line.strip_prefix(' ') {
            return self.offers(offers);
        }
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let (word, rest) = line.split_once(' ').ok_or("expected a word and more")?;
        match word {
            "type" => self.kind(rest),
            "region" => self.region(rest),
            "cloud" => {
                self.cloud = Some(rest.parse().map_err(|_| "expected a cloud")?);
                self.regions.clear();
                Ok(())
            }
            _ => Err("expected cloud, region, type or offers"),
        }
    }

    fn region(&mut self, line: &'t str) -> Told {
        let cloud = self.cloud.ok_or("expected a cloud first")?;
        let mut words = line.split(' ');
        let region = words.next().ok_or("expected a region")?;
        let mut zones = Vec::new();
        for word in words {
            let (label, zone) = word.split_once('=').ok_or("expected label=zone")?;
            let &[label] = label.as_bytes() else { return Err("expected a label of one letter") };
            zones.push((label, self.all.place(cloud, region, zone)));
        }
        self.regions.push((region, zones));
        Ok(())
    }

    fn kind(&mut self, line: &str) -> Told {
        let cloud = self.cloud.ok_or("expected a cloud first")?;
        let mut words = line.split(' ');
        let name = words.next().filter(|name| !name.is_empty()).ok_or("expected a name")?;
        let mut resources = Resources {
            vcpus: None,
            memory_mib: None,
            architecture: Architecture::X86_64,
            accelerators: None,
            local_disk: None,
            generation: None,
        };
        for word in words {
            let (key, value) = word.split_once('=').ok_or("expected key=value")?;
            fact(&mut resources, key, value)?;
        }
        let kind = self.all.add_kind(InstanceKind { cloud, name: name.into(), resources });
        self.kind = Some((kind, 0));
        Ok(())
    }

    fn offers(&mut self, line: &str) -> Told {
        let (kind, last) = self.kind.as_mut().ok_or("expected a type first")?;
        let mut words = line.split(' ');
        let region = words.next().ok_or("expected a region")?;
        // Lines come in the order of regions, so that the next one is rarely far.
        let mut ahead = self.regions.iter().enumerate().skip(*last);
        let found = ahead.find(|(_, (name, _))| *name == region);
        let (at, (_, zones)) = found.ok_or("expected a region given above, in order")?;
        *last = at;
        let on_demand = price(words.next().ok_or("expected a price")?)?;
        for word in words {
            let (labels, spot, has_spot) = match word.split_once('=') {
                Some((labels, spot)) => (labels, price(spot)?, true),
                None => (word, None, false),
            };
            for label in labels.bytes() {
                let zone = zones.iter().find(|(known, _)| *known == label);
                let place = zone.ok_or("expected labels of the region")?.1;
                self.all.rows.push(CatalogRow { kind: *kind, place, on_demand, spot, has_spot });
            }
        }
        Ok(())
    }
}

/// One `key=value` of a type.
fn fact(resources: &mut Resources, key: &str, value: &str) -> Told {
    fn number<T: std::str::FromStr>(value: &str) -> Result<Option<T>, &'static str> {
        value.parse().map(Some).map_err(|_| "expected a number")
    }
    let accelerators =
        || Accelerators { name: None, count_milli: 0, memory_mib: None, maker: None };
    let known = &mut resources.accelerators;
    match key {
        "vcpus" => resources.vcpus = number(value)?,
        "memory-mib" => resources.memory_mib = number(value)?,
        "generation" => resources.generation = number(value)?,
        "arch" => {
            resources.architecture = match value {
                "x86_64" => Architecture::X86_64,
                "arm64" => Architecture::Arm64,
                _ => return Err("expected x86_64 or arm64"),
            }
        }
        "disk" => {
            resources.local_disk = match value {
                "yes" => Some(true),
                "no" => Some(false),
                _ => return Err("expected yes or no"),
            }
        }
        "count" => {
            let milli = decimal(value, 3).and_then(|count| u32::try_from(count).ok());
            known.get_or_insert_with(accelerators).count_milli = milli.ok_or("expected a count")?;
        }
        "accelerator" => {
            known.get_or_insert_with(accelerators).name = Some(value.replace('_', " "))
        }
        "accelerator-mib" => known.get_or_insert_with(accelerators).memory_mib = number(value)?,
        "maker" => {
            let maker = value.parse().map_err(|_| "expected a maker")?;
            known.get_or_insert_with(accelerators).maker = Some(maker);
        }
        _ => return Err("expected a known key"),
    }
    Ok(())
}

fn price(text: &str) -> Result<Option<MicroUsd>, &'static str> {
    match text {
        "-" => Ok(None),
        _ => decimal(text, 6).map(|micros| Some(MicroUsd(micros))).ok_or("expected a price"),
    }
}

/// A decimal number as a whole number of its last place.
fn decimal(text: &str, places: u32) -> Option<u64> {
    let (mut number, mut left, mut point) = (0_u64, places, false);
    for byte in text.bytes() {
        match byte {
            b'.' if !point => point = true,
            b'0'..=b'9' => {
                if point {
                    left = left.checked_sub(1)?;
                }
                number = number.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
            }
            _ => return None,
        }
    }
    (!text.is_empty()).then_some(number)?.checked_mul(10_u64.pow(left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::small;
    use crate::write_snapshot;

    #[test]
    fn what_is_written_is_read() {
        let mut catalog = small();
        let texts = write_snapshot(&catalog);
        let texts: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
        assert!(texts[0].contains("\n us-east-1 0.096 1=0.0384 2=0.0412\n us-east-1 0.12 a=-\n"));
        assert!(texts[3].contains("region us-south-1 *=regional\n"));
        assert!(texts[3].contains("\n us-south-1 0.75 *\n"));
        let read = parse_snapshot(&texts).expect("a snapshot");
        catalog.source.clone_from(&read.source);
        assert_eq!(read, catalog);
    }

    #[test]
    fn decimals() {
        let check = |text: &str, expect| assert_eq!(decimal(text, 6), expect, "{text}");
        check("0.0384", Some(38_400));
        check("12", Some(12_000_000));
        check("1.2345678", None);
        check("", None);
        check("1.2.3", None);
        check("-1", None);
        check("99999999999999999999", None);
    }

    #[test]
    fn bad_lines_are_named() {
        let check = |body: &str, line: usize| {
            let text = format!("{HEADER}\nsource x\nas-of 2026-08-01T00:00:00Z\n{body}");
            let error = parse_snapshot(&[&text]).expect_err(body);
            assert!(
                matches!(error, SnapshotError::Line { file: 1, line: at, .. } if at == line)
                    || (line == 0 && matches!(error, SnapshotError::Flaw(_))),
                "{body}: {error}"
            );
        };
        check("type m5.large", 4);
        check("cloud mars", 4);
        check("nonsense", 4);
        check("cloud aws\nregion r 12=z", 5);
        check("cloud aws\nregion r 1=z\ntype t vcpus=x", 6);
        check("cloud aws\nregion r 1=z\ntype t\n q 1 1", 7);
        check("cloud aws\nregion r 1=z\ntype t\n r 1 2", 7);
        check("cloud aws\nregion r 1=z\ntype t\n r x 1", 7);
        check("cloud aws\nregion r 1=z\ntype t\n r 1 11", 0);
        check("cloud aws\nregion r 1=z\ntype t\ntype t", 0);
        check("cloud aws\nregion r 1=z\ntype t\n r 0 1", 0);
        assert!(parse_snapshot(&[]).is_err());
        assert!(parse_snapshot(&[""]).is_err());
    }
}
