//! What a rejection is about: a rule of defaults, the reach of a refusal.

use crate::output::words::{Architecture, Market, Operation, Provider};
use fleet_model as model;
use schemars::JsonSchema;
use serde::Serialize;

/// What a spec that does not say otherwise leaves out.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DefaultRule {
    /// Types that run at a fraction of their speed when their credits are spent.
    Burstable,
    /// Machines of less than two vCPUs.
    Small,
    /// Machines with accelerators, for a fleet that asks for none.
    Accelerated,
    /// Slices that span several hosts.
    SeveralHosts,
    /// Regions for some customers only.
    RestrictedRegion,
    /// The other instruction set.
    Architecture {
        /// The fleet's.
        fleet: Architecture,
    },
    /// Another accelerator than the rest of the fleet has.
    Accelerator {
        /// The fleet's.
        fleet: String,
    },
}

impl From<&model::DefaultRule> for DefaultRule {
    fn from(rule: &model::DefaultRule) -> Self {
        use model::DefaultRule as Model;
        match rule {
            Model::Burstable => DefaultRule::Burstable,
            Model::Small => DefaultRule::Small,
            Model::Accelerated => DefaultRule::Accelerated,
            Model::SeveralHosts => DefaultRule::SeveralHosts,
            Model::RestrictedRegion => DefaultRule::RestrictedRegion,
            Model::Architecture { fleet } => DefaultRule::Architecture { fleet: (*fleet).into() },
            Model::Accelerator { fleet } => DefaultRule::Accelerator { fleet: fleet.clone() },
        }
    }
}

/// How wide a refusal reaches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum BlockScope {
    /// One pool has no capacity.
    Pool {
        /// The pool, as `provider/region/zone/type/market`.
        pool: String,
    },
    /// A quota of a region and market is used up.
    Quota {
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
        /// The market.
        market: Market,
    },
    /// A limit that several types share is used up, in a region and market.
    Class {
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
        /// The market.
        market: Market,
        /// The types.
        class: String,
    },
    /// Everything in a zone.
    Zone {
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
        /// The zone.
        zone: String,
    },
    /// Everything in a region.
    Region {
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
    },
    /// Everything of an account, or one market or class of types.
    Account {
        /// The cloud.
        provider: Provider,
        /// The account that the spec names; `null`: the one of the credentials.
        account: Option<String>,
        /// Only this market; `null`: all.
        market: Option<Market>,
        /// Only these types; `null`: all.
        class: Option<String>,
    },
    /// The whole cloud.
    Cloud {
        /// The cloud.
        provider: Provider,
    },
    /// One kind of request failed in a region several times in a row.
    Breaker {
        /// The cloud.
        provider: Provider,
        /// The region.
        region: String,
        /// The kind of request.
        operation: Operation,
    },
}

impl From<&model::BlockScope> for BlockScope {
    fn from(scope: &model::BlockScope) -> Self {
        use model::BlockScope as Model;
        match scope {
            Model::Pool { pool } => BlockScope::Pool { pool: pool.to_string() },
            Model::Quota { cloud, region, market } => BlockScope::Quota {
                provider: (*cloud).into(),
                region: region.to_string(),
                market: (*market).into(),
            },
            Model::Class { cloud, region, market, class } => BlockScope::Class {
                provider: (*cloud).into(),
                region: region.to_string(),
                market: (*market).into(),
                class: class.clone(),
            },
            Model::Zone { place } => BlockScope::Zone {
                provider: place.cloud.into(),
                region: place.region.to_string(),
                zone: place.zone.to_string(),
            },
            Model::Region { cloud, region } => {
                BlockScope::Region { provider: (*cloud).into(), region: region.to_string() }
            }
            Model::Account { cloud, account, market, class } => BlockScope::Account {
                provider: (*cloud).into(),
                account: account.clone(),
                market: market.map(Into::into),
                class: class.clone(),
            },
            Model::Cloud { cloud } => BlockScope::Cloud { provider: (*cloud).into() },
            Model::Breaker { cloud, region, operation } => BlockScope::Breaker {
                provider: (*cloud).into(),
                region: region.to_string(),
                operation: (*operation).into(),
            },
        }
    }
}
