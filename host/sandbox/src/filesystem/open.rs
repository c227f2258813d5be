//! Opens a path below a directory handle. Only regular files and directories can be opened.
//!
//! Wasmtime opens without `O_NONBLOCK`, so a FIFO would block a thread of the host forever. A device or a socket inside
//! a directory would be a way out of it. cap-primitives resolves the path. The type is checked before the open, because
//! opening a device may have side effects. It is checked again on the opened file, because the path may have changed.

use cap_fs_ext::{OpenOptionsFollowExt, OpenOptionsMaybeDirExt, OpenOptionsSyncExt};
use cap_primitives::fs::{FileType, FollowSymlinks, Metadata, OpenOptions};
use std::fs::File;
use std::io;
use std::path::Path;
use wasmtime_wasi::OpenMode;
use wasmtime_wasi::filesystem::{self, Descriptor, Dir};
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

/// A guest's request to open a path, checked against the permissions of the handle that it starts from.
pub(super) struct OpenRequest {
    path: String,
    open_flags: OpenFlags,
    follow: FollowSymlinks,
    read: bool,
    write: bool,
}

/// The result of an open.
pub(super) enum OpenOutcome {
    Found(File, FileType),
    /// The path does not exist, and the guest wants to create it.
    Missing,
}

impl OpenRequest {
    pub(super) fn new(
        directory: &Dir,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Self> {
        let unsupported = DescriptorFlags::FILE_INTEGRITY_SYNC
            | DescriptorFlags::DATA_INTEGRITY_SYNC
            | DescriptorFlags::REQUESTED_WRITE_SYNC;
        if flags.intersects(unsupported) {
            return Err(ErrorCode::Unsupported.into());
        }
        let makes = OpenFlags::CREATE | OpenFlags::EXCLUSIVE | OpenFlags::TRUNCATE;
        if open_flags.contains(OpenFlags::DIRECTORY) && open_flags.intersects(makes) {
            return Err(ErrorCode::Invalid.into());
        }
        let write =
            flags.contains(DescriptorFlags::WRITE) || open_flags.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE);
        let mutate = write || flags.contains(DescriptorFlags::MUTATE_DIRECTORY);
        if mutate && directory.perms.write_not_permitted() {
            return Err(ErrorCode::NotPermitted.into());
        }
        let follow = match path_flags.contains(PathFlags::SYMLINK_FOLLOW) {
            true => FollowSymlinks::Yes,
            false => FollowSymlinks::No,
        };
        // An open needs some access. If the guest does not ask for writing, the file is opened for reading.
        let read = flags.contains(DescriptorFlags::READ) || !flags.contains(DescriptorFlags::WRITE);
        Ok(Self { path, open_flags, follow, read, write })
    }

    /// Returns whether the open may create an entry.
    pub(super) fn creates(&self) -> bool {
        self.open_flags.contains(OpenFlags::CREATE)
    }

    /// Returns whether the open allows writing, or truncates the file.
    pub(super) fn writes(&self) -> bool {
        self.write
    }

    fn exclusive(&self) -> bool {
        self.creates() && self.open_flags.contains(OpenFlags::EXCLUSIVE)
    }

    /// Opens an existing path. Blocks.
    pub(super) fn open_existing(&self, directory: &File) -> io::Result<OpenOutcome> {
        // If the path exists, the exclusive creation reports that.
        if self.exclusive() {
            return Ok(OpenOutcome::Missing);
        }
        match cap_primitives::fs::stat(directory, Path::new(&self.path), self.follow) {
            Ok(metadata) if !openable(metadata.file_type()) => return Err(refused()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.creates() => return Ok(OpenOutcome::Missing),
            // The open reports every other error.
            Ok(_) | Err(_) => {}
        }
        self.open(directory, &self.options())
    }

    /// Opens a path, and creates the file if it does not exist. Blocks.
    pub(super) fn create(&self, directory: &File) -> io::Result<OpenOutcome> {
        let mut options = self.options();
        if self.exclusive() {
            options.create_new(true);
        } else {
            options.create(true);
        }
        self.open(directory, &options)
    }

    fn options(&self) -> OpenOptions {
        let mut options = OpenOptions::new();
        options.read(self.read).write(self.write).follow(self.follow).maybe_dir(true).nonblock(true);
        options.truncate(self.open_flags.contains(OpenFlags::TRUNCATE));
        options
    }

    fn open(&self, directory: &File, options: &OpenOptions) -> io::Result<OpenOutcome> {
        let file = cap_primitives::fs::open(directory, Path::new(&self.path), options)?;
        let kind = Metadata::from_file(&file)?.file_type();
        if !kind.is_file() && !kind.is_dir() {
            return Err(refused());
        }
        if self.open_flags.contains(OpenFlags::DIRECTORY) && !kind.is_dir() {
            return Err(rustix::io::Errno::NOTDIR.into());
        }
        Ok(OpenOutcome::Found(file, kind))
    }

    /// Returns a directory that is only passed through. Refuses an open that would create or write anything.
    pub(super) fn passage(&self, directory: &Dir) -> FsResult<Dir> {
        if self.write || self.exclusive() {
            return Err(ErrorCode::NotPermitted.into());
        }
        let mut directory = directory.clone();
        directory.open_mode = OpenMode::READ;
        Ok(directory)
    }

    /// Creates a descriptor with the permissions of the handle that it was opened from.
    pub(super) fn descriptor(&self, parent: &Dir, file: File, kind: FileType) -> Descriptor {
        let mut mode = OpenMode::empty();
        mode.set(OpenMode::READ, self.read);
        mode.set(OpenMode::WRITE, self.write);
        if kind.is_dir() {
            Descriptor::Dir(Dir::new(file, parent.perms, mode, false))
        } else {
            Descriptor::File(filesystem::File::new(file, parent.perms, mode, false))
        }
    }
}

/// Returns whether a file type may be opened. A link may, because the open itself decides whether to follow it.
fn openable(kind: FileType) -> bool {
    kind.is_file() || kind.is_dir() || kind.is_symlink()
}

fn refused() -> io::Error {
    rustix::io::Errno::PERM.into()
}
