//! Requests as the tests of providers make them.

use fleet_model::{
    Create, FleetName, FleetUid, Group, Machine, PoolId, SlotId, SlotName, Template, Token, Victim,
};
use fleet_provider::{CreateRequest, Created, DestroyRequest, Destroyed, Error, Listing, Provider};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A request for one machine.
pub fn ask(pool: &PoolId, token: &str, template: &Template) -> Create {
    let name = SlotName { group: Group::Base, ordinal: 0 };
    Create {
        pool: pool.clone(),
        slots: vec![SlotId { name, generation: 1 }],
        token: Token::new(token),
        price: None,
        max_price: None,
        template: template.digest(),
        image: None,
        others: Vec::new(),
    }
}

/// Machines as a destroy names them. Those without an owner cannot be named.
pub fn victims(machines: &[Machine]) -> Vec<Victim> {
    let victim = |machine: &Machine| {
        Some(Victim {
            machine: machine.id.clone(),
            slot: machine.owner.as_ref()?.slot,
            launched_at: machine.launched_at,
            price: None,
        })
    };
    machines.iter().filter_map(victim).collect()
}

/// A provider, and what is asked of it.
pub struct Asks {
    /// The provider.
    pub provider: Arc<dyn Provider>,
    /// Where.
    pub pool: PoolId,
    /// How machines are made.
    pub template: Template,
}

impl Asks {
    /// Launches one machine for the fleet `uid`.
    pub async fn create(&self, create: &Create) -> Result<Created, Error> {
        self.create_from(create, &self.template).await
    }

    /// The same from another template.
    pub async fn create_from(
        &self,
        create: &Create,
        template: &Template,
    ) -> Result<Created, Error> {
        let request = CreateRequest {
            fleet: &FleetUid::new("uid"),
            name: &FleetName::new("web"),
            labels: &BTreeMap::from([("Team.Name".to_owned(), "shop".to_owned())]),
            create,
            template,
        };
        self.provider.create(&request).await
    }

    /// A request for one machine in the pool.
    pub fn ask(&self, token: &str) -> Create {
        ask(&self.pool, token, &self.template)
    }

    /// Ends machines of the fleet `uid`.
    pub async fn destroy(&self, victims: &[Victim]) -> Result<Destroyed, Error> {
        let fleet = FleetUid::new("uid");
        let scope = self.pool.place.scope();
        self.provider.destroy(&DestroyRequest { fleet: &fleet, scope: &scope, victims }).await
    }

    /// Every machine of the pool's scope; `None` if the list is not complete.
    pub async fn list(&self) -> Option<Vec<Machine>> {
        match self.provider.machines(&self.pool.place.scope()).await {
            Ok(Listing::Complete(machines)) => Some(machines),
            Ok(Listing::Partial(..)) | Err(_) => None,
        }
    }
}
