//! A queue in front of standard error. Its reader may stop reading, such as an agent that never looks at what its
//! server says. A full pipe must not stop the server, nor keep a new policy from it.

use portcullis::policy::recovery::RecoverMutex;
use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Maximum size of the messages that wait for the reader, in bytes. Further messages are left out. A pipe keeps 64 KiB
/// besides.
const WAITING_BYTES_MAX: usize = 256 * 1024;

/// Messages, and the thread that writes them.
pub(crate) struct MessageQueue(Arc<Shared>);

struct Shared {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    waiting: String,
    /// How many messages were left out since the last ones were taken.
    left_out: u64,
    /// Whether the thread writes what it has taken.
    writes: bool,
}

impl MessageQueue {
    /// Starts to write messages to `output`. In place of those that are left out, `about` says how many they are.
    ///
    /// # Errors
    /// The system starts no thread.
    pub(crate) fn start(
        output: impl Write + Send + 'static,
        about: impl Fn(u64) -> String + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
        let of_thread = Arc::clone(&shared);
        // No one joins the thread, because a full pipe can block it until the process ends.
        thread::Builder::new().name("messages".to_owned()).spawn(move || of_thread.write(output, about))?;
        Ok(Self(shared))
    }

    /// Adds a message, or leaves it out. Does not wait for the reader.
    pub(crate) fn push(&self, message: &str) {
        let mut state = self.0.state.lock_recovered();
        // After a message that is left out, the next ones are too. So the note about them is at their place.
        if state.left_out > 0 || state.waiting.len() + message.len() > WAITING_BYTES_MAX {
            state.left_out += 1;
        } else {
            state.waiting.push_str(message);
        }
        // Both the thread and `flush` wait for changes.
        self.0.changed.notify_all();
    }

    /// Waits until everything is written, but no longer than `patience`.
    pub(crate) fn flush(&self, patience: Duration) {
        // What the thread has taken is in no queue any more, so `writes` counts too.
        let is_pending = |state: &mut QueueState| state.writes || state.has_some();
        drop(self.0.changed.wait_timeout_while(self.0.state.lock_recovered(), patience, is_pending));
    }
}

impl QueueState {
    fn has_some(&self) -> bool {
        !self.waiting.is_empty() || self.left_out > 0
    }
}

impl Shared {
    fn write(&self, mut output: impl Write, about: impl Fn(u64) -> String) {
        loop {
            let taken = self.changed.wait_while(self.state.lock_recovered(), |state| !state.has_some());
            let mut state = taken.unwrap_or_else(PoisonError::into_inner);
            let (mut text, left_out) = (mem::take(&mut state.waiting), mem::take(&mut state.left_out));
            state.writes = true;
            // A full pipe blocks the write below, and must not block `push`.
            drop(state);
            if left_out > 0 {
                text.push_str(&about(left_out));
            }
            // Errors are ignored, because there is nowhere to report them.
            let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
            self.state.lock_recovered().writes = false;
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn messages_without_a_reader_are_left_out_and_counted() {
        let (mut reader, writer) = io::pipe().unwrap();
        let queue = MessageQueue::start(writer, |messages| format!("{messages} left out\n")).unwrap();
        let line = "0123456789abcdef".repeat(64) + "\n";
        // More than the pipe and the queue hold. A push that waited would never return.
        for _ in 0..1000 {
            queue.push(&line);
        }
        queue.flush(Duration::from_millis(50));
        let waiting = queue.0.state.lock_recovered().waiting.len();
        assert!(waiting <= WAITING_BYTES_MAX, "{waiting} bytes wait");

        let read = thread::spawn(move || {
            let mut read = Vec::new();
            let mut part = [0; 4096];
            while !read.ends_with(b"the last\n") {
                let length = reader.read(&mut part).unwrap();
                read.extend_from_slice(&part[..length]);
            }
            String::from_utf8(read).unwrap()
        });
        while queue.0.state.lock_recovered().has_some() {
            thread::yield_now();
        }
        queue.push("the last\n");
        let read = read.join().unwrap();
        let count = read.lines().filter(|read| line.trim_end() == *read).count();
        let told = read.lines().filter_map(|line| line.strip_suffix(" left out"));
        let told: Vec<usize> = told.map(|messages| messages.parse().unwrap()).collect();
        assert_eq!(read.lines().count(), count + told.len() + 1, "{read}");
        let missing: usize = told.iter().sum();
        assert_eq!(count + missing, 1000);
        assert!(count > 250 && missing > 400, "{count} were written, {missing} left out");
    }

    #[test]
    fn the_end_waits_for_the_messages_but_not_for_ever() {
        let (mut reader, writer) = io::pipe().unwrap();
        let queue = MessageQueue::start(writer, |_| String::new()).unwrap();
        queue.push("one\n");
        queue.flush(Duration::from_secs(60));
        let mut read = [0; 4];
        reader.read_exact(&mut read).unwrap();
        assert_eq!(&read, b"one\n");
        // More than the pipe holds.
        queue.push(&"x".repeat(128 * 1024));
        queue.flush(Duration::from_millis(50));
    }
}
