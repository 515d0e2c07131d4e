//! Images: what a name of the spec stands for.
//!
//! A family names its newest image, and another one next week. It is looked up when a plan is
//! made, and the plan's launches carry the link of the image itself.

use crate::error::{Asked, read, refused};
use crate::kind::Kind;
use crate::session::Session;
use crate::tpu;
use fleet_model::{Architecture, Template};
use fleet_provider::{Class, Error};

/// What machines boot without a word in the spec.
const DEFAULT: (&str, &str) = ("projects/debian-cloud/global/images/family/debian-12", "-arm64");

/// A name, read.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Named {
    /// The image itself: project and name.
    Image(String, String),
    /// The newest of a family: project and family.
    Family(String, String),
}

/// The name of the image for machines of a type.
pub(crate) fn text(template: &Template, kind: Kind<'_>) -> String {
    match (template.image.as_deref(), kind.architecture()) {
        (Some(text), Architecture::X86_64) => text.replace("{arch}", "amd64"),
        (Some(text), Architecture::Arm64) => text.replace("{arch}", "arm64"),
        (None, _) if kind.is_tpu() => tpu::IMAGE.to_owned(),
        (None, Architecture::X86_64) => DEFAULT.0.to_owned(),
        (None, Architecture::Arm64) => format!("{}{}", DEFAULT.0, DEFAULT.1),
    }
}

/// Reads the name of an image. `project` is where a name without one is looked for.
fn named(text: &str, project: &str) -> Option<Named> {
    // A link begins with the server's name; what counts begins with the project.
    let path = match text.find("projects/") {
        Some(at) => &text[at..],
        None => text,
    };
    let parts: Vec<&str> = path.split('/').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return None;
    }
    let own = |text: &str| text.to_owned();
    Some(match parts[..] {
        ["projects", project, "global", "images", "family", family] => {
            Named::Family(own(project), own(family))
        }
        ["projects", project, "global", "images", name] => Named::Image(own(project), own(name)),
        ["family", family] => Named::Family(own(project), own(family)),
        [project, family] if project != "projects" => Named::Family(own(project), own(family)),
        [name] => Named::Image(own(project), own(name)),
        _ => return None,
    })
}

/// The link of an image, from its name.
pub(crate) async fn find(session: &Session, text: &str) -> Result<String, Error> {
    let clients = session.clients().await?;
    let Some(named) = named(text, &clients.project) else {
        let words = format!("`{text}` names no image");
        return Err(refused(Class::Invalid, "InvalidImage", words));
    };
    let (project, family) = match named {
        Named::Image(project, name) => {
            return Ok(format!("projects/{project}/global/images/{name}"));
        }
        Named::Family(project, family) => (project, family),
    };
    let key = format!("{project}/{family}");
    if let Some(known) = session.known_image(&key).await {
        return Ok(known);
    }
    let asked = clients.images.get_from_family().set_project(&project).set_family(&family);
    let image = asked.send().await.map_err(|error| missing(read(Asked::Read, &error), &key))?;
    let Some(name) = image.name else {
        let words = format!("the newest image of {key} has no name");
        return Err(refused(Class::Retry { after: None }, "UnreadableAnswer", words));
    };
    let link = format!("projects/{project}/global/images/{name}");
    Ok(session.keep_image(key, link).await)
}

/// A name that stands for nothing is the spec's mistake.
fn missing(error: Error, family: &str) -> Error {
    match error.code.as_str() {
        "notFound" => refused(Class::Invalid, "ImageNotFound", format!("there is no {family}")),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let check = |text: Option<&str>, kind: &str, expect: Option<Named>| {
            let kind = Kind::read(kind).expect("a type");
            let template = Template { image: text.map(str::to_owned), ..Template::default() };
            assert_eq!(named(&super::text(&template, kind), "mine"), expect, "{text:?}");
        };
        let family = |project: &str, family: &str| {
            Some(Named::Family(project.to_owned(), family.to_owned()))
        };
        let image =
            |project: &str, name: &str| Some(Named::Image(project.to_owned(), name.to_owned()));
        check(None, "n2-standard-4", family("debian-cloud", "debian-12"));
        check(None, "t2a-standard-4", family("debian-cloud", "debian-12-arm64"));
        check(
            None,
            "tpu-v6e-8",
            family("ubuntu-os-accelerator-images", "ubuntu-accel-2204-amd64-tpu-v5e-v5p-v6e"),
        );
        check(Some("mine-tpu"), "tpu-v6e-8", image("mine", "mine-tpu"));
        check(Some("cos-cloud/cos-stable"), "n2-standard-4", family("cos-cloud", "cos-stable"));
        check(Some("u/noble-{arch}"), "t2a-standard-4", family("u", "noble-arm64"));
        check(Some("family/golden"), "n2-standard-4", family("mine", "golden"));
        check(Some("golden-7"), "n2-standard-4", image("mine", "golden-7"));
        let link = "https://www.googleapis.com/compute/v1/projects/p/global/images/x";
        check(Some(link), "n2-standard-4", image("p", "x"));
        check(Some("projects/p/global/images/family/f"), "n2-standard-4", family("p", "f"));
        for bad in ["", "a/b/c", "projects/p", "projects/p/global/images/", "/x"] {
            check(Some(bad), "n2-standard-4", None);
        }
    }
}
