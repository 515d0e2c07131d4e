//! What a launch must know of an instance type.

use crate::error::{Asked, read, refused};
use aws_sdk_ec2::operation::describe_instance_types::builders::DescribeInstanceTypesInputBuilder;
use aws_sdk_ec2::types::{Filter, InstanceTypeInfo};
use fleet_model::InstanceType;
use fleet_provider::{Class, Error};

/// Values that one filter may hold.
const VALUES: usize = 200;

/// As many as a page may hold.
const PAGE: i32 = 100;

/// Far more than there are.
const PAGES: usize = 100;

/// One type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Without any special options.
    pub(crate) vcpus: u64,
    /// As SSM paths write it.
    pub(crate) architecture: &'static str,
    /// Network cards that take an EFA interface; none: it has no EFA.
    pub(crate) efa_cards: Vec<i32>,
}

/// Asks for some types. By filter: a type that EC2 does not know fails the call if it is named
/// outright.
pub(crate) async fn facts(
    ec2: &aws_sdk_ec2::Client,
    types: &[&InstanceType],
) -> Result<Vec<(InstanceType, Facts)>, Error> {
    let mut found = Vec::new();
    for types in types.chunks(VALUES) {
        let values = types.iter().map(|kind| kind.to_string()).collect();
        let filter = Filter::builder().name("instance-type").set_values(Some(values)).build();
        let asked = DescribeInstanceTypesInputBuilder::default().filters(filter).max_results(PAGE);
        found.extend(all(ec2, asked).await?.iter().filter_map(of));
    }
    Ok(found)
}

/// Every page of a question.
pub(crate) async fn all(
    ec2: &aws_sdk_ec2::Client,
    asked: DescribeInstanceTypesInputBuilder,
) -> Result<Vec<InstanceTypeInfo>, Error> {
    let mut found = Vec::new();
    let mut page = None;
    for _ in 0..PAGES {
        let request = asked.clone().set_next_token(page);
        let answer = request.send_with(ec2).await.map_err(|error| read(Asked::Read, error))?;
        found.extend(answer.instance_types.unwrap_or_default());
        page = answer.next_token.filter(|token| !token.is_empty());
        if page.is_none() {
            return Ok(found);
        }
    }
    Err(refused(Class::Retry { after: None }, "EndlessList", "the list of types has no end"))
}

fn of(info: &InstanceTypeInfo) -> Option<(InstanceType, Facts)> {
    let name = info.instance_type()?.as_str().into();
    let arm = info
        .processor_info()
        .into_iter()
        .flat_map(|processor| processor.supported_architectures())
        .any(|architecture| architecture.as_str().starts_with("arm64"));
    let network = info.network_info();
    let efa = network.and_then(|network| network.efa_supported()).unwrap_or(false);
    let most = network
        .and_then(|network| network.efa_info())
        .and_then(|efa| efa.maximum_efa_interfaces())
        .unwrap_or(1);
    let cards = network.map_or(&[][..], |network| network.network_cards());
    let mut efa_cards: Vec<i32> =
        cards.iter().filter_map(|card| card.network_card_index()).collect();
    efa_cards.sort_unstable();
    if efa_cards.is_empty() {
        efa_cards.push(0);
    }
    efa_cards.truncate(usize::try_from(most).unwrap_or(1));
    let efa_cards = if efa { efa_cards } else { Vec::new() };
    let vcpus = info.v_cpu_info().and_then(|cpus| cpus.default_v_cpus()).unwrap_or_default();
    let vcpus = u64::try_from(vcpus).unwrap_or_default();
    let architecture = if arm { "arm64" } else { "x86_64" };
    Some((name, Facts { vcpus, architecture, efa_cards }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_sdk_ec2::types::{
        ArchitectureType, EfaInfo, NetworkCardInfo, NetworkInfo, ProcessorInfo, VCpuInfo,
    };

    #[test]
    fn architectures_and_network_cards() {
        let arm = ProcessorInfo::builder().supported_architectures(ArchitectureType::Arm64);
        let plain = InstanceTypeInfo::builder()
            .instance_type("m7g.large".into())
            .processor_info(arm.build())
            .v_cpu_info(VCpuInfo::builder().default_v_cpus(2).build())
            .build();
        let facts = Facts { vcpus: 2, architecture: "arm64", efa_cards: vec![] };
        assert_eq!(of(&plain), Some(("m7g.large".into(), facts)));
        let card = |at| NetworkCardInfo::builder().network_card_index(at).build();
        let network = NetworkInfo::builder()
            .efa_supported(true)
            .efa_info(EfaInfo::builder().maximum_efa_interfaces(2).build())
            .set_network_cards(Some(vec![card(1), card(0), card(2)]))
            .build();
        let fast = InstanceTypeInfo::builder()
            .instance_type("p5.48xlarge".into())
            .network_info(network)
            .build();
        let facts = Facts { vcpus: 0, architecture: "x86_64", efa_cards: vec![0, 1] };
        assert_eq!(of(&fast), Some(("p5.48xlarge".into(), facts)));
    }
}
