//! Messages between the host, the broker and the supervisor of a program. A message is JSON and a list of descriptors.

use crate::confinement::Confinement;
use crate::exit::ProgramReport;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::retry_on_intr;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::path::PathBuf;

/// Maximum bytes of a message. What is longer goes into a file, whose descriptor is sent.
const MESSAGE_BYTES_MAX: usize = 16 * 1024;

/// Maximum descriptors of a message. The kernel allows 253 (`SCM_MAX_FD`); a start takes 6 and one for each directory.
pub(crate) const DESCRIPTORS_MAX: usize = 64;

/// Maximum bytes of the description of a start: the arguments that the kernel takes, twice, because of JSON.
pub(crate) const START_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// What to start. It is in a file, and [`StartDescriptors`] go with it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StartRequest {
    /// The path by which the caller named the program: its first argument.
    pub(crate) name: PathBuf,
    /// The path of the program file without links.
    pub(crate) path: PathBuf,
    /// Whether the file is a script, whose interpreter opens it again.
    pub(crate) script: bool,
    pub(crate) arguments: Vec<String>,
    pub(crate) confinement: Confinement,
    /// The directory for the program's own files, if the tier makes one on the machine. Only a cell sets it.
    pub(crate) temporary: Option<PathBuf>,
}

/// The descriptors of a start, in the order in which they are sent.
#[derive(Debug)]
pub(crate) struct StartDescriptors<Fd> {
    /// The socket to the host. When the host closes its end, the program is killed.
    pub(crate) control: Fd,
    /// The [`StartRequest`].
    pub(crate) request: Fd,
    pub(crate) program: Fd,
    pub(crate) stdin: Fd,
    pub(crate) stdout: Fd,
    pub(crate) stderr: Fd,
    /// The directories of the confinement, in its order.
    pub(crate) directories: Vec<Fd>,
}

impl<Fd> StartDescriptors<Fd> {
    pub(crate) fn into_list(self) -> Vec<Fd> {
        let Self { control, request, program, stdin, stdout, stderr, directories } = self;
        [control, request, program, stdin, stdout, stderr].into_iter().chain(directories).collect()
    }

    /// Returns none if a descriptor is missing.
    pub(crate) fn from_list(list: Vec<Fd>) -> Option<Self> {
        let mut list = list.into_iter();
        Some(Self {
            control: list.next()?,
            request: list.next()?,
            program: list.next()?,
            stdin: list.next()?,
            stdout: list.next()?,
            stderr: list.next()?,
            directories: list.collect(),
        })
    }
}

/// What the host sends to the broker, with descriptors.
pub(crate) const START_PROGRAM: &[u8] = b"program";
/// The same for the worker of the host's own program. With it go a control socket and the three standard streams.
pub(crate) const START_WORKER: &[u8] = b"worker";

/// How the worker of the host's own program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkerExit {
    /// It returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// What a supervisor tells the host of its program.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ProgramEvent {
    /// The program runs. The message has a descriptor of its supervisor and, if the program has a proxy, the listener.
    Started,
    /// The program was not started.
    Refused(String),
    /// The program has ended, with everything that it started.
    Ended(ProgramReport),
}

/// Makes two connected sockets that keep the bounds of messages.
pub(crate) fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// Sends a value and descriptors as one message.
pub(crate) fn send<T: Serialize>(
    socket: impl AsFd,
    value: &T,
    descriptors: &[BorrowedFd<'_>],
    flags: SendFlags,
) -> io::Result<()> {
    let bytes = serde_json::to_vec(value)?;
    send_bytes(socket, &bytes, descriptors, flags)
}

pub(crate) fn send_bytes(
    socket: impl AsFd,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
    flags: SendFlags,
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors for one message"));
    }
    // If the other end is closed, this returns an error. SIGPIPE would end a process that does not ignore it.
    let flags = flags | SendFlags::NOSIGNAL;
    retry_on_intr(|| sendmsg(&socket, &[IoSlice::new(bytes)], &mut ancillary, flags))?;
    Ok(())
}

/// Receives one message. Returns none if the other end is closed.
pub(crate) fn receive<T: DeserializeOwned>(
    socket: impl AsFd,
    flags: RecvFlags,
) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let Some((bytes, descriptors)) = receive_bytes(socket, flags)? else { return Ok(None) };
    Ok(Some((serde_json::from_slice(&bytes)?, descriptors)))
}

pub(crate) fn receive_bytes(socket: impl AsFd, flags: RecvFlags) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut bytes = vec![0; MESSAGE_BYTES_MAX];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let received = retry_on_intr(|| recvmsg(&socket, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, flags))?;
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(sent) = message {
            descriptors.extend(sent);
        }
    }
    if received.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return Err(io::Error::other("a message is too long"));
    }
    bytes.truncate(received.bytes);
    // A closed socket of this type returns an empty message, and no sender sends one.
    Ok((received.bytes > 0).then_some((bytes, descriptors)))
}
