//! Images: by id, by SSM parameter, or the newest of an owner's that match a name.

use crate::error::{Asked, read, refused};
use crate::session::Site;
use aws_sdk_ec2::operation::describe_images::DescribeImagesOutput;
use aws_sdk_ec2::operation::describe_images::builders::DescribeImagesInputBuilder;
use aws_sdk_ec2::types::{BlockDeviceMapping, DeviceType, Filter, ImageState};
use fleet_model::InstanceType;
use fleet_provider::{Class, Error};
use std::collections::BTreeSet;

/// What is launched when the spec names no image: Amazon Linux, by the parameter that Amazon
/// keeps up to date in every region.
const DEFAULT: &str = "ssm:/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-{arch}";

/// Stands for `x86_64` or `arm64` in an SSM path, whichever the instance type is.
const ARCH: &str = "{arch}";

/// An image, as far as a launch must know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    /// Its id in this region.
    pub(crate) id: String,
    /// Its root disk; `None` if the root is not a disk that we could configure.
    pub(crate) root: Option<Root>,
    /// Devices of its further disks that it would leave behind.
    pub(crate) kept: Vec<String>,
}

/// The root disk of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Root {
    /// Where it is attached.
    pub(crate) device: String,
    /// As large as the image itself, in GiB.
    pub(crate) size: Option<i32>,
}

/// How a spec names an image.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Named<'a> {
    Id(&'a str),
    Parameter(&'a str),
    Newest { owner: &'a str, name: &'a str },
}

impl<'a> Named<'a> {
    fn read(text: &'a str) -> Option<Self> {
        if text.starts_with("ami-") && !text.contains('/') {
            return Some(Named::Id(text));
        }
        if let Some(path) = text.strip_prefix("ssm:") {
            return (!path.is_empty()).then_some(Named::Parameter(path));
        }
        let (owner, name) = text.split_once('/')?;
        (!owner.is_empty() && !name.is_empty()).then_some(Named::Newest { owner, name })
    }
}

/// Whether a name stands for different images on different architectures.
pub(crate) fn depends_on_architecture(named: Option<&str>) -> bool {
    named.unwrap_or(DEFAULT).contains(ARCH)
}

/// The SSM parameter that has to be read for an image, whatever the architecture.
pub(crate) fn parameter_path(named: Option<&str>) -> Option<String> {
    match Named::read(named.unwrap_or(DEFAULT)) {
        Some(Named::Parameter(path)) => Some(path.replace(ARCH, "*")),
        Some(Named::Id(_) | Named::Newest { .. }) | None => None,
    }
}

/// Finds the image that a template asks for, once per run.
pub(crate) async fn find(
    site: &Site,
    named: Option<&str>,
    of: &InstanceType,
) -> Result<Image, Error> {
    let mut name = named.unwrap_or(DEFAULT).to_owned();
    if name.contains(ARCH) {
        name = name.replace(ARCH, architecture(site, of).await?);
    }
    if let Some(known) = site.known_image(&name).await {
        return Ok(known);
    }
    let image = match Named::read(&name) {
        Some(Named::Id(id)) => by_id(site, id).await?,
        Some(Named::Parameter(path)) => by_id(site, &parameter(site, path).await?).await?,
        Some(Named::Newest { owner, name }) => newest(site, owner, name).await?,
        None => {
            let words = format!("`{name}` is not an image id, ssm:/path or owner/name");
            return Err(refused(Class::Invalid, "BadImageName", words));
        }
    };
    Ok(site.keep_image(name, image).await)
}

async fn architecture(site: &Site, of: &InstanceType) -> Result<&'static str, Error> {
    let types = site.types(&BTreeSet::from([of])).await?;
    Ok(types.get(of).map_or("x86_64", |facts| facts.architecture))
}

async fn parameter(site: &Site, path: &str) -> Result<String, Error> {
    let ssm = aws_sdk_ssm::Client::new(&site.config);
    let answer = ssm.get_parameter().name(path).send().await;
    let answer = answer.map_err(|error| read(Asked::Read, error))?;
    let id = answer.parameter.and_then(|parameter| parameter.value);
    id.filter(|id| id.starts_with("ami-")).ok_or_else(|| {
        refused(Class::Invalid, "BadImageParameter", format!("{path} does not hold an image id"))
    })
}

async fn by_id(site: &Site, id: &str) -> Result<Image, Error> {
    let asked = DescribeImagesInputBuilder::default().image_ids(id);
    let answer = asked.send_with(&site.ec2).await.map_err(|error| read(Asked::Read, error))?;
    latest(&answer).ok_or_else(|| refused(Class::Invalid, "InvalidAMIID.NotFound", id))
}

async fn newest(site: &Site, owner: &str, name: &str) -> Result<Image, Error> {
    let state = ImageState::Available.as_str();
    let asked = DescribeImagesInputBuilder::default()
        .owners(owner)
        .filters(Filter::builder().name("name").values(name).build())
        .filters(Filter::builder().name("state").values(state).build());
    let answer = asked.send_with(&site.ec2).await.map_err(|error| read(Asked::Read, error))?;
    latest(&answer).ok_or_else(|| {
        let words = format!("{owner} has no image named {name} in {}", site.region);
        refused(Class::Invalid, "InvalidAMIID.NotFound", words)
    })
}

/// The newest of some images; of two made at the same time, the one with the greater id.
fn latest(answer: &DescribeImagesOutput) -> Option<Image> {
    let newest =
        answer.images().iter().max_by_key(|image| (image.creation_date(), image.image_id()))?;
    let is_disk = newest.root_device_type() != Some(&DeviceType::InstanceStore);
    let disks = newest.block_device_mappings();
    let root = newest.root_device_name().filter(|_| is_disk).map(|device| root(device, disks));
    let is_root =
        |device: &str| root.as_ref().is_some_and(|root: &Root| root.device.as_str() == device);
    // What goes with its machine anyway is left as the image has it.
    let stays = |disk: &&BlockDeviceMapping| {
        disk.ebs().is_some_and(|volume| volume.delete_on_termination() != Some(true))
    };
    let devices = disks.iter().filter(stays).filter_map(|disk| disk.device_name());
    let kept = devices.filter(|device| !is_root(device)).map(str::to_owned).collect();
    Some(Image { id: newest.image_id()?.to_owned(), root, kept })
}

/// The root disk. The name of the root device is not always among the devices (`/dev/sda1` against
/// `/dev/sda`): the first disk is the root then, as a device of a new name would be a second disk.
fn root(device: &str, disks: &[BlockDeviceMapping]) -> Root {
    let mut volumes = disks.iter().filter(|disk| disk.ebs().is_some());
    let named = disks.iter().find(|disk| disk.device_name() == Some(device));
    let disk = named.or_else(|| volumes.next());
    let size = disk.and_then(|disk| disk.ebs()).and_then(|volume| volume.volume_size());
    let device = disk.and_then(|disk| disk.device_name()).unwrap_or(device);
    Root { device: device.to_owned(), size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_sdk_ec2::types::{EbsBlockDevice, Image as Described};

    #[test]
    fn names_of_images() {
        assert_eq!(Named::read("ami-1"), Some(Named::Id("ami-1")));
        assert_eq!(Named::read("ssm:/a/b"), Some(Named::Parameter("/a/b")));
        let newest = Named::Newest { owner: "099720109477", name: "ubuntu/images/*" };
        assert_eq!(Named::read("099720109477/ubuntu/images/*"), Some(newest));
        for bad in ["", "ubuntu", "ssm:", "/x", "x/"] {
            assert_eq!(Named::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_newest_image_whatever_the_order() {
        let disk = |device: &str, size| {
            let volume = EbsBlockDevice::builder().volume_size(size).build();
            BlockDeviceMapping::builder().device_name(device).ebs(volume).build()
        };
        let image = |id: &str, date: &str, root: DeviceType| {
            Described::builder()
                .block_device_mappings(disk("/dev/sdb", 500))
                .block_device_mappings(disk("/dev/xvda", 8))
                .image_id(id)
                .creation_date(date)
                .root_device_name("/dev/xvda")
                .root_device_type(root)
                .build()
        };
        let mut all = vec![
            image("ami-1", "2026-01-01T00:00:00.000Z", DeviceType::Ebs),
            image("ami-3", "2026-03-01T00:00:00.000Z", DeviceType::Ebs),
            image("ami-2", "2026-03-01T00:00:00.000Z", DeviceType::Ebs),
        ];
        let root = Root { device: "/dev/xvda".into(), size: Some(8) };
        let found = Image { id: "ami-3".into(), root: Some(root), kept: vec!["/dev/sdb".into()] };
        for _ in 0..all.len() {
            all.rotate_left(1);
            let answer = DescribeImagesOutput::builder().set_images(Some(all.clone())).build();
            assert_eq!(latest(&answer), Some(found.clone()));
        }
        let old = vec![image("ami-9", "2009", DeviceType::InstanceStore)];
        let answer = DescribeImagesOutput::builder().set_images(Some(old)).build();
        assert_eq!(latest(&answer).and_then(|image| image.root), None);
    }

    #[test]
    fn a_root_that_is_not_among_the_devices_is_the_first_disk() {
        let disk = |device: &str, gone: Option<bool>| {
            let volume =
                EbsBlockDevice::builder().volume_size(30).set_delete_on_termination(gone).build();
            BlockDeviceMapping::builder().device_name(device).ebs(volume).build()
        };
        let image = Described::builder()
            .image_id("ami-1")
            .root_device_name("/dev/sda1")
            .block_device_mappings(BlockDeviceMapping::builder().device_name("/dev/sdx").build())
            .block_device_mappings(disk("/dev/sda", Some(false)))
            .block_device_mappings(disk("/dev/sdb", Some(true)))
            .block_device_mappings(disk("/dev/sdc", None))
            .build();
        let found = latest(&DescribeImagesOutput::builder().images(image).build()).expect("one");
        assert_eq!(found.root, Some(Root { device: "/dev/sda".into(), size: Some(30) }));
        assert_eq!(found.kept, ["/dev/sdc"]);
    }
}
