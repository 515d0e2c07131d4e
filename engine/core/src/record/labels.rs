//! Labels and tags of the user's own, which reach machines that run already; and templates, which do not.
//!
//! Every machine is on record with the version of the labels that it carries. What others put on a
//! machine is none of our business: only keys that a spec of ours once named are ever taken off.

use fleet_model::{
    Action, Cloud, Desired, Event, Inputs, LabelsRecord, Plan, RolloutNews, Template,
};
use std::collections::BTreeSet;

/// The clouds that a spec names.
pub(crate) fn clouds(desired: &Desired) -> BTreeSet<Cloud> {
    desired.placement.clouds.iter().map(|rule| rule.cloud).collect()
}

/// The version of a cloud's labels that the spec wants: the one on record, or the next.
pub fn labels_version(inputs: &Inputs, cloud: Cloud) -> u32 {
    let none = LabelsRecord::default();
    let known = inputs.recorded.labels.get(&cloud).unwrap_or(&none);
    let same = inputs.desired.labels_on(cloud) == known.now;
    known.version + u32::from(!same)
}

/// What is to be written down before the first launch or change with other labels.
pub fn labels_meant(inputs: &Inputs) -> Vec<Event> {
    let known = |cloud: Cloud| inputs.recorded.labels.get(&cloud).map_or(0, |known| known.version);
    let new = clouds(&inputs.desired)
        .into_iter()
        .filter(|&cloud| labels_version(inputs, cloud) != known(cloud));
    new.map(|cloud| Event::LabelsMeant { cloud, labels: inputs.desired.labels_on(cloud) }).collect()
}

/// What is to be written down before the first launch from a template that nobody used yet, or before a
/// rollout to it.
pub fn templates_meant(inputs: &Inputs, plan: &Plan) -> Vec<Event> {
    let launched = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Create(create) => Some(create.pool.place.cloud),
        Action::Destroy(_) => None,
    });
    let begun = plan.rollout.iter().filter_map(|news| match news {
        RolloutNews::Began { to, .. } => Some(to.keys().copied()),
        _ => None,
    });
    let clouds: BTreeSet<Cloud> = launched.chain(begun.flatten()).collect();
    let meant = clouds.into_iter().filter_map(|cloud| {
        let template = inputs.desired.templates.get(&cloud).cloned().unwrap_or_default();
        let known = inputs.recorded.templates.contains_key(&template.digest());
        (!known).then(|| template_meant(cloud, template))
    });
    meant.collect()
}

/// That machines of a cloud are made from a template. User data may hold secrets: a journal has no place for
/// them.
pub(crate) fn template_meant(cloud: Cloud, template: Template) -> Event {
    let (digest, fields) = (template.digest(), template.fields());
    let whole = Some(Box::new(Template { user_data: None, ..template }));
    Event::TemplateMeant { cloud, template: digest, fields, whole }
}
