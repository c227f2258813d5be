//! The standard streams, taken over: input and output as they perform best, and output out of everybody else's reach.

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

/// A copy of a stream gets a number above those of the standard streams.
const FIRST_FREE: i32 = 3;

/// What messages are read from.
pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;

/// What messages are written to.
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// The streams of the one client.
pub(super) struct Streams {
    pub(super) input: Input,
    pub(super) output: Output,
    pub(super) written: Written,
}

/// Whoever writes the output in the end.
pub(super) struct Written(Option<JoinHandle<()>>);

impl Written {
    /// Waits until all of it is written, once the output is dropped.
    pub(super) async fn finish(self) {
        if let Some(writer) = self.0 {
            // A writer that panicked has written its last.
            let _ = tokio::task::spawn_blocking(|| drop(writer.join())).await;
        }
    }
}

/// Takes the streams over. Standard output is a copy of standard error from here on.
pub(super) fn take() -> io::Result<Streams> {
    let output = fcntl_dupfd_cloexec(stdout(), FIRST_FREE)?;
    dup2_stdout(stderr())?;
    let (output, written) = writer(output)?;
    Ok(Streams { input: reader()?, output, written })
}

/// A pipe is opened anew, so that not to block is a property of this opening alone, and of nobody else's.
fn reopened(fd: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

fn reader() -> io::Result<Input> {
    let stdin = io::stdin();
    if let Ok(pipe) = pipe::OpenOptions::new().open_receiver(reopened(&stdin)) {
        return Ok(Box::new(pipe));
    }
    let input = File::from(fcntl_dupfd_cloexec(rustix::stdio::stdin(), FIRST_FREE)?);
    if input.metadata()?.file_type().is_socket() {
        return Ok(Box::new(socket(input.into())?));
    }
    Ok(Box::new(tokio::io::stdin()))
}

fn writer(output: OwnedFd) -> io::Result<(Output, Written)> {
    if let Ok(pipe) = pipe::OpenOptions::new().open_sender(reopened(&output)) {
        return Ok((Box::new(pipe), Written(None)));
    }
    let mut output = File::from(output);
    if output.metadata()?.file_type().is_socket() {
        return Ok((Box::new(socket(output.into())?), Written(None)));
    }
    // A terminal or a file cannot be waited for: a thread writes to it.
    let (near, mut far) = std::os::unix::net::UnixStream::pair()?;
    let copy = move || {
        // Where it cannot be written any more there is nobody to tell: the near end breaks.
        let _ = io::copy(&mut far, &mut output);
    };
    Ok((Box::new(socket(near.into())?), Written(Some(thread::spawn(copy)))))
}

/// A socket of any family: only read and written.
fn socket(fd: OwnedFd) -> io::Result<UnixStream> {
    let socket = std::os::unix::net::UnixStream::from(fd);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}
