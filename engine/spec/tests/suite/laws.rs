//! Laws that hold for every input.

use crate::{TRAIN, accept, only};
use proptest::prelude::*;
use serde_json::{Value, json};

fn train() -> Value {
    json!({
        "apiVersion": "fleet/v1",
        "kind": "Fleet",
        "metadata": { "name": "train", "labels": { "team": "research" } },
        "spec": {
            "capacity": {
                "unit": "gpus", "target": 64, "base": { "onDemand": 16 }, "burst": { "spot": "100%" },
            },
            "instances": {
                "families": ["p5", "p4d", "p4de", "a3-highgpu", "a2-highgpu", "a2-ultragpu",
                    "Standard_ND96", "gpu_8x"],
                "accelerators": { "names": ["H100", "A100", "A100-80GB"], "perInstance": { "min": 1 } },
            },
            "placement": {
                "strategy": "capacity-optimized",
                "clouds": [
                    { "provider": "aws", "regions": ["us-east-1", "us-west-2"] },
                    { "provider": "gcp", "regions": ["us-central1", "europe-west4"] },
                    { "provider": "azure", "regions": ["eastus", "westeurope"] },
                    { "provider": "lambda" },
                ],
                "spread": { "maxSharePerPool": "40%", "minZones": 3 },
            },
            "budget": { "hourlyUsd": 400 },
            "template": { "image": {
                "aws": "ami-0123456789abcdef0",
                "gcp": "projects/debian-cloud/global/images/family/debian-12",
                "azure": "Canonical:ubuntu-24_04-lts:server:latest",
            } },
        },
    })
}

/// A value as YAML in flow or block style, with keys in an order that depends on a seed.
fn write(value: &Value, seed: &mut u64, indent: usize, out: &mut String) {
    let mut next = || {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *seed >> 33
    };
    match value {
        Value::Object(fields) if !fields.is_empty() && next() % 4 > 0 => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|_| next());
            for (name, value) in fields {
                let pad = " ".repeat(indent);
                out.push_str(&format!("\n{pad}{name}: # {seed}"));
                if value.is_object() {
                    write(value, seed, indent + 2, out);
                } else {
                    out.push_str(&format!("\n{pad}  {value}"));
                }
            }
        }
        value => out.push_str(&format!("\n{}{value}", " ".repeat(indent))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let _ = fleet_spec::load_bytes("a.yaml", &bytes).map_err(|errors| errors.render(true));
    }

    #[test]
    fn yaml_like_text_never_panics(text in "([a-z&*!|>%@`\"'#,:{}\\[\\]?\\- \n\t~.0-9é\u{202e}]|apiVersion: fleet/v1\n|kind: Fleet\n|spec:|  ){0,200}") {
        let _ = fleet_spec::load_str("a.yaml", &text).map_err(|errors| errors.render(true));
    }

    #[test]
    fn a_damaged_spec_never_panics(at in 0..TRAIN.len(), gone in 0..40usize, new in "[ \\na-z0-9%:{}\\[\\],*&é-]{0,10}") {
        let (head, tail) = (&TRAIN[..at], TRAIN.get(at + gone..).unwrap_or_default());
        let text = format!("{head}{new}{tail}");
        let _ = fleet_spec::load_str("a.yaml", &text).map_err(|errors| errors.render(true));
    }

    #[test]
    fn order_style_and_comments_do_not_alter_the_digest(seed in any::<u64>()) {
        let mut text = String::new();
        write(&train(), &mut seed.clone(), 0, &mut text);
        let digest = only(accept(&text)).desired.digest;
        prop_assert_eq!(digest, only(accept(TRAIN)).desired.digest);
    }

    #[test]
    fn every_field_counts_in_the_digest(target in 65u32..1000) {
        let text = TRAIN.replace("target: 64", &format!("target: {target}"));
        prop_assert_ne!(only(accept(&text)).desired.digest, only(accept(TRAIN)).desired.digest);
    }

    #[test]
    fn tiers_add_up_and_rounding_goes_toward_on_demand(
        target in 0u64..100_000, base in 0u64..=100, spot in 0u64..=100,
    ) {
        let text = crate::fleet(&format!(
            "capacity: {{ target: {target}, base: {{ onDemand: {base}% }}, burst: {{ spot: {spot}% }} }}"
        ));
        let goal = only(accept(&text)).desired.capacity;
        prop_assert_eq!(goal.on_demand + goal.spot, goal.target);
        prop_assert_eq!(goal.spot.0 % 1000, 0);
        // Never more spot than asked for, and less by fewer than two units.
        let exact = target as f64 * (1.0 - base as f64 / 100.0) * spot as f64 / 100.0;
        let lost = exact - goal.spot.as_f64();
        prop_assert!((-1e-6..2.0).contains(&lost), "{} of {}", goal.spot, exact);
    }
}

#[test]
fn the_digest_stays_what_it_is() {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("digest", only(accept(TRAIN)).desired.digest.to_string());
    });
}
