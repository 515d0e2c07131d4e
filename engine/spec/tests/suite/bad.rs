//! Bad specs, each with its exact message. Every message has a place, the text and a hint.

use crate::fleet;

/// Cases of a group in one snapshot, so that a reader can review them together.
fn check(group: &str, cases: &[(&str, String)]) {
    let mut out = String::new();
    for (name, text) in cases {
        let errors = match fleet_spec::load_str("train.yaml", text) {
            Ok(_) => panic!("{name} is accepted:\n{text}"),
            Err(errors) => errors,
        };
        for one in errors.errors() {
            assert!(one.hint.is_some(), "{name}: no hint: {one:?}");
            assert!(one.line > 0 || one.text.is_empty(), "{name}: no place: {one:?}");
        }
        out += &format!("### {name}\n{}\n", errors.render(false));
    }
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(group, out);
    });
}

/// Specs below a good capacity, unless they bring their own.
fn specs(group: &str, cases: &[(&str, &str)]) {
    let full = |spec: &str| match spec.contains("capacity:") {
        true => fleet(spec),
        false => fleet(&format!("capacity: {{ target: 8 }}\n{spec}")),
    };
    let cases: Vec<(&str, String)> = cases.iter().map(|(name, spec)| (*name, full(spec))).collect();
    check(group, &cases);
}

#[test]
fn documents() {
    let good = "metadata: { name: a }\nspec: { capacity: { target: 1 } }\n";
    check("documents", &[
        ("no apiVersion", format!("kind: Fleet\n{good}")),
        ("misspelt apiVersion", format!("apiVersion: flet/v1\nkind: Fleet\n{good}")),
        ("later apiVersion", format!("apiVersion: fleet/v2\nkind: Fleet\n{good}")),
        ("somebody else's", "apiVersion: apps/v1\nkind: Deployment\n".into()),
        ("no kind", format!("apiVersion: fleet/v1\n{good}")),
        ("misspelt kind", format!("apiVersion: fleet/v1\nkind: fleet\n{good}")),
        ("not a mapping", "- a\n- b\n".into()),
        ("no name", "apiVersion: fleet/v1\nkind: Fleet\nmetadata: {}\nspec: { capacity: { target: 1 } }\n".into()),
        ("no metadata, no spec", "apiVersion: fleet/v1\nkind: Fleet\n".into()),
        ("a name with capitals", fleet("capacity: { target: 1 }").replace("name: train", "name: My Fleet!")),
        ("labels as a list", fleet("capacity: { target: 1 }").replace("name: train", "name: train, labels: [a]")),
        ("a label with a list in it", fleet("capacity: { target: 1 }").replace("name: train", "name: train, labels: { team: [a] }")),
        ("unknown field at the top", format!("{}status: {{}}\n", fleet("capacity: { target: 1 }"))),
        ("two fleets of one name", format!("{0}---\n{0}", fleet("capacity: { target: 1 }"))),
        ("all at once", fleet("capacity: { unit: gpu, target: -1 }\nbugdet: { hourlyUsd: 4 }\nplacement: { strategy: cheapest }")),
    ]);
}

#[test]
fn yaml() {
    check(
        "yaml",
        &[
            ("empty", String::new()),
            ("only comments", "# nothing\n# at all\n".into()),
            ("duplicate key", fleet("capacity:\n  target: 8\n  target: 9")),
            (
                "duplicate key in flow style",
                fleet("capacity: { target: 8, unit: gpus, target: 9 }"),
            ),
            ("unclosed bracket", fleet("capacity: { target: 8\nbudget: { hourlyUsd: 3 }")),
            ("unclosed quote", fleet("capacity: { target: 8, unit: \"gpus }")),
            ("tab", "apiVersion: fleet/v1\nkind: Fleet\nspec:\n\tcapacity: 3\n".into()),
            ("bad indentation", "apiVersion: fleet/v1\n  kind: Fleet\n".into()),
            ("merge key", fleet("capacity: &c { target: 8 }\nbudget:\n  <<: *c\n  hourlyUsd: 4")),
            ("tag", fleet("capacity: { target: !!str 8 }")),
            ("custom tag", fleet("capacity: { target: !secret 8 }")),
            ("alias without anchor", fleet("capacity: { target: *many }")),
            (
                "glob without quotes",
                fleet("capacity: { target: 8 }\ninstances: { exclude: [*.metal] }"),
            ),
            ("a mapping as a key", fleet("capacity: { target: 8, { a: b }: c }")),
            (
                "one broken document does not hide the next",
                format!("a: [1\n---\n{}", fleet("capacity: {}")),
            ),
            ("no value", fleet("capacity: { target: 8 }\nbudget:")),
            ("terminal commands", fleet("capacity: { target: 8, \"\\e[31mred\": 1 }")),
        ],
    );
}

#[test]
fn capacity() {
    specs(
        "capacity",
        &[
            ("missing", "capacity: {}"),
            ("missing altogether", "budget: { hourlyUsd: 3 } # capacity:"),
            ("not a mapping", "capacity: 64"),
            ("misspelt target", "capacity: { targt: 64 }"),
            ("unknown unit", "capacity: { unit: gpu, target: 64 }"),
            ("wrong unit", "capacity: { unit: memoryGB, target: 64 }"),
            ("a unit in the number", "capacity: { unit: gpus, target: 64gpus }"),
            ("quoted number", "capacity: { target: \"64\" }"),
            ("negative", "capacity: { target: -3 }"),
            ("half a machine", "capacity: { target: 2.5 }"),
            ("too fine", "capacity: { unit: gpus, target: 2.00001 }"),
            ("not a number", "capacity: { target: .nan }"),
            ("infinite", "capacity: { target: .inf }"),
            ("huge exponent", "capacity: { target: 1e999 }"),
            ("huge integer", "capacity: { target: 99999999999999999999999999999999999999999999 }"),
            ("too many machines", "capacity: { target: 2000000 }"),
            ("in another base", "capacity: { target: 0x40 }"),
            ("with a separator", "capacity: { target: 1_000 }"),
            ("a list", "capacity: { target: [1, 2] }"),
            ("all of the time", "capacity: { target: 8, availability: 100% }"),
            ("a span without a unit", "capacity: { target: 8, penalty: 3, reconcileEvery: 60 }"),
            ("a span of years", "capacity: { target: 8, penalty: 3, reconcileEvery: 400d }"),
            ("a span of none", "capacity: { target: 8, penalty: 3, reconcileEvery: 0s }"),
            ("a span in words", "capacity: { target: 8, penalty: 3, reconcileEvery: nightly }"),
            ("a span that is a list", "capacity: { target: 8, penalty: 3, reconcileEvery: [1h] }"),
            ("work that nobody weighs", "capacity: { target: 8, lostWork: 20m }"),
            ("more than a day of work", "capacity: { target: 8, penalty: 3, lostWork: 2d }"),
            ("said twice", "capacity: { target: 8, availability: 99%, penalty: 10 }"),
            ("no penalty", "capacity: { target: 8, penalty: 0 }"),
            (
                "base above target",
                "capacity:\n  unit: gpus\n  target: 64\n  base: { onDemand: 96 }",
            ),
            ("base over 100 %", "capacity: { target: 64, base: { onDemand: 120% } }"),
            ("base as a number alone", "capacity: { target: 64, base: 16 }"),
            ("base misspelt", "capacity: { target: 64, base: { ondemand: 16 } }"),
            ("spot over 100 %", "capacity: { target: 64, burst: { spot: 101% } }"),
            ("spot as a fraction", "capacity: { target: 64, burst: { spot: 0.7 } }"),
            ("spot as a number", "capacity: { target: 64, burst: { spot: 70 } }"),
            ("spot below zero", "capacity: { target: 64, burst: { spot: -5% } }"),
            ("spot as a word", "capacity: { target: 64, burst: { spot: most } }"),
            ("target as a share", "capacity: { target: 50% }"),
        ],
    );
}

#[test]
fn instances() {
    specs(
        "instances",
        &[
            ("unknown field", "instances: { familes: [p5] }"),
            ("far from any field", "instances: { colour: blue }"),
            ("one family without a list", "instances: { families: p5 }"),
            ("empty list", "instances: { families: [] }"),
            ("empty item", "instances: { families: [p5, ~] }"),
            ("a mapping in a list", "instances: { families: [{ name: p5 }] }"),
            ("a path as a pattern", "instances: { types: [\"p5/48xlarge\"] }"),
            ("min above max", "instances: { vcpus: { min: 64, max: 8 } }"),
            ("neither min nor max", "instances: { vcpus: {} }"),
            ("bounds as a number", "instances: { vcpus: 8 }"),
            ("bounds as a range", "instances: { vcpus: 4-8 }"),
            ("misspelt bound", "instances: { vcpus: { minimum: 8 } }"),
            ("memory with a unit", "instances: { memoryGiB: { min: 64GiB } }"),
            ("memory in the wrong unit", "instances: { memoryGB: { min: 64 } }"),
            ("negative memory", "instances: { memoryGiB: { min: -1 } }"),
            ("half a vCPU", "instances: { vcpus: { min: 0.5 } }"),
            ("unknown architecture", "instances: { architectures: [amd64] }"),
            ("misspelt architecture", "instances: { architectures: [arm46] }"),
            ("unknown maker", "instances: { accelerators: { makers: [nvidea] } }"),
            ("no such maker", "instances: { accelerators: { makers: [cerebras] } }"),
            (
                "gpus without gpus",
                "capacity: { unit: gpus, target: 8 }\ninstances: { accelerators: { perInstance: { max: 0 } } }",
            ),
            (
                "named and none",
                "instances: { accelerators: { names: [H100], perInstance: { max: 0 } } }",
            ),
            ("local disk", "instances: { localDisk: yes }"),
            (
                "both at once",
                "instances: { vcpus: { min: 9, max: 8 }, memoryGiB: { min: 2, max: 1 } }",
            ),
            ("allowed and excluded", "instances: { families: [p4d, p5], exclude: [\"p5*\"] }"),
        ],
    );
}

#[test]
fn placement() {
    specs(
        "placement",
        &[
            ("unknown strategy", "placement: { strategy: capacity-optimised }"),
            ("strategy by another name", "placement: { strategy: cheapest }"),
            ("no such strategy", "placement: { strategy: random }"),
            ("misspelt fulfilment", "placement: { fulfilment: flexibel }"),
            ("misspelt signal", "placement: { ignoreSignals: [aws-placment-score, weather] }"),
            ("signals as a word", "placement: { ignoreSignals: all }"),
            (
                "commitments without a type, by pattern, of nothing, for ever",
                "placement:\n  commitments:\n    - { provider: aws, region: us-east-1, count: 1 }\n    - { provider: aws, region: \"us-*\", type: p5, count: 0, until: always }",
            ),
            ("data in no cloud", "placement: { dataRegion: us-east-1, egressGiBPerDay: 5 }"),
            (
                "data in no such cloud",
                "placement: { dataRegion: asw/us-east-1, egressGiBPerDay: 5 }",
            ),
            ("data in a zone", "placement: { dataRegion: aws/us-east-1/a, egressGiBPerDay: 5 }"),
            ("traffic below zero", "placement: { egressGiBPerDay: -1 }"),
            ("traffic with a unit", "placement: { egressGiBPerDay: 5 TB }"),
            ("too much traffic", "placement: { egressGiBPerDay: 1000001 }"),
            ("traffic back to nowhere", "placement: { returnGiBPerDay: 5 }"),
            ("unknown provider", "placement: { clouds: [{ provider: asw }] }"),
            ("provider by its maker", "placement: { clouds: [{ provider: google }] }"),
            ("no such provider", "placement: { clouds: [{ provider: hetzner }] }"),
            ("no provider", "placement: { clouds: [{ regions: [us-east-1] }] }"),
            ("clouds as words", "placement: { clouds: [aws] }"),
            ("no clouds", "placement: { clouds: [] }"),
            ("regions as a word", "placement: { clouds: [{ provider: aws, regions: all }] }"),
            ("no regions", "placement: { clouds: [{ provider: aws, regions: [] }] }"),
            ("misspelt regions", "placement: { clouds: [{ provider: aws, region: us-east-1 }] }"),
            ("zones on lambda", "placement: { clouds: [{ provider: lambda, zones: [a] }] }"),
            (
                "more zones than listed",
                "placement:\n  clouds: [{ provider: aws, zones: [use1-az1, use1-az2] }]\n  spread: { minZones: 3 }",
            ),
            ("zones below zero", "placement: { spread: { minZones: -1 } }"),
            ("zones as a share", "placement: { spread: { minZones: 30% } }"),
            ("share over 100 %", "placement: { spread: { maxSharePerPool: 140% } }"),
            ("share of nothing", "placement: { spread: { maxSharePerZone: 0% } }"),
            ("share as a number", "placement: { spread: { maxSharePerRegion: 40 } }"),
            (
                "two clouds at 40 %",
                "placement:\n  clouds: [{ provider: aws }, { provider: gcp }]\n  spread: { maxSharePerProvider: 40% }",
            ),
            (
                "one region at half",
                "placement:\n  clouds: [{ provider: aws, regions: [us-east-1] }]\n  spread: { maxSharePerRegion: 50% }",
            ),
            (
                "three zones at 30 %",
                "placement:\n  clouds: [{ provider: gcp, zones: [us-central1-a, us-central1-b, us-central1-c] }]\n  spread: { maxSharePerZone: 30% }",
            ),
            (
                "two pools at 40 %",
                "instances: { types: [p5.48xlarge] }\nplacement:\n  clouds: [{ provider: aws, zones: [use1-az1, use1-az2] }]\n  spread: { maxSharePerPool: 40% }",
            ),
            ("weights as a mapping", "placement: { weights: { p5.48xlarge: 8 } }"),
            ("weight of nothing", "placement: { weights: [{ types: p5.48xlarge, units: 0 }] }"),
            ("weight without units", "placement: { weights: [{ types: p5.48xlarge }] }"),
            (
                "more zones than machines",
                "capacity: { target: 2 }\nplacement: { spread: { minZones: 3 } }",
            ),
            ("negative price", "placement: { maxSpotPrice: -2 }"),
            ("price with a sign", "placement: { maxSpotPrice: $2 }"),
            ("price over 100 %", "placement: { maxSpotPrice: 130% }"),
            ("price of 0 %", "placement: { maxSpotPrice: 0% }"),
        ],
    );
}

#[test]
fn budget() {
    specs(
        "budget",
        &[
            ("misspelt", "budget: { hourlyUSD: 400 }"),
            (
                "a base for ever",
                "capacity: { target: 8, base: { onDemand: 2 } }\nbudget: { lifetimeUsd: 400 }",
            ),
            ("no such zone", "budget: { calendarMonthUsd: 400, timeZone: PST }"),
            ("no currency", "budget: { hourly: 400 }"),
            ("negative", "budget: { hourlyUsd: -400 }"),
            ("zero", "budget: { hourlyUsd: 0 }"),
            ("with a sign", "budget: { hourlyUsd: $400 }"),
            ("with a comma", "budget: { monthlyUsd: \"1,200\" }"),
            ("not a number", "budget: { hourlyUsd: .nan }"),
            ("huge", "budget: { hourlyUsd: 1e30 }"),
            ("empty", "budget: {}"),
            ("unknown way at the cap", "budget: { hourlyUsd: 4, atCap: shrink }"),
            ("a number alone", "budget: 400"),
        ],
    );
}

#[test]
fn template() {
    specs(
        "template",
        &[
            ("unknown field", "template: { ami: ami-1 }"),
            ("unknown provider", "template: { image: { asw: ami-1 } }"),
            ("no such provider", "template: { image: { oracle: ocid } }"),
            ("a list as an image", "template: { image: [ami-1, ami-2] }"),
            ("spaces in an image", "template: { image: my image }"),
            ("empty mapping", "template: { image: {} }"),
            ("nothing for a cloud", "template: { image: { aws: } }"),
            ("subnets without a list", "template: { subnets: { aws: subnet-1 } }"),
            ("disk as a number", "template: { disk: 100 }"),
            ("disk with a unit", "template: { disk: { sizeGiB: 100GiB } }"),
            ("disk of nothing", "template: { disk: { sizeGiB: 0 } }"),
            ("disk in the wrong unit", "template: { disk: { sizeGB: 100 } }"),
            ("encrypted as text", "template: { disk: { encrypted: \"yes\" } }"),
            ("reserved tag", "template: { tags: { \"fleet:uid\": other } }"),
            (
                "both user data, and neither is shown",
                "template: { userData: \"echo CANARY\", userDataFile: boot.sh, key: [CANARY2] }",
            ),
            ("user data from elsewhere", "template: { userDataFile: ../../etc/passwd }"),
        ],
    );
}

#[test]
fn later() {
    specs(
        "later",
        &[
            ("unknown update strategy", "updates: { strategy: roling }"),
            ("nothing can be replaced", "updates: { maxUnavailable: 0, maxSurge: 0% }"),
            ("half a machine", "updates: { maxUnavailable: 0.5 }"),
            ("unknown answer", "interruption: { onNotice: panic }"),
            ("too much grace", "interruption: { graceSeconds: 86400 }"),
            ("schedule as a mapping", "schedule: { cron: 0 8 * * *, target: 3 }"),
            ("six fields", "schedule: [{ cron: 0 0 8 * * *, target: 3 }]"),
            ("hour 25", "schedule: [{ cron: 0 25 * * *, target: 3 }]"),
            (
                "offset as a zone",
                "schedule: [{ cron: 0 8 * * *, timeZone: \"+02:00\", target: 3 }]",
            ),
            ("no target", "schedule: [{ cron: 0 8 * * * }]"),
            ("no such zone", "schedule: [{ cron: 0 8 * * *, timeZone: Europe/Bonn, target: 3 }]"),
            ("an abbreviation", "schedule: [{ cron: 0 8 * * *, timeZone: EST, target: 3 }]"),
            ("never", "schedule: [{ cron: 0 8 30 2 *, target: 3 }]"),
            ("an end that is no date", "expires: tomorrow"),
            ("a fallback as a word", "fallback: always"),
            ("a fallback that never comes", "fallback: { share: 0% }"),
            ("a wait of two days", "fallback: { returnAfter: 2d }"),
            ("no losses", "fallback: { after: { losses: 0, within: 10s } }"),
            ("losses beside after", "fallback: { losses: 3 }"),
            ("a saving of nothing", "rebalance: { minSaving: 0%, maxPerHour: 0 }"),
            ("rebalance as a word", "rebalance: yes"),
        ],
    );
}

#[test]
fn policies() {
    let policy = |spec: &str| {
        format!("apiVersion: fleet/v1\nkind: Policy\nmetadata: {{ name: org }}\nspec: {spec}\n")
    };
    let under = |limits: &str, spec: &str| format!("{}---\n{}", policy(limits), fleet(spec));
    let with =
        |limits: &str, spec: &str| under(limits, &format!("capacity: {{ target: 8 }}\n{spec}"));
    check(
        "policies",
        &[
            ("limits nothing", policy("{}")),
            ("misspelt", policy("{ provider: [aws] }")),
            ("unknown provider", policy("{ providers: [aws, gpc] }")),
            ("negative ceiling", policy("{ budget: { totalHourlyUsd: -1 } }")),
            ("empty budget", policy("{ budget: {} }")),
            ("labels as a word", policy("{ requiredLabels: team }")),
            (
                "provider not allowed",
                with(
                    "{ providers: [aws] }",
                    "placement: { clouds: [{ provider: aws }, { provider: gcp }] }",
                ),
            ),
            (
                "region not allowed",
                with(
                    "{ regions: [\"us-*\"] }",
                    "placement: { clouds: [{ provider: aws, regions: [us-east-1, eu-west-1] }] }",
                ),
            ),
            (
                "family not allowed",
                with(
                    "{ families: [m5, c5] }",
                    "instances: { families: [m5, p5], types: [c5.large, g6.xlarge] }",
                ),
            ),
            ("family excluded", with("{ exclude: [\"p*\"] }", "instances: { families: [p5] }")),
            (
                "budget too high",
                with("{ budget: { perFleetHourlyUsd: 100 } }", "budget: { hourlyUsd: 400 }"),
            ),
            (
                "monthly budget too high",
                with("{ budget: { perFleetMonthlyUsd: 7300 } }", "budget: { monthlyUsd: 9000 }"),
            ),
            ("label missing", with("{ requiredLabels: [team] }", "budget: { hourlyUsd: 4 }")),
            (
                "label not allowed",
                with("{ requiredLabels: { team: \"ml-*\" } }", "budget: { hourlyUsd: 4 }")
                    .replace("name: train", "name: train, labels: { team: web }"),
            ),
            (
                "too much together",
                format!(
                    "{}---\n{}",
                    with("{ budget: { totalHourlyUsd: 100 } }", "budget: { hourlyUsd: 60 }"),
                    fleet("capacity: { target: 8 }\nbudget: { hourlyUsd: 60 }")
                        .replace("train", "serve")
                ),
            ),
            (
                "its own errors besides",
                with(
                    "{ providers: [aws] }",
                    "placement: { clouds: [{ provider: gcp }], strategy: best }",
                ),
            ),
        ],
    );
}
