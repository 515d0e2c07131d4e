//! Signals against simulated truths, through the journal's own events.

use super::*;
use crate::fold;
use crate::offers::trust::weight;
use fleet_model::{
    Block, BlockScope, Create, Departure, Event, Group, Interrupted, MachineId, MicroUsd,
    NewMachine, Obtainability, Token, digest,
};

const SOURCES: [SignalSource; 2] =
    [SignalSource::SpotPlacementScore, SignalSource::RegionsWithCapacity];

fn at(minute: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + minute * 60).expect("a time")
}

/// Chance without a generator: the same numbers each time, spread evenly.
fn chance(nth: u32, salt: u32) -> f64 {
    let mut x = nth.wrapping_mul(2_654_435_761).wrapping_add(salt.wrapping_mul(40_503)) ^ salt;
    for _ in 0..3 {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    f64::from(x) / f64::from(u32::MAX)
}

fn percent(share: f64) -> Share {
    Share::from_ppm((share * 1e6) as u32).expect("a share")
}

fn pool_of(source: SignalSource) -> PoolId {
    let name = match source.row().cloud {
        fleet_model::Cloud::Lambda => "lambda/us-west-1/regional/gpu_1x_a10/on-demand",
        _ => "aws/us-east-1/use1-az1/m5.large/spot",
    };
    name.parse().expect("a pool")
}

/// A journal in which one pool is tried again and again.
struct History {
    recorded: Recorded,
    pool: PoolId,
    nth: u32,
    minute: i64,
}

impl History {
    fn new(source: SignalSource) -> Self {
        History { recorded: Recorded::default(), pool: pool_of(source), nth: 0, minute: 0 }
    }

    fn fold(&mut self, event: Event) {
        fold(&mut self.recorded, &event, at(self.minute));
    }

    /// A round that launches one machine, after a signal said something of its pool.
    fn launch(&mut self, word: Word, granted: bool) -> SlotId {
        self.nth += 1;
        self.minute += 60;
        let slot = SlotId {
            name: fleet_model::SlotName { group: Group::Burst, ordinal: self.nth },
            generation: 1,
        };
        let token = Token::new(format!("t{}", self.nth));
        let heard = vec![Heard { pool: self.pool.clone(), words: vec![word] }];
        let spec = digest("test/1", []);
        self.fold(Event::RoundStarted {
            spec,
            create: 1,
            destroy: 0,
            hourly_after: MicroUsd(0),
            heard,
            worth: Vec::new(),
        });
        self.fold(Event::CreateIntended {
            create: Create {
                pool: self.pool.clone(),
                others: Vec::new(),
                slots: vec![slot],
                token: token.clone(),
                price: None,
                max_price: None,
                template: spec,
                image: None,
            },
        });
        if granted {
            let machine = NewMachine {
                slot,
                machine: MachineId::new(format!("m{}", self.nth)),
                launched_at: at(self.minute),
                price: None,
                pool: None,
            };
            let (missing, surplus) = (Vec::new(), Vec::new());
            let machines = vec![machine];
            let no_room = false;
            self.fold(Event::Created { token, machines, missing, surplus, no_room });
        } else {
            let code = "InsufficientInstanceCapacity".to_owned();
            self.fold(Event::CreateRefused { token, code: code.clone(), no_room: true });
            let scope = BlockScope::Pool { pool: self.pool.clone() };
            let block = Block { scope, until: at(self.minute + 3), code };
            self.fold(Event::Blocked { block });
        }
        slot
    }

    fn end(&mut self, slot: SlotId, after_minutes: i64, how: Departure) {
        self.minute += after_minutes;
        let machine = MachineId::new(format!("m{}", slot.name.ordinal));
        self.fold(Event::Vacated {
            gone: vec![Vacated {
                slot: slot.name,
                machine,
                how,
                started: None,
                at: None,
                deleted: None,
            }],
        });
    }

    fn weight(&self, source: SignalSource) -> f64 {
        let record = self.recorded.signals.get(&source).copied().unwrap_or_default();
        weight(source, gain_at(&record, at(self.minute)))
    }
}

#[test]
fn a_perfect_word_on_launches_is_believed_and_noise_is_not() {
    for source in SOURCES {
        // Pools that grant as much as is usual: to know nothing is no bad guess.
        let usual = match pool_of(source).market {
            Market::Spot => Prior::default().up,
            Market::OnDemand | Market::Reserved => USUAL_ON_DEMAND,
        };
        let (mut perfect, mut noise, mut wrong) =
            (History::new(source), History::new(source), History::new(source));
        for nth in 0..80 {
            let granted = chance(nth, 1) < usual;
            let said = if granted { 1.0 } else { 0.0 };
            let word = |history: &mut History, share| {
                history.launch(Word { source, share: percent(share) }, granted);
            };
            word(&mut perfect, said);
            word(&mut noise, chance(nth, 2));
            word(&mut wrong, 1.0 - said);
        }
        assert!(perfect.weight(source) > 0.8, "{source}: {}", perfect.weight(source));
        assert!(wrong.weight(source) < 0.05, "{source}: {}", wrong.weight(source));
        assert_eq!(perfect.recorded.signals[&source].judged, 80);
        assert!(noise.weight(source) < 0.2, "{source}: {}", noise.weight(source));
    }
}

#[test]
fn a_word_on_launches_grows_with_each_hit_and_falls_with_each_miss() {
    let source = SignalSource::SpotPlacementScore;
    let mut history = History::new(source);
    let mut last = history.weight(source);
    assert!((last - 0.5).abs() < 1e-9, "the default, until there is evidence");
    for granted in [true, false, true] {
        let share = percent(if granted { 0.95 } else { 0.05 });
        history.launch(Word { source, share }, granted);
        assert!(history.weight(source) > last);
        last = history.weight(source);
    }
    history.launch(Word { source, share: percent(0.9) }, false);
    assert!(history.weight(source) < last);
}

/// Hours that a machine of some frailty lives, by the law of ages: until so many interruptions were to be
/// expected of a usual pool.
fn life(frailty: f64, chance: f64) -> f64 {
    let due = -chance.max(1e-9).ln() / frailty;
    let (mut least, mut most) = (0.0, 1e12);
    for _ in 0..200 {
        let hours: f64 = f64::midpoint(least, most);
        if usual_interruptions(hours) < due { least = hours } else { most = hours }
    }
    most
}

#[test]
fn a_true_word_on_interruptions_is_believed_and_noise_is_not() {
    let source = SignalSource::SpotAdvisor;
    let (mut perfect, mut noise) = (History::new(source), History::new(source));
    for nth in 0..80 {
        let frail = chance(nth, 3) < 0.5;
        let lives = |history: &mut History, word: Word| {
            let frailty = super::frailty(&word_for(source, frail)).expect("a frailty");
            // A machine that lives on for a week is destroyed by us.
            let hours = life(frailty, chance(nth, 4));
            let slot = history.launch(word, true);
            let how = if hours < 168.0 { Departure::Interrupted } else { Departure::Ended };
            history.end(slot, (hours.min(168.0) * 60.0) as i64, how);
        };
        lives(&mut perfect, word_for(source, frail));
        lives(&mut noise, word_for(source, chance(nth, 5) < 0.5));
    }
    assert!(perfect.weight(source) > 0.8, "{}", perfect.weight(source));
    assert!(noise.weight(source) < 0.2, "{}", noise.weight(source));
}

/// The shares that a source gives to calm and to frail pools.
fn word_for(source: SignalSource, frail: bool) -> Word {
    Word { source, share: percent(if frail { 0.4 } else { 0.02 }) }
}

#[test]
fn machines_that_we_destroy_count_once_and_as_alive() {
    let source = SignalSource::SpotAdvisor;
    let mut history = History::new(source);
    let slot = history.launch(word_for(source, false), true);
    history.minute += 60 * 24 * 7;
    let pool = history.pool.clone();
    history.fold(Event::DestroyIntended { pool, slots: vec![slot] });
    let weight = history.weight(source);
    assert!(weight > 0.5, "a calm pool was calm: {weight}");
    history.end(slot, 0, Departure::Ended);
    assert_eq!(history.recorded.signals[&source].judged, 1);
}

#[test]
fn nothing_is_learned_of_what_nobody_said() {
    let source = SignalSource::SpotPlacementScore;
    let mut history = History::new(source);
    let slot = history.launch(Word { source, share: percent(0.9) }, true);
    history.recorded.signals.clear();
    history.recorded.heard.clear();
    history.end(slot, 10, Departure::Interrupted);
    history.fold(Event::Blocked {
        block: Block {
            scope: BlockScope::Pool { pool: history.pool.clone() },
            until: at(9),
            code: String::new(),
        },
    });
    assert!(history.recorded.signals.is_empty());
    // Words that are a quarter of a year old are forgotten.
    history.launch(Word { source, share: percent(0.9) }, true);
    history.minute += 60 * 24 * 91;
    let heard = Vec::new();
    let spec = digest("test/1", []);
    let hourly_after = MicroUsd(0);
    history.fold(Event::RoundStarted {
        spec,
        create: 0,
        destroy: 0,
        hourly_after,
        heard,
        worth: Vec::new(),
    });
    assert!(history.recorded.heard.is_empty());
}

#[test]
fn a_prior_follows_words_as_far_as_they_are_believed() {
    let trusting = |gain: f64| Trust::with(|source| weight(source, gain));
    let share = percent(0.3);
    let signals = Signals {
        obtainability: Some(Obtainability {
            percent: 20,
            source: SignalSource::SpotPlacementScore,
        }),
        interrupted: Some(Interrupted { share, source: SignalSource::SpotAdvisor }),
        ..Signals::default()
    };
    let usual = Prior::default();
    let prior = |signals: &Signals, trust: &Trust| prior(signals, trust, at(0));
    let default = prior(&signals, &trusting(0.0));
    // Half way to the word, and the root of the ratio to what is usual.
    assert!((default.up - (usual.up + 0.2) / 2.0).abs() < 1e-9);
    let ratio = 0.7f64.ln() / 0.9f64.ln();
    assert!((default.frailty - ratio.sqrt()).abs() < 1e-9);
    let (less, more) = (prior(&signals, &trusting(-2.0)), prior(&signals, &trusting(2.0)));
    assert!(less.up > default.up && default.up > more.up);
    assert!(less.frailty < default.frailty && default.frailty < more.frailty);
    assert_eq!(prior(&Signals::default(), &trusting(4.0)), usual);
    // A flat price says nothing; one that jumps, a little.
    let moved =
        |volatility| Signals { volatility: Some(percent(volatility)), ..Signals::default() };
    assert_eq!(prior(&moved(0.0), &trusting(0.0)).frailty, 1.0);
    let jumpy = prior(&moved(0.4), &trusting(0.0)).frailty;
    assert!(jumpy > 1.2 && jumpy < 2.0, "{jumpy}");
}

#[test]
fn a_word_that_has_stood_makes_slots_as_old_as_it_is_believed() {
    let stood = |hours: i64, percent: u8| Signals {
        obtainability: Some(Obtainability { percent, source: SignalSource::SpotPlacementScore }),
        steady_since: Some(at(-60 * hours)),
        ..Signals::default()
    };
    let of = |hours, gain| {
        let trust = Trust::with(|source| weight(source, gain));
        prior(&stood(hours, 80), &trust, at(0))
    };
    let usual = Prior::default();
    let (fresh, old) = (of(2, 0.0), of(32, 0.0));
    assert_eq!((fresh.age, fresh.watched), (usual.age, 0.0), "first heard, it tells nothing");
    // Half way, as ratios go.
    assert!((old.age - 8.0).abs() < 1e-9, "{}", old.age);
    assert!(old.watched > 8.0 && old.watched < 15.0, "{}", old.watched);
    assert!(of(32, 2.0).age > old.age && of(32, -2.0).age < old.age);
    assert!(of(0, 0.0).age < usual.age, "what came up just now goes soon");
    // Without a word there is nothing that could have stood.
    let none = Signals { obtainability: None, ..stood(32, 80) };
    assert_eq!(prior(&none, &Trust::with(|_| 1.0), at(0)), usual);
}
