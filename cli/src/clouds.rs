//! The real clouds that this build knows.

use fleet_model::Cloud;
use fleet_provider::{Clock, Provider};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A provider for each of them. None of them is reached before it is asked something.
pub(crate) fn real(clock: &Arc<dyn Clock>) -> BTreeMap<Cloud, Arc<dyn Provider>> {
    let mut clouds: BTreeMap<Cloud, Arc<dyn Provider>> = BTreeMap::new();
    #[cfg(feature = "aws")]
    {
        let settings = fleet_aws::AwsSettings::from_environment();
        clouds.insert(Cloud::Aws, Arc::new(fleet_aws::Aws::new(settings, clock.clone())));
    }
    clouds
}
