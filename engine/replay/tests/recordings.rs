//! What is no recording is refused, with its place and a hint, and never read as another market.

use fleet_replay::{Trace, TraceError};
use std::path::Path;

const TRACE: &str = r#"{"intervalSeconds": 600, "onDemandUsdPerHour": 10,
    "zones": ["us-east-1a", "us-east-1b", "us-west-2a"], "regions": ["us-east-1", "us-east-1", "us-west-2"]}"#;
const PRICE: &str = "sample,us-east-1a,us-east-1b,us-west-2a\n0,1,2,3\n2,4,5,6\n";

fn capacity(header: &str, row: &str, rows: usize) -> String {
    format!("{header}\n{}", format!("{row}\n").repeat(rows))
}

fn usual() -> String {
    capacity("us-east-1a,us-east-1b,us-west-2a", "7,8,9", 12)
}

fn load(trace: &str, capacity: &str, price: &str) -> Result<Trace, TraceError> {
    let desk = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(desk.path().join(name), text).expect("a file");
    };
    write("trace.json", trace);
    write("capacity.csv", capacity);
    write("price.csv", price);
    let loaded = Trace::load(desk.path());
    loaded.map(|trace| Trace { name: String::new(), ..trace })
}

/// Checks the file and line, the words, and that there is a hint.
fn refused(loaded: Result<Trace, TraceError>, place: &str, words: &str) {
    let error = loaded.expect_err(words);
    let file = error.place();
    let file = Path::new(&file).file_name().expect("a file").to_string_lossy().into_owned();
    assert_eq!(file, place, "{error}");
    assert!(error.what().contains(words), "`{words}` is not in `{}`", error.what());
    assert!(!error.hint().is_empty(), "{error}");
}

#[test]
fn columns_are_found_by_their_names() {
    let trace = load(TRACE, &usual(), PRICE).expect("a recording");
    assert_eq!(trace.capacity, vec![vec![7, 8, 9]; 12]);
    assert_eq!(trace.price[1], [1.0, 2.0, 3.0]);
    assert_eq!(trace.price[2..], vec![vec![4.0, 5.0, 6.0]; 10]);
    let other = capacity("us-west-2a, us-east-1a ,us-east-1b", "9,7, 8", 12);
    let price = "\u{feff}us-west-2a,us-east-1b,sample,us-east-1a\n3,2,0,1\n6,5,2,4\n";
    assert_eq!(load(TRACE, &other, price).expect("a recording"), trace);
}

#[test]
fn a_header_that_names_something_else_is_refused() {
    let zones = "us-east-1a,us-east-1b,us-west-2a";
    for (header, row, words) in [
        (&*format!("sample,{zones}"), "0,7,8,9", "column 1, `sample`, has no place here"),
        ("us-east-1a,us-east-1c,us-west-2a", "7,8,9", "column 2, `us-east-1c`"),
        ("us-east-1a,us-east-1b", "7,8", "no column `us-west-2a`"),
        ("us-east-1a,us-east-1b,us-east-1a", "7,8,9", "columns 1 and 3 are both `us-east-1a`"),
        (&*format!("{zones},us-east-1a"), "7,8,9,7", "columns 1 and 4 are both"),
        ("7,8,9", "7,8,9", "the header is missing"),
        ("us-east-1a;us-east-1b;us-west-2a", "7;8;9", "column 1, `us-east-1a;"),
    ] {
        refused(load(TRACE, &capacity(header, row, 12), PRICE), "capacity.csv:1", words);
    }
    refused(load(TRACE, "", PRICE), "capacity.csv", "the file is empty");
    refused(load(TRACE, &usual(), "0,1,2,3\n"), "price.csv:1", "the header is missing");
    let without = "us-east-1a,us-east-1b,us-west-2a\n1,2,3\n";
    refused(load(TRACE, &usual(), without), "price.csv:1", "no column `sample`");
}

#[test]
fn a_cell_that_is_no_number_is_named() {
    let header = "us-east-1a,us-east-1b,us-west-2a";
    for (row, words) in [
        ("7,x,9", "`x` in column `us-east-1b` is not a number of machines"),
        ("7,8,-1", "`-1` in column `us-west-2a`"),
        ("7,8", "this row has 2 columns, the header has 3"),
    ] {
        let text = format!("{}{row}\n", usual());
        refused(load(TRACE, &text, PRICE), "capacity.csv:14", words);
    }
    for price in ["nan", "NaN", "-1", "0", "inf", "1e9", "free"] {
        let text = format!("{PRICE}5,1,{price},3\n");
        let words = "in column `us-east-1b` is not a price per hour above 0";
        refused(load(TRACE, &usual(), &text), "price.csv:4", words);
    }
    let free = TRACE.replace("10,", "0,");
    refused(load(&free, &usual(), PRICE), "trace.json", "onDemandUsdPerHour: 0 is not a price");
    let cut = capacity(header, "7,8,9", 12);
    let said = TRACE.replace("\"zones\"", "\"samples\": 14, \"zones\"");
    refused(load(&said, &cut, PRICE), "capacity.csv", "12 samples, but trace.json says 14");
}

#[test]
fn prices_stand_in_order() {
    let header = "sample,us-east-1a,us-east-1b,us-west-2a";
    for (rows, line, words) in [
        ("0,1,2,3\n4,1,2,3\n2,1,2,3", 4, "sample 2 after sample 4"),
        ("0,1,2,3\n0,1,2,3", 3, "sample 0 after sample 0"),
        ("3,1,2,3", 2, "the first price is for sample 3"),
        ("0,1,2,3\n12,1,2,3", 3, "sample 12, but capacity.csv ends with 11"),
        ("0,1,2,3\n1.5,1,2,3", 3, "`1.5` in column `sample`"),
    ] {
        let price = format!("{header}\n{rows}\n");
        refused(load(TRACE, &usual(), &price), &format!("price.csv:{line}"), words);
    }
    refused(load(TRACE, &usual(), &format!("{header}\n")), "price.csv", "no prices");
}

#[test]
fn the_head_makes_sense() {
    let with = |from: &str, to: &str| load(&TRACE.replace(from, to), &usual(), PRICE);
    let same = with("us-east-1b\", \"us-west", "us-east-1a\", \"us-west");
    refused(same, "trace.json", "several zones `us-east-1a`");
    refused(
        with("\"us-east-1\", \"us-west-2\"]", "\"us-west-2\"]"),
        "trace.json",
        "3 zones, but 2",
    );
    refused(with("600", "4000000000"), "trace.json", "intervalSeconds: 4000000000 s");
    refused(with("600", "86401"), "trace.json", "intervalSeconds");
    refused(with("600", "0"), "trace.json", "intervalSeconds: 0 s");
    refused(with("600", "-5"), "trace.json:1", "-5");
    refused(with("\"us-east-1b\"", "\" \""), "trace.json", "a zone has no name");
    let regions = "\"regions\": [\"us-east-1\", \"us-east-1\", \"us-west-2\"]";
    let trace = with(&format!(", {regions}"), "").expect("regions may be left out");
    assert_eq!(trace.regions, trace.zones);
}

/// Of the first hour nothing is measured: six samples of ten minutes are no replay.
#[test]
fn what_is_too_short_to_be_measured_is_refused() {
    let header = "us-east-1a,us-east-1b,us-west-2a";
    let first = "sample,us-east-1a,us-east-1b,us-west-2a\n0,1,2,3\n";
    let of = |samples| load(TRACE, &capacity(header, "7,8,9", samples), first);
    refused(of(6), "capacity.csv", "6 samples, one every 600 s, are too few");
    refused(of(0), "capacity.csv", "0 samples");
    assert_eq!(of(7).expect("a recording").samples(), 7);
}

#[test]
fn files_of_the_public_set_are_checked_alike() {
    let check = |files: &[(&str, &str)], place: &str, words: &str| {
        let desk = tempfile::tempdir().expect("a folder");
        let folder = desk.path().join("raw");
        std::fs::create_dir(&folder).expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.join(name), text).expect("a file");
        }
        let loaded = Trace::load_all(&folder).map(|mut all| all.remove(0));
        refused(loaded, place, words);
    };
    let file = |gap: &str, samples: usize| {
        let data = vec!["4"; samples].join(",");
        format!(r#"{{"metadata": {{"gap_seconds": {gap}}}, "data": [{data}]}}"#)
    };
    let sound = file("300", 20);
    check(
        &[("us-east-1a_v100_1.json", &sound), ("us-east-1a_v100_2.json", &sound)],
        "raw",
        "several zones `us-east-1a`",
    );
    check(&[("a_1.json", &file("300", 12))], "raw", "12 samples, one every 300 s, are too few");
    check(&[("a_1.json", &file("4e9", 20))], "a_1.json", "gap_seconds");
    check(&[("a_1.json", &file("0.2", 20))], "a_1.json", "gap_seconds: 0 s");
    check(&[("a_1.json", &sound), ("b_1.json", &file("600", 20))], "b_1.json", "300 in the other");
    check(&[("a_1.json", "{")], "a_1.json:1", "EOF");
}
