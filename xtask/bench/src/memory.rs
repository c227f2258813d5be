//! Measures the resident memory of calls in progress, each of which waits in its guest: those of a host, and those of
//! bare wasmtime.

use crate::floor::{Floor, shown};
use crate::governed::{Governed, runtime_of};
use crate::process_memory::ProcessMemory;
use crate::real_program::own_number;
use crate::rounds::{Row, median};
use crate::work::gather;
use anyhow::{Result, bail};
use portcullis::Request;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The argument that makes this program hold calls and print what one of them keeps.
pub(crate) const CHILD: &str = "memory-of-calls";

const BARE: &str = "bare";
const GOVERNED: &str = "governed";

/// Calls in progress at the first measurement. What the first calls of a process allocate is not counted.
const FEW: usize = 16;

/// Calls in progress at the second measurement.
const MANY: usize = 80;

/// Processes of each variant. An odd number, so that there is a median.
const RUNS: usize = 5;

/// Time from the start of calls to the measurement. By then all wait in their guests.
const SETTLED: Duration = Duration::from_millis(500);

/// The call that waits.
const PLUGIN: &str = "conformance";
const TOOL: &str = "slow_compute";
const ARGUMENTS: &str = r#"{"seconds":600}"#;

/// Measures both in processes of their own, in turn.
pub(crate) fn measure(guests: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let (mut bare, mut governed) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        bare.push(own_number(&[OsStr::new(CHILD), BARE.as_ref(), guests.as_ref()])?);
        governed.push(own_number(&[OsStr::new(CHILD), GOVERNED.as_ref(), guests.as_ref()])?);
    }
    show(Row::kibibytes("a call in progress / bare wasmtime".to_owned(), median(&mut bare), median(&mut governed)));
    Ok(())
}

/// Runs a child: prints the resident memory of one call, in KiB.
pub(crate) fn hold(given: &[&str]) -> Result<()> {
    let [variant, guests] = given else { bail!("usage: portcullis-bench {CHILD} {BARE}|{GOVERNED} GUESTS") };
    let guest = Path::new(guests).join(format!("{PLUGIN}.wasm"));
    let scratch = tempfile::tempdir()?;
    let of_one = match *variant {
        BARE => {
            let floor = Floor::tuned_async(&guest, scratch.path()).map_err(shown)?;
            runtime_of(1)?.block_on(growth(|| {
                let floor = Arc::clone(&floor);
                async move { floor.call_async(TOOL, ARGUMENTS).await.map_err(shown) }
            }))?
        }
        GOVERNED => {
            let governed = Governed::roomy(&gather(scratch.path(), &[guest])?, scratch.path(), 1)?;
            governed.within(growth(|| {
                let host = governed.host().clone();
                async move {
                    let reply = host.call(Request::new(format!("{PLUGIN}.{TOOL}"), ARGUMENTS)).await;
                    bail!("{}: {}", reply.code, reply.message)
                }
            }))?
        }
        other => bail!("no calls are named {other}"),
    };
    println!("{of_one:.1}");
    Ok(())
}

/// Starts calls, and returns by how many KiB the resident memory of this process grows for one of them.
async fn growth<C: Future<Output = Result<()>> + Send + 'static>(call: impl Fn() -> C) -> Result<f64> {
    let mut calls = tokio::task::JoinSet::new();
    let mut measured = Vec::new();
    for number in [FEW, MANY] {
        while calls.len() < number {
            calls.spawn(call());
        }
        tokio::time::sleep(SETTLED).await;
        if let Some(ended) = calls.try_join_next() {
            ended??;
            bail!("a call did not wait");
        }
        measured.push(ProcessMemory::of(std::process::id())?.resident);
    }
    Ok((measured[1] - measured[0]) / f64::from(u32::try_from(MANY - FEW)?))
}
