//! The preopened directories of an instance that lives for a session.
//!
//! A guest asks for its directories once, when it starts, and keeps their descriptors. So an instance of a session is
//! shown every directory that its plugin declares. Each call puts its own directories behind these descriptors, and
//! closes the others. Between two calls all of them are closed.

use crate::directory::{Directory, closed_descriptor};
use std::io;
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::filesystem::Descriptor;

/// The descriptors that a guest has for its preopened directories: the index of each in the resource table, and its
/// path.
#[derive(Default)]
pub(super) struct Preopened(Vec<(u32, String)>);

impl Preopened {
    pub(super) fn note(&mut self, shown: &[(Resource<Descriptor>, String)]) {
        self.0.extend(shown.iter().map(|(handle, path)| (handle.rep(), path.clone())));
    }

    /// Forgets a descriptor that the guest drops, because the table reuses its index.
    pub(super) fn forget(&mut self, handle: &Resource<Descriptor>) {
        self.0.retain(|(index, _)| *index != handle.rep());
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Closes all descriptors.
    ///
    /// # Errors
    /// A descriptor cannot be closed, so the instance must not be kept.
    pub(super) fn close(&self, table: &mut ResourceTable) -> io::Result<()> {
        for (index, _) in &self.0 {
            let descriptor = table.get_mut(&Resource::<Descriptor>::new_borrow(*index)).map_err(io::Error::other)?;
            *descriptor = closed_descriptor()?;
        }
        Ok(())
    }

    /// Puts the directories of a call behind the descriptors with their paths. The others stay closed.
    pub(super) fn open(&self, directories: &[(String, Directory)], table: &mut ResourceTable) {
        for (index, path) in &self.0 {
            let directory = directories.iter().find(|(granted, _)| granted == path);
            let descriptor = table.get_mut(&Resource::<Descriptor>::new_borrow(*index));
            if let (Some((_, directory)), Ok(descriptor)) = (directory, descriptor) {
                *descriptor = directory.descriptor();
            }
        }
    }
}
