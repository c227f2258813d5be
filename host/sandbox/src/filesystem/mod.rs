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
mod quota;
mod reach;
mod reading;
mod spot;
mod uses;
mod walk;

pub(crate) use guard::add_to_linker;

use crate::context::CallHost;
use crate::directory::Directory;
use crate::effects::Effects;
use crate::host_memory::HostMemory;
use effects::Done;
use masked::MaskPosition;
use portcullis_policy::Limits;
use quota::WriteQuota;
use reach::HandleReach;
use std::fs::File;
use std::sync::{Arc, Weak};
use wasmtime::component::Resource;
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
    /// Preopens each directory as `/<key>`. The call has no other directories.
    pub(crate) fn new<'a>(
        directories: impl Iterator<Item = (&'a str, &'a Directory)>,
        limits: &Limits,
        memory: HostMemory,
        host: Arc<dyn CallHost>,
    ) -> Self {
        Self {
            preopens: directories.map(|(key, directory)| (format!("/{key}"), directory.clone())).collect(),
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
        let opened = self.open.0.iter().find(|(file, _)| std::ptr::eq(file.as_ptr(), Arc::as_ptr(directory)));
        opened.map(|(_, reach)| reach.clone()).ok_or_else(|| ErrorCode::NotPermitted.into())
    }
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
