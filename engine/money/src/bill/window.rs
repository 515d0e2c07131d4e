//! The stretch of time in which a bill and journals are compared.

use super::{Bill, Billed, BilledMachine};

/// From a moment on, until another; in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The first that is compared.
    pub from: i64,
    /// The first that is not.
    pub to: i64,
    grain: i64,
}

impl Bill {
    /// What of a stretch of time can be compared: whole hours, or days, that the bill reaches.
    ///
    /// An hour that the stretch cuts is left out, because the bill does not tell what of it was when. The hour
    /// in which it is `now` is not cut: neither side knows more of it. A bill without machines reaches nowhere,
    /// and is held against all that was asked for.
    pub fn window(&self, from: i64, to: i64, now: i64) -> Window {
        let grain = self.grain;
        if self.machine_rows == 0 {
            return Window { from, to, grain };
        }
        let next = |at: i64| {
            at.div_euclid(grain) * grain + if at.rem_euclid(grain) > 0 { grain } else { 0 }
        };
        let from = if from <= self.from { self.from } else { next(from) };
        let to = match to {
            to if to >= self.to => self.to,
            to if to == now => now,
            to => to.div_euclid(grain) * grain,
        };
        Window { from, to, grain }
    }
}

impl Window {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.from >= self.to
    }

    /// Whether the hour, or day, that begins at a moment is in it. The first may have begun before.
    pub(super) fn has(&self, begins: i64) -> bool {
        !self.is_empty() && begins.saturating_add(self.grain) > self.from && begins < self.to
    }
}

impl BilledMachine {
    /// What the bill says of it in a stretch of time; `None`: nothing.
    pub(super) fn within(&self, window: &Window) -> Option<Self> {
        let times = self.times.iter().filter(|(begins, _)| window.has(**begins));
        let times = times.map(|(begins, billed)| (*begins, *billed)).collect();
        let part = BilledMachine { name: self.name.clone(), fleet: self.fleet.clone(), times };
        (!part.times.is_empty()).then_some(part)
    }

    /// All of it.
    pub fn total(&self) -> Billed {
        let mut all = Billed::default();
        self.times.values().for_each(|one| all += *one);
        all
    }
}
