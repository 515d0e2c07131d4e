//! Call counts: what is asked, and what is remembered.

use super::*;
use crate::Class;
use fleet_model::Cloud;
use futures::future::join_all;
use std::sync::atomic::{AtomicU32, Ordering};

const SOURCE: SignalSource = SignalSource::SpotPlacementScore;

fn at(second: u64) -> Timestamp {
    Timestamp::from_second(second as i64).expect("a time")
}

/// A cloud that counts questions, and does not answer while it is down.
#[derive(Default)]
struct FakeCloud {
    asked: AtomicU32,
    down: bool,
}

impl FakeCloud {
    async fn answer(&self, value: u32) -> Result<u32, Error> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        // Others go first.
        tokio::task::yield_now().await;
        match self.down {
            true => Err(Error::new(Cloud::Aws, Class::Invalid, "MaxConfigLimitExceeded", "no")),
            false => Ok(value),
        }
    }

    fn asked(&self) -> u32 {
        self.asked.load(Ordering::Relaxed)
    }
}

fn block_on<T>(asked: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(asked)
}

#[test]
fn a_question_is_asked_once_while_its_answer_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state").join("signals.json");
    let cloud = FakeCloud::default();
    let ask = |answers: &Answers, question: &str, second: u64, value: u32| {
        block_on(answers.ask(SOURCE, question, at(second), || cloud.answer(value))).ok()
    };
    let holds = SOURCE.row().holds.as_secs();
    assert_eq!(ask(&Answers::at(path.clone()), "a", 1000, 7), Some(7));
    // Another run of the program.
    assert_eq!(ask(&Answers::at(path.clone()), "a", 1000 + holds - 1, 8), Some(7));
    assert_eq!(cloud.asked(), 1);
    assert_eq!(ask(&Answers::at(path.clone()), "b", 1001, 9), Some(9));
    assert_eq!(ask(&Answers::at(path.clone()), "a", 1000 + holds, 8), Some(8));
    // A clock that was set back: what it says is asked again.
    assert_eq!(ask(&Answers::at(path), "a", 10, 5), Some(5));
    assert_eq!(cloud.asked(), 4);
}

#[test]
fn a_failed_question_falls_back_to_the_last_answer_while_that_is_not_too_old() {
    let answers = Answers::default();
    let (up, down) = (FakeCloud::default(), FakeCloud { down: true, ..FakeCloud::default() });
    assert!(block_on(answers.ask(SOURCE, "a", at(0), || down.answer(1))).is_err(), "never known");
    block_on(answers.ask(SOURCE, "a", at(100), || up.answer(7))).expect("an answer");
    let row = SOURCE.row();
    let later = |time: Duration| at(100 + time.as_secs());
    let ask = |when| block_on(answers.ask(SOURCE, "a", when, || down.answer(1)));
    assert_eq!(ask(later(row.holds)).ok(), Some(7));
    assert_eq!(ask(later(row.stands_in) - Duration::from_secs(1)).ok(), Some(7));
    assert_eq!(
        ask(later(row.stands_in)).map_err(|error| error.code).err().as_deref(),
        Some("MaxConfigLimitExceeded")
    );
    assert_eq!((up.asked(), down.asked()), (1, 4));
}

#[test]
fn fleets_that_ask_at_once_share_one_answer() {
    let (answers, cloud) = (Answers::default(), FakeCloud::default());
    let asked = (0..64).map(|_| answers.ask(SOURCE, "a", at(0), || cloud.answer(3)));
    assert!(block_on(join_all(asked)).into_iter().all(|answer| answer.ok() == Some(3)));
    assert_eq!(cloud.asked(), 1);
}

#[test]
fn two_processes_keep_each_others_answers_and_old_ones_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("signals.json");
    let (one, other) = (Answers::at(path.clone()), Answers::at(path.clone()));
    assert!(one.fresh::<u32>(SOURCE, "a", at(0)).is_none());
    assert!(other.fresh::<u32>(SOURCE, "a", at(0)).is_none());
    one.keep(SOURCE, [("a".to_owned(), &1u32)], at(10));
    other.keep(SOURCE, [("b".to_owned(), &2u32)], at(11));
    let third = Answers::at(path.clone());
    assert_eq!(third.fresh(SOURCE, "a", at(12)), Some((1u32, at(10))));
    assert_eq!(third.fresh(SOURCE, "b", at(12)), Some((2u32, at(11))));
    let old = SOURCE.row().stands_in.as_secs() + 11;
    third.keep(SOURCE, [("c".to_owned(), &3u32)], at(old));
    let text = std::fs::read_to_string(&path).expect("a file");
    assert!(text.contains("\"c\"") && !text.contains("\"a\""), "{text}");
}

#[test]
fn a_damaged_file_is_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("signals.json");
    for damage in ["", "{", "[]", r#"{"formatVersion":9,"signals":{}}"#] {
        std::fs::write(&path, damage).expect("a file");
        let answers = Answers::at(path.clone());
        assert_eq!(answers.last::<u32>(SOURCE, "a", at(1)), None, "{damage}");
        answers.keep(SOURCE, [("a".to_owned(), &1u32)], at(1));
        // What does not fit the question is no answer either.
        assert_eq!(answers.last::<String>(SOURCE, "a", at(1)), None);
        assert!(Answers::at(path.clone()).last::<u32>(SOURCE, "a", at(1)).is_some(), "{damage}");
    }
    let nowhere = Answers::at(path.join("not-a-folder").join("signals.json"));
    nowhere.keep(SOURCE, [("a".to_owned(), &1u32)], at(1));
    assert!(nowhere.last::<u32>(SOURCE, "a", at(1)).is_some(), "known for this run");
}
