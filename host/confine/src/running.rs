//! A program that runs.

use crate::error::ConfineError;
use crate::exit::ProgramReport;
use crate::message::{ProgramEvent, receive};
use crate::tier::Tier;
use rustix::fd::OwnedFd;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::net::RecvFlags;
use rustix::process::{Signal, pidfd_send_signal};
use std::io;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;

/// The streams of a program.
#[derive(Debug)]
pub struct StandardStreams<In, Out = In> {
    /// To its stdin.
    pub stdin: In,
    /// From its stdout.
    pub stdout: Out,
    /// From its stderr, unless that goes to stdout.
    pub stderr: Option<Out>,
}

/// A program that the broker is starting. Dropping this gives it up: it is killed if it runs already.
#[derive(Debug)]
pub struct StartingProgram {
    pub(crate) control: OwnedFd,
    pub(crate) tier: Tier,
    pub(crate) streams: StandardStreams<OwnedFd>,
}

impl StartingProgram {
    /// Waits until the program runs.
    ///
    /// # Errors
    /// The program or one of its directories was replaced, or the program cannot be executed.
    pub async fn started(self) -> Result<RunningProgram, ConfineError> {
        let control = Control::new(self.control).map_err(ConfineError::Broker)?;
        let (event, descriptors) = control.next().await?;
        match event {
            ProgramEvent::Started => {
                RunningProgram::new((control, self.tier), descriptors, self.streams).map_err(ConfineError::Broker)
            }
            ProgramEvent::Refused(why) => Err(ConfineError::Refused(why)),
            ProgramEvent::Ended(report) => Err(ConfineError::Refused(format!("it ended at once: {:?}", report.exit))),
        }
    }
}

/// A program that runs. Dropping this kills it, and everything that it started.
#[derive(Debug)]
pub struct RunningProgram {
    control: Control,
    tier: Tier,
    supervisor: OwnedFd,
    streams: Option<StandardStreams<pipe::Sender, pipe::Receiver>>,
}

impl RunningProgram {
    fn new(
        (control, tier): (Control, Tier),
        descriptors: Vec<OwnedFd>,
        streams: StandardStreams<OwnedFd>,
    ) -> io::Result<Self> {
        let missing = || io::Error::other("a descriptor of the program is missing");
        let supervisor = descriptors.into_iter().next().ok_or_else(missing)?;
        let StandardStreams { stdin, stdout, stderr } = streams;
        let receiver = |stream: OwnedFd| pipe::Receiver::from_owned_fd_unchecked(nonblocking(stream)?);
        let streams = StandardStreams {
            stdin: pipe::Sender::from_owned_fd_unchecked(nonblocking(stdin)?)?,
            stdout: receiver(stdout)?,
            stderr: stderr.map(receiver).transpose()?,
        };
        Ok(Self { control, tier, supervisor, streams: Some(streams) })
    }

    /// Takes the streams. Returns none from the second time on.
    pub fn take_streams(&mut self) -> Option<StandardStreams<pipe::Sender, pipe::Receiver>> {
        self.streams.take()
    }

    /// Waits until the program and everything that it started has ended. It can be dropped and called again.
    ///
    /// # Errors
    /// The supervisor was killed.
    pub async fn ended(&self) -> Result<ProgramReport, ConfineError> {
        loop {
            if let ProgramEvent::Ended(report) = self.control.next().await?.0 {
                return Ok(report);
            }
        }
    }

    /// Kills the program and everything that it started. What it has written can still be read, and
    /// [`ended`](Self::ended) returns when all of it is gone.
    pub fn kill(&self) {
        // The supervisor kills its descendants when the socket closes.
        self.control.close();
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.kill();
        // The end of the supervisor ends its namespace, also if it is stuck. Without a namespace, its descendants would
        // remain.
        if self.tier == Tier::Namespaces {
            let _ = pidfd_send_signal(&self.supervisor, Signal::KILL);
        }
    }
}

/// The socket to the supervisor of a program.
#[derive(Debug)]
struct Control(AsyncFd<OwnedFd>);

impl Control {
    fn new(socket: OwnedFd) -> io::Result<Self> {
        let socket = nonblocking(socket)?;
        #[expect(unsafe_code, reason = "tokio has no socket of this type")]
        // SAFETY: an owned descriptor is always the same one, and `AsyncFd` owns it until both are dropped.
        let socket = unsafe { AsyncFd::register_with_interest(socket, Interest::READABLE)? };
        Ok(Self(socket))
    }

    async fn next(&self) -> Result<(ProgramEvent, Vec<OwnedFd>), ConfineError> {
        let received = self.0.async_io(Interest::READABLE, |socket| receive(socket, RecvFlags::empty())).await;
        let ended = || ConfineError::Broker(io::Error::other("the supervisor of the program was killed"));
        received.map_err(ConfineError::Broker)?.ok_or_else(ended)
    }

    fn close(&self) {
        let _ = rustix::net::shutdown(self.0.get_ref(), rustix::net::Shutdown::Write);
    }
}

fn nonblocking(descriptor: OwnedFd) -> io::Result<OwnedFd> {
    fcntl_setfl(&descriptor, fcntl_getfl(&descriptor)? | OFlags::NONBLOCK)?;
    Ok(descriptor)
}
