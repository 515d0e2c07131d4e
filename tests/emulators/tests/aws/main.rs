//! AWS against moto. Run by `cargo xtask test aws`, which installs moto and sets `FLEET_WITNESSES`.

mod conformance;
mod crash;
mod faults;
mod flexible;
mod prices;
mod scenario;
mod support;
