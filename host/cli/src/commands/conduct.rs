//! Waits for a call: shows its progress on one line, and handles the signals that end it.

use crate::progress::{StatusLine, follow};
use portcullis::{Cancellation, Host};
use std::convert::Infallible;
use std::future::{Future, pending};
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The message for a call that the user ended.
pub(super) const INTERRUPTED: &str = "interrupted twice: the call was ended at once, and the audit log says so";

/// Waits for the end of a call and shows its progress. Returns `None` if a second signal dropped the call. The future
/// `beside` runs until the call ends.
pub(super) async fn to_its_end<T>(
    host: &Host,
    status: &StatusLine,
    cancellation: &Cancellation,
    call: impl Future<Output = T>,
    beside: impl Future<Output = Infallible>,
) -> io::Result<Option<T>> {
    // Before the call is polled, so that no signal ends the process in the middle of it.
    let mut interrupts = Interrupts::listen()?;
    let events = host.events();
    let ended = tokio::select! {
        ended = call => Some(ended),
        never = follow(events, status) => match never {},
        never = beside => match never {},
        () = interrupts.twice(cancellation) => None,
    };
    status.clear();
    Ok(ended)
}

/// The signals with which a user or a supervisor ends a call.
pub(super) struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
    /// `None` if SIGHUP has another meaning for this command.
    hangup: Option<Signal>,
}

impl Interrupts {
    /// Listens to the signals. From now on they do not end the process.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self { hangup: Some(signal(SignalKind::hangup())?), ..Self::without_hangup()? })
    }

    /// Listens to the same signals except SIGHUP, which makes a server reload its files.
    pub(super) fn without_hangup() -> io::Result<Self> {
        let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate, hangup: None })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = received(&mut self.hangup) => {}
        }
    }

    /// Cancels the call at the first signal, and returns at the second, so that the call is dropped.
    async fn twice(&mut self, cancellation: &Cancellation) {
        self.next().await;
        // A call that is cancelled still has a reply to show. One that is dropped has none.
        cancellation.cancel();
        self.next().await;
    }
}

async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => pending().await,
    }
}
