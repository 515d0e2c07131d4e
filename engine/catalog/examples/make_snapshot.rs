//! Makes `snapshot/*.txt` anew from a folder of price lists:
//! `cargo run -p fleet-catalog --example make_snapshot [DIR]`.

#![expect(clippy::print_stdout, reason = "an example talks to the terminal")]

use fleet_catalog::{SNAPSHOT_SOURCE, import, snapshot_as_of, write_snapshot};
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = match std::env::args_os().nth(1) {
        Some(dir) => PathBuf::from(dir),
        None => here.join("../../../shared/data/catalog"),
    };
    let (mut catalog, report) = import(&dir)?;
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
