//! Azure Resource Manager: machines by PUT, operations that end later, children that come and go
//! with their machine, and a public price list.

mod account;
mod answers;
mod habits;
mod launches;
mod lists;
mod rights;
mod sizes;
mod vm;
mod world;

pub use account::{GROUP, KEY_NAME, SUBSCRIPTIONS, TOKEN, subnet};
pub use habits::Habits;
pub use world::AzureCloud;
