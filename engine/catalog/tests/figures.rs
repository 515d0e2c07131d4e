//! The published figures of accelerators, against the table that they were taken from. It is not part of
//! the repository; where it is absent the test says so and passes.

use fleet_catalog::embedded;
use fleet_model::{Accelerators, Chip, Figure};

const COLUMNS: [(Figure, &str); 8] = [
    (Figure::Memory, "memory_gib"),
    (Figure::Bandwidth, "memory_bandwidth_gbps"),
    (Figure::Fp32, "fp32_tflops"),
    (Figure::Tf32, "tf32_tflops_dense"),
    (Figure::Bf16, "bf16_tflops_dense"),
    (Figure::Fp16, "fp16_tflops_dense"),
    (Figure::Fp8, "fp8_tflops_dense"),
    (Figure::Int8, "int8_tops_dense"),
];

/// Rows that have no chip of their own: the same part under another name, and one without any figure.
const WITHOUT: [&str; 3] = ["H100-MEGA", "RTX PRO Server 6000", "Virtex UltraScale+ (VU47P)"];

#[test]
fn figures_are_those_of_their_source() {
    let Some(file) = fleet_testkit::shared_data("accelerators.csv") else { return };
    let mut reader = csv::Reader::from_path(file).expect("a table");
    let heads = reader.headers().expect("heads").clone();
    let at = |name: &str| heads.iter().position(|head| head == name).expect(name);
    let mut seen = 0;
    for row in reader.records() {
        let row = row.expect("a row");
        let name = &row[at("name")];
        if WITHOUT.contains(&name) {
            continue;
        }
        let ours = if name == "tpu-v5litepod" { "tpu-v5e" } else { Accelerators::canonical(name) };
        let chip = Chip::named(ours).unwrap_or_else(|| panic!("no chip {name}"));
        for (figure, column) in COLUMNS {
            let cell = &row[at(column)];
            let expect = (!cell.is_empty()).then(|| cell.parse::<f64>().expect("a number"));
            let has = chip.figure(figure).map(|units| units.as_f64());
            assert_eq!(has, expect, "{name}: {column}");
        }
        assert_eq!(chip.grade.as_str(), &row[at("grade")], "{name}");
        assert_eq!(chip.link, &row[at("interconnect")], "{name}");
        seen += 1;
    }
    // One more of our own: the card of Azure's NC A100 sizes, which a note of the table speaks of.
    assert_eq!(seen + 1, Chip::ALL.len());
}

/// Accelerators of the catalog that nobody has figures for, on purpose.
#[test]
fn every_accelerator_of_the_catalog_has_figures() {
    let without: std::collections::BTreeSet<String> = embedded()
        .kinds
        .iter()
        .filter(|kind| Chip::of(kind).is_none())
        .filter_map(|kind| kind.resources.accelerators.as_ref()?.name.clone())
        .collect();
    // Cards for pictures and videos, and chips that are wired by their users.
    let expect = ["U250", "U30", "V620", "VU47P"];
    assert_eq!(without.iter().map(String::as_str).collect::<Vec<_>>(), expect);
}
