//! What each tier does for one program.

use super::kill_scope::KillScope;
use crate::message::{StartDescriptors, StartRequest};
use rustix::fd::OwnedFd;
use seccompiler::BpfProgram;
use std::io;

/// What a program gets of the host.
pub(super) struct ProgramDescriptors {
    pub(super) program: OwnedFd,
    /// The standard streams.
    pub(super) streams: [OwnedFd; 3],
    /// The directories of the confinement, in its order.
    pub(super) directories: Vec<OwnedFd>,
}

impl ProgramDescriptors {
    /// Takes them in the order in which a launcher gets them.
    pub(super) fn from_list(list: Vec<OwnedFd>) -> io::Result<Self> {
        let mut list = list.into_iter();
        let mut next = || list.next().ok_or_else(|| io::Error::other("a descriptor of the program is missing"));
        let (program, streams) = (next()?, [next()?, next()?, next()?]);
        Ok(Self { program, streams, directories: list.collect() })
    }
}

/// How a tier confines one program.
pub(super) trait TierCell: Sized {
    /// Prepares what does not depend on the program.
    fn prepare() -> io::Result<Self>;

    /// Returns the proof that a supervisor that kills everyone reaches exactly its program.
    fn kill_scope(&self) -> &KillScope;

    /// Returns the filters of a program's system calls. The strictest counts.
    fn filters() -> io::Result<[BpfProgram; 2]>;

    /// Prepares what the confinement names.
    fn furnish(&mut self, request: &mut StartRequest, descriptors: &StartDescriptors<OwnedFd>) -> io::Result<()>;

    /// Returns the listener in the network of the program, if the confinement has one. Call it once.
    fn take_listener(&mut self) -> Option<OwnedFd> {
        None
    }

    /// Takes away the rights of the process that becomes the program. Called in it, before it executes the program. It
    /// was forked before [`furnish`](Self::furnish), so it has nothing that `furnish` kept in this object.
    fn enter(&self, request: &StartRequest, granted: &ProgramDescriptors) -> io::Result<()>;

    /// Returns the numbers of all processes of the program. `proc` is the open `/proc` of the supervisor.
    fn processes(&self, proc: &OwnedFd) -> io::Result<Vec<u32>>;
}

/// Sets a variable that neither the caller nor the policy has set.
pub(super) fn set_default(request: &mut StartRequest, name: &str, value: &str) {
    let environment = &mut request.confinement.environment;
    if environment.iter().all(|(known, _)| known != name) {
        environment.push((name.to_owned(), value.to_owned()));
    }
}
