//! What is written into labels is what is read out of them.

use super::*;
use fleet_model::{Create, Template};

fn slot(text: &str) -> SlotId {
    text.parse().expect("a slot")
}

fn labels(fleet: &str, token: &str, slots: &[SlotId]) -> HashMap<String, String> {
    let template = Template {
        tags: BTreeMap::from([("Cost Center".into(), "R&D".into()), ("9".into(), "".into())]),
        ..Template::default()
    };
    let create = Create {
        pool: "gcp/us-central1/us-central1-a/n2-standard-4/spot".parse().expect("a pool"),
        slots: slots.to_vec(),
        token: Token::new(token),
        price: None,
        max_price: None,
        template: template.digest(),
        image: None,
        others: Vec::new(),
    };
    let request = CreateRequest {
        fleet: &FleetUid::new(fleet),
        name: &FleetName::new("web"),
        labels: &BTreeMap::from([("team".into(), "shop".into()), (UID.into(), "forged".into())]),
        create: &create,
        template: &template,
    };
    of(&request).into_iter().collect()
}

fn named(fleet: &str, token: &str, index: usize) -> String {
    let mark = name::mark(&FleetUid::new(fleet), &Token::new(token));
    name::of(&FleetName::new("web"), &mark, index)
}

#[test]
fn every_slot_is_read_back() {
    let check = |slots: &[&str], expect: &str| {
        let slots: Vec<SlotId> = slots.iter().map(|text| slot(text)).collect();
        assert_eq!(write_slots(&slots), expect);
        let labels = labels("u", "t", &slots);
        for (index, expect) in slots.iter().enumerate() {
            let owner = owner(&named("u", "t", index), &labels).expect("an owner");
            assert_eq!(owner.slot, *expect);
        }
        assert_eq!(owner(&named("u", "t", slots.len()), &labels), None, "beyond the list");
    };
    check(&["base-0.1"], "base-0_1");
    check(&["burst-17.1", "burst-18.1", "burst-19.1"], "burst-17_1x3");
    check(&["base-3.1", "base-2.1"], "base-3_1_base-2_1");
    check(&["base-9.1", "base-10.1", "base-11.2", "burst-12.2"], "base-9_1x2_base-11_2_burst-12_2");
}

#[test]
fn the_longest_list_there_can_be_fits_one_machine() {
    let far = u32::MAX;
    let slots: Vec<SlotId> =
        (0..100).map(|n| slot(&format!("burst-{}.{far}", far - 2 * n))).collect();
    let labels = labels("u", &"A_".repeat(32), &slots);
    assert!(labels.len() <= MOST, "{}", labels.len());
    assert!(labels.iter().all(|(key, value)| key.len() <= LONGEST && value.len() <= LONGEST));
    for (index, expect) in slots.iter().enumerate() {
        let owner = owner(&named("u", &"A_".repeat(32), index), &labels).expect("an owner");
        assert_eq!((owner.slot, owner.token.as_str()), (*expect, "A_".repeat(32).as_str()));
    }
}

#[test]
fn any_text_comes_back() {
    for text in ["fleet-0af3", "Größe 7", "a_b", "", "_", "x".repeat(200).as_str()] {
        assert_eq!(unescape(&escape(text)).as_deref(), Some(text));
        let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        assert!(escape(text).chars().all(good), "{text}");
    }
    for bad in ["_", "_g0", "_f", "_ff"] {
        assert_eq!(unescape(bad), None, "{bad}");
    }
}

#[test]
fn a_users_labels_are_made_to_fit_and_take_no_place_of_ours() {
    let labels = labels("u", "t", &[slot("base-0.1")]);
    assert_eq!(labels.get("team").map(String::as_str), Some("shop"));
    assert_eq!(labels.get("cost-center").map(String::as_str), Some("r-d"));
    assert_eq!(labels.get("x9").map(String::as_str), Some(""));
    assert_eq!(labels.get(UID).map(String::as_str), Some("u"));
}

#[test]
fn what_is_not_said_in_full_is_not_ours() {
    let all = labels("u", "t", &[slot("base-0.1")]);
    let name = named("u", "t", 0);
    assert!(owner(&name, &all).is_some());
    for key in [UID, NAME, TOKEN, TEMPLATE, SLOTS] {
        let mut less = all.clone();
        less.remove(key);
        assert_eq!(owner(&name, &less), None, "without {key}");
    }
    for bad in ["", "base", "base-1", "base-1_x", "base-1_1xx", "base-1_1x99999999999", "é-1_1"] {
        let mut other = all.clone();
        other.insert(SLOTS.into(), bad.into());
        assert_eq!(owner(&name, &other), None, "{bad:?}");
    }
}

#[test]
fn copied_labels_do_not_make_a_machine_ours() {
    let all = labels("u", "t", &[slot("base-0.1")]);
    for name in ["web", "web-1", "another-machine", &named("u", "another launch", 0)] {
        assert_eq!(owner(name, &all), None, "{name}");
    }
}

#[test]
fn what_is_let_go_keeps_the_labels_of_others() {
    let mut now = labels("u", "t", &[slot("base-0.1")]);
    now.insert("fleet-manager".into(), "ada".into());
    assert_eq!(uid(&now), Some(FleetUid::new("u")));
    let name = "x".repeat(63);
    let renamed = renamed(&now, &FleetName::new(name.as_str()));
    let told = get(&renamed, NAME).and_then(|text| unescape(&text));
    assert_eq!((told, renamed.len()), (Some(name), now.len()));
    let left = without_ours(&now);
    assert_eq!((uid(&left), left.get("fleet-manager").map(String::as_str)), (None, Some("ada")));
    assert!(left.contains_key("team") && !left.contains_key(TOKEN) && !left.contains_key(SLOTS));
}
