//! Takes over standard input and output: as non-blocking streams if possible, and with standard output redirected so
//! that no other code can write to the client.

use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stdout, stderr, stdout};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::thread::{self, JoinHandle};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// The lowest descriptor number for a copy of a stream, above those of the standard streams.
const FIRST_FREE: i32 = 3;

/// The stream that messages are read from.
pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;

/// The stream that messages are written to.
pub(super) type MessageWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// The streams of the client.
pub(super) struct Streams {
    pub(super) input: Input,
    pub(super) output: MessageWriter,
    pub(super) written: OutputWriter,
}

/// The thread that copies the output, if there is one.
pub(super) struct OutputWriter(Option<JoinHandle<()>>);

impl OutputWriter {
    /// Waits until all output is written. The output must be dropped first.
    pub(super) async fn finish(self) {
        if let Some(writer) = self.0 {
            // A writer that panicked writes nothing more, so its result does not matter.
            let _ = tokio::task::spawn_blocking(|| drop(writer.join())).await;
        }
    }
}

/// Takes over the streams. From now on, standard output is a copy of standard error.
pub(super) fn take() -> io::Result<Streams> {
    // After the `dup2` below, this copy is the only way to the client. No program that the host starts inherits it.
    let output = fcntl_dupfd_cloexec(stdout(), FIRST_FREE)?;
    dup2_stdout(stderr())?;
    let (output, written) = writer(output)?;
    Ok(Streams { input: reader()?, output, written })
}

/// Returns a path that reopens a descriptor. Non-blocking mode belongs to the open file description. Reopening a pipe
/// gives a description of its own, so that other processes with the same pipe do not become non-blocking.
fn reopened(fd: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

fn reader() -> io::Result<Input> {
    let stdin = io::stdin();
    // Fails for anything but a FIFO, and where there is no `/proc`.
    if let Ok(pipe) = pipe::OpenOptions::new().open_receiver(reopened(&stdin)) {
        return Ok(Box::new(pipe));
    }
    let input = File::from(fcntl_dupfd_cloexec(rustix::stdio::stdin(), FIRST_FREE)?);
    if input.metadata()?.file_type().is_socket() {
        return Ok(Box::new(socket(input.into())?));
    }
    Ok(Box::new(tokio::io::stdin()))
}

fn writer(output: OwnedFd) -> io::Result<(MessageWriter, OutputWriter)> {
    if let Ok(pipe) = pipe::OpenOptions::new().open_sender(reopened(&output)) {
        return Ok((Box::new(pipe), OutputWriter(None)));
    }
    let mut output = File::from(output);
    if output.metadata()?.file_type().is_socket() {
        return Ok((Box::new(socket(output.into())?), OutputWriter(None)));
    }
    // Terminals and files have no useful readiness events, so a thread writes to them.
    let (near, mut far) = std::os::unix::net::UnixStream::pair()?;
    let copy = move || {
        // An error closes the far end, so the next write to the near end fails.
        let _ = io::copy(&mut far, &mut output);
    };
    Ok((Box::new(socket(near.into())?), OutputWriter(Some(thread::spawn(copy)))))
}

/// Converts a descriptor to a socket. It may be of any family, because it is only read and written.
fn socket(fd: OwnedFd) -> io::Result<UnixStream> {
    let socket = std::os::unix::net::UnixStream::from(fd);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}
