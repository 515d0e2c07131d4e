//! Worlds that broke a promise once. Each is named for its story; the seeds are of the generator as
//! it was then, so each story also has a test of its own where one could be written, and a seed of
//! today that tells it when the bug is switched on (`cargo test -p fleet-swarm --features bugs`).

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
    lives_well(&[383, 765]);
}

/// K: a lease that ran out was taken for a refusal, and blocked an innocent pool for an hour; and
/// launches that waited, for their turn or for their next try, asked a pool that had said no meanwhile.
#[test]
fn a_pool_that_said_no_is_not_asked_by_those_who_wait() {
    lives_well(&[24, 101, 109, 205, 960_167_516]);
}

/// The judge's own mistakes, found in 100,000 worlds. A cloud made two machines for one slot, and the
/// one that the journal knows was taken for the one too many. A spot machine was given notice between
/// the last look and the verdict.
#[test]
fn of_twins_the_one_on_record_fills_the_slot_and_late_notices_are_nobodys_fault() {
    lives_well(&[61_235, 28_090]);
}

/// The judge's own mistakes, again. Nine machines vanished and were given up, one of them left a disk
/// and stayed on record, and the judge missed it among the forgotten. A clock that was hours ahead
/// opened a breaker, which no later clock could close before its time. A stranger was given the id of a
/// machine that had left a disk, after the last look and before the clearing, which let it be. A market
/// was short while a group rested whose machines had died at boot.
#[test]
fn given_up_are_given_up_clocks_ahead_are_waited_for_and_strangers_let_be() {
    lives_well(&[1458, 1968, 29_228, 56_367]);
}

/// A, D: a clock was set two hours ahead in the middle of an apply, and what was minutes old looked
/// old enough for its absence to be proof.
#[test]
fn a_clock_that_is_set_makes_nothing_look_old() {
    lives_well(&[206]);
}

/// J: a slow store wrote the records of many launches together, and they left together, whatever
/// turns they had taken; and so did everything that waited while the process stood still.
#[test]
fn launches_leave_one_by_one_whatever_held_them_up() {
    lives_well(&[31, 45, 128, 265, 333]);
}

/// M: a run died between the end of a machine and the end of its disk. A launch that had left a disk was
/// settled an apply later than it could be.
#[test]
fn a_machine_is_forgotten_when_its_disk_is_gone() {
    lives_well(&[36, 58, 66, 47_197, 68_319]);
}

/// M: a list lacked a machine that was there, its disk was in use when disks were listed, and it was gone
/// when it was asked for by id: its disk was in no list of that look.
#[test]
fn disks_are_asked_for_again_after_a_machine_is_found_gone() {
    lives_well(&[910_094_875]);
}

/// M, the twin's own mistake: a machine that was taken back before the end that we had asked for left its
/// disk only when that end would have come.
#[test]
fn a_disk_is_left_when_its_machine_goes() {
    lives_well(&[930_112_963]);
}

/// C, the judge's own mistake: half of a list of one machine is no machine, and a journal that is lost
/// while clouds show nothing cannot be missed.
#[test]
fn a_list_that_shows_nothing_is_silence() {
    lives_well(&[930_068_762]);
}

/// C: a journal was lost, and the machines that a list showed did not count, because the list of disks
/// after it failed.
#[test]
fn machines_that_were_listed_were_seen() {
    lives_well(&[910_068_232]);
}

/// C, A: a journal was lost, and a list that had lost a page showed five machines of the fleet: nobody
/// counted them, and a second fleet was launched elsewhere. (`a_lost_journal_makes_no_second_fleet`)
#[test]
fn machines_in_a_partial_list_are_machines() {
    lives_well(&[70_005_990]);
}

/// B: a request left seven seconds after its record, its machines were listed five minutes later, and
/// the window had counted from the record. (`recover::tests`)
#[test]
fn the_window_begins_when_a_request_may_have_left() {
    lives_well(&[70_010_766]);
}

/// O, the judge's own mistake: the last of several applies that share a replacement destroys machines,
/// which stay on record until the one after it.
#[test]
fn what_the_last_apply_destroyed_is_forgotten_by_the_next() {
    lives_well(&[70_035_458, 320_230, 15_110, 339_215]);
}

/// K: failures were counted in one row, which another template, another cloud, or the end of an old
/// machine began anew.
#[test]
fn failures_add_up_whatever_comes_between() {
    lives_well(&[138, 146, 3118, 10_023, 16_794]);
}

/// A, B: a list that lacked machines and called itself whole was proof that a launch had made none.
#[test]
fn a_launch_in_doubt_is_asked_for_by_name() {
    lives_well(&[170, 411, 496, 650]);
}

/// G: machines whose end was asked for and not answered were gone, and the fleet froze over them.
#[test]
fn an_end_without_an_answer_explains_what_is_gone() {
    lives_well(&[336_984]);
}

/// K: machines were launched seconds before others of their kind were seen to have failed, by a clock that
/// was behind, and were taken for proof that launches work again.
#[test]
fn a_machine_that_came_up_before_others_failed_proves_nothing() {
    lives_well(&[990_093_201]);
}

/// The judge's own mistake: of machines that could not come up in the storm, the first was called failed
/// when all was calm and was replaced; the second was called failed just before the verdict.
#[test]
fn what_fails_after_the_storm_takes_a_reconcile_of_its_own() {
    lives_well(&[1_010_408_561]);
}

/// The world's own mistake. A request was held up before it was sent, its process stood still for another
/// reason meanwhile, and the request left twenty minutes after its record: longer than a world may take.
#[test]
fn a_pause_before_a_send_is_not_made_longer_by_another() {
    lives_well(&[980_020_687]);
}

/// P told of it: machines that failed after they had worked stood while their group rested, though the
/// spec wanted none any more.
#[test]
fn what_failed_and_nobody_misses_is_destroyed() {
    lives_well(&[950_028_891, 950_048_523]);
}

/// A machine that waits for its successor carried the labels of an earlier spec: nobody relabelled it, and
/// no successor could be had.
#[test]
fn who_waits_for_a_successor_is_relabelled() {
    lives_well(&[1_070_002_235]);
}

/// Q told of it: an old machine went in favour of one that was late, failed or shut down, and that nobody
/// could replace because its tags were lost.
#[test]
fn what_must_not_be_touched_and_does_not_work_is_not_ready() {
    lives_well(&[15_570, 37_325, 59_172]);
}

/// G told of it: a spec that was gone was taken for a target that somebody lowered.
#[test]
fn a_prune_keeps_to_the_limit_on_destroys() {
    lives_well(&[1_939, 3_055, 3_829]);
}

/// R told of it: a rollout began in a fleet that was to have nothing, and its waves have limits of their own.
#[test]
fn a_fleet_that_is_to_have_nothing_has_no_rollout() {
    lives_well(&[44, 158, 238]);
}

/// The judge's own mistakes: looks of who replaces a machine were taken for retries, and what never came up
/// was to be relabelled.
#[test]
fn who_replaces_a_machine_waits_for_its_successor() {
    lives_well(&[6_808, 31_319, 43_209, 28_571]);
}

/// The seeds of today still tell their stories.
#[cfg(feature = "bugs")]
#[test]
fn each_story_is_still_told() {
    use fleet_model::bugs::{Bug, switch_on};
    for (bug, seed) in [
        (Bug::SilentEndsNotCounted, 4750),
        (Bug::FailedNotCounted, 105),
        (Bug::ListBelieved, 4),
        (Bug::BlocksOfRoundIgnored, 205),
        (Bug::WallClockTrusted, 11220),
        (Bug::LaunchesLeaveTogether, 101),
        (Bug::TurnsKeptOverSleep, 2123),
        (Bug::ChildrenForgotten, 106),
        (Bug::DoubtWrittenOffBeforeChildren, 608),
    ] {
        switch_on(Some(bug));
        let violations = live(seed, false).violations;
        switch_on(None);
        assert!(!violations.is_empty(), "seed {seed} no longer shows {}", bug.as_str());
    }
}
