//! The embedded snapshot: what `fleet` knows before anyone imports anything.
//!
//! One text file per cloud, `snapshot/*.txt`, made to be read and reviewed as a diff: sorted,
//! a type with all it has on one line, below it a line per region.
//!
//! ```text
//! fleet-catalog-snapshot 1
//! source SkyPilot catalog v7 and v8
//! as-of 2026-08-01T00:00:00Z
//!
//! cloud aws
//! region us-east-1 1=use1-az1 2=use1-az2 a=use1-atl2-az1
//!
//! type m5.large vcpus=2 memory-mib=8192 arch=x86_64 disk=no generation=5
//!  us-east-1 0.096 1=0.0384 2=0.0412
//!  us-east-1 0.12 a=-
//! type p5.48xlarge vcpus=192 … accelerator=H100 count=8 accelerator-mib=81920 maker=nvidia
//!  us-west-2 - 1=-
//! ```
//!
//! - Lines that begin with `#` and empty lines say nothing.
//! - `region` gives each zone a label of one character, used by the lines of offers.
//! - A line of offers begins with a space: region, on-demand price, then groups of zones with
//!   their spot price. `12=0.04` is zones 1 and 2 at 4 cents; `12=-` is sold as spot, price not
//!   known; `12` alone is not sold as spot. Zones whose on-demand prices differ have lines of
//!   their own.
//! - Prices are dollars per hour with up to six decimals; `-` is unpriced.
//! - What is not known of a type is left out of its line.
//!
//! Azure's regions outside the US come from another list, which has no spot prices: their types are
//! sold as spot at a price not known, until `fleet catalog refresh` or a plan asks for it.
//!
//! The files are made by `cargo run -p fleet-catalog --example make_snapshot`; a test checks that
//! they still are what the source gives.

mod choose;
mod parse;
mod write;

pub use parse::{SnapshotError, parse_snapshot};
pub use write::{SNAPSHOT_LISTS, SNAPSHOT_SOURCE, snapshot_as_of, write_snapshot};

use fleet_model::Catalog;

/// The first line of every file, with the format number.
const HEADER: &str = "fleet-catalog-snapshot 1";

/// The files, in the order of [`fleet_model::Cloud::ALL`].
const FILES: [&str; 4] = [
    include_str!("../snapshot/aws.txt"),
    include_str!("../snapshot/gcp.txt"),
    include_str!("../snapshot/azure.txt"),
    include_str!("../snapshot/lambda.txt"),
];

/// The catalog that comes with the program: every accelerator type and the mainstream
/// general-purpose families of the four clouds.
pub fn embedded() -> Catalog {
    parse_snapshot(&FILES).expect("the embedded files are checked by tests")
}
