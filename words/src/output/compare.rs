//! The documents of `fleet compare` and `fleet benchmark`.

use super::bodies;
use super::words::{Market, Provider, Time};
use fleet_money::benchmark::BenchmarkResult;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Accelerators of all clouds, by what a job on them costs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Compare {
    /// Where the prices come from.
    pub source: String,
    /// How old the oldest of them are.
    pub as_of: Time,
    /// The job that is to be done.
    pub job: JobAsked,
    /// What useful work is, as `--perf` names it.
    pub perf: String,
    /// The unit of useful work that `perUsefulUsd` is for: `PFLOPS-h`.
    pub useful_unit: String,
    /// One for each accelerator, cloud and market, the cheapest work first.
    pub ways: Vec<Way>,
    /// What is not sold or not priced.
    pub absent: Vec<Absent>,
    /// What the figures take for granted, in sentences.
    pub assumptions: Vec<String>,
}

bodies! { Compare: "compare", "compare"; Benchmark: "benchmark", "benchmark list"; }

/// A job, as it was asked for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobAsked {
    /// Accelerators in a node.
    pub count: u32,
    /// Nodes.
    pub nodes: u32,
    /// Hours of useful work.
    pub hours: f64,
    /// The accelerator that the hours are meant for; `null`: each machine works for so many.
    pub reference: Option<String>,
    /// Minutes to write a checkpoint.
    pub checkpoint_minutes: f64,
    /// Minutes to restore one.
    pub restart_minutes: f64,
    /// Minutes until a replacement runs.
    pub replace_minutes: f64,
    /// Whether the job saves when an interruption is announced.
    pub save_on_notice: bool,
}

/// One way to do the job.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Way {
    /// The accelerator, as finely as it is known: `H100-NVL`.
    pub accelerator: String,
    /// The cloud.
    pub provider: Provider,
    /// The region where it is cheapest.
    pub region: String,
    /// The machine type.
    pub r#type: String,
    /// How it is bought.
    pub market: Market,
    /// Machines in all.
    pub machines: u32,
    /// Machines that make one node: more than one where no machine is large enough.
    pub machines_per_node: u32,
    /// Accelerators in all.
    pub accelerators: f64,
    /// All machines, an hour.
    pub hourly_usd: f64,
    /// One accelerator, an hour.
    pub accelerator_hourly_usd: Option<f64>,
    /// All machines under the cheapest commitment for this type in this region, an hour; `null`: no catalog has
    /// such prices, and `--commitments` names none.
    pub committed_hourly_usd: Option<f64>,
    /// The commitment that the price is of; `null` in other markets.
    pub commitment: Option<CommitmentOffer>,
    /// What the machines do together; `null`: nobody says.
    pub useful: Option<Useful>,
    /// How often one machine is interrupted.
    pub interruptions: Rate,
    /// What to expect of the job; `null` if its length depends on a figure that nobody gives.
    pub job: Option<Job>,
}

/// A commitment, as the file of `--commitments` has it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitmentOffer {
    /// For how long, and how it is paid.
    pub term: Option<String>,
    /// The first day on which it no longer covers.
    pub until: Option<String>,
    /// Who says so.
    pub source: Option<String>,
}

/// Useful work, and who says so.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Useful {
    /// How much, in the unit of the figure: TFLOPS, GB/s, GB, tokens a second, or that of the table.
    pub units: f64,
    /// Who says so.
    pub basis: Basis,
    /// How good the source of a published figure is: A the vendor's page, B a well-kept project, C anything
    /// else; `null` for others.
    pub grade: Option<String>,
    /// Where the figure comes from.
    pub source: String,
}

/// Who says how much work a machine does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Basis {
    /// Its maker.
    Published,
    /// The user's table.
    Own,
    /// A benchmark.
    Measured,
    /// Its maker, because no benchmark was run on one.
    PublishedInstead,
}

/// How often one machine is interrupted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rate {
    /// Interruptions an hour; 0 on demand.
    pub per_hour: f64,
    /// What that is taken from.
    pub basis: RateBasis,
}

/// What a rate of interruptions is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RateBasis {
    /// On-demand machines are not interrupted.
    OnDemand,
    /// What fleets of this state saw of the pool.
    Learned,
    /// Nothing was seen: the planner's prior, a guess.
    Prior,
    /// `--spot-life-hours`.
    Said,
}

/// What to expect of a job.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Useful work, in hours on these machines.
    pub work_hours: f64,
    /// From the start to the end, in hours; `null`: it does not end.
    pub expected_hours: Option<f64>,
    /// Interruptions of the whole job; `null`: it does not end.
    pub interruptions: Option<f64>,
    /// Minutes of work between two checkpoints, at the optimum; `null`: none pay.
    pub checkpoint_every_minutes: Option<f64>,
    /// The same by Young's rule; `null` without interruptions.
    pub young_minutes: Option<f64>,
    /// The same by Daly's rule; `null` without interruptions.
    pub daly_minutes: Option<f64>,
    /// Machine-hours that the cloud does not charge (EC2: machines interrupted in their first hour).
    pub free_machine_hours: f64,
    /// The expected cost; `null`: the job does not end.
    pub cost_usd: Option<f64>,
    /// The expected cost of a unit of useful work; `null` without a figure.
    pub per_useful_usd: Option<f64>,
}

/// What is not sold or not priced.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Absent {
    /// The accelerator.
    pub accelerator: String,
    /// The cloud.
    pub provider: Provider,
    /// How it would be bought.
    pub market: Market,
    /// Why it is not listed.
    pub why: AbsentWhy,
}

/// Why something is not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AbsentWhy {
    /// It is sold, and the catalog has no price.
    Unpriced,
    /// It is not sold in this market.
    NotSold,
}

/// The user's performance table.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Benchmark {
    /// The file of the table.
    pub file: String,
    /// The results, in the order in which they were added.
    pub results: Vec<Measured>,
}

/// One result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Measured {
    /// Its number, for `fleet benchmark remove`.
    pub number: u64,
    /// The machine type; `null`: the result does not say, and counts for every machine with the chip.
    pub r#type: Option<String>,
    /// The chip; `null`: its name is not known here.
    pub accelerator: Option<String>,
    /// What its driver calls it.
    pub driver_name: Option<String>,
    /// When it was measured.
    pub at: Time,
    /// What it ran with.
    pub software: BTreeMap<String, Option<String>>,
    /// TFLOPS of matrix products, by precision.
    pub matrix_product_tflops: BTreeMap<String, f64>,
    /// Bandwidth of a copy within the memory, in GB/s.
    pub copy_gbps: Option<f64>,
    /// Tokens a second in training.
    pub training_tokens_per_second: Option<f64>,
}

/// The performance table, for programs.
pub fn benchmark_document(file: &Path, results: &[BenchmarkResult]) -> Benchmark {
    let one = |(at, result): (usize, &BenchmarkResult)| Measured {
        number: at as u64 + 1,
        r#type: result.instance_type.clone(),
        accelerator: result.chip().map(|chip| chip.name.to_owned()),
        driver_name: result.machine.accelerator.as_ref().map(|one| one.name.clone()),
        at: Time(result.at),
        software: result.software.clone(),
        matrix_product_tflops: result
            .matrix_product
            .iter()
            .map(|(name, product)| (name.clone(), product.tflops))
            .collect(),
        copy_gbps: result.memory.as_ref().map(|memory| memory.copy_gbps),
        training_tokens_per_second: result.training.as_ref().map(|one| one.tokens_per_second),
    };
    Benchmark {
        file: file.display().to_string(),
        results: results.iter().enumerate().map(one).collect(),
    }
}
