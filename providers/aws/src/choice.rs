//! A launch that leaves a choice: templates first, the call, a look at what was made, and each
//! machine's own slot.

use crate::create_fleet::{self, Source};
use crate::error::{Asked, LOOK_AGAIN, read, refused};
use crate::launch_template::{Common, ensure, is_missing};
use crate::machines::{self, all, by_id, machines};
use crate::provider::{efa_cards, zone_name};
use crate::session::Site;
use crate::{image, network, tags};
use aws_sdk_ec2::primitives::DateTime;
use aws_sdk_ec2::types::{
    Filter, Instance, InstanceLifecycleType, InstanceState, InstanceStateName, Placement, Tag,
};
use fleet_model::{
    FleetUid, Machine, MachineId, Market, MicroUsd, PoolId, SlotId, Timestamp, Zone,
};
use fleet_provider::{Class, Clock, CreateRequest, Created, Error};
use futures::{StreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How often we look for new machines, and how long we wait in between. Those that are later than
/// that are told as the answer describes them.
const LOOKS: u32 = 5;

/// The first wait; each one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// Machines tagged at once. EC2 takes ten calls of this kind a second, after the first hundred.
const TAGGED_AT_ONCE: usize = 8;

/// Launches machines from any of the pools of a request.
pub(crate) async fn create(
    site: &Site,
    clock: &dyn Clock,
    request: &CreateRequest<'_>,
) -> Result<Created, Error> {
    // Before anything is sent: afterwards no failure may look like a refusal.
    let zones = site.zones().await?;
    let (sources, mut refusals) = sources(site, request).await?;
    let asked = create_fleet::request(request, &sources);
    let answer = match asked.send_with(&site.ec2).await {
        Ok(answer) => answer,
        Err(error) => {
            let error = read(Asked::Launch, error);
            if is_missing(&error.code) {
                // Looked for again, and made again if it is gone.
                site.templates.lock().await.clear();
                return Err(Error { class: Class::Retry { after: Some(LOOK_AGAIN) }, ..error });
            }
            return Err(error);
        }
    };
    let told = create_fleet::read(&answer, &sources);
    refusals.extend(told.refusals);
    let mut instances = look(site, clock, told.made.keys()).await;
    let listed = instances.len();
    for (id, pool) in &told.made {
        if instances.iter().any(|instance| instance.instance_id() == Some(id)) {
            continue;
        }
        let Some(one) = pool.as_ref().and_then(|pool| late(request, id, pool, clock.now())) else {
            let words = format!("{id} was made and is not listed, and nobody says where it is");
            return Err(refused(Class::Unknown, "NotListedYet", words));
        };
        instances.push(one);
    }
    let found: Option<Vec<Machine>> =
        machines(&instances, &site.region, zones).into_iter().collect();
    let Some(machines) = found else {
        return Err(refused(Class::Unknown, "UnreadableAnswer", "a new machine cannot be read"));
    };
    // Those that are late cannot be tagged yet.
    let seen = instances.iter().zip(&machines).take(listed);
    let unnumbered = seen.filter(|(one, _)| tags::is_unnumbered(one));
    let slots = unnumbered
        .filter_map(|(_, machine)| Some((machine.id.clone(), machine.owner.as_ref()?.slot)));
    // Whoever is not tagged now fills the same slot by its place in the list, and is tagged when
    // the apply is done.
    if let Err(error) = number(site, slots.collect()).await {
        tracing::warn!(%error, "machines do not carry their own slots yet");
    }
    let short = machines.len() < request.create.slots.len();
    let said = told.general.or_else(|| refusals.first().map(|(_, error)| error.clone()));
    Ok(Created { machines, shortfall: said.filter(|_| short), refusals })
}

/// What single pools said no with.
type Refusals = Vec<(PoolId, Error)>;

/// The pools in EC2's words. One that this account cannot use as the template asks is left out and
/// says so; what may be a passing trouble fails the launch before anything is sent.
async fn sources(
    site: &Site,
    request: &CreateRequest<'_>,
) -> Result<(Vec<Source>, Refusals), Error> {
    let create = request.create;
    let first = (&create.pool, create.max_price);
    let others = create.others.iter().map(|other| (&other.pool, other.max_price));
    let (mut sources, mut refusals) = (Vec::new(), Vec::new());
    for (pool, max_price) in std::iter::once(first).chain(others) {
        match source(site, request, pool, max_price).await {
            Ok(source) => sources.push(source),
            Err(error) if error.class == Class::Invalid => refusals.push((pool.clone(), error)),
            Err(error) => return Err(error),
        }
    }
    match refusals.first() {
        Some((_, error)) if sources.is_empty() => Err(error.clone()),
        _ => Ok((sources, refusals)),
    }
}

async fn source(
    site: &Site,
    request: &CreateRequest<'_>,
    pool: &PoolId,
    max_price: Option<MicroUsd>,
) -> Result<Source, Error> {
    let template = request.template;
    let zone = zone_name(site, &pool.place).await?;
    let named = request.create.image.as_deref().or(template.image.as_deref());
    let image = image::find(site, named, &pool.instance_type).await?;
    let network = network::find(site, template, &pool.place.zone).await?;
    let efa_cards = efa_cards(site, template, &pool.instance_type).await?;
    let common = Common { image: &image, groups: &network.groups, efa_cards: &efa_cards };
    Ok(Source {
        pool: pool.clone(),
        template: ensure(site, request, common).await?,
        subnet: network.subnet,
        zone: zone.map(str::to_owned),
        max_price,
    })
}

/// New machines by id, as soon as all of them are listed, or those that are after a while.
async fn look(site: &Site, clock: &dyn Clock, ids: impl Iterator<Item = &String>) -> Vec<Instance> {
    let ids: Vec<MachineId> = ids.map(|id| MachineId::new(id.as_str())).collect();
    let ids: Vec<&MachineId> = ids.iter().collect();
    let mut wait = FIRST_WAIT;
    let mut found = Vec::new();
    for turn in 1..=LOOKS {
        found.clear();
        for asked in by_id(&ids) {
            // Something was made, so no failure from here on is a refusal.
            match all(site, asked).await {
                Ok(some) => found.extend(some),
                Err(error) => tracing::debug!(%error, "no look at new machines"),
            }
        }
        if found.len() == ids.len() || turn == LOOKS {
            break;
        }
        clock.sleep(wait).await;
        wait = (wait * 2).min(LOOK_AGAIN);
    }
    found
}

/// A machine that was made and is in no list yet, as the answer and the request describe it. When it
/// was launched is known to the minute, which is enough to know it again.
fn late(request: &CreateRequest<'_>, id: &str, pool: &PoolId, now: Timestamp) -> Option<Instance> {
    if pool.place.zone.as_str() == Zone::REGIONAL {
        return None;
    }
    let tag = |(key, value)| Tag::builder().key(key).value(value).build();
    let lifecycle = match pool.market {
        Market::Spot => Some(InstanceLifecycleType::Spot),
        Market::OnDemand | Market::Reserved => None,
    };
    let place = Placement::builder().availability_zone_id(pool.place.zone.as_str());
    let pending = InstanceState::builder().name(InstanceStateName::Pending);
    let instance = Instance::builder()
        .instance_id(id)
        .instance_type(pool.instance_type.as_str().into())
        .set_instance_lifecycle(lifecycle)
        .placement(place.build())
        .launch_time(DateTime::from_secs(now.as_second()))
        .state(pending.build())
        .set_tags(Some(tags::of(request).into_iter().map(tag).collect()));
    Some(instance.build())
}

/// Tags machines with their own slots.
async fn number(site: &Site, slots: Vec<(MachineId, SlotId)>) -> Result<(), Error> {
    let tag = |(id, slot): (MachineId, SlotId)| async move {
        let tag = Tag::builder().key(tags::SLOT).value(slot.to_string()).build();
        let sent = site.ec2.create_tags().resources(id.as_str()).tags(tag).send().await;
        sent.map(drop).map_err(|error| read(Asked::Read, error))
    };
    let done: Vec<Result<(), Error>> =
        stream::iter(slots).map(tag).buffer_unordered(TAGGED_AT_ONCE).collect().await;
    done.into_iter().collect()
}

/// Tags those machines of a fleet that the journal knows and that carry no slot of their own: a
/// run died before it could, or EC2 would not let it.
pub(crate) async fn number_left(
    site: &Site,
    fleet: &FleetUid,
    known: &BTreeMap<MachineId, SlotId>,
) -> Result<(), Error> {
    let filter =
        Filter::builder().name(format!("tag:{}", tags::UID)).values(fleet.as_str()).build();
    let by_fleet = Filter::builder().name("tag-key").values(tags::BY).build();
    let asked = machines::of_any_fleet().set_filters(Some(vec![filter, by_fleet]));
    let instances = all(site, asked).await?;
    let left: BTreeSet<&str> = instances
        .iter()
        .filter(|instance| tags::is_unnumbered(instance) && !machines::is_over(instance))
        .filter_map(Instance::instance_id)
        .collect();
    let slots = known.iter().filter(|(id, _)| left.contains(id.as_str()));
    number(site, slots.map(|(id, slot)| (id.clone(), *slot)).collect()).await
}
