//! `fleet doctor`: who we are, what answers, what we may do. Changes nothing: launches and ends are
//! asked for as dry runs, which EC2 judges and does not carry out.

mod identity;
mod region;
mod tried;

use crate::policy::{self, Uses};
use crate::session::Session;
use fleet_model::{Fulfilment, PoolId};
use fleet_provider::{Clock, Examination, ExamineRequest};
use futures::future::join_all;
use std::collections::BTreeMap;
use tried::Tried;

/// Looks the account over. Each check stands alone: one that fails hides none of the others.
pub(crate) async fn examine(
    session: &Session,
    clock: &dyn Clock,
    request: &ExamineRequest<'_>,
) -> Examination {
    let who = identity::look(session, clock).await;
    let mut findings = who.findings;
    let mut regions: BTreeMap<&str, Vec<&PoolId>> = BTreeMap::new();
    for pool in request.pools {
        regions.entry(pool.place.region.as_str()).or_default().push(pool);
    }
    let looked = regions
        .iter()
        .map(|(region, pools)| region::look(session, clock, region, pools, request.template));
    let mut tried: Vec<Tried> = Vec::new();
    for here in join_all(looked).await {
        findings.push(here.finding);
        tried.extend(here.tried);
    }
    findings.extend(tried::summary(&tried));
    let mut uses = Uses::of(request.everywhere, request.template, who.account.as_deref());
    uses.launch_templates = request.fulfilment == Fulfilment::Flexible;
    Examination { findings, policy: Some(policy::document(&uses)) }
}
