//! Measures what a second core adds to many concurrent calls: of a host, and of bare wasmtime.

use crate::cores::keep_to;
use crate::floor::{Floor, shown};
use crate::governed::{Governed, runtime_of};
use crate::real_program::own_number;
use crate::rounds::{Row, median};
use crate::work::{gather, work};
use anyhow::{Result, bail, ensure};
use portcullis::{Outcome, Request};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The argument that makes this program call for a while and print how many calls ended in a second.
pub(crate) const CHILD: &str = "calls-in-flight";

const BARE: &str = "bare";
const GOVERNED: &str = "governed";

/// Calls that are in flight at one time.
const IN_FLIGHT: usize = 64;

/// Rounds. An odd number, so that there is a median.
const ROUNDS: usize = 9;

/// Time before the measurement, for caches and the pool.
const WARMING: Duration = Duration::from_millis(300);

/// Time of a measurement.
const MEASURING: Duration = Duration::from_secs(1);

/// Measures all variants in processes of their own, in turn.
pub(crate) fn measure(guests: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let mut rates = [const { Vec::new() }; 4];
    let (mut of_bare, mut of_governed) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut round = [0.0; 4];
        for (at, (variant, cores)) in
            [(BARE, "1"), (BARE, "2"), (GOVERNED, "1"), (GOVERNED, "2")].into_iter().enumerate()
        {
            round[at] = own_number(&[OsStr::new(CHILD), variant.as_ref(), cores.as_ref(), guests.as_ref()])?;
            rates[at].push(round[at]);
        }
        of_bare.push(round[1] / round[0]);
        of_governed.push(round[3] / round[2]);
    }
    let [bare_one, bare_two, one, two] = rates.each_mut().map(|rates| median(rates));
    let work = format!("echo, {IN_FLIGHT} in flight");
    show(Row::rates(format!("{work}, bare wasmtime, two cores / one core"), bare_one, bare_two));
    show(Row::rates(format!("{work}, two cores / one core"), one, two));
    let (of_bare, of_governed) = (median(&mut of_bare), median(&mut of_governed));
    show(Row::factors(format!("{work}, two cores over one / bare wasmtime"), of_bare, of_governed));
    Ok(())
}

/// Runs a child.
pub(crate) fn call(given: &[&str]) -> Result<()> {
    let [variant, cores, guests] = given else { bail!("usage: portcullis-bench {CHILD} {BARE}|{GOVERNED} 1|2 GUESTS") };
    let (cores, guest) = (cores.parse()?, Path::new(guests).join("json.wasm"));
    keep_to(cores)?;
    let scratch = tempfile::tempdir()?;
    let arguments: Arc<str> = work("echo")?.arguments.into();
    let rate = match *variant {
        BARE => {
            let floor = Floor::tuned_async(&guest, scratch.path()).map_err(shown)?;
            runtime_of(cores)?.block_on(rate(move || {
                let (floor, arguments) = (Arc::clone(&floor), Arc::clone(&arguments));
                async move { floor.call_async("echo", &arguments).await.map_err(shown) }
            }))?
        }
        GOVERNED => {
            let governed = Governed::roomy(&gather(scratch.path(), &[guest])?, scratch.path(), cores)?;
            let host = governed.host().clone();
            governed.within(rate(move || {
                let (host, request) = (host.clone(), Request::new("json.echo", &*arguments));
                async move {
                    let reply = host.call(request).await;
                    ensure!(reply.outcome() == Outcome::Completed, "{}: {}", reply.code, reply.message);
                    Ok(())
                }
            }))?
        }
        other => bail!("no calls are named {other}"),
    };
    println!("{rate:.1}");
    Ok(())
}

/// Makes calls for a while, and returns how many ended in a second.
async fn rate<C: Future<Output = Result<()>> + Send + 'static>(
    call: impl Fn() -> C + Clone + Send + 'static,
) -> Result<f64> {
    let ended = Arc::new(AtomicU64::new(0));
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..IN_FLIGHT {
        let (call, ended) = (call.clone(), Arc::clone(&ended));
        callers.spawn(async move {
            loop {
                match call().await {
                    Ok(()) => ended.fetch_add(1, Ordering::Relaxed),
                    Err(error) => return error,
                };
                // A call of bare wasmtime never waits, and the others must get their turn.
                tokio::task::yield_now().await;
            }
        });
    }
    tokio::time::sleep(WARMING).await;
    let (before, began) = (ended.load(Ordering::Relaxed), Instant::now());
    tokio::time::sleep(MEASURING).await;
    let (after, took) = (ended.load(Ordering::Relaxed), began.elapsed());
    if let Some(failed) = callers.try_join_next() {
        return Err(failed?);
    }
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    Ok((after - before) as f64 / took.as_secs_f64())
}
