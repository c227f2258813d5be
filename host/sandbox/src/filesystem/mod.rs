//! Implements `wasi:filesystem`: wasmtime's own implementation behind a guard that checks file types, quotas and sizes.
//! The handles themselves keep a guest inside its directories. The guard refuses special files. It also keeps a guest
//! within the one place of a narrowed directory, and out of places that masks hide or protect.

mod delegate;
mod effects;
mod guard;
mod listing;
mod masked;
mod naming;
mod open;
mod preopened;
mod quota;
mod reach;
mod reading;
mod spot;
mod uses;
mod walk;

pub(crate) use guard::add_to_linker;

use crate::context::CallHost;
use crate::directory::{Directory, is_closed};
use crate::effects::Effects;
use crate::handles::Handles;
use crate::host_memory::HostMemory;
use effects::Done;
use masked::MaskPosition;
use portcullis_policy::{InstanceLifetime, Limits};
use preopened::Preopened;
use quota::WriteQuota;
use reach::HandleReach;
use std::fs::File;
use std::io;
use std::sync::{Arc, Weak};
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// Maximum open files and directories of one call. A walk holds one for each level. Sixteen calls together use nearly
/// all of the 1024 descriptors that a process has by default.
const OPEN_FILES_MAX: usize = 60;

type Handle = Resource<Descriptor>;

/// The file system state of a call.
pub(crate) struct FilesystemContext {
    preopens: Vec<(String, Directory)>,
    lifetime: InstanceLifetime,
    /// The paths of the declared directories that the call is not given, if the instance may be kept.
    closed: Vec<String>,
    /// The descriptors that the guest has for these paths, if the instance may be kept.
    preopened: Preopened,
    quota: WriteQuota,
    directory_entries_max: usize,
    memory: HostMemory,
    open: OpenFiles,
    /// The listings of directories in which a mask may hide something, by the number of their stream.
    listings: Vec<(u32, MaskPosition)>,
    done: Done,
    /// Receives the effects of a call that was dropped.
    host: Arc<dyn CallHost>,
}

/// The open files of a call. A file counts as open while anything refers to it, because a stream keeps a file open
/// after its descriptor is dropped.
#[derive(Default)]
struct OpenFiles(Vec<(Weak<File>, HandleReach)>);

impl OpenFiles {
    /// Checks that one more file may be opened.
    fn reserve(&mut self) -> FsResult<()> {
        if self.0.len() >= OPEN_FILES_MAX {
            self.0.retain(|(file, _)| file.strong_count() > 0);
        }
        // WASI has no error code for too many open files. This one at least says that a resource of the host is used
        // up.
        if self.0.len() >= OPEN_FILES_MAX { Err(ErrorCode::InsufficientMemory.into()) } else { Ok(()) }
    }

    fn note(&mut self, descriptor: &Descriptor, reach: HandleReach) {
        let file = match descriptor {
            Descriptor::File(file) => &file.file,
            Descriptor::Dir(directory) => &directory.dir,
        };
        self.0.push((Arc::downgrade(file), reach));
    }
}

impl FilesystemContext {
    /// Preopens each granted directory as `/<key>`. The call has no other directories.
    pub(crate) fn new(
        handles: &Handles,
        lifetime: InstanceLifetime,
        limits: &Limits,
        memory: HostMemory,
        host: Arc<dyn CallHost>,
    ) -> Self {
        let closed = match lifetime {
            InstanceLifetime::Call => Vec::new(),
            InstanceLifetime::Session => handles.ungranted_directories().map(preopened_path).collect(),
        };
        Self {
            preopens: handles.directories().map(|(key, granted)| (preopened_path(key), granted.clone())).collect(),
            lifetime,
            closed,
            preopened: Preopened::default(),
            quota: WriteQuota::new(limits),
            directory_entries_max: limits.directory_entries,
            memory,
            open: OpenFiles::default(),
            listings: Vec::new(),
            done: Done::default(),
            host,
        }
    }

    /// Returns what the call did to its directories. Call it when the call has ended.
    pub(crate) fn take_effects(&mut self) -> Effects {
        self.done.take()
    }

    /// Returns how many descriptors of preopened directories the guest has.
    pub(crate) fn preopened_descriptors(&self) -> usize {
        self.preopened.len()
    }

    /// Closes the descriptors of the preopened directories.
    ///
    /// # Errors
    /// One cannot be closed, so the instance must not be kept.
    pub(crate) fn close(&self, table: &mut ResourceTable) -> io::Result<()> {
        self.preopened.close(table)
    }

    /// Puts the directories of this call behind the descriptors that the guest has from the last call of its session.
    pub(crate) fn continue_after(&mut self, last: &mut Self, table: &mut ResourceTable) {
        self.preopened = std::mem::take(&mut last.preopened);
        self.preopened.open(&self.preopens, table);
    }

    /// Returns the reach of an open directory. It is looked up by the open file, because handle numbers are reused. A
    /// directory that the call was not given is refused.
    fn reach(&self, directory: &Arc<File>) -> FsResult<HandleReach> {
        let granted = self.preopens.iter().find(|(_, granted)| Arc::ptr_eq(granted.handle(), directory));
        if let Some((_, granted)) = granted {
            let masks = granted.masks().map(Arc::clone);
            return Ok(match granted.narrowing() {
                Some(narrowing) => HandleReach::Way { narrowing: Arc::clone(narrowing), depth: 0, masks },
                None => HandleReach::of(masks.map(|masks| MaskPosition::at(masks, &[]))),
            });
        }
        if is_closed(directory) {
            return Ok(HandleReach::Closed);
        }
        // A weak reference keeps its allocation, so a later file cannot have the same address.
        let opened = self.open.0.iter().find(|(file, _)| std::ptr::eq(file.as_ptr(), Arc::as_ptr(directory)));
        opened.map(|(_, reach)| reach.clone()).ok_or_else(|| ErrorCode::NotPermitted.into())
    }
}

/// Returns the path at which a guest finds the directory of a key.
fn preopened_path(key: &str) -> String {
    format!("/{key}")
}

impl Drop for FilesystemContext {
    /// Reports the effects of a run that was dropped before it ended.
    fn drop(&mut self) {
        let effects = self.take_effects();
        if !effects.is_empty() {
            self.host.effects(effects);
        }
    }
}
