//! Filters: `field=value`, `field > "value"`, `field:*`, joined by `AND`. What else Google understands is refused,
//! so that no test passes because a filter was not looked at.

use serde_json::Value;

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The field is there.
    Has(Vec<String>),
    /// The field is this.
    Is(Vec<String>, String),
    /// The field is more than this, compared as text: whether Google compares times as times is
    /// nowhere said.
    More(Vec<String>, String),
}

/// Reads a filter; `None` if it cannot be understood.
pub(crate) fn read(text: &str) -> Option<Vec<Condition>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    text.split(" AND ").map(condition).collect()
}

fn condition(text: &str) -> Option<Condition> {
    let text = text.trim().trim_start_matches('(').trim_end_matches(')').trim();
    // Labels may hold dashes and no dots: the path ends where the last dot does.
    let path = |name: &str| name.trim().split('.').map(str::to_owned).collect();
    if let Some(name) = text.strip_suffix(":*") {
        return Some(Condition::Has(path(name)));
    }
    if let Some((name, value)) = text.split_once(" > ") {
        return Some(Condition::More(path(name), value.trim().trim_matches('"').to_owned()));
    }
    let (name, value) = text.split_once('=')?;
    let value = value.trim().trim_matches('"');
    if name.ends_with(['!', '<', '>']) || value.is_empty() {
        return None;
    }
    Some(Condition::Is(path(name), value.to_owned()))
}

/// Whether all of them hold.
pub(crate) fn holds(conditions: &[Condition], body: &Value) -> bool {
    let find = |path: &[String]| {
        path.iter().try_fold(body, |at, step| at.get(step)).cloned().unwrap_or(Value::Null)
    };
    conditions.iter().all(|condition| match condition {
        Condition::More(path, value) => {
            find(path).as_str().is_some_and(|text| text > value.as_str())
        }
        Condition::Has(path) => !find(path).is_null(),
        Condition::Is(path, value) => match find(path) {
            Value::String(text) => text == *value,
            Value::Number(number) => number.to_string().as_str() == value,
            Value::Bool(truth) => value.parse() == Ok(truth),
            Value::Null | Value::Array(_) | Value::Object(_) => false,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions() {
        let body = json!({ "name": "a", "labels": { "fleet-uid": "u" } });
        let check = |text: &str, expect: Option<bool>| {
            let found = read(text).map(|conditions| holds(&conditions, &body));
            assert_eq!(found, expect, "{text}");
        };
        check("", Some(true));
        check("labels.fleet-uid:*", Some(true));
        check("labels.fleet-name:*", Some(false));
        check("labels.fleet-uid=u AND name = \"a\"", Some(true));
        check("labels.fleet-uid=v", Some(false));
        check("name > \"A\"", Some(true));
        check("name > \"b\"", Some(false));
        check("name != a", None);
        check("name eq a", None);
    }
}
