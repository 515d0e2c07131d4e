//! What is believed of one pool: how many of ours it would carry, now and in a while.
//!
//! A pool is a stack of slots: if it carries n machines, the first n slots are up. A refusal, a
//! partial launch and an interruption say exactly how many are up; a machine that lives on says
//! that its slot still is; silence ages. The longer a slot has been up or down, the longer it will
//! stay so (a Lomax law), times a frailty of the pool that is learned from its own interruptions.

/// Shape of the law by which slots fail.
const SHAPE: f64 = 0.9;
/// Its scale in hours.
const SCALE: f64 = 0.45;
/// After this many hours, evidence of a pool's frailty counts half.
const HALF_LIFE: f64 = 24.0;
/// How much evidence the prior frailty of 1 is worth, in expected interruptions.
const PRIOR_WEIGHT: f64 = 2.0;
/// What is taken for the age of a slot that is up and was never seen before, in hours.
const UNSEEN_AGE: f64 = 1.0;
/// Chance that a slot nobody asked for is up.
const UNSEEN_UP: f64 = 0.7;

/// One slot of a pool.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Slot {
    up: bool,
    /// How long it had been so when it was last seen.
    age: f64,
    seen: f64,
}

/// What is believed of one pool. Times are in hours from any common moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Belief {
    slots: Vec<Slot>,
    interruptions: f64,
    exposure: f64,
    as_of: f64,
}

/// Chance to last `more` hours after `age` hours.
fn lasts(age: f64, more: f64, frailty: f64) -> f64 {
    ((SCALE + age) / (SCALE + age + more)).powf(SHAPE * frailty)
}

impl Belief {
    /// How much likelier than usual this pool takes machines back.
    pub fn frailty(&self) -> f64 {
        (PRIOR_WEIGHT + self.interruptions) / (PRIOR_WEIGHT + self.exposure)
    }

    fn decay_to(&mut self, now: f64) {
        let keep = 0.5f64.powf((now - self.as_of).max(0.0) / HALF_LIFE);
        self.interruptions *= keep;
        self.exposure *= keep;
        self.as_of = now;
    }

    /// The age a slot has now, if it is up now.
    fn age_if_up(&self, slot: Option<&Slot>, now: f64) -> f64 {
        match slot {
            Some(Slot { up: true, age, seen }) => {
                let silent = (now - seen).max(0.0);
                let unbroken = lasts(*age, silent, self.frailty());
                unbroken * (age + silent) + (1.0 - unbroken) * silent / 2.0
            }
            // It came up at some time since it was seen down.
            Some(Slot { up: false, seen, .. }) => (now - seen).max(0.0) / 2.0,
            None => UNSEEN_AGE,
        }
    }

    /// Machines of ours are alive in the first `count` slots.
    pub fn alive(&mut self, now: f64, count: u32) {
        self.decay_to(now);
        let count = count as usize;
        for at in 0..count {
            let known = self.slots.get(at).copied();
            let age = self.age_if_up(known.as_ref(), now);
            if let Some(Slot { up: true, age: before, seen }) = known {
                let silent = now - seen;
                if silent > 0.0 {
                    let hazard = SHAPE * ((SCALE + before + silent) / (SCALE + before)).ln();
                    self.exposure += hazard / count as f64;
                }
            }
            let slot = Slot { up: true, age, seen: now };
            match self.slots.get_mut(at) {
                Some(old) => *old = slot,
                None => self.slots.push(slot),
            }
        }
    }

    /// Of `held` machines the pool took some back, and `left` are left.
    pub fn interrupted(&mut self, now: f64, held: u32, left: u32) {
        self.decay_to(now);
        self.interruptions += f64::from(held - left) / f64::from(held.max(1));
        self.exactly(now, left, held);
    }

    /// The pool carries exactly `count`, and refused to carry `asked`.
    pub fn exactly(&mut self, now: f64, count: u32, asked: u32) {
        self.alive(now, count);
        let down = count as usize..(asked as usize).max(self.slots.len());
        for at in down {
            let slot = match self.slots.get(at) {
                Some(Slot { up: false, age, seen }) => {
                    Slot { up: false, age: age + (now - seen), seen: now }
                }
                Some(Slot { up: true, .. }) | None => Slot { up: false, age: 0.0, seen: now },
            };
            match self.slots.get_mut(at) {
                Some(old) => *old = slot,
                None => self.slots.push(slot),
            }
        }
    }

    /// Chance that slot `at` (from 0) is up now.
    pub fn up(&self, at: usize, now: f64) -> f64 {
        match self.slots.get(at) {
            Some(&Slot { up, age, seen }) => {
                let silent = (now - seen).max(0.0);
                if up {
                    let stays = lasts(age, silent, self.frailty());
                    stays + (1.0 - stays) * UNSEEN_UP
                } else {
                    (1.0 - lasts(age, silent, 1.0)) * UNSEEN_UP
                }
            }
            None => UNSEEN_UP,
        }
    }

    /// Chance that slot `at`, if it is up now, is up for `hours` more.
    pub fn stays(&self, at: usize, now: f64, hours: f64) -> f64 {
        let age = self.age_if_up(self.slots.get(at), now);
        lasts(age, hours, self.frailty())
    }
}
