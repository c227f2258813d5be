//! Creates names in a directory with masks: new directories, links and renames.
//!
//! The handles of a directory stay open when it is moved, and its content is then below another name. So a directory
//! moves only to a place with the same masks. Whether the name is a directory must not change between that check and
//! the move. Only these functions create a directory or a link, and they run one at a time.

use super::guard::FilesystemGuard;
use super::masked::MaskPosition;
use super::spot::PlacedSpot;
use cap_primitives::fs::{DirOptions, FileType, FollowSymlinks};
use portcullis_policy::recovery::RecoverMutex;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::{ErrorCode, HostDescriptor, PathFlags};
use wasmtime_wasi::runtime::spawn_blocking;

/// Held while a name is created in any directory with masks. Every holder is in a thread that may block.
static NAMING: Mutex<()> = Mutex::new(());

/// A place at which a name is created.
struct NamedPlace {
    directory: Arc<File>,
    path: String,
    /// Whether only a directory may have the name.
    directory_only: bool,
    standing: Option<MaskPosition>,
}

impl NamedPlace {
    fn path(&self) -> &Path {
        Path::new(&self.path)
    }
}

/// The object that gets the name.
enum Naming {
    Directory,
    Symlink(String),
    Link(NamedPlace),
    Rename(NamedPlace),
}

impl FilesystemGuard<'_> {
    fn named_place(&self, at: &PlacedSpot) -> FsResult<NamedPlace> {
        let directory = Arc::clone(&self.directory(&at.handle())?.dir);
        let directory_only = at.path.ends_with('/');
        let path = at.path.trim_end_matches('/').to_owned();
        Ok(NamedPlace { directory, path, directory_only, standing: at.standing.clone() })
    }

    /// Creates a directory.
    pub(super) async fn make_directory(&mut self, at: &PlacedSpot) -> FsResult<()> {
        if at.standing.is_none() {
            return self.inner().create_directory_at(at.handle(), at.path.clone()).await;
        }
        give(self.named_place(at)?, Naming::Directory).await
    }

    /// Creates a symbolic link.
    pub(super) async fn make_symlink(&mut self, target: String, at: &PlacedSpot) -> FsResult<()> {
        if at.standing.is_none() {
            return self.inner().symlink_at(at.handle(), target, at.path.clone()).await;
        }
        self.writable_directory(&at.handle())?;
        give(self.named_place(at)?, Naming::Symlink(target)).await
    }

    /// Creates a hard link to a file.
    pub(super) async fn make_link(&mut self, old: &PlacedSpot, new: &PlacedSpot) -> FsResult<()> {
        if old.standing.is_none() && new.standing.is_none() {
            let (from, to) = (old.path.clone(), new.path.clone());
            return self.inner().link_at(old.handle(), old.flags, from, new.handle(), to).await;
        }
        self.check_both(old, new)?;
        if old.flags.contains(PathFlags::SYMLINK_FOLLOW) {
            // As wasmtime does in a directory without masks.
            return Err(ErrorCode::Invalid.into());
        }
        give(self.named_place(new)?, Naming::Link(self.named_place(old)?)).await
    }

    /// Renames a file or directory.
    pub(super) async fn rename(&mut self, old: &PlacedSpot, new: &PlacedSpot) -> FsResult<()> {
        if old.standing.is_none() && new.standing.is_none() {
            let (from, to) = (old.path.clone(), new.path.clone());
            return self.inner().rename_at(old.handle(), from, new.handle(), to).await;
        }
        self.check_both(old, new)?;
        give(self.named_place(new)?, Naming::Rename(self.named_place(old)?)).await
    }

    fn check_both(&self, old: &PlacedSpot, new: &PlacedSpot) -> FsResult<()> {
        self.writable_directory(&old.handle())?;
        self.writable_directory(&new.handle())
    }
}

async fn give(new: NamedPlace, naming: Naming) -> FsResult<()> {
    let given = spawn_blocking(move || {
        let _one_at_a_time = NAMING.lock_recovered();
        check(&new, &naming)?;
        give_now(&new, &naming).map_err(ErrorCode::from)
    });
    Ok(given.await?)
}

fn check(new: &NamedPlace, naming: &Naming) -> Result<(), ErrorCode> {
    let link = |at: &NamedPlace| at.standing.as_ref().map_or(Ok(()), MaskPosition::check_link);
    let file = |at: &NamedPlace| at.standing.as_ref().map_or(Ok(()), MaskPosition::check_file);
    match naming {
        // The masks were checked when the place was found.
        Naming::Directory => Ok(()),
        Naming::Symlink(_) | Naming::Link(_) if new.directory_only => Err(ErrorCode::NoEntry),
        Naming::Symlink(_) => link(new),
        Naming::Link(old) => file(old).and_then(|()| link(new)),
        Naming::Rename(old) => {
            let kind = kind_at(old)?;
            if kind.is_dir() {
                let same = MaskPosition::is_same_below(old.standing.as_ref(), new.standing.as_ref());
                return if same { Ok(()) } else { Err(ErrorCode::NotPermitted) };
            }
            if new.directory_only {
                return Err(ErrorCode::NotDirectory);
            }
            file(old)?;
            if kind.is_symlink() { link(new) } else { file(new) }
        }
    }
}

fn kind_at(at: &NamedPlace) -> io::Result<FileType> {
    Ok(cap_primitives::fs::stat(&at.directory, at.path(), FollowSymlinks::No)?.file_type())
}

fn give_now(new: &NamedPlace, naming: &Naming) -> io::Result<()> {
    match naming {
        Naming::Directory => cap_primitives::fs::create_dir(&new.directory, new.path(), &DirOptions::new()),
        Naming::Symlink(target) => cap_primitives::fs::symlink(Path::new(target), &new.directory, new.path()),
        Naming::Link(old) => cap_primitives::fs::hard_link(&old.directory, old.path(), &new.directory, new.path()),
        Naming::Rename(old) => cap_primitives::fs::rename(&old.directory, old.path(), &new.directory, new.path()),
    }
}
