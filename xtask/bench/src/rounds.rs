//! Paired rounds. Each round measures a block of calls of every variant in turns, so that a slow phase of the machine
//! affects all of them. A ratio is the median over the rounds of the ratio within a round.

use crate::floor::{Floor, shown};
use crate::governed::Governed;
use crate::work::Work;
use anyhow::Result;
use serde::Serialize;
use std::fmt;
use std::time::{Duration, Instant};

/// Rounds. An odd number, so that there is a median.
const ROUNDS: usize = 15;

/// Calls of one variant per round: about ten milliseconds.
const CALLS_PER_BLOCK: usize = 300;

/// One row of the table.
#[derive(Serialize)]
pub(crate) struct Row {
    work: String,
    unit: &'static str,
    floor: f64,
    ours: f64,
    ratio: f64,
    p95_ratio: f64,
    /// Number of failed calls, where measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    failures: Option<usize>,
    /// The slowest call, where measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    slowest: Option<f64>,
}

impl Row {
    /// Returns a row that compares two numbers of things per second.
    pub(crate) fn rates(work: String, floor: f64, ours: f64) -> Self {
        let ratio = ours / floor;
        Self { work, unit: "per second", floor, ours, ratio, p95_ratio: ratio, failures: None, slowest: None }
    }

    /// Returns a row that compares two factors.
    pub(crate) fn factors(work: String, floor: f64, ours: f64) -> Self {
        Self { unit: "times", ..Self::rates(work, floor, ours) }
    }

    /// Returns a row that compares two sizes.
    pub(crate) fn kibibytes(work: String, floor: f64, ours: f64) -> Self {
        Self { unit: "KiB", ..Self::rates(work, floor, ours) }
    }

    /// Sets the number of failed calls.
    pub(crate) fn with_failures(self, failures: usize) -> Self {
        Self { failures: Some(failures), ..self }
    }

    /// Sets the slowest call.
    pub(crate) fn with_slowest(self, slowest: Duration) -> Self {
        Self { slowest: Some(slowest.as_secs_f64() * 1e6), ..self }
    }

    /// Returns the number of failed calls.
    pub(crate) fn failures(&self) -> usize {
        self.failures.unwrap_or(0)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (work, beside) = self.work.split_once(" / ").unwrap_or((&self.work, ""));
        write!(
            formatter,
            "{work:<28} {beside:<28} {:>9.2} {:>9.2} {:>7.2} {:>7.2}",
            self.floor, self.ours, self.ratio, self.p95_ratio
        )?;
        match (self.failures, self.slowest) {
            (None, None) => Ok(()),
            (failures, slowest) => {
                write!(formatter, "  {} failed, slowest {:.0} us", failures.unwrap_or(0), slowest.unwrap_or(0.0))
            }
        }
    }
}

/// Median and percentiles of one block, in microseconds.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    median: f64,
    p95: f64,
    p99: f64,
}

impl Block {
    /// Returns what this block takes longer than another one.
    pub(crate) fn less(self, other: &Self) -> Self {
        let Self { median, p95, p99 } = self;
        Self { median: median - other.median, p95: p95 - other.p95, p99: p99 - other.p99 }
    }

    /// Returns the times of one of several equal parts.
    pub(crate) fn divided(self, parts: f64) -> Self {
        let Self { median, p95, p99 } = self;
        Self { median: median / parts, p95: p95 / parts, p99: p99 / parts }
    }
}

/// A measurement: runs one block of calls.
type Variant<'a> = &'a dyn Fn() -> Result<Block>;

/// Measures one call in all its variants.
pub(crate) fn measure(work: &Work, tuned: &Floor, default: &Floor, governed: &Governed) -> Result<Vec<Row>> {
    let bare = |floor: &Floor| block(CALLS_PER_BLOCK, || floor.call(work.tool, &work.arguments).map_err(shown));
    let [tuned, default, ours] = paired([&|| bare(tuned), &|| bare(default), &|| through(governed, work)])?;
    Ok(vec![
        row(format!("{} / tuned wasmtime", work.name), &tuned, &ours),
        row(format!("{} / default wasmtime", work.name), &default, &ours),
    ])
}

/// Measures one call through two hosts.
pub(crate) fn measure_hosts(work: &Work, beside: &str, plain: &Governed, full: &Governed) -> Result<Row> {
    let [plain, full] = paired([&|| through(plain, work), &|| through(full, work)])?;
    Ok(row(format!("{}, {beside}", work.name), &plain, &full))
}

/// Runs a block of calls through a host.
pub(crate) fn through(host: &Governed, work: &Work) -> Result<Block> {
    let name = format!("{}.{}", work.plugin, work.tool);
    host.within(async {
        let mut times = Vec::with_capacity(CALLS_PER_BLOCK);
        for _ in 0..CALLS_PER_BLOCK {
            let began = Instant::now();
            host.call(&name, &work.arguments, work.outcome).await?;
            times.push(began.elapsed());
        }
        Ok(summarize(&times))
    })
}

/// Runs the variants in turns, starting with another variant in each round. Returns each variant's blocks by round.
pub(crate) fn paired<const N: usize>(variants: [Variant<'_>; N]) -> Result<[Vec<Block>; N]> {
    let mut rounds = [const { Vec::new() }; N];
    for round in 0..=ROUNDS {
        for turn in 0..N {
            let variant = (round + turn) % N;
            let block = variants[variant]()?;
            // The first round warms everything up.
            if round > 0 {
                rounds[variant].push(block);
            }
        }
    }
    Ok(rounds)
}

/// Runs a block of calls.
pub(crate) fn block(calls: usize, call: impl FnMut() -> Result<()>) -> Result<Block> {
    spaced_block(calls, Duration::ZERO, call)
}

/// Runs a block of calls with a pause before each, which is not measured.
pub(crate) fn spaced_block(calls: usize, pause: Duration, mut call: impl FnMut() -> Result<()>) -> Result<Block> {
    let mut times = Vec::with_capacity(calls);
    for _ in 0..calls {
        std::thread::sleep(pause);
        let began = Instant::now();
        call()?;
        times.push(began.elapsed());
    }
    Ok(summarize(&times))
}

/// Summarizes the times of a block.
pub(crate) fn summarize(times: &[Duration]) -> Block {
    let mut micros: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e6).collect();
    let mut at = |share| quantile(&mut micros, share);
    Block { median: at(0.5), p95: at(0.95), p99: at(0.99) }
}

/// Builds a table row from the rounds of the floor and of the variant compared with it.
pub(crate) fn row(work: String, floor: &[Block], ours: &[Block]) -> Row {
    row_of(work, floor, ours, |block| block.median)
}

/// Builds the same row with 99th percentiles instead of medians.
pub(crate) fn tail_row(work: String, floor: &[Block], ours: &[Block]) -> Row {
    row_of(work, floor, ours, |block| block.p99)
}

/// Builds a row that compares the 99th percentiles with the medians of the same blocks.
pub(crate) fn spread_row(work: String, blocks: &[Block]) -> Row {
    let medians: Vec<Block> = blocks.iter().map(|block| Block { p99: block.median, ..*block }).collect();
    row_of(work, &medians, blocks, |block| block.p99)
}

fn row_of(work: String, floor: &[Block], ours: &[Block], figure: impl Fn(&Block) -> f64) -> Row {
    let median = |pick: &dyn Fn((&Block, &Block)) -> f64| {
        quantile(&mut floor.iter().zip(ours).map(pick).collect::<Vec<_>>(), 0.5)
    };
    Row {
        work,
        unit: "us",
        floor: median(&|(floor, _)| figure(floor)),
        ours: median(&|(_, ours)| figure(ours)),
        ratio: median(&|(floor, ours)| figure(ours) / figure(floor)),
        p95_ratio: median(&|(floor, ours)| ours.p95 / floor.p95),
        failures: None,
        slowest: None,
    }
}

/// Returns the median of some numbers.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    quantile(values, 0.5)
}

fn quantile(values: &mut [f64], at: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index into a short list"
    )]
    let index = ((values.len() - 1) as f64 * at).round() as usize;
    values[index]
}
