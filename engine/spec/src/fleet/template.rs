//! How machines are made, per cloud.

use crate::reader::{Field, Object, Reader};
use crate::scalar::Number;
use crate::source::quote;
use crate::wire;
use crate::words::{CLOUDS, names};
use crate::yaml::Kind;
use crate::{beside, user_data};
use fleet_model::{Cloud, CloudRule, Disk, Secret, Template, user_name};
use std::collections::BTreeMap;

type PerCloud<T> = BTreeMap<Cloud, T>;

pub(super) fn read(
    reader: &mut Reader<'_>,
    spec: Option<&Object<'_>>,
    clouds: &[CloudRule],
) -> BTreeMap<Cloud, Template> {
    let mut templates = BTreeMap::new();
    let object = spec
        .and_then(|spec| spec.get(reader, "template"))
        .and_then(|field| reader.object(&field, wire::Template::FIELDS));
    let Some(object) = object else {
        return templates;
    };
    let mut image = texts(reader, &object, "image");
    if let Some(field) = object.get(reader, "image") {
        missing(reader, &field, &image, clouds);
    }
    let mut network = texts(reader, &object, "network");
    let mut instance_role = texts(reader, &object, "instanceRole");
    let mut key = texts(reader, &object, "key");
    let mut ssh_user =
        per_cloud(reader, &object, "sshUser", any_map, |r, field, _| login(r, field));
    let mut reservation = texts(reader, &object, "reservation");
    let mut placement_group = texts(reader, &object, "placementGroup");
    let mut fast_network =
        per_cloud(reader, &object, "fastNetwork", any_map, |reader, field, _| reader.flag(field));
    let mut subnets = lists(reader, &object, "subnets");
    let mut security_groups = lists(reader, &object, "securityGroups");
    let mut disks = per_cloud(reader, &object, "disk", is_cloud_map, disk);
    let mut tags = per_cloud(reader, &object, "tags", has_maps, tags);
    let mut user_data = user_data(reader, &object);
    for rule in clouds {
        let template = Template {
            image: image.remove(&rule.cloud),
            network: network.remove(&rule.cloud),
            subnets: subnets.remove(&rule.cloud).unwrap_or_default(),
            security_groups: security_groups.remove(&rule.cloud).unwrap_or_default(),
            disk: disks.remove(&rule.cloud),
            instance_role: instance_role.remove(&rule.cloud),
            key: key.remove(&rule.cloud),
            ssh_user: ssh_user.remove(&rule.cloud),
            reservation: reservation.remove(&rule.cloud),
            placement_group: placement_group.remove(&rule.cloud),
            fast_network: fast_network.remove(&rule.cloud).unwrap_or_default(),
            user_data: user_data.remove(&rule.cloud).map(Secret::from),
            tags: tags.remove(&rule.cloud).unwrap_or_default(),
        };
        // A cloud may have several rules; the first one took everything.
        if template != Template::default() {
            templates.insert(rule.cloud, template);
        }
    }
    templates
}

/// A field that is one value for all clouds, or a mapping from cloud to value. `mapped` tells the
/// two apart where the value is a mapping itself.
fn per_cloud<'n, T: Clone>(
    reader: &mut Reader<'_>,
    object: &Object<'n>,
    name: &str,
    mapped: fn(&Field<'_>) -> bool,
    mut read: impl FnMut(&mut Reader<'_>, &Field<'n>, Option<Cloud>) -> Option<T>,
) -> PerCloud<T> {
    let Some(field) = object.get(reader, name) else {
        return PerCloud::new();
    };
    if !mapped(&field) {
        let value = read(reader, &field, None);
        return Cloud::ALL.into_iter().filter_map(|cloud| Some((cloud, value.clone()?))).collect();
    }
    if field.entries().next().is_none() {
        let message = format!("`{name}` is an empty mapping");
        reader.error(&field, message, Some("name a cloud, or remove the field".into()));
    }
    let mut values = PerCloud::new();
    for (key, inner) in field.entries() {
        let Some((_, cloud)) = CLOUDS.iter().find(|(name, _)| *name == key) else {
            let names = names(CLOUDS);
            let hint = match crate::reader::near(key, &names) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("clouds: {}", names.join(", ")),
            };
            let message = format!("unknown provider `{}`", quote(key));
            reader.error_at(inner.key, &inner.path, message, Some(hint));
            continue;
        };
        if inner.node.is_null() {
            let message = format!("`{}` has no value", inner.name());
            reader.error(&inner, message, Some("give it a value, or remove it".into()));
        } else if let Some(value) = read(reader, &inner, Some(*cloud)) {
            values.insert(*cloud, value);
        }
    }
    values
}

fn texts(reader: &mut Reader<'_>, object: &Object<'_>, name: &str) -> PerCloud<String> {
    per_cloud(reader, object, name, any_map, |reader, field, _| word(reader, field))
}

fn lists(reader: &mut Reader<'_>, object: &Object<'_>, name: &str) -> PerCloud<Vec<String>> {
    per_cloud(reader, object, name, any_map, |reader, field, _| Some(reader.list(field, word)))
}

/// A name in the cloud's own words: one line without spaces.
fn word(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<String> {
    const LONGEST: usize = 1024;
    let text = reader.text(field)?;
    let odd = |char: char| char.is_control() || char.is_whitespace();
    if text.len() > LONGEST || text.contains(odd) {
        let message = format!("`{}` must be one word, found `{}`", field.name(), quote(&text));
        reader.error(field, message, Some("remove spaces and line breaks".into()));
        return None;
    }
    Some(text)
}

/// The name of a user, as `ssh` may be given it.
fn login(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<String> {
    let text = reader.text(field)?;
    let user = user_name(Some(&text));
    if user.is_none() {
        let message = format!("`{}` is no user name: `{}`", field.name(), quote(&text));
        let hint = "letters, digits, `-`, `_` and `.`, 32 at most, and no `-` first";
        reader.error(field, message, Some(hint.into()));
    }
    user
}

fn is_cloud_map(field: &Field<'_>) -> bool {
    let names = names(CLOUDS);
    let disk = wire::Disk::FIELDS;
    field.entries().any(|(key, _)| names.contains(&key))
        || (field.entries().all(|(key, inner)| inner.is_map() && !disk.contains(&key))
            && field.entries().next().is_some())
}

/// Where a value is no mapping itself, any mapping is one from cloud to value.
fn any_map(field: &Field<'_>) -> bool {
    field.is_map()
}

fn has_maps(field: &Field<'_>) -> bool {
    field.entries().any(|(_, inner)| inner.is_map())
}

fn disk(reader: &mut Reader<'_>, field: &Field<'_>, _: Option<Cloud>) -> Option<Disk> {
    let object = reader.object(field, wire::Disk::FIELDS)?;
    let size = object
        .get(reader, "sizeGiB")
        .and_then(|field| reader.number(&field, Number::whole(1, 65_536)));
    let kind = object.get(reader, "type").and_then(|field| word(reader, &field));
    let encrypted = object.get(reader, "encrypted").and_then(|field| reader.flag(&field));
    Some(Disk {
        size_gib: size.and_then(|size| u32::try_from(size).ok()),
        kind,
        encrypted: encrypted.unwrap_or(true),
    })
}

/// Tags of the user's own. Ours say who owns a machine, and AWS keeps a prefix for itself.
fn tags(
    reader: &mut Reader<'_>,
    field: &Field<'_>,
    _: Option<Cloud>,
) -> Option<BTreeMap<String, String>> {
    let tags = super::labels(reader, field);
    for (key, inner) in field.entries() {
        let lower = key.to_lowercase();
        if lower.starts_with("aws:")
            || lower == "fleet"
            || lower.starts_with("fleet-")
            || lower.starts_with("fleet:")
            || lower.starts_with("fleet/")
        {
            let message = format!("tag `{}` is reserved", quote(key));
            let hint = "tags of machines that begin with `fleet` or `aws:` say who owns them";
            reader.error_at(inner.key, &inner.path, message, Some(hint.into()));
        }
    }
    Some(tags)
}

fn user_data(reader: &mut Reader<'_>, object: &Object<'_>) -> PerCloud<String> {
    let inline = per_cloud(reader, object, "userData", any_map, |reader, field, cloud| {
        let Kind::Scalar { text, .. } = &field.node.kind else {
            return reader.text(field);
        };
        user_data::fits(reader, field, cloud, text).then(|| text.clone())
    });
    let files = per_cloud(reader, object, "userDataFile", any_map, |reader, field, cloud| {
        let path = reader.text(field)?;
        let text = beside::read(reader, field, &path, user_data::FILE)?;
        user_data::fits(reader, field, cloud, &text).then_some(text)
    });
    if let Some(cloud) = inline.keys().find(|cloud| files.contains_key(cloud)) {
        let message = format!("userData and userDataFile are both given for {cloud}");
        if let Some(field) = object.get(reader, "userDataFile") {
            reader.error_at(field.key, &field.path, message, Some("keep one of them".into()));
        }
    }
    inline.into_iter().chain(files).collect()
}

/// An image for some clouds and not for others is probably forgotten. Lambda has its own image.
fn missing(
    reader: &mut Reader<'_>,
    field: &Field<'_>,
    image: &PerCloud<String>,
    clouds: &[CloudRule],
) {
    let broken = reader.problems.iter().any(|one| one.path.starts_with("spec.template.image"));
    let lacks = |rule: &&CloudRule| rule.cloud != Cloud::Lambda && !image.contains_key(&rule.cloud);
    if let (false, Some(rule)) = (broken, clouds.iter().find(lacks)) {
        let message = format!("no image for {}, on which the fleet may stand", rule.cloud);
        let hint = format!("add template.image.{}", rule.cloud);
        reader.warn(field, message, Some(hint));
    }
}
