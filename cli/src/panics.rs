//! What is said when the program itself is at fault.

use std::io::Write;
use std::panic::{self, PanicHookInfo};

/// Says where it happened, and only those words that stand in the source: a text that was put
/// together while running may hold what nobody must see.
pub(crate) fn are_told_without_values() {
    panic::set_hook(Box::new(|info| {
        // A stderr that is closed must not make it worse.
        let _ = writeln!(std::io::stderr(), "{}", told(info));
    }));
    #[cfg(debug_assertions)]
    forced();
}

fn told(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map_or_else(|| "somewhere".into(), ToString::to_string);
    let words = info.payload().downcast_ref::<&'static str>().copied();
    format!(
        "error: fleet failed at {place}: {}\nhint: this is a fault of fleet's own, please report it; \
         what was sent is in the journal, so running the command again is safe",
        words.unwrap_or("(the words are withheld: they may hold secrets)")
    )
}

/// Lets tests see a panic whose words hold a secret. Not in releases.
#[cfg(debug_assertions)]
fn forced() {
    if let Ok(secret) = std::env::var("FLEET_TEST_PANIC") {
        panic!("{secret}");
    }
}
