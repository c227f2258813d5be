//! Implements `wasi:filesystem`: wasmtime's own implementation behind a guard that checks file types, quotas and sizes.
//! The handles themselves keep a guest inside its directories. The guard refuses special files, keeps a guest within
//! the one place of a narrowed directory, and out of the places that masks hide or protect.

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
use masked::Standing;
use portcullis_policy::Limits;
use quota::Quota;
use reach::Reach;
use std::fs::File;
use std::sync::{Arc, Weak};
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// Files and directories that one call may hold open: a walk holds one for each level, and sixteen calls together stay
/// within the 1024 descriptors that a process has by default, nearly.
const OPEN_FILES_MAX: usize = 60;

type Handle = Resource<Descriptor>;

/// A call's use of its directories.
pub(crate) struct FilesystemContext {
    preopens: Vec<(String, Directory)>,
    quota: Quota,
    directory_entries_max: usize,
    memory: HostMemory,
    open: OpenFiles,
    /// The listings of directories in which a mask may hide something, by the number of their stream.
    listings: Vec<(u32, Standing)>,
    done: Done,
    /// Who hears of what a call did that nobody waited for.
    host: Arc<dyn CallHost>,
}

/// The files that a call holds open, known by whether anything still refers to them: a stream keeps a file open after
/// its descriptor is gone.
#[derive(Default)]
struct OpenFiles(Vec<(Weak<File>, Reach)>);

impl OpenFiles {
    /// Makes room for one more.
    fn reserve(&mut self) -> FsResult<()> {
        if self.0.len() >= OPEN_FILES_MAX {
            self.0.retain(|(file, _)| file.strong_count() > 0);
        }
        // WASI has no code for too many open files; this one says that it is the host's means that are short.
        if self.0.len() >= OPEN_FILES_MAX { Err(ErrorCode::InsufficientMemory.into()) } else { Ok(()) }
    }

    fn note(&mut self, descriptor: &Descriptor, reach: Reach) {
        let file = match descriptor {
            Descriptor::File(file) => &file.file,
            Descriptor::Dir(directory) => &directory.dir,
        };
        self.0.push((Arc::downgrade(file), reach));
    }
}

impl FilesystemContext {
    /// Preopens each directory as `/<key>`. There is no other directory for the call.
    pub(crate) fn new<'a>(
        directories: impl Iterator<Item = (&'a str, &'a Directory)>,
        limits: &Limits,
        memory: HostMemory,
        host: Arc<dyn CallHost>,
    ) -> Self {
        Self {
            preopens: directories.map(|(key, directory)| (format!("/{key}"), directory.clone())).collect(),
            quota: Quota::new(limits),
            directory_entries_max: limits.directory_entries,
            memory,
            open: OpenFiles::default(),
            listings: Vec::new(),
            done: Done::default(),
            host,
        }
    }

    /// What the call did to its directories, when it has ended.
    pub(crate) fn take_effects(&mut self) -> Effects {
        self.done.take()
    }

    /// What an open directory leads to, by the directory itself: a handle's number says nothing. One that the call was
    /// not given leads nowhere.
    fn reach(&self, directory: &Arc<File>) -> FsResult<Reach> {
        let granted = self.preopens.iter().find(|(_, granted)| Arc::ptr_eq(granted.handle(), directory));
        if let Some((_, granted)) = granted {
            let masks = granted.masks().map(Arc::clone);
            return Ok(match granted.narrowing() {
                Some(narrowing) => Reach::Way { narrowing: Arc::clone(narrowing), depth: 0, masks },
                None => Reach::of(masks.map(|masks| Standing::at(masks, &[]))),
            });
        }
        let opened = self.open.0.iter().find(|(file, _)| std::ptr::eq(file.as_ptr(), Arc::as_ptr(directory)));
        opened.map(|(_, reach)| reach.clone()).ok_or_else(|| ErrorCode::NotPermitted.into())
    }
}

impl Drop for FilesystemContext {
    /// A run that was dropped in its middle: what it has done is done, and is told all the same.
    fn drop(&mut self) {
        let effects = self.take_effects();
        if !effects.is_empty() {
            self.host.effects(effects);
        }
    }
}
