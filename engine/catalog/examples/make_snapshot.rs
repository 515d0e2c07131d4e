//! Makes `snapshot/*.txt` anew from folders of price lists:
//! `cargo run -p fleet-catalog --example make_snapshot [DIR]...`.

#![expect(clippy::print_stdout, reason = "an example talks to the terminal")]

use fleet_catalog::{SNAPSHOT_LISTS, SNAPSHOT_SOURCE, import_all, snapshot_as_of, write_snapshot};
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut dirs: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if dirs.is_empty() {
        let shared = here.join("../../../shared/data");
        dirs = SNAPSHOT_LISTS.iter().map(|list| shared.join(list)).collect();
    }
    let dirs: Vec<&Path> = dirs.iter().map(PathBuf::as_path).collect();
    let (mut catalog, report) = import_all(&dirs)?;
    println!("{report}");
    catalog.source = SNAPSHOT_SOURCE.to_owned();
    catalog.as_of = snapshot_as_of();
    for (cloud, text) in write_snapshot(&catalog) {
        let path = here.join("snapshot").join(format!("{cloud}.txt"));
        println!("{cloud}.txt: {} bytes, {} lines", text.len(), text.lines().count());
        std::fs::write(path, text)?;
    }
    Ok(())
}
