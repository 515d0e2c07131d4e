//! `fleet doctor`: who we are, what answers, what we may do, what is left.

use crate::error::{Asked, read};
use crate::kind::Kind;
use crate::quota::{ALL_CPUS, ALL_GPUS, Limit, limits, names};
use crate::request::refusal;
use crate::role::{permissions, role};
use crate::session::{Clients, Session};
use crate::{image, machines};
use fleet_model::Region;
use fleet_provider::{Examination, ExamineRequest, Finding, Listing, Verdict};
use google_cloud_compute_v1::model::region::Status;
use std::collections::{BTreeMap, BTreeSet};

/// Google answers for so many permissions at once.
const PERMISSIONS: usize = 100;

/// Looks a project over.
pub(crate) async fn examine(session: &Session, request: &ExamineRequest<'_>) -> Examination {
    let policy = Some(role(request.everywhere, request.template));
    let clients = match session.clients().await {
        Ok(clients) => clients,
        Err(error) => {
            let hint = "run `gcloud auth application-default login`, or set \
                        GOOGLE_APPLICATION_CREDENTIALS and FLEET_GCP_PROJECT";
            let finding = Finding::new(Verdict::Bad, "identity", error.to_string()).hint(hint);
            return Examination { findings: vec![finding], policy };
        }
    };
    let mut findings = Vec::new();
    let project = project(clients, &mut findings).await;
    rights(clients, request, &mut findings).await;
    images(session, request, &mut findings).await;
    pools(request, session.settings.flex_start_hours.is_some(), &mut findings);
    let regions: BTreeSet<&Region> = request.pools.iter().map(|pool| &pool.place.region).collect();
    for region in regions {
        look(clients, region, request, &mut findings).await;
    }
    findings.extend(
        project
            .iter()
            .filter(|limit| limit.name == ALL_CPUS)
            .map(|limit| room("every region", limit)),
    );
    let gpus = project.iter().find(|limit| limit.name == ALL_GPUS);
    let accelerated = request.pools.iter().any(|pool| {
        Kind::read(pool.instance_type.as_str()).is_some_and(|kind| kind.is_accelerated())
    });
    if let Some(limit) = gpus.filter(|_| accelerated) {
        findings.push(room("every region", limit));
    }
    Examination { findings, policy }
}

/// The project, and its limits.
async fn project(clients: &Clients, findings: &mut Vec<Finding>) -> Vec<Limit> {
    let subject = format!("project {}", clients.project);
    match clients.projects.get().set_project(&clients.project).send().await {
        Ok(project) => {
            let account = project.default_service_account.unwrap_or_else(|| "none".into());
            let words = format!("answers; its default service account is {account}");
            findings.push(Finding::new(Verdict::Good, subject, words));
            limits(&project.quotas)
        }
        Err(error) => {
            let words = read(Asked::Read, &error).to_string();
            let hint = "is the Compute Engine API enabled, and may this account see the project?";
            findings.push(Finding::new(Verdict::Bad, subject, words).hint(hint));
            Vec::new()
        }
    }
}

/// Which rights of those that the spec needs we do not have.
async fn rights(clients: &Clients, request: &ExamineRequest<'_>, findings: &mut Vec<Finding>) {
    let needed = permissions(request.pools, request.template);
    let mut granted: BTreeSet<String> = BTreeSet::new();
    for some in needed.chunks(PERMISSIONS) {
        let call = clients.resources.test_iam_permissions();
        let call = call.set_resource(format!("projects/{}", clients.project));
        match call.set_permissions(some.iter().copied()).send().await {
            Ok(answer) => granted.extend(answer.permissions),
            Err(error) => {
                let words = read(Asked::Read, &error).to_string();
                let hint = "enable the Cloud Resource Manager API to have rights looked at";
                let finding = Finding::new(Verdict::Doubtful, "rights", words).hint(hint);
                findings.push(finding);
                return;
            }
        }
    }
    let missing: Vec<&str> =
        needed.iter().copied().filter(|name| !granted.contains(*name)).collect();
    if missing.is_empty() {
        let words = format!("all {} that the spec needs", needed.len());
        findings.push(Finding::new(Verdict::Good, "rights", words));
        return;
    }
    for name in missing {
        let hint = "grant the role below to this account";
        findings.push(Finding::new(Verdict::Bad, name, "not granted").hint(hint));
    }
}

async fn images(session: &Session, request: &ExamineRequest<'_>, findings: &mut Vec<Finding>) {
    let mut kinds: BTreeMap<String, Kind<'_>> = BTreeMap::new();
    for kind in request.pools.iter().filter_map(|pool| Kind::read(pool.instance_type.as_str())) {
        kinds.entry(image::text(request.template, kind)).or_insert(kind);
    }
    for (name, kind) in kinds {
        let subject = match kind.is_tpu() {
            true => "image for TPUs".to_owned(),
            false => format!("image for {}", kind.architecture()),
        };
        findings.push(match image::find(session, &name).await {
            Ok(link) => Finding::new(Verdict::Good, subject, link),
            Err(error) => Finding::new(Verdict::Bad, subject, error.to_string())
                .hint("name an image (`projects/P/global/images/NAME`) or a family (`P/FAMILY`)"),
        });
    }
}

/// Pools that can never be launched from, counted by the reason.
fn pools(request: &ExamineRequest<'_>, flex_start: bool, findings: &mut Vec<Finding>) {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for pool in request.pools {
        if let Some(why) = refusal(pool, request.template, flex_start) {
            *reasons.entry(why).or_default() += 1;
        }
    }
    let all = request.pools.len();
    for (why, count) in reasons {
        let verdict = if count == all { Verdict::Bad } else { Verdict::Doubtful };
        let words = format!("{count} of {all} cannot be used: {why}");
        findings.push(Finding::new(verdict, "pools", words));
    }
}

/// One region: whether it is up, whether it can be listed, and what is left of its limits.
async fn look(
    clients: &Clients,
    region: &Region,
    request: &ExamineRequest<'_>,
    findings: &mut Vec<Finding>,
) {
    let call = clients.regions.get().set_project(&clients.project);
    let answer = match call.set_region(region.as_str()).send().await {
        Ok(answer) => answer,
        Err(error) => {
            let words = read(Asked::Read, &error).to_string();
            findings.push(Finding::new(Verdict::Bad, region.as_str(), words));
            return;
        }
    };
    let verdict = match answer.status {
        Some(Status::Up) => Verdict::Good,
        Some(_) | None => Verdict::Doubtful,
    };
    let words = match machines::all(clients, region).await {
        Ok(Listing::Complete(all)) => {
            format!("{} zones, {} machines of fleets", answer.zones.len(), all.len())
        }
        Ok(Listing::Partial(_, why)) => format!("answers in part: {why}"),
        Err(error) => error.to_string(),
    };
    findings.push(Finding::new(verdict, region.as_str(), words));
    let here = limits(&answer.quotas);
    let mut wanted: BTreeSet<&str> = BTreeSet::new();
    for pool in request.pools.iter().filter(|pool| pool.place.region == *region) {
        if let Some(kind) = Kind::read(pool.instance_type.as_str()) {
            wanted.extend(
                names(kind, pool.market, request.template, &here).into_iter().map(|(name, _)| name),
            );
        }
    }
    let limits = here.iter().filter(|limit| wanted.contains(limit.name.as_str()));
    findings.extend(limits.map(|limit| room(region.as_str(), limit)));
}

/// What is left of a limit.
fn room(place: &str, limit: &Limit) -> Finding {
    let Limit { name, limit, used } = limit;
    let verdict = match () {
        () if used >= limit => Verdict::Bad,
        () if used.saturating_mul(10) >= limit.saturating_mul(9) => Verdict::Doubtful,
        () => Verdict::Good,
    };
    let finding = Finding::new(verdict, place, format!("{name}: {used} of {limit} used"));
    match verdict {
        Verdict::Good => finding,
        Verdict::Doubtful | Verdict::Bad => {
            finding.hint("ask for more at https://console.cloud.google.com/iam-admin/quotas")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_judged_by_what_is_left() {
        let check = |limit, used, expect| {
            let found = room("here", &Limit { name: "CPUS".into(), limit, used });
            assert_eq!(found.verdict, expect, "{used} of {limit}");
        };
        check(100, 0, Verdict::Good);
        check(100, 90, Verdict::Doubtful);
        check(100, 100, Verdict::Bad);
        check(0, 0, Verdict::Bad);
    }
}
