//! The rights that a spec needs and no others, as a custom role that `gcloud iam roles create
//! --file` takes.

use fleet_model::{Market, PoolId, Template};

/// What `fleet plan` and `fleet status` need.
pub(crate) const READ: &[&str] = &[
    "compute.advice.capacity",
    "compute.instances.get",
    "compute.instances.list",
    "compute.machineTypes.list",
    "compute.projects.get",
    "compute.regions.get",
    "compute.zoneOperations.get",
    "compute.zoneOperations.list",
];

/// What every launch and every end needs.
const LAUNCH: &[&str] = &[
    "compute.disks.create",
    "compute.disks.setLabels",
    "compute.instances.create",
    "compute.instances.delete",
    "compute.instances.setLabels",
    "compute.subnetworks.use",
];

/// Every permission that a spec needs.
pub(crate) fn permissions(pools: &[PoolId], template: &Template) -> Vec<&'static str> {
    let mut all: Vec<&str> = READ.iter().chain(LAUNCH).copied().collect();
    let mut need = |when: bool, more: &[&'static str]| {
        if when {
            all.extend(more);
        }
    };
    let own_image = template.image.as_deref().is_some_and(|image| {
        !image.contains('/') || image.starts_with("family/") || image.starts_with("projects/")
    });
    need(own_image, &["compute.images.get", "compute.images.getFromFamily"]);
    need(own_image, &["compute.images.useReadOnly"]);
    need(
        template.user_data.is_some() || template.key.is_some(),
        &["compute.instances.setMetadata"],
    );
    need(!template.security_groups.is_empty(), &["compute.instances.setTags"]);
    need(
        template.instance_role.is_some(),
        &["compute.instances.setServiceAccount", "iam.serviceAccounts.actAs"],
    );
    let outside = template.network.is_none() && template.subnets.is_empty();
    need(outside, &["compute.networks.use", "compute.networks.useExternalIp"]);
    need(outside, &["compute.subnetworks.useExternalIp"]);
    need(!outside && template.subnets.is_empty(), &["compute.networks.use"]);
    need(pools.iter().any(|pool| pool.market == Market::Reserved), &["compute.reservations.list"]);
    need(
        pools.iter().any(|pool| pool.place.zone.as_str() == fleet_model::Zone::REGIONAL),
        &["compute.regionOperations.get"],
    );
    all.sort_unstable();
    all.dedup();
    all
}

/// The role as a file.
pub(crate) fn role(pools: &[PoolId], template: &Template) -> String {
    let mut text = String::from(
        "title: fleet\ndescription: Launches and ends machines of fleets\nstage: GA\n\
         includedPermissions:\n",
    );
    for permission in permissions(pools, template) {
        text.push_str(&format!("- {permission}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_asks_for_what_it_uses() {
        let pools = ["gcp/us-central1/us-central1-a/n2-standard-4/spot".parse().expect("a pool")];
        let plain = permissions(&pools, &Template::default());
        assert!(plain.contains(&"compute.instances.create"));
        assert!(plain.contains(&"compute.subnetworks.useExternalIp"));
        assert!(!plain.contains(&"iam.serviceAccounts.actAs"));
        let more = Template {
            instance_role: Some("node@p.iam.gserviceaccount.com".into()),
            subnets: vec!["private".into()],
            user_data: Some("#!/bin/sh\n".into()),
            ..Template::default()
        };
        let more = permissions(&pools, &more);
        assert!(more.contains(&"iam.serviceAccounts.actAs"));
        assert!(more.contains(&"compute.instances.setMetadata"));
        assert!(!more.contains(&"compute.subnetworks.useExternalIp"));
        assert!(role(&pools, &Template::default()).contains("\n- compute.instances.delete\n"));
    }

    #[test]
    fn the_document_for_everything() {
        let pools = [
            "gcp/europe-west1/regional/n2-standard-4/spot".parse().expect("a pool"),
            "gcp/europe-west1/europe-west1-b/n2-standard-4/reserved".parse().expect("a pool"),
        ];
        let template = Template {
            image: Some("family/golden".into()),
            network: Some("prod".into()),
            subnets: vec!["web".into()],
            security_groups: vec!["web".into()],
            instance_role: Some("node@p.iam.gserviceaccount.com".into()),
            user_data: Some("#!/bin/sh\n".into()),
            ..Template::default()
        };
        let page = include_str!("../../../docs/security/gcp.yaml");
        assert_eq!(role(&pools, &template), page, "docs/security/gcp.yaml is stale");
    }

    #[test]
    fn the_role_in_the_documents_is_the_one_we_print() {
        let pools = ["gcp/us-central1/us-central1-a/n2-standard-4/spot".parse().expect("a pool")];
        let template = Template { user_data: Some("#!/bin/sh\n".into()), ..Template::default() };
        let page = include_str!("../../../docs/gcp.md");
        assert!(page.contains(&role(&pools, &template)), "docs/gcp.md is stale");
    }
}
