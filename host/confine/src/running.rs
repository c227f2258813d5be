//! A program that runs.

use crate::error::ConfineError;
use crate::exit::ProgramReport;
use crate::message::{ProgramEvent, WorkerExit, receive};
use crate::tier::Tier;
use rustix::fd::OwnedFd;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::net::RecvFlags;
use rustix::process::{Signal, pidfd_send_signal};
use serde::de::DeserializeOwned;
use std::io;
use std::net::TcpListener;
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
        let (event, descriptors): (ProgramEvent, _) = control.next().await?;
        match event {
            ProgramEvent::Started => {
                RunningProgram::new((control, self.tier), descriptors, self.streams).map_err(ConfineError::Broker)
            }
            ProgramEvent::Refused(why) => Err(ConfineError::Refused(why)),
            // The supervisor could not report the start, so the end is its first message.
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
    listener: Option<TcpListener>,
    streams: Option<StandardStreams<pipe::Sender, pipe::Receiver>>,
}

impl StandardStreams<OwnedFd> {
    /// Returns the streams of the host, which do not block it.
    fn into_pipes(self) -> io::Result<StandardStreams<pipe::Sender, pipe::Receiver>> {
        let Self { stdin, stdout, stderr } = self;
        // Each end of a pipe has flags of its own, so the program's ends still block. Tokio need not check our own
        // pipes.
        let receiver = |stream: OwnedFd| pipe::Receiver::from_owned_fd_unchecked(nonblocking(stream)?);
        Ok(StandardStreams {
            stdin: pipe::Sender::from_owned_fd_unchecked(nonblocking(stdin)?)?,
            stdout: receiver(stdout)?,
            stderr: stderr.map(receiver).transpose()?,
        })
    }
}

/// The worker of the host's own program. Dropping this kills it.
#[derive(Debug)]
pub struct RunningWorker {
    control: Control,
    streams: Option<StandardStreams<pipe::Sender, pipe::Receiver>>,
}

impl RunningWorker {
    pub(crate) fn new(control: OwnedFd, streams: StandardStreams<OwnedFd>) -> io::Result<Self> {
        Ok(Self { control: Control::new(control)?, streams: Some(streams.into_pipes()?) })
    }

    /// Takes the streams. Returns none from the second time on.
    pub fn take_streams(&mut self) -> Option<StandardStreams<pipe::Sender, pipe::Receiver>> {
        self.streams.take()
    }

    /// Waits until the worker has ended. It can be dropped and called again.
    ///
    /// # Errors
    /// Its supervisor was killed, or the broker could not start it.
    pub async fn ended(&self) -> Result<WorkerExit, ConfineError> {
        Ok(self.control.next().await?.0)
    }
}

impl RunningProgram {
    fn new(
        (control, tier): (Control, Tier),
        descriptors: Vec<OwnedFd>,
        streams: StandardStreams<OwnedFd>,
    ) -> io::Result<Self> {
        let missing = || io::Error::other("a descriptor of the program is missing");
        let mut descriptors = descriptors.into_iter();
        let supervisor = descriptors.next().ok_or_else(missing)?;
        let listener = descriptors.next().map(nonblocking).transpose()?.map(TcpListener::from);
        Ok(Self { control, tier, supervisor, listener, streams: Some(streams.into_pipes()?) })
    }

    /// Takes the listener at [`PROXY_PORT`](crate::PROXY_PORT) of the program's loopback interface. It does not block.
    /// Returns none if the confinement has no proxy, and from the second time on.
    pub fn take_listener(&mut self) -> Option<TcpListener> {
        self.listener.take()
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

    async fn next<T: DeserializeOwned>(&self) -> Result<(T, Vec<OwnedFd>), ConfineError> {
        let received = self.0.async_io(Interest::READABLE, |socket| receive(socket, RecvFlags::empty())).await;
        let ended = || ConfineError::Broker(io::Error::other("the supervisor of the program was killed"));
        received.map_err(ConfineError::Broker)?.ok_or_else(ended)
    }

    fn close(&self) {
        // Only the host's direction closes. The supervisor sees it, and can still report the end. This fails if the
        // supervisor is gone.
        let _ = rustix::net::shutdown(self.0.get_ref(), rustix::net::Shutdown::Write);
    }
}

fn nonblocking(descriptor: OwnedFd) -> io::Result<OwnedFd> {
    fcntl_setfl(&descriptor, fcntl_getfl(&descriptor)? | OFlags::NONBLOCK)?;
    Ok(descriptor)
}
