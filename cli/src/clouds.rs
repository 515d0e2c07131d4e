//! The real clouds that this build knows.

use fleet_model::Cloud;
use fleet_provider::{Clock, Provider};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A provider for each of them. None of them is reached before it is asked something.
pub(crate) fn real(clock: &Arc<dyn Clock>) -> BTreeMap<Cloud, Arc<dyn Provider>> {
    let all = [aws(clock), gcp(clock)];
    all.into_iter().flatten().map(|provider| (provider.cloud(), provider)).collect()
}

#[cfg(feature = "aws")]
fn aws(clock: &Arc<dyn Clock>) -> Option<Arc<dyn Provider>> {
    let settings = fleet_aws::AwsSettings::from_environment();
    Some(Arc::new(fleet_aws::Aws::new(settings, clock.clone())))
}

#[cfg(not(feature = "aws"))]
fn aws(_: &Arc<dyn Clock>) -> Option<Arc<dyn Provider>> {
    None
}

#[cfg(feature = "gcp")]
fn gcp(clock: &Arc<dyn Clock>) -> Option<Arc<dyn Provider>> {
    let settings = fleet_gcp::GcpSettings::from_environment();
    Some(Arc::new(fleet_gcp::Gcp::new(settings, clock.clone())))
}

#[cfg(not(feature = "gcp"))]
fn gcp(_: &Arc<dyn Clock>) -> Option<Arc<dyn Provider>> {
    None
}
