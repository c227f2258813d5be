//! Words in memory that all processes with the same state directory share.

#![expect(unsafe_code, reason = "memory that processes share has no safe wrapper")]

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::fs::{FsWord, fstatfs};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

pub(super) const FILE: &str = "audit.lock";

/// Size of the file, in bytes: one page.
const FILE_BYTES: usize = 4096;

/// The file systems of one machine, on which all processes that can lock a file also share its memory: ext2 to ext4,
/// XFS, Btrfs, F2FS, ZFS, tmpfs and overlayfs.
const LOCAL_FILE_SYSTEMS: [FsWord; 7] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x2fc1_2fc1, 0x0102_1994, 0x794c_7630];

/// The words.
#[repr(C)]
pub(super) struct Words {
    /// The name of the writer that has the log for itself, or zero.
    pub(super) sole: AtomicU64,
    /// The name of the writer that appends without the lock, or zero.
    pub(super) appends: AtomicU64,
    /// Not zero once a writer uses these words.
    pub(super) used: AtomicU64,
}

/// The words of a log, until they are unmapped.
pub(super) struct SharedWords(NonNull<Words>);

// SAFETY: The words are atomic, and are mapped until this is dropped.
unsafe impl Send for SharedWords {}
// SAFETY: As above.
unsafe impl Sync for SharedWords {}

impl SharedWords {
    /// Maps the words of the log in this directory. Creates them if they do not exist. `None` if the file system does
    /// not share them with all processes.
    pub(super) fn open(directory: &Dir) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).mode(0o600);
        let file: File = directory.open_with(FILE, &options)?.into_std();
        if !LOCAL_FILE_SYSTEMS.contains(&fstatfs(&file)?.f_type) {
            return Ok(None);
        }
        // Make the file long enough first. Access to a mapped page behind its end raises SIGBUS (mmap(2)).
        if file.metadata()?.len() < FILE_BYTES as u64 {
            file.set_len(FILE_BYTES as u64)?;
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: A new mapping overlaps nothing. The file is as long as the mapping, and no program makes it shorter.
        let mapped = unsafe { mmap(std::ptr::null_mut(), FILE_BYTES, access, MapFlags::SHARED, &file, 0)? };
        Ok(NonNull::new(mapped.cast()).map(Self))
    }
}

impl Deref for SharedWords {
    type Target = Words;

    fn deref(&self) -> &Words {
        // SAFETY: The mapping is aligned to a page and longer than the words, for which any content is valid.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        // SAFETY: This is the mapping that `open` made. Nothing can refer to it any more.
        let _ = unsafe { munmap(self.0.as_ptr().cast(), FILE_BYTES) };
    }
}
