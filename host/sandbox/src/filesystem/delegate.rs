//! Every function of `wasi:filesystem/types`, in the order of the interface. Each delegates to wasmtime, after the
//! guard's checks. A function that takes a path first finds its place, and one that works on a directory first checks
//! its handle. Only those two steps decide what a narrowed call may do.

use super::effects::Deed;
use super::guard::FilesystemGuard;
use super::listing::listing_bytes;
use super::open::{OpenOutcome, OpenRequest};
use super::reach::HandleReach;
use super::uses::PlaceUse;
use super::{Handle, reading};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wasmtime::component::Resource;
use wasmtime_wasi::FsPerms;
use wasmtime_wasi::filesystem::{Descriptor, Dir, File};
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream, ErrorCode,
    Filesize, HostDescriptor, HostDirectoryEntryStream, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};
use wasmtime_wasi::runtime::spawn_blocking;

impl FilesystemGuard<'_> {
    fn file(&self, handle: &Handle) -> FsResult<&File> {
        match self.table.get(handle)? {
            Descriptor::File(file) => Ok(file),
            Descriptor::Dir(_) => Err(ErrorCode::BadDescriptor.into()),
        }
    }

    pub(super) fn writable_directory(&self, handle: &Handle) -> FsResult<()> {
        if self.directory(handle)?.perms.write_not_permitted() {
            return Err(ErrorCode::NotPermitted.into());
        }
        Ok(())
    }

    /// Returns a handle for a directory on the way to the place of a narrowed call.
    fn open_way(&mut self, directory: Dir, reach: HandleReach) -> FsResult<Handle> {
        let known = self.context.reach(&directory.dir).is_ok();
        let descriptor = Descriptor::Dir(directory);
        if !known {
            self.context.open.note(&descriptor, reach);
        }
        Ok(self.table.push(descriptor)?)
    }

    /// Opens an existing file or directory. A file that is opened for writing counts as changed.
    async fn open_existing(&mut self, parent: &Dir, request: &Arc<OpenRequest>) -> FsResult<OpenOutcome> {
        let (directory, existing) = (Arc::clone(&parent.dir), Arc::clone(request));
        let open = spawn_blocking(move || existing.open_existing(&directory));
        if !request.writes() {
            return Ok(open.await?);
        }
        self.context.done.begin(Deed::Change);
        let opened = open.await;
        let is_changed = matches!(&opened, Ok(OpenOutcome::Found(_, kind)) if kind.is_file());
        self.context.done.end(Deed::Change, is_changed);
        Ok(opened?)
    }

    /// Ends the counting of an operation, and returns its result. A failed operation does not count.
    fn did<T>(&mut self, deed: Deed, result: FsResult<T>) -> FsResult<T> {
        self.context.done.end(deed, result.is_ok());
        result
    }

    /// Wraps a stream of wasmtime so that it is subject to the quota.
    fn meter(&mut self, stream: Resource<DynOutputStream>) -> FsResult<Resource<DynOutputStream>> {
        let inner = self.table.delete(stream)?;
        let charge = self.context.memory.charge(0).map_err(FsError::trap)?;
        Ok(self.table.push(self.context.quota.meter(inner, self.context.done.written(), charge))?)
    }
}

/// Returns the path flags of an open. An open that creates a file exclusively does not follow a link at the end.
fn followed(flags: PathFlags, open: OpenFlags) -> PathFlags {
    if open.contains(OpenFlags::CREATE | OpenFlags::EXCLUSIVE) { PathFlags::empty() } else { flags }
}

impl types::Host for FilesystemGuard<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        self.inner().convert_error_code(error)
    }

    fn filesystem_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.inner().filesystem_error_code(error)
    }
}

impl HostDescriptor for FilesystemGuard<'_> {
    fn read_via_stream(&mut self, handle: Handle, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        let stream = self.inner().read_via_stream(handle, offset)?;
        let inner = self.table.delete(stream)?;
        let charged = reading::charged(inner, &self.context.memory).map_err(FsError::trap)?;
        Ok(self.table.push(charged)?)
    }

    fn write_via_stream(&mut self, handle: Handle, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        let file = self.file(&handle)?;
        if !file.perms.write_not_permitted() {
            self.context.quota.take_hole(&file.file, offset)?;
        }
        let stream = self.inner().write_via_stream(handle, offset)?;
        self.meter(stream)
    }

    fn append_via_stream(&mut self, handle: Handle) -> FsResult<Resource<DynOutputStream>> {
        let stream = self.inner().append_via_stream(handle)?;
        self.meter(stream)
    }

    async fn advise(&mut self, handle: Handle, offset: Filesize, length: Filesize, advice: Advice) -> FsResult<()> {
        self.inner().advise(handle, offset, length, advice).await
    }

    async fn sync_data(&mut self, handle: Handle) -> FsResult<()> {
        self.check(&handle, PlaceUse::Sync)?;
        self.inner().sync_data(handle).await
    }

    async fn get_flags(&mut self, handle: Handle) -> FsResult<DescriptorFlags> {
        self.check(&handle, PlaceUse::Look)?;
        self.inner().get_flags(handle).await
    }

    async fn get_type(&mut self, handle: Handle) -> FsResult<DescriptorType> {
        self.check(&handle, PlaceUse::Look)?;
        self.inner().get_type(handle).await
    }

    async fn set_size(&mut self, handle: Handle, size: Filesize) -> FsResult<()> {
        let file = self.file(&handle)?;
        if !file.perms.write_not_permitted() {
            self.context.quota.take_hole(&file.file, size)?;
        }
        self.context.done.begin(Deed::Change);
        let set = self.inner().set_size(handle, size).await;
        self.did(Deed::Change, set)
    }

    async fn set_times(&mut self, handle: Handle, accessed: NewTimestamp, modified: NewTimestamp) -> FsResult<()> {
        self.check(&handle, PlaceUse::SetTimes)?;
        self.context.done.begin(Deed::Change);
        let set = self.inner().set_times(handle, accessed, modified).await;
        self.did(Deed::Change, set)
    }

    async fn read(&mut self, handle: Handle, length: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        self.inner().read(handle, length, offset).await
    }

    async fn write(&mut self, handle: Handle, buffer: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        let file = self.file(&handle)?;
        if !file.perms.write_not_permitted() {
            self.context.quota.take_hole(&file.file, offset)?;
            self.context.quota.take_bytes(buffer.len() as u64)?;
        }
        let length = buffer.len() as u64;
        self.context.done.written().fetch_add(length, Ordering::AcqRel);
        let written = self.inner().write(handle, buffer, offset).await;
        let missing = length - written.as_ref().map_or(0, |written| *written);
        self.context.done.written().fetch_sub(missing, Ordering::AcqRel);
        written
    }

    async fn read_directory(&mut self, handle: Handle) -> FsResult<Resource<DirectoryEntryStream>> {
        self.check(&handle, PlaceUse::List)?;
        let directory = Arc::clone(&self.directory(&handle)?.dir);
        let reach = self.context.reach(&directory)?;
        let bytes = listing_bytes(directory, self.context.directory_entries_max).await?;
        let charge = self.context.memory.charge(bytes).map_err(FsError::trap)?;
        let stream = self.inner().read_directory(handle).await?;
        // It covered the listing while wasmtime collected it. From here on, the stream has the weight.
        drop(charge);
        self.weights.set(&stream, bytes).map_err(FsError::trap)?;
        if let HandleReach::Masked(standing) = reach
            && standing.may_hide()
        {
            self.context.listings.push((stream.rep(), standing));
        }
        Ok(stream)
    }

    async fn sync(&mut self, handle: Handle) -> FsResult<()> {
        self.check(&handle, PlaceUse::Sync)?;
        self.inner().sync(handle).await
    }

    async fn create_directory_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        self.writable_directory(&handle)?;
        let at = self.place(&handle, PathFlags::empty(), path, PlaceUse::MakeDirectory).await?;
        // No early return, because `leave` must close a temporary handle.
        let taken = self.context.quota.take_entry();
        self.context.done.begin(Deed::MakeDirectory);
        let made = match taken {
            Ok(()) => self.make_directory(&at).await,
            Err(error) => Err(error),
        };
        let made = self.did(Deed::MakeDirectory, made);
        self.leave(at, made)
    }

    async fn stat(&mut self, handle: Handle) -> FsResult<DescriptorStat> {
        self.check(&handle, PlaceUse::Look)?;
        self.inner().stat(handle).await
    }

    async fn stat_at(&mut self, handle: Handle, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        let at = self.place(&handle, flags, path, PlaceUse::Look).await?;
        let stat = self.inner().stat_at(at.handle(), at.flags, at.path.clone()).await;
        self.leave(at, stat)
    }

    async fn set_times_at(
        &mut self,
        handle: Handle,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let at = self.place(&handle, flags, path, PlaceUse::SetTimes).await?;
        self.context.done.begin(Deed::Change);
        let set = self.inner().set_times_at(at.handle(), at.flags, at.path.clone(), accessed, modified).await;
        let set = self.did(Deed::Change, set);
        self.leave(at, set)
    }

    async fn link_at(
        &mut self,
        handle: Handle,
        flags: PathFlags,
        old_path: String,
        new_handle: Handle,
        new_path: String,
    ) -> FsResult<()> {
        self.writable_directory(&new_handle)?;
        let (old, new) = self.places((&handle, flags, old_path), (&new_handle, new_path), PlaceUse::Name).await?;
        self.context.done.begin(Deed::Create);
        let linked = match self.context.quota.take_entry() {
            Ok(()) => self.make_link(&old, &new).await,
            Err(error) => Err(error),
        };
        let linked = self.did(Deed::Create, linked);
        let linked = self.leave(old, linked);
        self.leave(new, linked)
    }

    async fn open_at(
        &mut self,
        handle: Handle,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Handle> {
        let makes_directory = open_flags.contains(OpenFlags::CREATE) && path.ends_with('/');
        let at = match self.spot(&handle, followed(path_flags, open_flags), path, PlaceUse::Open).await {
            // Like the kernel: an open creates only files.
            Err(error) if makes_directory && matches!(error.downcast_ref(), Some(ErrorCode::NoEntry)) => {
                return Err(ErrorCode::IsDirectory.into());
            }
            at => at?,
        };
        let mut parent = at.directory;
        let request = Arc::new(OpenRequest::new(&parent, at.flags, at.path, open_flags, flags)?);
        self.context.open.reserve()?;
        match &at.reach {
            HandleReach::All => {}
            HandleReach::Masked(standing) => {
                if request.writes() {
                    standing.check_file()?;
                }
                if standing.is_read_only() {
                    parent.perms = FsPerms::ReadOnly;
                }
            }
            HandleReach::Closed => return Err(ErrorCode::NotPermitted.into()),
            HandleReach::Way { .. } => return self.open_way(request.passage(&parent)?, at.reach),
        }
        let mut opened = self.open_existing(&parent, &request).await?;
        if matches!(opened, OpenOutcome::Missing) {
            self.context.quota.take_entry()?;
            self.context.done.begin(Deed::Create);
            let (directory, missing) = (Arc::clone(&parent.dir), Arc::clone(&request));
            let created = spawn_blocking(move || missing.create(&directory)).await;
            opened = self.did(Deed::Create, created.map_err(Into::into))?;
        }
        match opened {
            OpenOutcome::Found(file, kind) => {
                let descriptor = request.descriptor(&parent, file, kind);
                self.context.open.note(&descriptor, at.reach);
                Ok(self.table.push(descriptor)?)
            }
            OpenOutcome::Missing => Err(ErrorCode::NoEntry.into()),
        }
    }

    async fn readlink_at(&mut self, handle: Handle, path: String) -> FsResult<String> {
        let at = self.place(&handle, PathFlags::empty(), path, PlaceUse::ReadLink).await?;
        let target = self.inner().readlink_at(at.handle(), at.path.clone()).await;
        self.leave(at, target)
    }

    async fn remove_directory_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        let at = self.place(&handle, PathFlags::empty(), path, PlaceUse::RemoveDirectory).await?;
        self.context.done.begin(Deed::Remove);
        let removed = self.inner().remove_directory_at(at.handle(), at.path.clone()).await;
        let removed = self.did(Deed::Remove, removed);
        self.leave(at, removed)
    }

    async fn rename_at(&mut self, handle: Handle, old: String, new_handle: Handle, new: String) -> FsResult<()> {
        let (old, new) = self.places((&handle, PathFlags::empty(), old), (&new_handle, new), PlaceUse::Name).await?;
        self.context.done.begin(Deed::Rename);
        let renamed = self.rename(&old, &new).await;
        let renamed = self.did(Deed::Rename, renamed);
        let renamed = self.leave(old, renamed);
        self.leave(new, renamed)
    }

    async fn symlink_at(&mut self, handle: Handle, target: String, path: String) -> FsResult<()> {
        self.writable_directory(&handle)?;
        let at = self.place(&handle, PathFlags::empty(), path, PlaceUse::Name).await?;
        self.context.done.begin(Deed::Create);
        let made = match self.context.quota.take_entry() {
            Ok(()) => self.make_symlink(target, &at).await,
            Err(error) => Err(error),
        };
        let made = self.did(Deed::Create, made);
        self.leave(at, made)
    }

    async fn unlink_file_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        let at = self.place(&handle, PathFlags::empty(), path, PlaceUse::Unlink).await?;
        self.context.done.begin(Deed::Remove);
        let unlinked = self.inner().unlink_file_at(at.handle(), at.path.clone()).await;
        let unlinked = self.did(Deed::Remove, unlinked);
        self.leave(at, unlinked)
    }

    async fn is_same_object(&mut self, one: Handle, other: Handle) -> wasmtime::Result<bool> {
        self.inner().is_same_object(one, other).await
    }

    async fn metadata_hash(&mut self, handle: Handle) -> FsResult<MetadataHashValue> {
        self.check(&handle, PlaceUse::Look)?;
        self.inner().metadata_hash(handle).await
    }

    async fn metadata_hash_at(
        &mut self,
        handle: Handle,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let at = self.place(&handle, flags, path, PlaceUse::Look).await?;
        let hash = self.inner().metadata_hash_at(at.handle(), at.flags, at.path.clone()).await;
        self.leave(at, hash)
    }

    fn drop(&mut self, handle: Handle) -> wasmtime::Result<()> {
        self.context.preopened.forget(&handle);
        HostDescriptor::drop(&mut self.inner(), handle)
    }
}

impl HostDirectoryEntryStream for FilesystemGuard<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let rep = stream.rep();
        loop {
            let entry = self.inner().read_directory_entry(Resource::new_borrow(rep)).await?;
            let listing = self.context.listings.iter().find(|(listed, _)| *listed == rep);
            let hides = |entry: &DirectoryEntry| listing.is_some_and(|(_, at)| at.step(&entry.name).is_hidden());
            if !entry.as_ref().is_some_and(hides) {
                return Ok(entry);
            }
        }
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.weights.remove(stream.rep());
        self.context.listings.retain(|(listed, _)| *listed != stream.rep());
        HostDirectoryEntryStream::drop(&mut self.inner(), stream)
    }
}
