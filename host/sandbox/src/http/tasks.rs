//! What runs for a connection: it ends at the request's deadline, and with whoever owns the connection.
//!
//! A socket is closed by dropping its connection, there and then; the tasks around it are only told to end.

use super::call::{Record, Slot};
use super::error::Failure;
use super::socket::{Holder, Prelude, Socket, close};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

/// A connection of a call. When it is dropped, its socket is closed and its tasks are ended.
pub(super) struct Connection {
    tasks: Arc<Mutex<JoinSet<()>>>,
    deadline: Instant,
    holder: Arc<Holder>,
    prelude: Arc<Prelude>,
    _slot: Slot,
}

impl Connection {
    /// Takes a socket in.
    ///
    /// # Errors
    /// The call has ended.
    pub(super) fn new(stream: TcpStream, deadline: Instant, slot: Slot, record: &Record) -> Result<Self, Failure> {
        let holder = Arc::new(Mutex::new(Some(stream)));
        if !record.call().hold(&holder) {
            return Err(Failure::Incomplete);
        }
        let prelude = Arc::new(Prelude::new());
        Ok(Self { tasks: Arc::default(), deadline, holder, prelude, _slot: slot })
    }

    /// From here on it is the response that has a limit.
    pub(super) fn response_begins(&self) {
        self.prelude.end();
    }

    /// Whether the server said too much before its response.
    pub(super) fn is_talked_out(&self) -> bool {
        self.prelude.is_used_up()
    }

    /// The socket, for whoever reads and writes.
    pub(super) fn socket(&self) -> Socket {
        Socket { holder: Arc::clone(&self.holder), prelude: Arc::clone(&self.prelude) }
    }

    /// What starts tasks of this connection. It keeps none of them alive.
    pub(super) fn spawner(&self) -> Spawner {
        Spawner { tasks: Arc::downgrade(&self.tasks), deadline: self.deadline }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        close(&self.holder);
    }
}

/// Starts tasks of a connection. HTTP/2 has several.
#[derive(Clone)]
pub(super) struct Spawner {
    tasks: Weak<Mutex<JoinSet<()>>>,
    deadline: Instant,
}

impl<F> hyper::rt::Executor<F> for Spawner
where
    F: Future + Send + 'static,
{
    fn execute(&self, future: F) {
        let Some(tasks) = self.tasks.upgrade() else { return };
        let deadline = self.deadline;
        let task = async move {
            // What it ends with is told to whoever waits for the response.
            drop(timeout_at(deadline, future).await);
        };
        tasks.lock().unwrap_or_else(PoisonError::into_inner).spawn(task);
    }
}
