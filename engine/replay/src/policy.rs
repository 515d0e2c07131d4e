//! What a policy may know, and what it may do.

/// What a policy may know at a moment. Times are in seconds since the first sample.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Number of the sample.
    pub sample: usize,
    /// The moment: that of the sample, or later, when a notice came in between.
    pub now: u64,
    /// From a grant until a machine is ready.
    pub delay: u64,
    /// From a notice to the loss.
    pub notice: u64,
    /// Machines wanted in all.
    pub fleet: u32,
    /// Machines that spot, or what stands in for it, has to serve.
    pub target: u32,
    /// Price per hour of each zone now.
    pub price: &'a [f64],
    /// Machines held in each zone, by the moment of their grant, oldest first.
    pub held: &'a [Vec<u64>],
    /// The same on demand, the base apart.
    pub on_demand: &'a [u64],
    /// Machines interrupted in each zone since the policy was last asked.
    pub interrupted: &'a [u32],
    /// Machines in each zone that will be: the youngest of those held.
    pub noticed: &'a [u32],
    /// Which round of requests this is.
    pub round: u32,
    /// Room in each zone now. Only for policies that are given this privilege.
    pub room: &'a [u32],
}

impl View<'_> {
    /// Spot machines held, ready or not.
    pub fn running(&self) -> u32 {
        self.held.iter().map(|zone| zone.len() as u32).sum()
    }

    /// Spot machines that are ready.
    pub fn ready(&self) -> u32 {
        self.held.iter().map(|zone| ready(zone, self.now, self.delay)).sum()
    }

    /// On-demand machines that are ready.
    pub fn on_demand_ready(&self) -> u32 {
        ready(self.on_demand, self.now, self.delay)
    }
}

pub(crate) fn ready(granted: &[u64], now: u64, delay: u64) -> u32 {
    granted.iter().filter(|&&at| at + delay <= now).count() as u32
}

/// A request: so many machines from a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// Which zone.
    pub zone: usize,
    /// How many.
    pub count: u32,
}

/// A spot machine that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    /// In which zone.
    pub zone: usize,
    /// Its position there, the oldest first.
    pub nth: usize,
}

/// What a policy does once its requests are answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rest {
    /// How many on-demand machines should run, the base apart.
    pub on_demand: u32,
    /// Spot machines to destroy.
    pub release: Vec<Held>,
}

/// Something that decides.
pub trait Policy {
    /// What to ask for in this round. Nothing: the rounds are over.
    fn ask(&mut self, view: &View<'_>) -> Vec<Ask>;
    /// What came of a request.
    fn answer(&mut self, ask: Ask, granted: u32);
    /// What else to do once the requests are answered.
    fn rest(&mut self, view: &View<'_>) -> Rest;
    /// Whether a notice between two samples makes it look again. What others do has no such thing.
    fn heeds_notices(&self) -> bool {
        false
    }
}
