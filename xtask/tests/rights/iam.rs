//! As much of IAM's judgement as our policies use: allow statements, patterns, two conditions.

use serde_json::Value;
use std::collections::BTreeSet;

/// What somebody wants to do.
pub(crate) struct Request<'a> {
    pub(crate) action: &'a str,
    pub(crate) resource: &'a str,
    pub(crate) context: Vec<(&'a str, &'a str)>,
}

/// A policy document.
pub(crate) struct Policy(Vec<Value>);

impl Policy {
    pub(crate) fn read(text: &str) -> Self {
        let policy: Value = serde_json::from_str(text).expect("JSON");
        let statements = policy["Statement"].as_array().expect("statements").clone();
        assert!(statements.iter().all(|one| one["Effect"] == "Allow"), "only allow is understood");
        Policy(statements)
    }

    pub(crate) fn actions(&self) -> BTreeSet<String> {
        self.0.iter().flat_map(|one| texts(&one["Action"])).map(str::to_owned).collect()
    }

    /// What no statement allows is denied.
    pub(crate) fn allows(&self, request: &Request<'_>) -> bool {
        self.0.iter().any(|statement| {
            texts(&statement["Action"]).iter().any(|pattern| matches(pattern, request.action))
                && texts(&statement["Resource"]).iter().any(|one| matches(one, request.resource))
                && holds(&statement["Condition"], request)
        })
    }
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(one) => vec![one],
        Value::Array(some) => some.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn holds(condition: &Value, request: &Request<'_>) -> bool {
    let given =
        |key: &str| request.context.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    condition.as_object().into_iter().flatten().all(|(operator, keys)| {
        keys.as_object().expect("keys").iter().all(|(key, wanted)| match operator.as_str() {
            "StringEquals" => given(key).is_some_and(|value| texts(wanted).contains(&value)),
            "ForAllValues:StringNotLike" => {
                let mut values = request.context.iter().filter(|(name, _)| *name == key);
                values.all(|(_, value)| !texts(wanted).iter().any(|one| matches(one, value)))
            }
            "Null" => given(key).is_none() == (wanted == "true"),
            other => panic!("a condition that the test does not understand: {other}"),
        })
    })
}

/// `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[test]
fn patterns() {
    assert!(matches("a*c", "abc") && matches("*", "") && matches("ec2:Run*", "ec2:RunInstances"));
    assert!(!matches("a*c", "ab") && !matches("ab", "abc") && !matches("x*", "ax"));
}
