//! Where variables stand in a text, and what they may be called.

/// A part of a text.
pub(super) enum Piece<'t> {
    Text(&'t str),
    /// The name between `${` and `}`.
    Variable(&'t str),
}

/// Splits a text at its variables. `${` without a name and `}` after it is text.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut rest, mut from) = (text, 0);
    while let Some(start) = rest[from..].find("${").map(|at| from + at) {
        let inside = &rest[start + 2..];
        match inside.find('}').map(|end| &inside[..end]).filter(|name| is_name(name)) {
            Some(name) => {
                if start > 0 {
                    pieces.push(Piece::Text(&rest[..start]));
                }
                pieces.push(Piece::Variable(name));
                (rest, from) = (&inside[name.len() + 1..], 0);
            }
            None => from = start + 2,
        }
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

/// Whether a text can name a variable, as shells have it.
pub(crate) fn is_name(text: &str) -> bool {
    let good = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let first = text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
    first && text.len() <= 64 && text.chars().all(good)
}

/// Names under which clouds, CI and people keep credentials. A spec from a pull request must not be
/// able to put a runner's secrets into labels or scripts, so these come from flags alone.
pub(super) fn is_private(name: &str) -> bool {
    const OWNERS: [&str; 14] = [
        "AWS_",
        "AZURE_",
        "ARM_",
        "GOOGLE_",
        "GCLOUD_",
        "CLOUDSDK_",
        "LAMBDA_",
        "GITHUB_",
        "GH_",
        "GITLAB_",
        "ACTIONS_",
        "CI_",
        "SSH_",
        "FLEET_",
    ];
    const WORDS: [&str; 7] =
        ["SECRET", "TOKEN", "PASSWORD", "PASSWD", "CREDENTIAL", "PRIVATE", "APIKEY"];
    let name = name.to_ascii_uppercase();
    OWNERS.iter().any(|owner| name.starts_with(owner))
        || WORDS.iter().any(|word| name.contains(word))
        || name == "KEY"
        || name.ends_with("_KEY")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_credentials_are_private() {
        for name in
            ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "db_password", "SSH_KEY", "MY_API_KEY"]
        {
            assert!(is_private(name), "{name}");
        }
        for name in ["REGION", "IMAGE", "STAGE", "KEYS", "MONKEY", "SIZE"] {
            assert!(!is_private(name), "{name}");
        }
    }

    #[test]
    fn texts_are_split_at_names_in_braces() {
        let check = |text: &str, wanted: &[&str]| {
            let shown: Vec<String> = pieces(text)
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => format!("'{text}"),
                    Piece::Variable(name) => format!("={name}"),
                })
                .collect();
            assert_eq!(shown, wanted, "{text}");
        };
        check("${A}", &["=A"]);
        check("a-${B_1}-${C}", &["'a-", "=B_1", "'-", "=C"]);
        check("$A ${} ${A:-x} ${1} ${ A }", &["'$A ${} ${A:-x} ${1} ${ A }"]);
        check("$${A}${", &["'$", "=A", "'${"]);
        check("${${A}}", &["'${", "=A", "'}"]);
        check("ä${A}ö", &["'ä", "=A", "'ö"]);
        check("", &[]);
    }
}
