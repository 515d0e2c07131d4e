//! What comes beside the price of a machine, put to every pool.

use crate::offers::weights::weight;
use fleet_model::{
    Cloud, Desired, Extra, Extras, InstanceKind, NoPrice, Offering, Place, PoolId, Template,
    TemplateFields,
};
use fleet_money::extras::{Sent, Way, Ways, beside};

/// Puts what one machine costs beside its price to each offering.
pub fn add_extras(desired: &Desired, offerings: &mut [Offering]) {
    let plain = Template::default();
    let mut last: Option<(Place, Option<Result<Way, NoPrice>>)> = None;
    for offering in offerings {
        let Offering { pool, kind, .. } = offering;
        // Offerings come place by place: a way is looked up once.
        let way = match &last {
            Some((place, way)) if *place == pool.place => *way,
            _ => way(desired, &pool.place),
        };
        last = Some((pool.place.clone(), way));
        let sent = sent(desired, pool.place.cloud, &plain);
        let egress = way.map_or_else(Extra::default, |way| share(desired, Some(kind), way));
        offering.extras = Extras { egress, ..beside(&sent, pool) };
    }
}

/// What one machine of a pool costs beside its price.
pub fn extras_of(desired: &Desired, pool: &PoolId, kind: Option<&InstanceKind>) -> Extras {
    let plain = Template::default();
    let sent = sent(desired, pool.place.cloud, &plain);
    let way = way(desired, &pool.place);
    let egress = way.map_or_else(Extra::default, |way| share(desired, kind, way));
    Extras { egress, ..beside(&sent, pool) }
}

/// The same of a machine that was made from an older template, with the disk and the address of that.
pub(crate) fn extras_by(now: Extras, fields: &TemplateFields, pool: &PoolId) -> Extras {
    if now.is_nothing() {
        return now;
    }
    Extras { egress: now.egress, ..beside(&Sent::of_fields(fields), pool) }
}

fn sent<'a>(desired: &'a Desired, cloud: Cloud, plain: &'a Template) -> Sent<'a> {
    Sent::from(desired.templates.get(&cloud).unwrap_or(plain))
}

fn way(desired: &Desired, place: &Place) -> Option<Result<Way, NoPrice>> {
    let traffic = &desired.placement.traffic;
    (!traffic.is_nothing()).then(|| Ways(traffic).from(place))
}

fn share(desired: &Desired, kind: Option<&InstanceKind>, way: Result<Way, NoPrice>) -> Extra {
    match way {
        Ok(way) if way.month == 0 => Extra::default(),
        Ok(way) => match kind.and_then(|kind| weight(desired, kind)) {
            Some(weight) => way.of(weight, desired.capacity.target),
            None => Extra::Unknown(NoPrice::UnknownType),
        },
        Err(why) => Extra::Unknown(why),
    }
}
