//! Short calls of one principal, alone and while another principal's slow calls fill every run slot they can get.

use crate::governed::Governed;
use crate::rounds::{Block, Row, spread_row, summarize, tail_row};
use crate::work::Work;
use anyhow::{Result, bail, ensure};
use portcullis::{Code, Host, LimitKind, Request};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Concurrent slow calls: four times the host's run slots.
const FLOOD: usize = 64;

/// Rounds. An odd number, so that there is a median.
const ROUNDS: usize = 9;

/// Short calls per block. Three of them lie above the 99th percentile.
const CALLS_PER_BLOCK: usize = 300;

/// Time from the start of a flood to the measurement. By then all slots are taken and the remaining calls wait.
const RISING: Duration = Duration::from_millis(250);

/// The shared state of a running flood.
#[derive(Default)]
struct Flood {
    is_over: AtomicBool,
    /// Slow calls that have ended.
    ended: AtomicUsize,
}

/// Measures the short calls in turns: alone, and during a flood.
pub(crate) fn measure(governed: &Governed, work: &Work) -> Result<Row> {
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let quiet = governed.within(block(governed.host(), work))?;
        let flooded = governed.within(beside_flood(governed.host(), work))?;
        // The first round warms everything up.
        if round > 0 {
            alone.push(quiet);
            beside.push(flooded);
        }
    }
    Ok(tail_row(format!("{}, p99 beside a flood / p99 alone", work.name), &alone, &beside))
}

/// Measures the short calls during a flood and beside calls of a plugin that computes without end: the 99th percentile
/// against the median.
pub(crate) fn measure_with_loop(governed: &Governed, work: &Work) -> Result<Row> {
    let mut blocks = Vec::new();
    for _ in 0..ROUNDS {
        blocks.push(governed.within(async {
            let loops = Arc::new(Flood::default());
            let looping = tokio::spawn(computing(governed.host().clone(), Arc::clone(&loops)));
            let measured = beside_flood(governed.host(), work).await;
            loops.is_over.store(true, Ordering::Relaxed);
            looping.await??;
            measured
        })?);
    }
    Ok(spread_row(format!("{} beside a flood and a loop, p99 / p50", work.name), &blocks))
}

async fn beside_flood(host: &Host, work: &Work) -> Result<Block> {
    let flood = Arc::new(Flood::default());
    let slow: Vec<_> = (0..FLOOD).map(|at| tokio::spawn(slow(host.clone(), at, Arc::clone(&flood)))).collect();
    tokio::time::sleep(RISING).await;
    let before = flood.ended.load(Ordering::Relaxed);
    let measured = block(host, work).await;
    let after = flood.ended.load(Ordering::Relaxed);
    flood.is_over.store(true, Ordering::Relaxed);
    for call in slow {
        call.await??;
    }
    ensure!(after >= before && before > 0, "no slow call ended before the measurement, so there was no flood");
    measured
}

/// Makes one slow call after another, in its own session.
async fn slow(host: Host, at: usize, flood: Arc<Flood>) -> Result<()> {
    while !flood.is_over.load(Ordering::Relaxed) {
        let request = Request::new("clerk.wait", "{}").principal("flood".parse()?).session(&at.to_string());
        let reply = host.call(request).await;
        match reply.code {
            Code::Limit(LimitKind::Time) => {
                flood.ended.fetch_add(1, Ordering::Relaxed);
            }
            // The call timed out waiting for a run slot. Try again.
            Code::Busy => {}
            code => bail!("{code}: {}", reply.message),
        }
    }
    Ok(())
}

/// Makes one call after another that computes until its time is up.
async fn computing(host: Host, loops: Arc<Flood>) -> Result<()> {
    while !loops.is_over.load(Ordering::Relaxed) {
        let request = Request::new("keeper.look", r#"{"steps":[{"op":"spin"}]}"#).principal("loop".parse()?);
        let reply = host.call(request).await;
        ensure!(reply.code == Code::Limit(LimitKind::Time), "{}: {}", reply.code, reply.message);
    }
    Ok(())
}

async fn block(host: &Host, work: &Work) -> Result<Block> {
    let name = format!("{}.{}", work.plugin, work.tool);
    let mut times = Vec::with_capacity(CALLS_PER_BLOCK);
    for _ in 0..CALLS_PER_BLOCK {
        let request = Request::new(&*name, &*work.arguments).principal("innocent".parse()?);
        let began = Instant::now();
        let reply = host.call(request).await;
        times.push(began.elapsed());
        ensure!(reply.outcome() == work.outcome, "{}: {}", reply.code, reply.message);
    }
    Ok(summarize(&times))
}
