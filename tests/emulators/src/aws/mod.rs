//! moto, an EC2 server that nobody here wrote, and a proxy in front of it that adds what moto
//! lacks: launches that are idempotent by token, pools without room, and answers that get lost.

mod buckets;
mod ec2;
mod fleet;
mod moto;
mod proxy;

pub use moto::{Moto, NO_MOTO, tool};
pub use proxy::{Faults, Proxy};
