//! The decisions, case by case and by law.

mod approvals;
mod budget;
mod cases;
mod commitments;
mod defaults;
mod extras;
mod fallback;
mod healthy;
mod hedged;
mod laws;
mod milp;
mod optimum;
mod orphans;
mod reality;
mod rebalance;
mod recorded;
mod rollout;
mod tries;
mod work;
mod world;
