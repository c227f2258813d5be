//! A program that runs for a guest.

use super::broker;
use super::stream::{OutputBudget, ProgramOutput, READ_BYTES_MAX};
use crate::clock::Pause;
use crate::host_memory::Weighed;
use crate::http::{Proxy, ProxyRefusals};
use portcullis_confine::{ProgramExit, ProgramReport, RunningProgram};
use portcullis_policy::ProcessLimits;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;
use wasmtime_wasi::p2::pipe::AsyncWriteStream;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, Pollable};

/// Bytes that the host keeps of what a guest writes to a program.
const STDIN_BYTES: usize = 64 * 1024;

/// A program that runs. Dropping it kills the program.
#[expect(unreachable_pub, reason = "the generated bindings name it as theirs")]
pub struct Running {
    stdin: Option<pipe::Sender>,
    stdout: Option<ProgramOutput>,
    stderr: Option<ProgramOutput>,
    ended: watch::Receiver<Option<ProgramReport>>,
    kill: CancellationToken,
    refusals: ProxyRefusals,
    /// Kills the program when the guest drops the handle, or the call ends.
    _guard: DropGuard,
}

impl Running {
    /// Takes a program that was started. `pause` ends with the program.
    pub(super) fn new(mut program: RunningProgram, limits: &ProcessLimits, pause: Pause, proxy: Proxy) -> Option<Self> {
        let streams = program.take_streams()?;
        let refusals = proxy.refusals.clone();
        let proxied = serve_network(&mut program, proxy);
        let kill = CancellationToken::new();
        let budget = OutputBudget::new(limits.output_bytes);
        let output = |pipe| ProgramOutput { pipe, budget: Arc::clone(&budget), kill: kill.clone() };
        let (stdin, stdout, stderr) = (streams.stdin, output(streams.stdout), streams.stderr.map(output));
        let (send, ended) = watch::channel(None);
        let (killed, spent) = (kill.clone(), Arc::clone(&budget));
        // Not aborted with this value, because the task also kills the program and waits until all of it has ended.
        tokio::spawn(async move {
            let report = until_ended(&program, &killed).await;
            // Before the guest learns of the end, so that its own time runs again.
            drop((proxied, pause));
            send.send_replace(Some(report_of(report, &spent)));
        });
        let guard = kill.clone().drop_guard();
        Some(Self { stdin: Some(stdin), stdout: Some(stdout), stderr, ended, kill, refusals, _guard: guard })
    }

    pub(crate) fn take_stdin(&mut self) -> Option<DynOutputStream> {
        let stdin = self.stdin.take()?;
        Some(Box::new(AsyncWriteStream::new(STDIN_BYTES, stdin)))
    }

    pub(crate) fn take_stdout(&mut self) -> Option<DynInputStream> {
        Some(Box::new(self.stdout.take()?))
    }

    pub(crate) fn take_stderr(&mut self) -> Option<DynInputStream> {
        Some(Box::new(self.stderr.take()?))
    }

    /// Returns how the program ended, and what its proxy refused.
    pub(crate) fn exit(&self) -> Option<(ProgramReport, Vec<String>)> {
        let report = self.ended.borrow().clone()?;
        Some((report, self.refusals.list()))
    }

    pub(crate) fn kill(&self) {
        self.kill.cancel();
    }
}

impl Weighed for Running {
    /// What a guest writes until the program reads it, and the block that a read of each output fills. The streams are
    /// part of the program, so they weigh nothing themselves.
    fn weight(&self) -> usize {
        STDIN_BYTES + 2 * READ_BYTES_MAX
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Running {
    async fn ready(&mut self) {
        // The sender sends before it is dropped.
        let _ = self.ended.wait_for(Option::is_some).await;
    }
}

/// Serves the network of a program until the result is dropped. `None` if it has none.
pub(super) fn serve_network(program: &mut RunningProgram, proxy: Proxy) -> Option<AbortOnDropHandle<()>> {
    program.take_listener().map(|listener| AbortOnDropHandle::new(tokio::spawn(proxy.serve(listener))))
}

/// Waits until a program and everything that it started has ended, and ends it when it is to be killed.
pub(super) async fn until_ended(program: &RunningProgram, killed: &CancellationToken) -> ProgramReport {
    let ended = tokio::select! {
        ended = program.ended() => ended,
        () = killed.cancelled() => {
            program.kill();
            program.ended().await
        }
    };
    ended.unwrap_or_else(|error| ProgramReport {
        exit: ProgramExit::Stopped(broker::describe(&error)),
        wall: Duration::ZERO,
        cpu: Duration::ZERO,
        left_processes: 0,
    })
}

/// Returns how the program ended for its guest.
fn report_of(mut report: ProgramReport, budget: &OutputBudget) -> ProgramReport {
    if budget.is_exceeded() {
        report.exit = ProgramExit::Stopped(format!("it printed more than {} bytes, its limit", budget.most));
    }
    report
}
