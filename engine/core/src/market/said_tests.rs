use super::*;
use fleet_model::SignalSource;

const SCORE: SignalSource = SignalSource::SpotPlacementScore;

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + 60 * minutes).expect("a time")
}

fn word(percent: u8) -> Obtainability {
    Obtainability { percent, source: SCORE }
}

/// For how many minutes the last of these words has stood, half of it at least.
fn stood(words: &[(i64, u8)]) -> Option<i64> {
    let (minutes, percent) = words[0];
    let mut said = first(word(percent), at(minutes));
    for (minutes, percent) in &words[1..] {
        take_in(&mut said, word(*percent), at(*minutes));
        let rising = |two: &[(u8, Timestamp)]| two[0].0 < two[1].0 && two[0].1 <= two[1].1;
        assert!(said.at_least.windows(2).all(rising), "{said:?}");
    }
    let (minutes, percent) = words[words.len() - 1];
    let since = steady_since(&said, percent)?;
    Some((at(minutes).as_second() - since.as_second()) / 60)
}

#[test]
fn a_word_stands_until_it_falls_below_half() {
    assert_eq!(stood(&[(0, 80)]), Some(120), "as a slot that nobody has seen");
    assert_eq!(stood(&[(0, 80), (60, 80), (120, 90), (180, 50)]), Some(300));
    assert_eq!(stood(&[(0, 80), (60, 30), (120, 80)]), Some(30), "it rose in the middle");
    assert_eq!(stood(&[(0, 80), (60, 40), (120, 80)]), Some(240), "half is half");
    assert_eq!(stood(&[(0, 80), (60, 30), (120, 60)]), Some(240));
    assert_eq!(stood(&[(0, 80), (60, 80), (120, 5)]), None, "hopeless tells nothing");
    assert_eq!(stood(&[(0, 9)]), None);
}

#[test]
fn a_word_that_nobody_heard_for_long_is_less_sure_to_have_stood() {
    let heard = stood(&[(0, 80), (60, 80)]).expect("it stood");
    let silent = stood(&[(0, 80), (24 * 60, 80)]).expect("it stood");
    assert_eq!(heard, 180);
    assert!(silent > 12 * 60 && silent < 26 * 60, "{silent}");
    assert!(stood(&[(0, 30), (24 * 60, 80)]).is_some_and(|minutes| minutes == 120));
}

#[test]
fn an_earlier_look_changes_nothing_and_another_source_begins_anew() {
    let mut said = first(word(80), at(60));
    let before = said.clone();
    take_in(&mut said, word(10), at(0));
    assert_eq!(said, before);
    let other = Obtainability { percent: 80, source: SignalSource::CapacityAdvice };
    take_in(&mut said, other, at(600));
    assert_eq!(said, first(other, at(600)));
}

#[test]
fn those_that_have_stood_longest_are_told_of() {
    let pool = |zone: &str| -> PoolId {
        format!("aws/us-east-1/{zone}/m5.large/spot").parse().expect("a pool")
    };
    let since = |percent, minutes, heard| Said {
        source: SCORE,
        heard: at(heard),
        at_least: vec![(percent, at(minutes))],
    };
    let said: AllSaid = [
        (pool("a"), since(80, -600, 60)),
        (pool("b"), since(80, -60, 60)),
        (pool("c"), since(5, -6000, 60)),
        (pool("d"), since(80, -6000, 0)),
    ]
    .into();
    let told = |most| -> Vec<String> {
        let told = worth_telling(&said, most);
        told.keys().map(|pool| pool.place.zone.to_string()).collect()
    };
    assert_eq!(told(1), ["a"]);
    assert_eq!(told(2), ["a", "b"]);
    assert_eq!(told(9), ["a", "b", "d"], "what says nothing is not told");
}
