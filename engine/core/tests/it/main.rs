//! The decisions, case by case and by law.

mod cases;
mod laws;
mod milp;
mod optimum;
mod world;
