//! Every document that the binary prints is judged by the schema that the binary prints, with a validator
//! that is not ours.

use jsonschema::Validator;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::{Command, Output};
use std::sync::{Arc, LazyLock, Mutex};

/// The schema of a kind of document, as `fleet schema` prints it.
pub(crate) fn schema(kind: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_fleet"))
        .args(["schema", kind])
        .output()
        .expect("fleet runs");
    assert!(output.status.success(), "there is no schema of `{kind}`");
    serde_json::from_slice(&output.stdout).expect("a schema is JSON")
}

fn validator(kind: &str) -> Arc<Validator> {
    static KNOWN: LazyLock<Mutex<BTreeMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let make = || {
        let options = jsonschema::draft202012::options().should_validate_formats(true);
        Arc::new(options.build(&schema(kind)).expect("a schema"))
    };
    known.entry(kind.to_owned()).or_insert_with(make).clone()
}

/// What is wrong with a document, with its places in it. Empty: it keeps the contract.
pub(crate) fn faults(document: &Value) -> Vec<String> {
    let Some(kind) = document["kind"].as_str() else {
        return vec!["there is no `kind`".into()];
    };
    let validator = validator(kind);
    validator
        .iter_errors(document)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect()
}

/// Commands whose output has a form of its own.
fn has_own_form(args: &[&str]) -> bool {
    let own = ["schema", "completions", "man", "--print-policy", "--help", "--version"];
    args.iter().any(|arg| own.contains(arg))
}

/// Fails unless what a run printed keeps the contract: one document of its command, or of its failure;
/// of `reconcile`, one on each line. Runs that print no JSON are left alone.
pub(crate) fn judge(args: &[&str], output: &Output) {
    let asked = args.windows(2).any(|two| two[0] == "-o" && two[1] == "json");
    let lines = args.contains(&"reconcile") && !args.contains(&"cost");
    // A process that was killed may stop in the middle of a word.
    let (Some(code), false) = (output.status.code(), has_own_form(args)) else { return };
    if !asked && !lines {
        return;
    }
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    let documents: Vec<&str> = if lines { text.lines().collect() } else { vec![&text] };
    for text in documents {
        let document: Value = serde_json::from_str(text)
            .unwrap_or_else(|error| panic!("fleet {args:?} prints no JSON: {error}\n{text}"));
        let faults = faults(&document);
        assert!(faults.is_empty(), "fleet {args:?}:\n{}\n{document:#}", faults.join("\n"));
        let command = document["command"].as_str().unwrap_or_default();
        let named =
            command == "fleet" || args.contains(&command.split(' ').next().unwrap_or_default());
        assert!(named, "fleet {args:?} calls itself `{command}`");
        assert!(lines || document["exitCode"] == code, "exit code {code}, and {document:#}");
    }
}
