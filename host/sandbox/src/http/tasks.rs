//! The tasks of a connection. They end at the request's deadline, or when the connection is dropped.
//!
//! Dropping a connection closes its socket at once. Its tasks are only told to end.

use super::call::{ConnectionSlot, Record};
use super::error::HttpFailure;
use super::socket::{Holder, Prelude, Socket, close};
use portcullis_policy::recovery::RecoverMutex;
use std::sync::{Arc, Mutex, Weak};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

/// A connection of a call. When it is dropped, its socket is closed and its tasks are ended.
pub(super) struct Connection {
    tasks: Arc<Mutex<JoinSet<()>>>,
    deadline: Instant,
    holder: Arc<Holder>,
    prelude: Arc<Prelude>,
    _slot: ConnectionSlot,
}

impl Connection {
    /// Creates a connection for a socket.
    ///
    /// # Errors
    /// The call ends.
    pub(super) fn new(
        stream: TcpStream,
        deadline: Instant,
        slot: ConnectionSlot,
        record: &Record,
    ) -> Result<Self, HttpFailure> {
        let holder = Arc::new(Mutex::new(Some(stream)));
        if !record.call().hold(&holder) {
            return Err(HttpFailure::Incomplete);
        }
        let prelude = Arc::new(Prelude::new());
        Ok(Self { tasks: Arc::default(), deadline, holder, prelude, _slot: slot })
    }

    /// Lifts the limit, because the response has begun and has its own limits.
    pub(super) fn response_begins(&self) {
        self.prelude.end();
    }

    /// Returns whether the server sent too much before its response.
    pub(super) fn is_talked_out(&self) -> bool {
        self.prelude.is_used_up()
    }

    /// Returns the socket, for reading and writing.
    pub(super) fn socket(&self) -> Socket {
        Socket { holder: Arc::clone(&self.holder), prelude: Arc::clone(&self.prelude) }
    }

    /// Returns a spawner for tasks of this connection. It does not keep them alive.
    pub(super) fn spawner(&self) -> Spawner {
        Spawner { tasks: Arc::downgrade(&self.tasks), deadline: self.deadline }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        close(&self.holder);
    }
}

/// A spawner for tasks of a connection. HTTP/2 has several.
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
        // The connection was dropped, so nothing waits for this task.
        let Some(tasks) = self.tasks.upgrade() else { return };
        let deadline = self.deadline;
        let task = async move {
            // The result is dropped, because the future that waits for the response gets the error too.
            drop(timeout_at(deadline, future).await);
        };
        tasks.lock_recovered().spawn(task);
    }
}
