//! How accounts were found.

use crate::commands::Examined;
use crate::output::doctor::{self as output, Account, Doctor, FleetAccounts};
use crate::style::{ADD, BOLD, DIM, HINT, REMOVE, WARN};
use crate::text::{clean_line, count, markdown as escaped, wrap};
use anstyle::Style;
use fleet_provider::{Finding, Verdict};

/// The worst that was found anywhere.
pub(crate) fn worst(all: &[Examined]) -> Option<Verdict> {
    all.iter().flat_map(|one| &one.examination.findings).map(|finding| finding.verdict).max()
}

fn sign(verdict: Verdict) -> (&'static str, Style) {
    match verdict {
        Verdict::Good => ("✓", ADD),
        Verdict::Doubtful => ("!", WARN),
        Verdict::Bad => ("✗", REMOVE),
    }
}

fn number(all: &[Examined], verdict: Verdict) -> u64 {
    let findings = all.iter().flat_map(|one| &one.examination.findings);
    findings.filter(|finding| finding.verdict == verdict).count() as u64
}

/// For people.
pub(crate) fn text(all: &[Examined]) -> String {
    let mut out = String::new();
    for Examined { fleet, cloud, examination } in all {
        let name = clean_line(fleet.as_str());
        out.push_str(&format!("{BOLD}{name}{BOLD:#} on {cloud}\n\n"));
        let findings = &examination.findings;
        let subject = |finding: &Finding| clean_line(&finding.subject);
        let widest = findings.iter().map(|f| subject(f).chars().count()).max().unwrap_or(0);
        // Sign, subject and words stand in columns; words that are too long go on in theirs.
        let indent = " ".repeat(widest + 7);
        for finding in findings {
            let (sign, style) = sign(finding.verdict);
            let words = wrap(&indent, &finding.words);
            let subject = format!("{:widest$}", subject(finding));
            out.push_str(&format!("  {style}{sign}{style:#}  {subject}  {}\n", words.trim_start()));
            if let Some(hint) = &finding.hint {
                let hint = wrap(&format!("{indent}→ "), hint);
                out.push_str(&hint.replacen('→', &format!("{HINT}→{HINT:#}"), 1));
                out.push('\n');
            }
        }
        out.push('\n');
    }
    out.push_str(&total(all));
    out
}

fn total(all: &[Examined]) -> String {
    let bad = number(all, Verdict::Bad);
    let doubtful = number(all, Verdict::Doubtful);
    let good = number(all, Verdict::Good);
    let rest = format!("{DIM}{}{DIM:#}", count(good, "check") + " in order");
    match (bad, doubtful) {
        (0, 0) => format!("{ADD}all in order{ADD:#}: {}\n", count(good, "check")),
        (0, n) => format!("{WARN}{n} to look at{WARN:#}, nothing that stops an apply; {rest}\n"),
        (n, 0) => format!("{REMOVE}{n} to mend before an apply{REMOVE:#}; {rest}\n"),
        (n, more) => {
            format!("{REMOVE}{n} to mend before an apply{REMOVE:#}, {more} to look at; {rest}\n")
        }
    }
}

/// For comments.
pub(crate) fn markdown(all: &[Examined]) -> String {
    let mut out = String::new();
    for Examined { fleet, cloud, examination } in all {
        out.push_str(&format!("**{}** on {cloud}\n\n", escaped(fleet.as_str())));
        out.push_str("| | what | found |\n|---|---|---|\n");
        for finding in &examination.findings {
            let (sign, _) = sign(finding.verdict);
            let hint = finding.hint.as_deref().map(|hint| format!(" → {}", escaped(hint)));
            let (subject, words) = (escaped(&finding.subject), escaped(&finding.words));
            out.push_str(&format!(
                "| {sign} | {subject} | {words}{} |\n",
                hint.unwrap_or_default()
            ));
        }
        out.push('\n');
    }
    out
}

/// For programs.
pub(crate) fn document(all: &[Examined]) -> Doctor {
    let finding = |finding: &Finding| output::Finding {
        verdict: finding.verdict.into(),
        subject: finding.subject.to_string(),
        words: finding.words.to_string(),
        hint: finding.hint.as_ref().map(ToString::to_string),
    };
    let mut fleets: Vec<FleetAccounts> = Vec::new();
    for Examined { fleet, cloud, examination } in all {
        let account = Account {
            provider: (*cloud).into(),
            findings: examination.findings.iter().map(finding).collect(),
            policy: examination.policy.clone(),
        };
        match fleets.iter_mut().find(|known| known.fleet == fleet.as_str()) {
            Some(known) => known.accounts.push(account),
            None => {
                fleets.push(FleetAccounts { fleet: fleet.to_string(), accounts: vec![account] })
            }
        }
    }
    Doctor { ok: worst(all) != Some(Verdict::Bad), simulated: false, fleets }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_model::Cloud;
    use fleet_provider::Examination;

    fn examined() -> Vec<Examined> {
        let findings = vec![
            Finding::new(Verdict::Good, "identity", "account 111122223333, user ann"),
            Finding::new(Verdict::Doubtful, "clock", "75 s from the time of AWS")
                .hint("set the clock by NTP"),
            Finding::new(
                Verdict::Bad,
                "ec2:RunInstances, spot",
                "ec2:CreateTags is missing in eu-west-1, us-east-1, us-west-2; and the cloud said more \u{1b}[31m than fits into one line of this width",
            )
            .hint("`fleet doctor --print-policy` prints a policy with exactly the rights that this spec needs"),
        ];
        let examination = Examination { findings, policy: Some("{}".into()) };
        vec![Examined { fleet: "train".into(), cloud: Cloud::Aws, examination }]
    }

    #[test]
    fn in_every_form() {
        let all = examined();
        let plain = anstream::adapter::strip_str(&text(&all)).to_string();
        insta::assert_snapshot!("doctor_text", plain);
        insta::assert_snapshot!("doctor_markdown", markdown(&all));
        insta::assert_json_snapshot!("doctor_json", document(&all));
    }

    #[test]
    fn the_last_line_says_how_it_stands() {
        let line = |verdicts: &[Verdict]| {
            let findings = verdicts.iter().map(|v| Finding::new(*v, "s", "w")).collect();
            let examination = Examination { findings, policy: None };
            let all = vec![Examined { fleet: "f".into(), cloud: Cloud::Aws, examination }];
            (anstream::adapter::strip_str(&total(&all)).to_string(), worst(&all))
        };
        let (good, worst) = line(&[Verdict::Good, Verdict::Good]);
        assert_eq!((good.as_str(), worst), ("all in order: 2 checks\n", Some(Verdict::Good)));
        let (some, worst) = line(&[Verdict::Good, Verdict::Doubtful]);
        assert!(some.starts_with("1 to look at, nothing that stops"), "{some}");
        assert_eq!(worst, Some(Verdict::Doubtful));
        let (bad, worst) = line(&[Verdict::Bad, Verdict::Doubtful]);
        assert!(bad.starts_with("1 to mend before an apply, 1 to look at"), "{bad}");
        assert_eq!(worst, Some(Verdict::Bad));
    }
}
