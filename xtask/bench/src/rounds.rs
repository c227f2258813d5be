//! Paired rounds: in each, a block of calls of every variant, in turns, so that a change of the machine's mood hits
//! all of them. A ratio is the median over the rounds of the ratio within a round.

use crate::Work;
use crate::floor::Floor;
use crate::governed::Governed;
use crate::shown;
use anyhow::Result;
use serde::Serialize;
use std::fmt;
use std::time::{Duration, Instant};

/// Rounds; odd, so that there is a median.
const ROUNDS: usize = 15;

/// Calls of one variant in one round: some ten milliseconds.
const CALLS_PER_BLOCK: usize = 300;

/// One line of the table.
#[derive(Serialize)]
pub(crate) struct Row {
    work: String,
    unit: &'static str,
    floor: f64,
    ours: f64,
    ratio: f64,
    p95_ratio: f64,
}

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (work, beside) = self.work.split_once(" / ").unwrap_or((&self.work, ""));
        write!(
            formatter,
            "{work:<16} {beside:<28} {:>9.2} {:>9.2} {:>7.2} {:>7.2}",
            self.floor, self.ours, self.ratio, self.p95_ratio
        )
    }
}

/// Median and 95th percentile of one block, in microseconds.
#[derive(Clone, Copy)]
struct Block {
    median: f64,
    p95: f64,
}

/// Measures one call in all its variants.
pub(crate) fn measure(work: &Work, tuned: &Floor, default: &Floor, governed: &Governed) -> Result<Vec<Row>> {
    let name = format!("{}.{}", work.plugin, work.tool);
    let bare = |floor: &Floor| block(|| floor.call(work.tool, &work.arguments).map_err(shown));
    let ours = || {
        governed.within(async {
            let mut times = Vec::with_capacity(CALLS_PER_BLOCK);
            for _ in 0..CALLS_PER_BLOCK {
                let began = Instant::now();
                governed.call(&name, &work.arguments, work.outcome).await?;
                times.push(began.elapsed());
            }
            anyhow::Ok(summarize(&times))
        })
    };
    let mut rounds = Vec::with_capacity(ROUNDS);
    for round in 0..=ROUNDS {
        let blocks = match round % 3 {
            0 => (bare(tuned)?, bare(default)?, ours()?),
            1 => {
                let ours = ours()?;
                (bare(tuned)?, bare(default)?, ours)
            }
            _ => {
                let default = bare(default)?;
                let ours = ours()?;
                (bare(tuned)?, default, ours)
            }
        };
        // The first round warms everything up.
        if round > 0 {
            rounds.push(blocks);
        }
    }
    let beside_tuned: Vec<(Block, Block)> = rounds.iter().map(|(tuned, _, ours)| (*tuned, *ours)).collect();
    let beside_default: Vec<(Block, Block)> = rounds.iter().map(|(_, default, ours)| (*default, *ours)).collect();
    Ok(vec![
        row(format!("{} / tuned wasmtime", work.name), &beside_tuned),
        row(format!("{} / default wasmtime", work.name), &beside_default),
    ])
}

fn block(mut call: impl FnMut() -> Result<()>) -> Result<Block> {
    let mut times = Vec::with_capacity(CALLS_PER_BLOCK);
    for _ in 0..CALLS_PER_BLOCK {
        let began = Instant::now();
        call()?;
        times.push(began.elapsed());
    }
    Ok(summarize(&times))
}

fn summarize(times: &[Duration]) -> Block {
    let mut micros: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e6).collect();
    Block { median: quantile(&mut micros, 0.5), p95: quantile(&mut micros, 0.95) }
}

fn row(work: String, rounds: &[(Block, Block)]) -> Row {
    let median =
        |pick: &dyn Fn(&(Block, Block)) -> f64| quantile(&mut rounds.iter().map(pick).collect::<Vec<_>>(), 0.5);
    Row {
        work,
        unit: "us",
        floor: median(&|(floor, _)| floor.median),
        ours: median(&|(_, ours)| ours.median),
        ratio: median(&|(floor, ours)| ours.median / floor.median),
        p95_ratio: median(&|(floor, ours)| ours.p95 / floor.p95),
    }
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
