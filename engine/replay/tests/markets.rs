//! Made-up markets are the same each time, and the adversarial ones react.

use fleet_replay::contest::{MOST_MEAN_REGRET, MOST_WORSE_BY_TENTH, play_all, summary};
use fleet_replay::synthetic::{Kind, Synthetic};
use fleet_replay::{Named, World, judge_in};

#[test]
fn the_same_seed_is_the_same_contest_on_any_number_of_cores() {
    let all = play_all(7, 0, 12);
    let parts = [play_all(7, 0, 5), play_all(7, 5, 7)].concat();
    assert_eq!(all, parts);
    assert_eq!(all.iter().filter(|played| played.kind == Kind::Storms).count(), 2);
    assert_ne!(all, play_all(8, 0, 12));
    // All on demand costs what it costs, and a summary is of what was played.
    for played in &all {
        let on_demand = played.j[6];
        assert!((on_demand - 1.0).abs() < 1e-9 && played.j[0] > 0.1, "{played:?}");
    }
    let told = summary(all.iter()).expect("markets");
    assert_eq!(told.markets, 12);
    assert!(told.worst.0 >= told.mean_regret && told.worse[0] >= told.worse[1], "{told:?}");
}

/// The cheapest zone is good as long as nobody is there, and takes everything back from who stays.
#[test]
fn an_adversarial_market_reacts() {
    let market = Synthetic::new(Kind::Adversarial, 3);
    let zones = market.trace.zones.len();
    let price = &market.trace.price[0];
    let cheapest = (0..zones).min_by(|a, b| price[*a].total_cmp(&price[*b])).expect("a zone");
    let walk = |held: u32| {
        let mut world = market.world();
        let (mut lost, mut carries) = (0, vec![0; zones]);
        let mut counts = vec![0; zones];
        counts[cheapest] = held;
        for sample in 0..market.trace.samples() {
            world.carries(sample, &counts, &mut carries);
            lost += u32::from(carries[cheapest] < market.trace.capacity[sample][cheapest]);
        }
        lost
    };
    assert_eq!(walk(0), 0, "nobody is there");
    assert!(walk(1) > 0, "the market does not react");
}

/// A world that answers is judged by its answers, not by what it would have carried.
#[test]
fn what_reacts_is_judged_by_its_answers() {
    let market = Synthetic::new(Kind::Adversarial, 3);
    let Synthetic { trace, setup, .. } = &market;
    let desired = fleet_replay::contest::anywhere(None);
    let j10 = |world: &mut dyn World| {
        let mut policy = Named::LowestPrice.policy(trace, setup, &desired);
        judge_in(trace, world, setup, policy.as_mut(), &|| {}).j(10.0)
    };
    let (reacting, recorded) =
        (j10(market.world().as_mut()), j10(&mut fleet_replay::Recorded(trace)));
    assert!(reacting > recorded, "{reacting} is not above {recorded}");
}

#[test]
fn the_bounds_are_those_of_the_docs() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/placement.md");
    let docs = std::fs::read_to_string(docs).expect("docs/placement.md");
    let words = docs.split_whitespace().collect::<Vec<_>>().join(" ");
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let bounds = format!(
        "the mean regret is at most {}, and at most {} of the markets have more than 10 %",
        percent(MOST_MEAN_REGRET),
        percent(MOST_WORSE_BY_TENTH)
    );
    assert!(words.contains(&bounds), "docs/placement.md does not say: {bounds}");
}
