//! How far each of the clouds' signals is believed.
//!
//! Two experts foretell each launch and each interruption: the source, and the usual prior. A source's
//! weight is its share in their mixture: its default weight, moved by how much likelier its words made
//! what happened. It is 1 for a source that is always right, 0 for one that is worse than knowing
//! nothing, and the default where nothing was judged. Evidence of all fleets of the state counts.

use fleet_model::{
    Heeded, Inputs, Obtainability, Says, Share, SignalRecord, SignalRecords, SignalSource, Signals,
    Timestamp,
};

/// After this many hours, evidence counts half.
pub(crate) const HALF_LIFE: f64 = 30.0 * 24.0;

/// The most that evidence may say, either way: a source that changes is found out within weeks.
const MOST: f64 = 4.0;

pub(crate) const MICRO: f64 = 1e6;

/// The weight of each source, at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trust([f64; SignalSource::ALL.len()]);

impl Trust {
    /// From what this fleet and others saw.
    pub(crate) fn of(inputs: &Inputs) -> Self {
        Trust(SignalSource::ALL.map(|source| {
            let records = [&inputs.recorded.signals, &inputs.signals];
            let records = records.into_iter().filter_map(|records| records.get(&source));
            weight(source, records.map(|record| gain_at(record, inputs.now)).sum())
        }))
    }

    #[cfg(test)]
    pub(crate) fn with(weight: impl Fn(SignalSource) -> f64) -> Self {
        Trust(SignalSource::ALL.map(weight))
    }

    /// From nothing to all of it.
    pub(crate) fn weight(&self, source: SignalSource) -> f64 {
        self.0[source as usize]
    }

    /// What the signals of a pool say, and how far each is believed.
    pub(crate) fn heeded(&self, signals: &Signals) -> Vec<Heeded> {
        let share = |source| Share::from_ppm((self.weight(source) * 1e6).round() as u32);
        let one = |word: fleet_model::Word| Heeded {
            word,
            weight: share(word.source).unwrap_or(Share::ALL),
            steady_since: match word.source.row().says {
                Says::Launch => signals.steady_since,
                Says::Interruption { .. } | Says::PriceMovement { .. } => None,
            },
        };
        signals.words().map(one).collect()
    }

    /// What a strategy that ranks pools by their cloud's word takes it for. All of it, unless the source
    /// did worse than its default weight: such a strategy asks for the cloud's own order, and without
    /// evidence there is no better one.
    pub(crate) fn odds(&self, word: Obtainability, usual: u8) -> u8 {
        let default = f64::from(word.source.row().weight_percent) / 100.0;
        let heed = (self.weight(word.source) / default).min(1.0);
        let (said, usual) = (f64::from(word.percent.min(100)), f64::from(usual));
        (usual + heed * (said - usual)).round() as u8
    }
}

/// A source's gain, as far as it counts still.
pub(crate) fn gain_at(record: &SignalRecord, now: Timestamp) -> f64 {
    let hours = (now.as_second() - record.as_of.as_second()).max(0) as f64 / 3600.0;
    record.gain_micro as f64 / MICRO * 0.5f64.powf(hours / HALF_LIFE)
}

/// Adds one fleet's records to those of others.
pub fn add_signals(sum: &mut SignalRecords, more: &SignalRecords, now: Timestamp) {
    for (source, more) in more {
        let record = sum.entry(*source).or_default();
        let gain = gain_at(record, now) + gain_at(more, now);
        *record = SignalRecord {
            gain_micro: (gain * MICRO).round() as i64,
            judged: record.judged + more.judged,
            as_of: now,
        };
    }
}

/// The weight of a source after some evidence.
pub(crate) fn weight(source: SignalSource, gain: f64) -> f64 {
    let default = f64::from(source.row().weight_percent) / 100.0;
    let odds = default / (1.0 - default) * gain.clamp(-MOST, MOST).exp();
    odds / (1.0 + odds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_start_at_their_default_and_follow_the_evidence() {
        for source in SignalSource::ALL {
            let default = f64::from(source.row().weight_percent) / 100.0;
            let of = |gain| weight(source, gain);
            assert!((of(0.0) - default).abs() < 1e-9);
            let gains = [-1e9, -4.0, -1.0, -0.1, 0.0, 0.1, 1.0, 4.0, 1e9];
            assert!(gains.windows(2).all(|two| of(two[0]) <= of(two[1])), "{source}");
            assert!(of(-1e9) > 0.0 && of(1e9) < 1.0, "{source} can be found out");
        }
    }

    #[test]
    fn evidence_fades() {
        let at = |hour: i64| Timestamp::from_second(hour * 3600).expect("a time");
        let record = SignalRecord { gain_micro: 2_000_000, judged: 9, as_of: at(0) };
        assert!((gain_at(&record, at(0)) - 2.0).abs() < 1e-9);
        assert!((gain_at(&record, at(30 * 24)) - 1.0).abs() < 1e-9);
        // A clock that was set back does not make it more.
        assert!((gain_at(&record, at(-5)) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_ranking_follows_the_cloud_until_it_proves_wrong() {
        let mut trust = Trust(SignalSource::ALL.map(|source| weight(source, 0.0)));
        let source = SignalSource::CapacityAdvice;
        let word = Obtainability { percent: 90, source };
        assert_eq!(trust.odds(word, 50), 90);
        trust.0[source as usize] = weight(source, 3.0);
        assert_eq!(trust.odds(word, 50), 90);
        trust.0[source as usize] = 0.25;
        assert_eq!(trust.odds(word, 50), 70);
        trust.0[source as usize] = 0.0;
        assert_eq!(trust.odds(word, 50), 50);
    }
}
