//! Money, as pure arithmetic: how clouds bill, what was spent, what comes beside the price of a machine,
//! and what a job costs. Every fact of a cloud has its source beside it.

pub mod chart;
