//! What happened, a line each: kept on request, and always folded into a fingerprint.

use std::fmt::{self, Write};

/// A trace under way.
pub(crate) struct Trace {
    kept: Option<String>,
    line: String,
    hash: u64,
}

impl Trace {
    pub(crate) fn new(keep: bool) -> Self {
        Trace { kept: keep.then(String::new), line: String::new(), hash: 0xcbf2_9ce4_8422_2325 }
    }

    pub(crate) fn add(&mut self, at: u128, line: fmt::Arguments<'_>) {
        self.line.clear();
        // A String takes everything.
        let _ = writeln!(self.line, "{at} {line}");
        for byte in self.line.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        if let Some(kept) = &mut self.kept {
            kept.push_str(&self.line);
        }
    }

    pub(crate) fn taken(&mut self) -> (String, u64) {
        (self.kept.take().unwrap_or_default(), self.hash)
    }
}
