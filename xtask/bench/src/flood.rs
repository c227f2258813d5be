//! Short calls of one principal, alone and beside the slow calls of another that fill every run slot they can get.

use crate::Work;
use crate::governed::Governed;
use crate::rounds::{Block, Row, summarize, tail_row};
use anyhow::{Result, bail, ensure};
use portcullis::{Code, Host, LimitKind, Request};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Slow calls at one time: four times what a host runs.
const FLOOD: usize = 64;

/// Rounds; odd, so that there is a median.
const ROUNDS: usize = 9;

/// Short calls in one block, so that three of them are above the 99th percentile.
const CALLS_PER_BLOCK: usize = 300;

/// How long a flood lasts before anything is measured beside it, so that all slots are taken and the rest waits.
const RISING: Duration = Duration::from_millis(250);

/// A flood that goes on.
#[derive(Default)]
struct Flood {
    is_over: AtomicBool,
    /// Slow calls that have ended.
    ended: AtomicUsize,
}

/// Measures the short calls in turns: alone, and beside a flood.
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
    ensure!(after >= before && before > 0, "the flood did not run");
    measured
}

/// One slow call after the other, in a session of its own.
async fn slow(host: Host, at: usize, flood: Arc<Flood>) -> Result<()> {
    while !flood.is_over.load(Ordering::Relaxed) {
        let request = Request::new("clerk.wait", "{}").principal("flood".parse()?).session(&at.to_string());
        let reply = host.call(request).await;
        match reply.code {
            Code::Limit(LimitKind::Time) => {
                flood.ended.fetch_add(1, Ordering::Relaxed);
            }
            // It waited for a slot as long as it may run, and comes again.
            Code::Busy => {}
            code => bail!("{code}: {}", reply.message),
        }
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
