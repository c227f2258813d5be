//! Walks from a directory with masks to the place that a path leads to, name by name and through links. So masks apply
//! to the place, and not to the spelling of the path.
//!
//! The walk ends with a directory that was reached without an unresolved link, and one name in it. An operation on that
//! name follows no link.

use super::masked::MaskPosition;
use super::uses::PlaceUse;
use crate::directory::{Lookup, find_name, find_no_link, way_point};
use cap_primitives::fs::Metadata;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// Maximum links on the way to one place, as in Linux.
const LINKS_MAX: usize = 40;

/// Maximum names on the way to one place, including those of link targets. A path has at most 2048 names.
const NAMES_MAX: usize = 4096;

/// The end of a walk.
pub(super) struct WalkEnd {
    pub(super) directory: Arc<File>,
    /// A name, or a dot for the directory itself. A trailing slash means that nothing exists there, and that only a
    /// directory can get the name.
    pub(super) path: String,
    pub(super) standing: MaskPosition,
}

/// The start and the path of a walk.
#[derive(Clone)]
pub(super) struct PathWalk {
    pub(super) start: Arc<File>,
    pub(super) standing: MaskPosition,
    pub(super) path: String,
    pub(super) of: PlaceUse,
    /// Whether a link at the end is followed.
    pub(super) follow: bool,
}

impl PathWalk {
    /// Walks without blocking, if the kernel has everything in its cache and there is no link on the way. On any error,
    /// call [`PathWalk::walk`].
    pub(super) fn at_once(&self) -> io::Result<WalkEnd> {
        let names: Vec<&str> = self.path.split('/').collect();
        let is_plain = |name: &&str| !matches!(*name, "" | "." | "..");
        if self.path == "." {
            let (directory, standing) = (Arc::clone(&self.start), self.standing.clone());
            return Ok(WalkEnd { directory, path: ".".to_owned(), standing });
        }
        let Some((name, way)) = names.split_last().filter(|_| names.iter().all(is_plain)) else {
            return Err(Errno::AGAIN.into());
        };
        let mut around = self.standing.clone();
        for name in way {
            around = around.step(name);
            if around.is_hidden() {
                return Err(Errno::AGAIN.into());
            }
        }
        let directory = match way {
            [] => Arc::clone(&self.start),
            way => Arc::new(File::from(way_point(&*self.start, &way.join("/"), Lookup::Cached)?)),
        };
        if self.follow {
            find_no_link(&*directory, name, Lookup::Cached)?;
        }
        Ok(WalkEnd { directory, path: (*name).to_owned(), standing: around.step(name) })
    }

    /// Walks, and may block.
    pub(super) fn walk(&self) -> io::Result<WalkEnd> {
        if self.path.is_empty() {
            return Err(Errno::NOENT.into());
        }
        let mut progress = WalkProgress {
            walk: self,
            // Never removed: the guest has no right above it.
            around: vec![(Arc::clone(&self.start), self.standing.clone())],
            ahead: Vec::new(),
            links: 0,
            names: 0,
        };
        progress.prepend(&self.path)?;
        loop {
            if let Some(arrival) = progress.step()? {
                return Ok(arrival);
            }
        }
    }
}

/// The state of a walk.
struct WalkProgress<'a> {
    walk: &'a PathWalk,
    /// The directories from the start to the current one.
    around: Vec<(Arc<File>, MaskPosition)>,
    /// The remaining names, the next one last.
    ahead: Vec<String>,
    links: usize,
    names: usize,
}

impl WalkProgress<'_> {
    /// Inserts the names of a path before the remaining names.
    fn prepend(&mut self, path: &str) -> io::Result<()> {
        if path.starts_with('/') {
            return Err(Errno::PERM.into());
        }
        self.ahead.extend(path.split('/').rev().map(str::to_owned));
        if self.ahead.len() > NAMES_MAX { Err(Errno::NAMETOOLONG.into()) } else { Ok(()) }
    }

    fn here(&self) -> io::Result<&(Arc<File>, MaskPosition)> {
        self.around.last().ok_or_else(|| Errno::PERM.into())
    }

    /// Takes one step. Returns the end of the walk once it is reached.
    fn step(&mut self) -> io::Result<Option<WalkEnd>> {
        self.names += 1;
        if self.names > NAMES_MAX {
            return Err(Errno::NAMETOOLONG.into());
        }
        let Some(name) = self.ahead.pop() else {
            let (directory, standing) = self.here()?.clone();
            return Ok(Some(WalkEnd { directory, path: ".".to_owned(), standing }));
        };
        match name.as_str() {
            "" | "." => Ok(None),
            // Back to the directory that the walk came from. On disk, `..` may lead elsewhere after a rename.
            ".." if self.around.len() > 1 => {
                self.around.pop();
                Ok(None)
            }
            ".." => Err(Errno::PERM.into()),
            name => self.enter(name),
        }
    }

    /// Processes a name: ends there, enters the directory, or follows the link.
    fn enter(&mut self, name: &str) -> io::Result<Option<WalkEnd>> {
        let (directory, around) = self.here()?.clone();
        let standing = around.step(name);
        if standing.is_hidden() {
            return Err(Errno::NOENT.into());
        }
        let (of, is_last) = (self.walk.of, self.ahead.iter().all(String::is_empty));
        let slash = is_last && !self.ahead.is_empty();
        let end = |slash: bool| {
            let path = if slash { format!("{name}/") } else { name.to_owned() };
            Ok(Some(WalkEnd { directory: Arc::clone(&directory), path, standing: standing.clone() }))
        };
        // These two accept a trailing slash, and never follow a link.
        let takes_slash = matches!(of, PlaceUse::MakeDirectory | PlaceUse::RemoveDirectory);
        if is_last && (takes_slash || !slash && !self.walk.follow) {
            return end(false);
        }
        let found = match find_name(&*directory, name) {
            Ok(found) => File::from(found),
            Err(Errno::NOENT) if is_last && !slash => return end(false),
            Err(Errno::NOENT) if is_last && of == PlaceUse::Name => return end(true),
            Err(error) => return Err(error.into()),
        };
        let kind = Metadata::from_file(&found)?.file_type();
        match (kind.is_symlink(), kind.is_dir()) {
            // A link can be renamed only by a path without a trailing slash.
            (true, _) if slash && of == PlaceUse::Name => Err(Errno::NOTDIR.into()),
            (false, true) if slash && of == PlaceUse::Name => end(false),
            (true, _) => {
                self.follow(&found)?;
                Ok(None)
            }
            (false, true) if is_last && !slash => end(false),
            (false, true) => {
                self.around.push((Arc::new(found), standing));
                Ok(None)
            }
            (false, false) if is_last && !slash => end(false),
            (false, false) => Err(Errno::NOTDIR.into()),
        }
    }

    fn follow(&mut self, link: &File) -> io::Result<()> {
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(Errno::LOOP.into());
        }
        let target = rustix::fs::readlinkat(link, "", Vec::new())?;
        // No mask can be compared with a name that is not UTF-8.
        let target = target.to_str().map_err(|_| io::Error::from(Errno::PERM))?;
        if target.is_empty() { Err(Errno::NOENT.into()) } else { self.prepend(target) }
    }
}
