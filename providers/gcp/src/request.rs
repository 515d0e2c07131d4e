//! The request for a launch: a pure function of what is asked and of what names stand for.

use crate::choice::Choice;
use crate::kind::Kind;
use crate::labels;
use crate::name;
use crate::tpu;
use fleet_model::{Market, PoolId, Region, Template, Zone};
use fleet_provider::CreateRequest;
use google_cloud_compute_v1::model::location_policy::TargetShape;
use google_cloud_compute_v1::model::metadata::Items;
use google_cloud_compute_v1::model::reservation_affinity::ConsumeReservationType;
use google_cloud_compute_v1::model::scheduling::{
    InstanceTerminationAction, OnHostMaintenance, ProvisioningModel,
};
use google_cloud_compute_v1::model::{
    AcceleratorConfig, AccessConfig, AttachedDisk, AttachedDiskInitializeParams,
    BulkInsertInstanceResource, BulkInsertInstanceResourcePerInstanceProperties, Duration,
    Instance, InstanceFlexibilityPolicy, InstanceFlexibilityPolicyInstanceSelection,
    InstanceProperties, LocationPolicy, LocationPolicyZoneConfiguration, Metadata,
    NetworkInterface, ReservationAffinity, Scheduling, ServiceAccount, Tags,
};

/// What names of the spec stand for, and how this run launches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resolved<'a> {
    pub(crate) project: &'a str,
    pub(crate) kind: Kind<'a>,
    /// What Google may choose from; `None`: nothing, the pool says it all.
    pub(crate) choice: Option<Choice<'a>>,
    /// The image's link.
    pub(crate) image: String,
    /// The reservation to take machines from.
    pub(crate) reservation: Option<String>,
    /// On-demand machines with accelerators run for so many hours as flex-start.
    pub(crate) flex_start_hours: Option<u64>,
}

/// Why machines of a pool cannot be launched from a template at all.
pub(crate) fn refusal(pool: &PoolId, template: &Template, flex_start: bool) -> Option<String> {
    let name = pool.instance_type.as_str();
    if let Some(why) = tpu::refusal(name) {
        return Some(why);
    }
    let Some(kind) = Kind::read(name) else {
        return Some(format!("{name} is of no series that we know"));
    };
    if let Some(why) = kind.not_sold(pool.market, flex_start) {
        return Some(why);
    }
    let disk = template.disk.as_ref().and_then(|disk| disk.kind.as_deref());
    if let Some(disk) = disk.filter(|disk| disk.starts_with("pd-") && kind.takes_only_hyperdisk()) {
        return Some(format!("{name} takes no {disk}: only Hyperdisk"));
    }
    if !template.subnets.is_empty() && subnet(template, &pool.place.region).is_none() {
        return Some(format!("no subnet of the template lies in {}", pool.place.region));
    }
    match &template.key {
        Some(key) if !key.contains(':') => {
            Some("`key` must be a user and a public key: `ops:ssh-ed25519 AAAA… ops`".into())
        }
        _ => None,
    }
}

/// The names of a launch's machines, in the order of its slots.
pub(crate) fn names(asked: &CreateRequest<'_>) -> Vec<String> {
    let mark = name::mark(asked.fleet, &asked.create.token);
    (0..asked.create.slots.len()).map(|index| name::of(asked.name, &mark, index)).collect()
}

/// What `insert` and `bulkInsert` have in common, under the same names in both.
macro_rules! fill {
    ($body:expr, $asked:expr, $resolved:expr, $zone:expr) => {{
        let (asked, resolved, zone) = ($asked, $resolved, $zone);
        let template = asked.template;
        let pool = &asked.create.pool;
        $body
            .set_machine_type(link(resolved, zone, "machineTypes", resolved.kind.machine))
            .set_labels(labels::of(asked))
            .set_disks([boot_disk(asked, resolved, zone)])
            .set_network_interfaces([network(template, &pool.place.region)])
            .set_scheduling(scheduling(pool.market, resolved))
            .set_guest_accelerators(accelerators(resolved, zone))
            .set_service_accounts(service_accounts(template))
            .set_or_clear_metadata(metadata(template))
            .set_or_clear_tags(tags(template))
            .set_or_clear_reservation_affinity(affinity(pool.market, resolved))
    }};
}

/// One machine, for `instances.insert`.
pub(crate) fn one(
    asked: &CreateRequest<'_>,
    resolved: &Resolved<'_>,
    zone: &Zone,
    name: &str,
) -> Instance {
    fill!(Instance::new().set_name(name), asked, resolved, Some(zone))
}

/// Several machines, for `bulkInsert` in a zone or a region. One is enough: what is missing is a
/// shortfall, and the plan uses other pools with it.
pub(crate) fn many(
    asked: &CreateRequest<'_>,
    resolved: &Resolved<'_>,
    names: &[String],
) -> BulkInsertInstanceResource {
    let none: Option<&Zone> = None;
    let each =
        |name: &String| (name.clone(), BulkInsertInstanceResourcePerInstanceProperties::new());
    let body = BulkInsertInstanceResource::new()
        .set_count(i64::try_from(names.len()).unwrap_or(i64::MAX))
        .set_min_count(1)
        .set_per_instance_properties(names.iter().map(each));
    let properties = fill!(InstanceProperties::new(), asked, resolved, none);
    match &resolved.choice {
        None => body.set_instance_properties(properties),
        // The types are the policy's then.
        Some(choice) => body
            .set_instance_properties(properties.set_or_clear_machine_type(None::<String>))
            .set_location_policy(zones(choice))
            .set_instance_flexibility_policy(types(choice)),
    }
}

/// Only these zones, and within them wherever there is room.
fn zones(choice: &Choice<'_>) -> LocationPolicy {
    let one =
        |zone: &&Zone| LocationPolicyZoneConfiguration::new().set_zone(format!("zones/{zone}"));
    LocationPolicy::new().set_zones(choice.zones.iter().map(one)).set_target_shape(TargetShape::Any)
}

/// The plan's order is by price: that is what decides among types that can be had.
fn types(choice: &Choice<'_>) -> InstanceFlexibilityPolicy {
    let one = |(rank, machine): (usize, &&str)| {
        let selection = InstanceFlexibilityPolicyInstanceSelection::new()
            .set_machine_types([*machine])
            .set_rank(i64::try_from(rank).unwrap_or(i64::MAX));
        (format!("choice-{rank}"), selection)
    };
    InstanceFlexibilityPolicy::new()
        .set_instance_selections(choice.machines.iter().enumerate().map(one))
}

/// A thing of a zone: by its link for `insert`, by its bare name for `bulkInsert`.
fn link(resolved: &Resolved<'_>, zone: Option<&Zone>, what: &str, name: &str) -> String {
    match zone {
        Some(zone) => format!("projects/{}/zones/{zone}/{what}/{name}", resolved.project),
        None => name.to_owned(),
    }
}

/// The boot disk: gone with its machine, and labelled like it, so that one that stays behind says
/// whose it was. Google encrypts every disk.
fn boot_disk(
    asked: &CreateRequest<'_>,
    resolved: &Resolved<'_>,
    zone: Option<&Zone>,
) -> AttachedDisk {
    let disk = asked.template.disk.as_ref();
    let kind = disk.and_then(|disk| disk.kind.as_deref()).unwrap_or(resolved.kind.disk());
    let params = AttachedDiskInitializeParams::new()
        .set_source_image(&resolved.image)
        .set_disk_type(link(resolved, zone, "diskTypes", kind))
        .set_labels(labels::of(asked))
        .set_or_clear_disk_size_gb(disk.and_then(|disk| disk.size_gib).map(i64::from));
    AttachedDisk::new().set_boot(true).set_auto_delete(true).set_initialize_params(params)
}

/// On the default network machines get an address that is reachable from outside, as Google's own
/// tools give them; on a network of the user's own they do not.
fn network(template: &Template, region: &Region) -> NetworkInterface {
    let nic = NetworkInterface::new();
    let named = template.network.as_deref().map(|name| match name.contains('/') {
        true => name.to_owned(),
        false => format!("global/networks/{name}"),
    });
    match (subnet(template, region), named) {
        (Some(subnet), _) => nic.set_subnetwork(subnet),
        (None, Some(network)) => nic.set_network(network),
        (None, None) => {
            let outside = AccessConfig::new().set_name("External NAT").set_type("ONE_TO_ONE_NAT");
            nic.set_network("global/networks/default").set_access_configs([outside])
        }
    }
}

/// The first subnet of a template in a region. A bare name is taken to be there.
fn subnet(template: &Template, region: &Region) -> Option<String> {
    let here = |name: &String| match name.contains('/') {
        true => name.contains(&format!("regions/{region}/")).then(|| name.clone()),
        false => Some(format!("regions/{region}/subnetworks/{name}")),
    };
    template.subnets.iter().find_map(here)
}

/// Spot machines are deleted when they are taken back: one that is only stopped keeps its disk and
/// its name. Machines with accelerators cannot be moved while they run.
fn scheduling(market: Market, resolved: &Resolved<'_>) -> Scheduling {
    let scheduling = Scheduling::new();
    let accelerated = resolved.kind.is_accelerated();
    match market {
        Market::Spot => scheduling
            .set_provisioning_model(ProvisioningModel::Spot)
            .set_instance_termination_action(InstanceTerminationAction::Delete)
            .set_on_host_maintenance(OnHostMaintenance::Terminate)
            .set_automatic_restart(false),
        Market::OnDemand if accelerated && resolved.flex_start_hours.is_some() => {
            let hours = resolved.flex_start_hours.and_then(|hours| i64::try_from(hours).ok());
            let seconds = hours.unwrap_or(1).saturating_mul(3600);
            scheduling
                .set_provisioning_model(ProvisioningModel::FlexStart)
                .set_instance_termination_action(InstanceTerminationAction::Delete)
                .set_max_run_duration(Duration::new().set_seconds(seconds))
                .set_on_host_maintenance(OnHostMaintenance::Terminate)
                .set_automatic_restart(false)
        }
        // Dense reservations. What becomes of machines when the reservation ends is left at
        // Google's default: a machine that is stopped then is seen and destroyed like any other.
        Market::Reserved if resolved.kind.is_bound() => scheduling
            .set_provisioning_model(ProvisioningModel::ReservationBound)
            .set_on_host_maintenance(OnHostMaintenance::Terminate),
        Market::OnDemand | Market::Reserved => {
            let scheduling = scheduling.set_provisioning_model(ProvisioningModel::Standard);
            match accelerated {
                true => scheduling.set_on_host_maintenance(OnHostMaintenance::Terminate),
                false => scheduling,
            }
        }
    }
}

fn accelerators(resolved: &Resolved<'_>, zone: Option<&Zone>) -> Vec<AcceleratorConfig> {
    let one = |(name, count): (&str, u32)| {
        AcceleratorConfig::new()
            .set_accelerator_type(link(resolved, zone, "acceleratorTypes", name))
            .set_accelerator_count(i32::try_from(count).unwrap_or(i32::MAX))
    };
    resolved.kind.attached.map(one).into_iter().collect()
}

/// No account unless the spec names one: a machine that needs no rights gets none.
fn service_accounts(template: &Template) -> Vec<ServiceAccount> {
    let account = |email: &String| {
        ServiceAccount::new()
            .set_email(email)
            .set_scopes(["https://www.googleapis.com/auth/cloud-platform"])
    };
    template.instance_role.iter().map(account).collect()
}

/// A script runs at every boot by Google's own agent; anything else is for cloud-init.
fn metadata(template: &Template) -> Option<Metadata> {
    let data = template.user_data.as_ref().map(|text| {
        let text = text.expose();
        let key = if text.starts_with("#!") { "startup-script" } else { "user-data" };
        (key, text)
    });
    let key = template.key.as_deref().map(|key| ("ssh-keys", key));
    let item = |(key, value): (&str, &str)| Items::new().set_key(key).set_value(value);
    let items: Vec<Items> = data.into_iter().chain(key).map(item).collect();
    (!items.is_empty()).then(|| Metadata::new().set_items(items))
}

fn tags(template: &Template) -> Option<Tags> {
    let groups = &template.security_groups;
    (!groups.is_empty()).then(|| Tags::new().set_items(groups.iter().cloned()))
}

fn affinity(market: Market, resolved: &Resolved<'_>) -> Option<ReservationAffinity> {
    let affinity = ReservationAffinity::new();
    match (market, &resolved.reservation) {
        (Market::Reserved, Some(name)) => Some(
            affinity
                .set_consume_reservation_type(ConsumeReservationType::SpecificReservation)
                .set_key("compute.googleapis.com/reservation-name")
                .set_values([name]),
        ),
        // Flex-start takes nothing from reservations.
        (Market::OnDemand, _)
            if resolved.kind.is_accelerated() && resolved.flex_start_hours.is_some() =>
        {
            Some(affinity.set_consume_reservation_type(ConsumeReservationType::NoReservation))
        }
        // Google's own habit: an open reservation that fits is used.
        (Market::OnDemand | Market::Reserved | Market::Spot, _) => None,
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
