//! What the ledger wants to know of a look: how prices moved, and when machines ran that are gone.

use crate::apply::session::Session;
use crate::error::RunError;
use fleet_core::{prices_seen, readings_wanted};
use fleet_model::{Cloud, Inputs, MachineId, PoolId, Scope, Timestamp};
use fleet_provider::ReadingsRequest;
use futures::future::join_all;

impl Session<'_> {
    /// Asks the clouds. One that does not tell leaves the ledger with what we noticed ourselves.
    pub(crate) async fn read_meters(&self, inputs: &mut Inputs) {
        let wanted = readings_wanted(inputs);
        let asked = self.engine.providers.iter().map(|(cloud, provider)| {
            let of_cloud = |here: Cloud| here == *cloud;
            let pools: Vec<(PoolId, Timestamp)> = wanted
                .pools
                .iter()
                .filter(|(pool, _)| of_cloud(pool.place.cloud))
                .cloned()
                .collect();
            let gone: Vec<(MachineId, Scope)> =
                wanted.gone.iter().filter(|(_, scope)| of_cloud(scope.cloud)).cloned().collect();
            async move {
                if pools.is_empty() && gone.is_empty() {
                    return None;
                }
                let request = ReadingsRequest { pools: &pools, gone: &gone };
                let asked = provider.readings(&request);
                match self.engine.calls.measured.cloud(*cloud, "readings", asked).await {
                    Ok(readings) => Some(readings),
                    Err(error) => {
                        tracing::warn!(%cloud, %error, "what was spent there is an estimate");
                        None
                    }
                }
            }
        });
        let readings = &mut inputs.observed.readings;
        for told in join_all(asked).await.into_iter().flatten() {
            readings.prices.extend(told.prices);
            readings.ran.extend(told.ran);
        }
    }

    /// Writes down prices that moved, where no round of changes did. `begun`: a round has opened the epoch.
    pub(crate) async fn note_prices(
        &self,
        holder: &str,
        inputs: &Inputs,
        begun: bool,
    ) -> Result<(), RunError> {
        let Some(priced) = prices_seen(inputs) else { return Ok(()) };
        // A fleet that never had a machine has no bill, and no first record yet.
        if inputs.recorded.uid.is_none() {
            return Ok(());
        }
        // Nothing depends on it: who lost the lease leaves it to the next run.
        if !self.lease.is_held() {
            return Ok(());
        }
        if !begun {
            self.open_epoch(holder).await?;
        }
        Ok(self.record(vec![priced]).await?)
    }
}
