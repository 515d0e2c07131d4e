//! The spec language from outside: what is accepted, what is refused and in which words.

mod accept;
mod agree;
mod bad;
mod files;
mod hostile;
mod laws;
mod policy;
mod reuse;

use fleet_spec::{Loaded, LoadedFleet};

/// The spec that the language was designed around.
const TRAIN: &str = include_str!("train.yaml");

/// A fleet named `train` with a spec, indented by two.
fn fleet(spec: &str) -> String {
    let body: String = spec.trim_end().lines().map(|line| format!("  {line}\n")).collect();
    format!("apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: train }}\nspec:\n{body}")
}

fn accept(text: &str) -> Loaded {
    fleet_spec::load_str("train.yaml", text).unwrap_or_else(|errors| panic!("{text}\n{errors}"))
}

fn only(loaded: Loaded) -> LoadedFleet {
    loaded.fleets.into_iter().next().expect("a fleet")
}
