//! The adapter.

use crate::api::{Api, COMPUTE};
use crate::children::Children;
use crate::create::Launch;
use crate::error::refused;
use crate::image::Images;
use crate::launch::{Found, check};
use crate::names::{Group, KEYS};
use crate::network::Networks;
use crate::power::Power;
use crate::session::AzureSettings;
use crate::skus::{Skus, find};
use crate::wire::{Resource, Vm};
use crate::{
    addresses, children, doctor, machines, names, offerings, prices, relabel, terminate, trace,
};
use async_trait::async_trait;
use fleet_model::{Access, Cloud, Machine, MachineId, MachineState, Market, Orphans, Scope};
use fleet_provider::{
    Accounts, Answers, Class, ClearRequest, Clock, CreateRequest, Created, DestroyRequest,
    Destroyed, Error, Examination, ExamineRequest, Handover, Listed, Listing, Offered,
    OfferingsRequest, PriceListRequest, Provider, RelabelRequest, TraceRequest, Traced,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A resource group of a subscription.
pub struct Azure {
    api: Api,
    skus: Skus,
    networks: Networks,
    images: Images,
    answers: Arc<Answers>,
    ended: terminate::Ended,
    power: Power,
    children: Children,
}

impl Azure {
    /// An adapter. Credentials are looked for at the first call.
    pub fn new(settings: AzureSettings, clock: Arc<dyn Clock>) -> Self {
        let api = Api::new(settings, clock);
        Azure {
            api,
            skus: Skus::default(),
            networks: Networks::default(),
            images: Images::default(),
            answers: Arc::default(),
            ended: terminate::Ended::default(),
            power: Power::default(),
            children: Children::default(),
        }
    }

    /// How Resource Manager is asked.
    pub(crate) fn api(&self) -> &Api {
        &self.api
    }

    /// The same, with scores and rates remembered as others remember theirs.
    pub fn remembering(mut self, answers: Arc<Answers>) -> Self {
        self.answers = answers;
        self
    }

    /// The same for every subscription that a spec names.
    pub fn of_subscriptions(
        settings: AzureSettings,
        clock: Arc<dyn Clock>,
        answers: Arc<Answers>,
    ) -> Accounts {
        let one = move |settings| Azure::new(settings, clock.clone()).remembering(answers.clone());
        let home = Arc::new(one(settings.clone()));
        Accounts::new(home, move |id| Arc::new(one(settings.for_subscription(id))))
    }

    /// The public key itself: as it stands, or from a resource that holds it.
    async fn key(&self, group: &Group, text: &str) -> Result<String, Error> {
        if text.contains(' ') {
            return usable(text);
        }
        let path = group.named(KEYS, text);
        let found = self.api.find::<Resource>(&path, COMPUTE).await?;
        let key = found.and_then(|found| Some(found.properties["publicKey"].as_str()?.to_owned()));
        let key = key.ok_or_else(|| {
            let words = format!("`{text}` is neither a public key nor an sshPublicKeys resource");
            refused(Class::Invalid, "KeyNotFound", words)
        })?;
        usable(&key)
    }

    /// Every machine of the group, with what those do of which something may be wrong.
    async fn look(&self) -> Result<Vec<Vm>, Error> {
        self.children.forget().await;
        let mut all = machines::all(&self.api).await?;
        self.power.look(&self.api, &self.api.group()?, &mut all).await;
        Ok(all)
    }

    /// What is in a scope, of the machines that a list has there.
    fn listing(&self, scope: &Scope, all: &[Vm]) -> Listing {
        let mut list: Vec<Machine> = all.iter().filter_map(machines::machine).collect();
        let unreadable = all.len() - list.len();
        // Lists show for a while what is gone.
        for machine in list.iter_mut().filter(|machine| self.ended.is_over(machine)) {
            machine.state = MachineState::Terminated;
        }
        let gone = self.ended.lately(scope, self.api.clock.now());
        list.extend(gone.into_iter().filter(|machine| !all.iter().any(|vm| is(vm, machine))));
        match unreadable {
            0 => Listing::Complete(list),
            n => Listing::Partial(list, format!("{n} machines cannot be read")),
        }
    }

    /// Every region that the spec's words allow and the subscription knows.
    async fn regions(&self, request: &PriceListRequest<'_>) -> Result<Vec<String>, Error> {
        let path = format!("/subscriptions/{}/locations", self.api.group()?.subscription);
        let all: Vec<Resource> = self.api.list(&path, &[("api-version", "2022-12-01")]).await?;
        let wanted = |region: &str| {
            request.regions.is_empty() || request.regions.iter().any(|p| p.matches(region))
        };
        Ok(all.iter().map(|place| names::region(&place.name)).filter(|r| wanted(r)).collect())
    }
}

/// A key of a kind that Azure takes: RSA and Ed25519. ECDSA it refuses, one launch after the other.
fn usable(key: &str) -> Result<String, Error> {
    let key = key.trim();
    if ["ssh-rsa ", "ssh-ed25519 "].iter().any(|kind| key.starts_with(kind)) {
        return Ok(key.to_owned());
    }
    let words = "azure takes SSH keys of the kinds ssh-rsa and ssh-ed25519 only";
    Err(refused(Class::Invalid, "BadKey", words))
}

/// Whether a machine that was listed is the one meant.
fn is(vm: &Vm, machine: &Machine) -> bool {
    vm.name.eq_ignore_ascii_case(machine.id.as_str())
}

#[async_trait]
impl Provider for Azure {
    fn cloud(&self) -> Cloud {
        Cloud::Azure
    }

    async fn offerings(&self, request: &OfferingsRequest<'_>) -> Result<Offered, Error> {
        offerings::Sources {
            api: &self.api,
            skus: &self.skus,
            networks: &self.networks,
            images: &self.images,
            answers: &self.answers,
        }
        .offerings(request)
        .await
    }

    async fn machines(&self, scope: &Scope) -> Result<Listing, Error> {
        let mut all = self.look().await?;
        all.retain(|vm| names::region(&vm.location) == scope.region.as_str());
        Ok(self.listing(scope, &all))
    }

    /// One list of the group serves all its regions.
    async fn list(&self, scopes: &[Scope]) -> Vec<Result<Listing, Error>> {
        let mut regions: BTreeMap<String, Vec<Vm>> = BTreeMap::new();
        match self.look().await {
            Ok(all) => all.into_iter().for_each(|vm| {
                regions.entry(names::region(&vm.location)).or_default().push(vm);
            }),
            Err(error) => return vec![Err(error); scopes.len()],
        }
        let here = |scope: &Scope| regions.get(scope.region.as_str()).map_or(&[][..], |vms| vms);
        scopes.iter().map(|scope| Ok(self.listing(scope, here(scope)))).collect()
    }

    async fn trace(&self, request: &TraceRequest<'_>) -> Result<Vec<Traced>, Error> {
        trace::trace(&self.api, request).await
    }

    async fn made(&self, request: &CreateRequest<'_>) -> Result<Vec<Machine>, Error> {
        trace::made(&self.api, request).await
    }

    async fn identity(&self, _: &Scope) -> Result<Option<String>, Error> {
        Ok(Some(self.api.group()?.subscription))
    }

    async fn addresses(&self, machines: &[&Machine]) -> Result<BTreeMap<MachineId, Access>, Error> {
        addresses::of(&self.api, machines).await
    }

    async fn orphans(&self, scope: &Scope) -> Result<Vec<Orphans>, Error> {
        self.children.orphans(&self.api, scope).await
    }

    async fn clear(&self, request: &ClearRequest<'_>) -> Result<u32, Error> {
        self.children.forget().await;
        children::clear(&self.api, request).await
    }

    async fn create(&self, request: &CreateRequest<'_>) -> Result<Created, Error> {
        if request.create.slots.is_empty() {
            return Ok(Created { machines: Vec::new(), shortfall: None, refusals: Vec::new() });
        }
        let slot = check(request)?;
        let pool = &request.create.pool;
        let (template, region) = (request.template, &pool.place.region);
        let reservation = self.api.settings.reservation_group.as_deref();
        if pool.market == Market::Reserved && reservation.is_none() {
            let words = "no capacity reservation group: set FLEET_AZURE_RESERVATION_GROUP";
            return Err(refused(Class::Invalid, "NoReservation", words));
        }
        let plug = self.networks.find(&self.api, template, region).await?;
        let key = self.key(&plug.group, template.key.as_deref().unwrap_or_default()).await?;
        let of = &plug.group.subscription;
        let sizes = self.skus.of(&self.api, of, region.as_str()).await?;
        let Some(sku) = find(&sizes, &pool.instance_type) else {
            let words = format!("{region} does not sell {}", pool.instance_type);
            return Err(refused(Class::Invalid, "VMSizeNotSupported", words));
        };
        let found = Found {
            plug: &plug,
            key: &key,
            fast_network: sku.has_fast_network(),
            arm: sku.is_arm(),
            reservation,
        };
        Launch { api: &self.api, asked: request, slot, found }.carry_out().await
    }

    async fn destroy(&self, request: &DestroyRequest<'_>) -> Result<Destroyed, Error> {
        if request.victims.is_empty() {
            return Ok(Destroyed::default());
        }
        self.children.forget().await;
        terminate::end(&self.api, &self.ended, request).await
    }

    async fn relabel(&self, request: &RelabelRequest<'_>) -> Result<Vec<MachineId>, Error> {
        relabel::relabel(&self.api, request).await
    }

    fn handover(&self) -> Result<&dyn Handover, Error> {
        Ok(self)
    }

    async fn examine(&self, request: &ExamineRequest<'_>) -> Examination {
        doctor::examine(&self.api, &self.skus, &self.networks, request).await
    }

    async fn price_list(&self, request: &PriceListRequest<'_>) -> Result<Vec<Listed>, Error> {
        let group = self.api.group()?;
        let mut listed = Vec::new();
        for region in self.regions(request).await? {
            let sizes = self.skus.of(&self.api, &group.subscription, &region).await?;
            let prices = prices::ask(&self.api, &region, &[]).await?;
            for (name, sku) in sizes.iter() {
                let price = prices.get(name).copied().unwrap_or_default();
                // The region as a whole, and each zone: both can be asked for.
                let zones = sku.zones(&region);
                for zone in std::iter::once(None).chain(zones.into_iter().map(Some)) {
                    listed.push(Listed {
                        kind: sku.kind(),
                        place: machines::place(&region, zone),
                        on_demand: price.on_demand,
                        spot: price.spot.filter(|_| sku.has_spot()),
                        has_spot: sku.has_spot(),
                    });
                }
            }
        }
        Ok(listed)
    }
}
