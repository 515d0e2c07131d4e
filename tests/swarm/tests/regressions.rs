//! Worlds that broke a promise once. Each is named for its story; the seeds are of the generator as
//! it was then, so each story also has a test of its own where one could be written.

use fleet_swarm::live;

/// Lives worlds that broke a promise once.
fn lives_well(seeds: &[u64]) {
    for seed in seeds {
        assert_eq!(live(*seed, false).violations, [], "seed {seed}");
    }
}

/// G: the answer to an end was lost; the round counted nothing ended, and the next one ended another.
#[test]
fn an_end_without_an_answer_counts_toward_the_limit() {
    lives_well(&[383]);
}

/// K: a lease that ran out was taken for a refusal, and blocked an innocent pool for an hour; and
/// launches that waited for their turn asked a pool that had said no meanwhile.
#[test]
fn a_pool_that_said_no_is_not_asked_by_those_who_wait() {
    lives_well(&[24, 101, 109]);
}

/// The judge's own mistakes, found in 100,000 worlds. A cloud made two machines for one slot, and the
/// one that the journal knows was taken for the one too many. A spot machine was given notice between
/// the last look and the verdict.
#[test]
fn of_twins_the_one_on_record_fills_the_slot_and_late_notices_are_nobodys_fault() {
    lives_well(&[61_235, 28_090]);
}
