//! The real clouds that this build knows.

use fleet_model::Cloud;
use fleet_provider::{Answers, Clock, Provider};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A provider for each of them. None of them is reached before it is asked something. Prices and signals
/// that are worth remembering between runs go into the folder.
pub(crate) fn real(clock: &Arc<dyn Clock>, folder: &Path) -> BTreeMap<Cloud, Arc<dyn Provider>> {
    let answers = Arc::new(Answers::at(folder.join("signals.json")));
    let all = [aws(clock, &answers), azure(clock, &answers), gcp(clock, &answers), lambda(clock)];
    all.into_iter().flatten().map(|provider| (provider.cloud(), provider)).collect()
}

#[cfg(feature = "aws")]
fn aws(clock: &Arc<dyn Clock>, answers: &Arc<Answers>) -> Option<Arc<dyn Provider>> {
    let settings = fleet_aws::AwsSettings::from_environment();
    let provider = fleet_aws::Aws::new(settings, clock.clone());
    Some(Arc::new(provider.remembering(answers.clone()).of_accounts()))
}

#[cfg(not(feature = "aws"))]
fn aws(_: &Arc<dyn Clock>, _: &Arc<Answers>) -> Option<Arc<dyn Provider>> {
    None
}

#[cfg(feature = "azure")]
fn azure(clock: &Arc<dyn Clock>, answers: &Arc<Answers>) -> Option<Arc<dyn Provider>> {
    let settings = fleet_azure::AzureSettings::from_environment();
    Some(Arc::new(fleet_azure::Azure::of_subscriptions(settings, clock.clone(), answers.clone())))
}

#[cfg(not(feature = "azure"))]
fn azure(_: &Arc<dyn Clock>, _: &Arc<Answers>) -> Option<Arc<dyn Provider>> {
    None
}

#[cfg(feature = "lambda")]
fn lambda(clock: &Arc<dyn Clock>) -> Option<Arc<dyn Provider>> {
    let settings = fleet_lambda::LambdaSettings::from_environment();
    Some(Arc::new(fleet_lambda::Lambda::new(settings, clock.clone())))
}

#[cfg(not(feature = "lambda"))]
fn lambda(_: &Arc<dyn Clock>) -> Option<Arc<dyn Provider>> {
    None
}

#[cfg(feature = "gcp")]
fn gcp(clock: &Arc<dyn Clock>, answers: &Arc<Answers>) -> Option<Arc<dyn Provider>> {
    let settings = fleet_gcp::GcpSettings::from_environment();
    Some(Arc::new(fleet_gcp::Gcp::of_projects(settings, clock.clone(), answers.clone())))
}

#[cfg(not(feature = "gcp"))]
fn gcp(_: &Arc<dyn Clock>, _: &Arc<Answers>) -> Option<Arc<dyn Provider>> {
    None
}
