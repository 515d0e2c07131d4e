//! Made-up markets are the same each time, and the adversarial ones react.

use fleet_model::Hedge;
use fleet_replay::contest::{MOST_MEAN_REGRET, MOST_WORSE_BY_TENTH, anywhere, play_all, summary};
use fleet_replay::synthetic::{Kind, Synthetic};
use fleet_replay::{Measures, Named, Setup, Trace, World, compare, judge_in};

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

/// Six zones with room for all, at three tenths of on-demand, for sixteen hours.
fn calm(machines: u32, lost_at: Option<usize>) -> Measures {
    const SAMPLES: usize = 384;
    let zones =
        ["us-east-1a", "us-east-1b", "us-east-1c", "us-west-2a", "us-west-2b", "us-west-2c"];
    // Where something is lost, every zone takes everything back for one sample.
    let carries = |sample| if lost_at == Some(sample) { 0 } else { 100 };
    let trace = Trace {
        name: "calm".into(),
        interval_seconds: 150,
        on_demand: 1.0,
        regions: zones.map(|zone| zone[..9].to_owned()).to_vec(),
        zones: zones.map(String::from).to_vec(),
        capacity: (0..SAMPLES).map(|sample| vec![carries(sample); zones.len()]).collect(),
        price: vec![vec![0.3; zones.len()]; SAMPLES],
        has_prices: true,
    };
    let desired = anywhere(Some(Hedge::at(10_000)));
    compare(&trace, &Setup::new(machines, 0), &desired, &[Named::Engine]).rows[0].measures
}

#[test]
fn where_nothing_is_ever_lost_no_spare_is_held_for_long() {
    for machines in [2, 4, 8, 16] {
        let calm = calm(machines, None);
        assert!(calm.delivered > 0.9999, "{machines}: {calm:?}");
        assert!(calm.cost < 0.3 * 1.07, "{machines}: {calm:?}");
    }
    // One loss, and the fleet is careful again.
    let (calm, warned) = (calm(4, None), calm(4, Some(100)));
    assert!(warned.cost > 1.05 * calm.cost, "{warned:?} {calm:?}");
}
