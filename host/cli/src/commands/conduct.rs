//! A call on its way: its progress on one line, and the signals that end it.

use crate::progress::{StatusLine, follow};
use portcullis::{Cancellation, Host};
use std::convert::Infallible;
use std::future::{Future, pending};
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What is said of a call that was ended by its person.
pub(super) const INTERRUPTED: &str = "interrupted twice: the call was ended at once, and is recorded so";

/// Waits for the end of a call, and shows what it says meanwhile; nothing where it was dropped. What goes on beside it
/// ends with it.
pub(super) async fn to_its_end<T>(
    host: &Host,
    status: &StatusLine,
    cancellation: &Cancellation,
    call: impl Future<Output = T>,
    beside: impl Future<Output = Infallible>,
) -> io::Result<Option<T>> {
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

/// What a person or a supervisor sends to end a call.
pub(super) struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
    /// `None` if SIGHUP has another meaning for this command.
    hangup: Option<Signal>,
}

impl Interrupts {
    /// From here on these signals do not end the process.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self { hangup: Some(signal(SignalKind::hangup())?), ..Self::without_hangup()? })
    }

    /// Listens to the same signals except SIGHUP, which makes a server reload its files.
    pub(super) fn without_hangup() -> io::Result<Self> {
        let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate, hangup: None })
    }

    /// Waits for the next of them.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = received(&mut self.hangup) => {}
        }
    }

    /// Cancels at the first, and returns at the second: then the call is to be dropped.
    async fn twice(&mut self, cancellation: &Cancellation) {
        self.next().await;
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
