//! Looking an account over. Reads only, and few of them: each takes a second.

use crate::api::Api;
use crate::launch::NO_KEY;
use crate::machines::is_ours;
use crate::regional;
use crate::wire::{Instance, Kinds, Named};
use fleet_model::PoolId;
use fleet_provider::{Examination, ExamineRequest, Finding, Verdict};
use std::collections::BTreeSet;

/// Where keys are made.
const KEYS: &str = "https://cloud.lambda.ai/api-keys";

/// Looks at key, SSH key, rulesets, image, and what of the spec's pools is to be had.
pub(crate) async fn examine(api: &Api, request: &ExamineRequest<'_>) -> Examination {
    let mut findings = Vec::new();
    match api.get::<Vec<Instance>>("instances").await {
        Ok(all) => {
            let ours = all.iter().filter(|instance| is_ours(instance)).count();
            let words = format!("the key works; {} instances, {ours} of them of fleets", all.len());
            findings.push(Finding::new(Verdict::Good, "identity", words));
        }
        Err(error) => {
            let hint = format!("make a key at {KEYS} and set LAMBDA_API_KEY");
            let finding = Finding::new(Verdict::Bad, "identity", error.to_string());
            findings.push(finding.hint(hint));
            return Examination { findings, policy: None };
        }
    }
    // There are no roles: whoever has the key may do everything.
    let words = "API keys have no roles: this one may launch and end everything in the account";
    findings.push(Finding::new(Verdict::Doubtful, "rights", words).hint("keep it out of specs"));
    findings.push(ssh_key(api, request).await);
    findings.extend(belongings(api, request).await);
    match api.get::<Kinds>("instance-types").await {
        Ok(kinds) => findings.extend(capacity(&kinds, request)),
        Err(error) => {
            findings.push(Finding::new(Verdict::Doubtful, "instance types", error.to_string()));
        }
    }
    let words = "the API does not tell limits of the account; a launch over them is refused";
    findings.push(Finding::new(Verdict::Doubtful, "quota", words));
    Examination { findings, policy: None }
}

async fn ssh_key(api: &Api, request: &ExamineRequest<'_>) -> Finding {
    let Some(key) = &request.template.key else {
        let finding = Finding::new(Verdict::Bad, "ssh key", NO_KEY);
        return finding.hint("template: { key: { lambda: NAME } }");
    };
    match api.get::<Vec<Named>>("ssh-keys").await {
        Ok(keys) if keys.iter().any(|other| other.name == *key) => {
            Finding::new(Verdict::Good, "ssh key", format!("`{key}` is there"))
        }
        Ok(keys) => {
            let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
            let words = format!("the account has no key `{key}`");
            let finding = Finding::new(Verdict::Bad, "ssh key", words);
            finding.hint(format!("it has: {}", names.join(", ")))
        }
        Err(error) => Finding::new(Verdict::Doubtful, "ssh key", error.to_string()),
    }
}

/// Whether firewall rulesets and image fit the regions of the spec.
async fn belongings(api: &Api, request: &ExamineRequest<'_>) -> Vec<Finding> {
    let template = request.template;
    let found = match regional::look(api, template).await {
        Ok(found) => found,
        Err(error) => {
            let subject = "firewall rulesets and image";
            return vec![Finding::new(Verdict::Doubtful, subject, error.to_string())];
        }
    };
    let mut findings = Vec::new();
    if !template.security_groups.is_empty() {
        let why = |pool: &PoolId| regional::unfit_rulesets(pool, template, &found);
        findings.push(fits("firewall rulesets", request.pools, why));
    }
    if template.image.is_some() {
        findings.push(fits("image", request.pools, |pool| {
            regional::unfit_image(pool, template, &found)
        }));
    }
    findings
}

/// Bad if it fits nowhere, doubtful if not everywhere.
fn fits(subject: &str, pools: &[PoolId], why: impl Fn(&PoolId) -> Option<String>) -> Finding {
    let reasons: Vec<String> = pools.iter().filter_map(why).collect();
    let distinct: BTreeSet<&str> = reasons.iter().map(String::as_str).collect();
    let words: Vec<&str> = distinct.into_iter().collect();
    match reasons.len() {
        0 => Finding::new(Verdict::Good, subject, "fits every region of the spec"),
        some if some < pools.len() => {
            let words =
                format!("{some} of {} pools cannot be used: {}", pools.len(), words.join("; "));
            Finding::new(Verdict::Doubtful, subject, words)
        }
        _ => Finding::new(Verdict::Bad, subject, words.join("; ")),
    }
}

/// Which of the spec's types are to be had, and where.
fn capacity(kinds: &Kinds, request: &ExamineRequest<'_>) -> Vec<Finding> {
    let wanted: BTreeSet<&str> =
        request.pools.iter().map(|pool| pool.instance_type.as_str()).collect();
    let one = |kind: &str| {
        let Some(item) = kinds.get(kind) else {
            return Finding::new(Verdict::Bad, kind, "lambda does not sell it");
        };
        let free: BTreeSet<&str> =
            item.regions_with_capacity_available.iter().map(|r| r.name.as_str()).collect();
        let here: BTreeSet<&str> = request
            .pools
            .iter()
            .filter(|pool| pool.instance_type.as_str() == kind)
            .map(|pool| pool.place.region.as_str())
            .filter(|region| free.contains(region))
            .collect();
        if here.is_empty() {
            return Finding::new(
                Verdict::Doubtful,
                kind,
                "not listed in any region of the spec now",
            );
        }
        let regions: Vec<&str> = here.into_iter().collect();
        Finding::new(Verdict::Good, kind, format!("listed in {} now", regions.join(", ")))
    };
    wanted.into_iter().map(one).collect()
}
