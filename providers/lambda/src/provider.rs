//! The adapter.

use crate::api::Api;
use crate::session::LambdaSettings;
use crate::wire::Kinds;
use crate::{doctor, launch, machines, offerings, prices, regional, terminate, trace};
use async_trait::async_trait;
use fleet_model::{Cloud, Machine, PoolId, Quote, Scope};
use fleet_provider::{
    Clock, CreateRequest, Created, DestroyRequest, Destroyed, Error, Examination, ExamineRequest,
    Handover, LAMBDA_KEEPS_TAGS, Listed, Listing, Offered, OfferingsRequest, PriceListRequest,
    Provider, TraceRequest, Traced, no_handover,
};
use std::sync::Arc;
use tokio::sync::Mutex;

/// An account of Lambda Cloud.
pub struct Lambda {
    api: Api,
    clock: Arc<dyn Clock>,
    /// Whoever launches holds it: between the look before a launch and the look after it nobody
    /// else may launch.
    launching: Mutex<launch::Sent>,
}

impl Lambda {
    /// An adapter. Nothing is asked before the first call.
    pub fn new(settings: LambdaSettings, clock: Arc<dyn Clock>) -> Self {
        Lambda { api: Api::new(settings, clock.clone()), clock, launching: Mutex::default() }
    }
}

#[async_trait]
impl Provider for Lambda {
    fn cloud(&self) -> Cloud {
        Cloud::Lambda
    }

    async fn offerings(&self, request: &OfferingsRequest<'_>) -> Result<Offered, Error> {
        let kinds: Kinds = self.api.get("instance-types").await?;
        let found = regional::look(&self.api, request.template).await?;
        // In the list that prices come with: what is ignored was not asked for on its own.
        let ignore = request.ignore;
        let quote = |pool| {
            let quote = offerings::quote(pool, request.template, &kinds, &found)?;
            Some(Quote { signals: quote.signals.without(ignore), ..quote })
        };
        // Limits of the account are told nowhere.
        Ok(Offered { quotes: request.pools.iter().map(quote).collect(), quotas: Vec::new() })
    }

    async fn market(&self, pools: &[PoolId]) -> Result<Vec<Option<Quote>>, Error> {
        let kinds: Kinds = self.api.get("instance-types").await?;
        Ok(pools.iter().map(|pool| offerings::offer(pool, &kinds)).collect())
    }

    async fn machines(&self, scope: &Scope) -> Result<Listing, Error> {
        let all = machines::all(&self.api).await?;
        Ok(machines::listing(&all, scope, self.clock.now()))
    }

    /// One call: the account is listed as a whole, and each call takes a second.
    async fn list(&self, scopes: &[Scope]) -> Vec<Result<Listing, Error>> {
        let (all, now) = (machines::all(&self.api).await, self.clock.now());
        let here = |scope| match &all {
            Ok(all) => Ok(machines::listing(all, scope, now)),
            Err(error) => Err(error.clone()),
        };
        scopes.iter().map(here).collect()
    }

    async fn trace(&self, request: &TraceRequest<'_>) -> Result<Vec<Traced>, Error> {
        trace::trace(&self.api, request, self.clock.now()).await
    }

    /// Lambda takes no question by name: its list is all there is.
    async fn made(&self, request: &CreateRequest<'_>) -> Result<Vec<Machine>, Error> {
        let token = &request.create.token;
        let now = self.clock.now();
        let all = machines::all(&self.api).await?;
        let all = all.iter().filter(|one| !machines::is_over(one));
        let ours = |m: &Machine| m.owner.as_ref().is_some_and(|owner| owner.token == *token);
        Ok(all.map(|instance| machines::machine(instance, now)).filter(ours).collect())
    }

    /// Nothing in Lambda's API tells whose account a key is of.
    /// Lambda does not tell; whether there is a key is known before anybody is asked.
    async fn identity(&self, _: &Scope) -> Result<Option<String>, Error> {
        self.api.key().map(|_| None)
    }

    async fn create(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        if request.create.slots.is_empty() {
            return Ok(Created { machines: Vec::new(), shortfall: None, refusals: Vec::new() });
        }
        let entered = self.clock.steady();
        let slot = launch::check(request)?;
        let mut sent = self.launching.lock().await;
        launch::launch(&self.api, &*self.clock, &mut sent, request, slot, entered).await
    }

    async fn destroy(&self, request: &DestroyRequest<'_>) -> Result<Destroyed, Error> {
        if request.victims.is_empty() {
            return Ok(Destroyed::default());
        }
        terminate::end(&self.api, request, self.clock.now()).await
    }

    fn handover(&self) -> Result<&dyn Handover, Error> {
        Err(no_handover(Cloud::Lambda, LAMBDA_KEEPS_TAGS))
    }

    async fn examine(&self, request: &ExamineRequest<'_>) -> Examination {
        doctor::examine(&self.api, request).await
    }

    async fn price_list(&self, request: &PriceListRequest<'_>) -> Result<Vec<Listed>, Error> {
        let kinds: Kinds = self.api.get("instance-types").await?;
        Ok(prices::list(&kinds, request.regions))
    }
}
