//! The decisions, case by case and by law.

mod cases;
mod commitments;
mod laws;
mod milp;
mod optimum;
mod reality;
mod remains;
mod world;
