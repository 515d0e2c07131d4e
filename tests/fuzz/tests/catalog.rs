//! Price lists: never a panic, every error has a place, and what is imported is sound.

use fleet_catalog::{import, validate};
use fleet_fuzz::{corpus, fuzz};
use fleet_model::Cloud;

/// Imports bytes as the list of every cloud in turn: each has a reader of its own.
fn check(folder: &std::path::Path, input: &[u8]) {
    for cloud in Cloud::ALL {
        let file = folder.join(cloud.as_str()).join("vms.csv");
        std::fs::write(&file, input).expect("written");
        match import(folder) {
            Ok((catalog, report)) => {
                assert_eq!(validate(&catalog), Ok(()), "{cloud}");
                assert!(catalog.rows.len() <= input.len(), "{cloud}: more offers than bytes");
                assert!(!report.to_string().is_empty());
            }
            Err(error) => {
                let said = error.to_string();
                assert!(said.contains("vms.csv"), "{cloud}: {said}");
            }
        }
        std::fs::remove_file(&file).expect("removed");
    }
}

#[test]
fn fuzz_catalog() {
    let folder = tempfile::tempdir().expect("a folder");
    for cloud in Cloud::ALL {
        std::fs::create_dir_all(folder.path().join(cloud.as_str())).expect("a folder");
    }
    let seeds: Vec<Vec<u8>> = corpus("catalog").into_iter().map(|(_, bytes)| bytes).collect();
    fuzz("catalog", &seeds, |input| check(folder.path(), input));
}
