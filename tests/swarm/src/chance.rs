//! Chance that repeats, behind every choice of a run.

/// A seeded source of chance.
#[derive(Debug, Clone)]
pub(crate) struct Chance(fleet_sim::Chance);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        // Neighbouring seeds must not give neighbouring worlds.
        let mut chance = fleet_sim::Chance::new(seed ^ 0x5eed_f1ee_7000_0000);
        let _ = chance.draw();
        Chance(chance)
    }

    /// Chance for what came to the swarm later: what was there before goes on as it did.
    pub(crate) fn later(seed: u64) -> Self {
        Chance::new(!seed)
    }

    /// And for what came last.
    pub(crate) fn last(seed: u64) -> Self {
        Chance::new(!seed ^ 0x1a57_0000_0000_0000)
    }

    /// And for the true habits of clouds, which came after that.
    pub(crate) fn habits(seed: u64) -> Self {
        Chance::new(!seed ^ 0x4ab1_7500_0000_0000)
    }

    /// And for deeds and wishes of people that came after that.
    pub(crate) fn deeds(seed: u64) -> Self {
        Chance::new(!seed ^ 0xdeed_0000_0000_0000)
    }

    /// And for how a fleet is kept right, which came after that.
    pub(crate) fn upkeep(seed: u64) -> Self {
        Chance::new(!seed ^ 0x0b5e_55ed_0000_0000)
    }

    /// And for what changes by the clock and by a person's word, which came after that.
    pub(crate) fn clockwork(seed: u64) -> Self {
        Chance::new(!seed ^ 0xc10c_0000_0000_0000)
    }

    /// And for fleets that pay for what is missing, which came after that.
    pub(crate) fn hedges(seed: u64) -> Self {
        Chance::new(!seed ^ 0x4ed6_e000_0000_0000)
    }

    /// A number below `limit`; 0 if there is none.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0.below(limit)
    }

    /// A number from `least` to `most`.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least) + 1)
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len() as u64) as usize)
    }
}
