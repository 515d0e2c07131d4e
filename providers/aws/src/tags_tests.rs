//! Slots written into tags are the slots read out of them.

use super::*;
use aws_sdk_ec2::types::Tag;

fn slot(text: &str) -> SlotId {
    text.parse().expect("a slot")
}

fn instance(tags: &[(&str, &str)], index: i32, made_by: &str) -> Instance {
    let tag = |(key, value): &(&str, &str)| Tag::builder().key(*key).value(*value).build();
    Instance::builder()
        .set_tags(Some(tags.iter().map(tag).collect()))
        .ami_launch_index(index)
        .client_token(made_by)
        .build()
}

const DIGEST: &str = "00112233445566778899aabbccddeeff";

#[test]
fn runs_are_short_and_order_is_kept() {
    let check = |slots: &[&str], expect: &[&str]| {
        let slots: Vec<SlotId> = slots.iter().map(|text| slot(text)).collect();
        let parts = write_slots(&slots);
        assert_eq!(parts, expect);
        for (index, expect) in slots.iter().enumerate() {
            assert_eq!(slot_at(&parts.join(" "), index as u32), Some(*expect));
        }
        assert_eq!(slot_at(&parts.join(" "), slots.len() as u32), None);
    };
    check(&["base-0.1"], &["base-0.1"]);
    check(&["burst-17.1", "burst-18.1", "burst-19.1"], &["burst-17.1/3"]);
    check(&["base-3.1", "base-2.1", "base-1.1"], &["base-3.1 base-2.1 base-1.1"]);
    check(
        &["base-9.1", "base-10.1", "base-11.2", "burst-12.2"],
        &["base-9.1/2 base-11.2 burst-12.2"],
    );
}

#[test]
fn the_longest_list_there_can_be_fits_the_tags_of_one_machine() {
    let far = u32::MAX;
    let slots: Vec<SlotId> =
        (0..100).map(|n| slot(&format!("burst-{}.{far}", far - 2 * n))).collect();
    let parts = write_slots(&slots);
    assert!(parts.iter().all(|part| part.len() <= LONGEST), "{parts:?}");
    assert!(parts.len() <= 12, "{} tags", parts.len());
    let keys: Vec<String> = (0..parts.len()).map(slots_key).collect();
    let mut tags = vec![(UID, "u"), (NAME, "n"), (TOKEN, "t"), (TEMPLATE, DIGEST)];
    tags.extend(keys.iter().zip(&parts).map(|(key, part)| (key.as_str(), part.as_str())));
    for (index, expect) in slots.iter().enumerate() {
        let owner = owner(&instance(&tags, index as i32, "t")).expect("an owner");
        assert_eq!(owner.slot, *expect);
    }
}

#[test]
fn what_is_not_said_in_full_is_not_ours() {
    let all = [(UID, "u"), (NAME, "n"), (TOKEN, "t"), (TEMPLATE, DIGEST), (SLOTS, "base-4.2/3")];
    let whole = owner(&instance(&all, 2, "t")).expect("ours");
    assert_eq!(whole.slot, slot("base-6.2"));
    assert_eq!(whole.template.to_string(), DIGEST);
    for left_out in 0..all.len() {
        let mut tags = all.to_vec();
        tags.remove(left_out);
        assert_eq!(owner(&instance(&tags, 0, "t")), None, "without {}", all[left_out].0);
    }
    for bad in ["", "base", "base-1.1/x", "base-1.1/99999999999", "base-4294967295.1/3 ", "é-1.1"]
    {
        let tags = [(UID, "u"), (NAME, "n"), (TOKEN, "t"), (TEMPLATE, DIGEST), (SLOTS, bad)];
        assert_eq!(owner(&instance(&tags, 1, "t")), None, "{bad:?}");
    }
    let short = [(UID, "u"), (NAME, "n"), (TOKEN, "t"), (TEMPLATE, "é"), (SLOTS, "base-4.2")];
    assert_eq!(owner(&instance(&short, 0, "t")), None, "a template that is no digest");
    assert_eq!(owner(&instance(&all, 3, "t")), None, "an index beyond the list");
    assert_eq!(owner(&instance(&all, -1, "t")), None, "an index below it");
}

#[test]
fn copied_tags_do_not_make_a_machine_ours() {
    let all = [(UID, "u"), (NAME, "n"), (TOKEN, "t"), (TEMPLATE, DIGEST), (SLOTS, "base-4.2/3")];
    assert_eq!(owner(&instance(&all, 0, "another launch")), None);
    assert!(owner(&instance(&all, 0, "")).is_some());
}

/// A machine of a `CreateFleet` over four slots.
fn of_fleet(id: &str, own: Option<&str>) -> Instance {
    let mut tags = vec![(UID, "u"), (NAME, "n"), (TOKEN, "t"), (TEMPLATE, DIGEST)];
    tags.extend([(BY, BY_FLEET), (SLOTS, "base-4.2/3 base-9.1")]);
    tags.extend(own.map(|slot| (SLOT, slot)));
    // Whatever EC2 numbers them by and calls the request, it is not read.
    let mut instance = instance(&tags, 7, "fleet-0123");
    instance.instance_id = Some(id.to_owned());
    instance
}

fn slots_of(machines: &[(&str, Option<&str>)]) -> Vec<Option<String>> {
    let instances: Vec<Instance> = machines.iter().map(|(id, own)| of_fleet(id, *own)).collect();
    owners(&instances).into_iter().map(|owner| Some(owner?.slot.to_string())).collect()
}

#[test]
fn machines_without_a_slot_of_their_own_take_what_is_left_in_order_of_id() {
    let check = |machines: &[(&str, Option<&str>)], expect: &[Option<&str>]| {
        let expect: Vec<Option<String>> =
            expect.iter().map(|slot| slot.map(str::to_owned)).collect();
        assert_eq!(slots_of(machines), expect);
        // The order of a list does not matter.
        let back: Vec<_> = machines.iter().rev().copied().collect();
        assert_eq!(slots_of(&back), expect.into_iter().rev().collect::<Vec<_>>());
    };
    check(&[("i-2", None), ("i-1", None)], &[Some("base-5.2"), Some("base-4.2")]);
    // Killed after one was tagged: the others take what they would have been given.
    check(
        &[("i-1", None), ("i-2", Some("base-5.2")), ("i-3", None)],
        &[Some("base-4.2"), Some("base-5.2"), Some("base-6.2")],
    );
    check(&[("i-1", Some("base-9.1")), ("i-2", None)], &[Some("base-9.1"), Some("base-4.2")]);
    // One more than there are slots is nobody's.
    check(
        &[("i-1", None), ("i-2", None), ("i-3", None), ("i-4", None), ("i-5", None)],
        &[Some("base-4.2"), Some("base-5.2"), Some("base-6.2"), Some("base-9.1"), None],
    );
    // A slot that the launch did not ask for is no slot, and takes none from the others.
    check(&[("i-1", Some("base-7.2")), ("i-2", None)], &[None, Some("base-4.2")]);
    check(&[("i-1", Some("nonsense")), ("i-2", None)], &[None, Some("base-4.2")]);
}

#[test]
fn launches_do_not_take_slots_from_each_other() {
    let mut other = of_fleet("i-0", None);
    let renamed = |tag: &mut Tag| {
        if tag.key() == Some(TOKEN) {
            *tag = Tag::builder().key(TOKEN).value("another").build();
        }
    };
    other.tags.iter_mut().flatten().for_each(renamed);
    let owners = owners(&[other, of_fleet("i-1", None)]);
    let slots: Vec<SlotId> = owners.into_iter().flatten().map(|owner| owner.slot).collect();
    assert_eq!(slots, [slot("base-4.2"), slot("base-4.2")]);
}

#[test]
fn lists_know_what_is_in_them() {
    for (inside, words) in [("base-6.2", "base-4.2/3"), ("base-9.1", "base-4.2/3 base-9.1")] {
        assert!(lists(words, slot(inside)), "{inside} {words}");
    }
    for outside in ["base-7.2", "base-5.1", "burst-5.2", "base-3.2"] {
        assert!(!lists("base-4.2/3 base-9.1 nonsense base-1.1/x", slot(outside)), "{outside}");
    }
    assert!(!lists("base-4294967295.1/9", slot("base-0.1")));
}

#[test]
fn what_is_taken_in_is_read_back() {
    let owner = Ownership {
        fleet: FleetUid::new("u"),
        name: FleetName::new("lab"),
        slot: slot("burst-3.2"),
        token: Token::new("fleet-t"),
        template: DIGEST.parse().expect("a digest"),
    };
    let labels =
        BTreeMap::from([("team".into(), "research".into()), ("fleet:x".into(), "".into())]);
    let tags = of_import(&owner, &labels);
    assert!(!tags.contains_key(CONSOLE_NAME) && !tags.contains_key("fleet:x"));
    let pairs: Vec<(&str, &str)> = tags.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    // Whatever made it, and whichever of its launch it was.
    let found = super::owner(&instance(&pairs, 7, "somebody-elses"));
    assert_eq!(found, Some(owner));
}
