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
