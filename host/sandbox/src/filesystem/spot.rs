//! The place where a function of the interface acts. Every path of a guest becomes a spot first.
//!
//! In an ordinary directory, a spot is the handle and the path of the guest. In a narrowed directory, it is the last
//! name and a handle of its parent, which is opened without following a link. The operation on the name follows no link
//! either, so a concurrent change cannot redirect it. In a directory with masks, it is the same at the end of a walk
//! that follows links itself.

use super::Handle;
use super::guard::FilesystemGuard;
use super::masked::MaskPosition;
use super::reach::{HandleReach, PathEnding, PathTarget};
use super::uses::{PlaceUse, Station};
use super::walk::PathWalk;
use crate::directory::{Lookup, Narrowing};
use cap_primitives::fs::FollowSymlinks;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, Dir};
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::{ErrorCode, PathFlags};
use wasmtime_wasi::runtime::spawn_blocking;

/// A directory, and a path from there on which a guest may act.
pub(super) struct Spot {
    pub(super) directory: Dir,
    pub(super) path: String,
    pub(super) flags: PathFlags,
    /// What the directory leads to, once the path is opened as one.
    pub(super) reach: HandleReach,
    /// The masks that apply to the place.
    pub(super) standing: Option<MaskPosition>,
}

impl Spot {
    /// Expresses a trailing slash in a way that wasmtime understands. A trailing slash means that a link is followed,
    /// and that it must lead to a directory. The exception is the removal of a directory, which never follows a link.
    fn spelt_for(mut self, of: PlaceUse) -> Self {
        match of {
            PlaceUse::Look | PlaceUse::SetTimes if self.path.ends_with('/') || self.path.ends_with("/.") => {
                self.flags |= PathFlags::SYMLINK_FOLLOW;
            }
            PlaceUse::RemoveDirectory => {
                let name = self.path.trim_end_matches('/').len().max(1);
                self.path.truncate(name);
            }
            PlaceUse::Look
            | PlaceUse::Open
            | PlaceUse::MakeDirectory
            | PlaceUse::ReadLink
            | PlaceUse::SetTimes
            | PlaceUse::Unlink
            | PlaceUse::Name
            | PlaceUse::List
            | PlaceUse::Sync => {}
        }
        self
    }
}

/// A spot in the form that wasmtime accepts: a handle in the resource table, and a path.
pub(super) struct PlacedSpot {
    rep: u32,
    temporary: bool,
    pub(super) path: String,
    pub(super) flags: PathFlags,
    /// The masks that apply to the place.
    pub(super) standing: Option<MaskPosition>,
}

impl PlacedSpot {
    pub(super) fn handle(&self) -> Handle {
        Resource::new_borrow(self.rep)
    }
}

impl FilesystemGuard<'_> {
    pub(super) fn directory(&self, handle: &Handle) -> FsResult<&Dir> {
        match self.table.get(handle)? {
            Descriptor::Dir(directory) => Ok(directory),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    /// Refuses a use of an open handle itself that is not permitted.
    pub(super) fn check(&self, handle: &Handle, of: PlaceUse) -> FsResult<()> {
        match self.table.get(handle)? {
            Descriptor::File(_) => Ok(()),
            Descriptor::Dir(directory) => match self.context.reach(&directory.dir)? {
                HandleReach::All | HandleReach::Masked(_) => Ok(()),
                HandleReach::Way { .. } | HandleReach::Closed => Ok(of.check(Station::Way)?),
            },
        }
    }

    /// Finds the spot that a path leads to from a handle, and refuses a use that is not permitted there.
    pub(super) async fn spot(
        &mut self,
        handle: &Handle,
        flags: PathFlags,
        path: String,
        of: PlaceUse,
    ) -> FsResult<Spot> {
        let directory = self.directory(handle)?.clone();
        match self.context.reach(&directory.dir)? {
            HandleReach::All => {
                Ok(Spot { directory, path, flags, reach: HandleReach::All, standing: None }.spelt_for(of))
            }
            HandleReach::Closed => Err(ErrorCode::NotPermitted.into()),
            HandleReach::Masked(standing) => walked(directory, standing, flags, path, of).await,
            HandleReach::Way { narrowing, depth, masks } => {
                let target = PathTarget::of(&path, narrowing.steps(), depth)?;
                of.check(target.station)?;
                let steps = narrowing.steps().get(..target.depth).unwrap_or_default();
                let standing = masks.as_ref().map(|masks| MaskPosition::at(Arc::clone(masks), steps));
                let way = HandleReach::Way { narrowing, depth: target.depth, masks };
                narrowed(directory, (way, standing), flags, target, of).await
            }
        }
    }

    /// Like `spot`, in the form that wasmtime accepts. The caller must pass the result to `leave`.
    pub(super) async fn place(
        &mut self,
        handle: &Handle,
        flags: PathFlags,
        path: String,
        of: PlaceUse,
    ) -> FsResult<PlacedSpot> {
        let spot = self.spot(handle, flags, path, of).await?;
        let temporary = !Arc::ptr_eq(&spot.directory.dir, &self.directory(handle)?.dir);
        let rep = match temporary {
            true => self.table.push(Descriptor::Dir(spot.directory))?.rep(),
            false => handle.rep(),
        };
        Ok(PlacedSpot { rep, temporary, path: spot.path, flags: spot.flags, standing: spot.standing })
    }

    /// Like `place`, for the two paths of a function.
    pub(super) async fn places(
        &mut self,
        (one, one_flags, one_path): (&Handle, PathFlags, String),
        (other, other_path): (&Handle, String),
        of: PlaceUse,
    ) -> FsResult<(PlacedSpot, PlacedSpot)> {
        let one = self.place(one, one_flags, one_path, of).await?;
        match self.place(other, PathFlags::empty(), other_path, of).await {
            Ok(other) => Ok((one, other)),
            // The temporary handle of the first place must not stay in the table.
            Err(error) => self.leave(one, Err(error)),
        }
    }

    /// Closes the temporary handle of a place, and returns the result of the operation.
    #[expect(clippy::needless_pass_by_value, reason = "a place that was left is good for nothing more")]
    pub(super) fn leave<T>(&mut self, placed: PlacedSpot, result: FsResult<T>) -> FsResult<T> {
        if placed.temporary {
            self.table.delete(Handle::new_own(placed.rep))?;
        }
        result
    }
}

/// Returns the spot at the end of a path in a narrowed directory. Its reach depends on where the path is relative to
/// the granted place.
async fn narrowed(
    mut directory: Dir,
    (way, standing): (HandleReach, Option<MaskPosition>),
    flags: PathFlags,
    target: PathTarget,
    of: PlaceUse,
) -> FsResult<Spot> {
    let HandleReach::Way { narrowing, .. } = &way else { return Err(ErrorCode::NotPermitted.into()) };
    // Below the granted place, the walk decides.
    if let Some(standing) = standing.as_ref().filter(|_| target.station != Station::Below) {
        standing.check(of)?;
    }
    if target.station == Station::Place && matches!(of, PlaceUse::MakeDirectory | PlaceUse::RemoveDirectory) {
        narrowing.forget_place();
    }
    let station = target.station;
    let follow = flags.contains(PathFlags::SYMLINK_FOLLOW);
    let through = Arc::clone(narrowing);
    let (start, path) = match settle(&through, &target, of, follow, Lookup::Cached) {
        // Waiting for another thread costs more than this lookup, and the directories of a call are mostly cached.
        Err(error) if is_undecided(&error) => {
            spawn_blocking(move || settle(&through, &target, of, follow, Lookup::Stored)).await?
        }
        settled => settled?,
    };
    directory.dir = start;
    let (reach, flags) = match (station, standing.clone()) {
        (Station::Below, Some(standing)) => return walked(directory, standing, flags, path, of).await,
        // Below the granted place, links work as in an ordinary directory.
        (Station::Below, None) => (HandleReach::All, flags),
        (Station::Place, standing) => (HandleReach::of(standing), PathFlags::empty()),
        (Station::Way, _) => (way, PathFlags::empty()),
    };
    Ok(Spot { directory, path, flags, reach, standing }.spelt_for(of))
}

/// Returns the spot at the end of a path in a directory with masks.
async fn walked(
    mut directory: Dir,
    standing: MaskPosition,
    flags: PathFlags,
    path: String,
    of: PlaceUse,
) -> FsResult<Spot> {
    let follow = flags.contains(PathFlags::SYMLINK_FOLLOW) && of != PlaceUse::Name;
    let walk = PathWalk { start: Arc::clone(&directory.dir), standing, path, of, follow };
    let arrival = match walk.at_once() {
        Ok(arrival) => arrival,
        // The blocking walk returns the real error.
        Err(_) => spawn_blocking(move || walk.walk()).await?,
    };
    arrival.standing.check(of)?;
    directory.dir = arrival.directory;
    // The walk already followed a link at the end. A function that creates a name must still see the link.
    let flags = if of == PlaceUse::Name { flags } else { PathFlags::empty() };
    let reach = HandleReach::Masked(arrival.standing.clone());
    Ok(Spot { directory, path: arrival.path, flags, reach, standing: Some(arrival.standing) })
}

/// Returns whether the kernel would have to look outside its cache.
fn is_undecided(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::InvalidInput)
}

/// Opens the parent directory of a target, or the target itself. Returns the directory and the remaining path.
fn settle(
    narrowing: &Narrowing,
    target: &PathTarget,
    of: PlaceUse,
    follow: bool,
    lookup: Lookup,
) -> io::Result<(Arc<File>, String)> {
    let itself = || Ok((narrowing.open(target.depth, lookup)?, ".".to_owned()));
    match &target.ending {
        PathEnding::Below(path) => Ok((narrowing.open_place(lookup)?, path.clone())),
        PathEnding::Dot => itself(),
        // These two accept a trailing slash after the name, and never follow a link.
        PathEnding::Slash if !matches!(of, PlaceUse::MakeDirectory | PlaceUse::RemoveDirectory) => itself(),
        // A directory on the way is opened only for further lookups.
        PathEnding::Name if of == PlaceUse::Open && target.station == Station::Way => itself(),
        PathEnding::Slash | PathEnding::Name => {
            let Some(step) = target.depth.checked_sub(1).and_then(|at| narrowing.steps().get(at)) else {
                return itself();
            };
            let around = narrowing.open(target.depth - 1, lookup)?;
            // An open that follows no link already fails at a link.
            if follow && of != PlaceUse::Open {
                refuse_link(&around, step, lookup)?;
            }
            Ok((around, step.to_string()))
        }
    }
}

/// Refuses a link with this name. The check may wait for a disk, so it needs a blocking lookup.
fn refuse_link(directory: &File, name: &str, lookup: Lookup) -> io::Result<()> {
    match lookup {
        Lookup::Cached => Err(rustix::io::Errno::AGAIN.into()),
        Lookup::Stored if is_link(directory, name) => Err(rustix::io::Errno::LOOP.into()),
        Lookup::Stored => Ok(()),
    }
}

fn is_link(directory: &File, name: &str) -> bool {
    let found = cap_primitives::fs::stat(directory, Path::new(name), FollowSymlinks::No);
    found.is_ok_and(|metadata| metadata.file_type().is_symlink())
}
