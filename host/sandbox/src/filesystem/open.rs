//! Opening a path below a directory handle: only regular files and directories come out.
//!
//! Wasmtime opens without `O_NONBLOCK`, so that a FIFO would hold a thread of the host for ever; and a device or a
//! socket inside a directory is a way out of it. cap-primitives resolves the path; the type is checked before the
//! open, which may have an effect on a device, and again on what was opened, which is what counts.

use cap_fs_ext::{OpenOptionsFollowExt, OpenOptionsMaybeDirExt, OpenOptionsSyncExt};
use cap_primitives::fs::{FileType, FollowSymlinks, Metadata, OpenOptions};
use std::fs::File;
use std::io;
use std::path::Path;
use wasmtime_wasi::OpenMode;
use wasmtime_wasi::filesystem::{self, Descriptor, Dir};
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

/// An open as a guest asks for it, checked against the rights of the handle it starts from.
pub(super) struct Request {
    path: String,
    open_flags: OpenFlags,
    follow: FollowSymlinks,
    read: bool,
    write: bool,
}

/// What an open led to.
pub(super) enum Opened {
    Found(File, FileType),
    /// Nothing is there, and the guest wants it created.
    Missing,
}

impl Request {
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
        // Without a write the file is opened for reading, whatever the guest says: some access there must be.
        let read = flags.contains(DescriptorFlags::READ) || !flags.contains(DescriptorFlags::WRITE);
        Ok(Self { path, open_flags, follow, read, write })
    }

    /// Whether a new entry may come of it.
    pub(super) fn creates(&self) -> bool {
        self.open_flags.contains(OpenFlags::CREATE)
    }

    /// Whether what is opened may be written through it, or is cut by the opening.
    pub(super) fn writes(&self) -> bool {
        self.write
    }

    fn exclusive(&self) -> bool {
        self.creates() && self.open_flags.contains(OpenFlags::EXCLUSIVE)
    }

    /// Opens what is there. Blocks.
    pub(super) fn open_existing(&self, directory: &File) -> io::Result<Opened> {
        if self.exclusive() {
            return Ok(Opened::Missing);
        }
        match cap_primitives::fs::stat(directory, Path::new(&self.path), self.follow) {
            Ok(metadata) if !openable(metadata.file_type()) => return Err(refused()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.creates() => return Ok(Opened::Missing),
            Ok(_) | Err(_) => {}
        }
        self.open(directory, &self.options())
    }

    /// Opens, creating what is missing. Blocks.
    pub(super) fn create(&self, directory: &File) -> io::Result<Opened> {
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

    fn open(&self, directory: &File, options: &OpenOptions) -> io::Result<Opened> {
        let file = cap_primitives::fs::open(directory, Path::new(&self.path), options)?;
        let kind = Metadata::from_file(&file)?.file_type();
        if !kind.is_file() && !kind.is_dir() {
            return Err(refused());
        }
        if self.open_flags.contains(OpenFlags::DIRECTORY) && !kind.is_dir() {
            return Err(rustix::io::Errno::NOTDIR.into());
        }
        Ok(Opened::Found(file, kind))
    }

    /// A directory as one to go through: nothing can be made or written by opening it.
    pub(super) fn passage(&self, directory: &Dir) -> FsResult<Dir> {
        if self.write || self.exclusive() {
            return Err(ErrorCode::NotPermitted.into());
        }
        let mut directory = directory.clone();
        directory.open_mode = OpenMode::READ;
        Ok(directory)
    }

    /// Makes a descriptor with the rights of the handle it came from.
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

/// A link counts as openable here: whether it is followed, and where to, the open itself decides.
fn openable(kind: FileType) -> bool {
    kind.is_file() || kind.is_dir() || kind.is_symlink()
}

fn refused() -> io::Error {
    rustix::io::Errno::PERM.into()
}
