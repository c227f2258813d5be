//! What each tier does for one program.

use crate::confinement::Confinement;
use crate::message::{StartDescriptors, StartRequest};
use rustix::fd::{BorrowedFd, OwnedFd};
use std::io;

/// How a tier confines one program.
pub(super) trait TierCell: Sized {
    /// Prepares what does not depend on the program.
    fn prepare() -> io::Result<Self>;

    /// Prepares what the confinement names. Returns the listener for the program's network, if it is proxied.
    fn furnish(
        &mut self,
        request: &mut StartRequest,
        descriptors: &StartDescriptors<OwnedFd>,
    ) -> io::Result<Option<OwnedFd>>;

    /// Takes away the rights of the process that becomes the program. Called in it, before it executes the program.
    fn enter(&self, confinement: &Confinement) -> io::Result<()>;

    /// Opens the program file as the program's own view has it.
    fn program(&self, request: &StartRequest, program: BorrowedFd<'_>) -> io::Result<OwnedFd>;

    /// Returns the numbers of all processes of the program.
    fn processes(&self) -> io::Result<Vec<u32>>;

    /// Kills all processes of the program.
    fn kill(&self);

    /// Removes what the program leaves, after its end.
    fn clear(&self) {}
}

/// Sets a variable that neither the caller nor the policy has set.
pub(super) fn set_default(request: &mut StartRequest, name: &str, value: &str) {
    let environment = &mut request.confinement.environment;
    if environment.iter().all(|(known, _)| known != name) {
        environment.push((name.to_owned(), value.to_owned()));
    }
}
