//! Every function of `wasi:filesystem/types`, in the order of the interface: passed on to wasmtime, except where the
//! guard has something to say first.

use super::Guard;
use super::open::{Opened, Request};
use std::sync::Arc;
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, Dir, File};
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream, ErrorCode,
    Filesize, HostDescriptor, HostDirectoryEntryStream, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};
use wasmtime_wasi::runtime::spawn_blocking;

type Handle = Resource<Descriptor>;

impl Guard<'_> {
    fn directory(&self, handle: &Handle) -> FsResult<&Dir> {
        match self.table.get(handle)? {
            Descriptor::Dir(directory) => Ok(directory),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    fn file(&self, handle: &Handle) -> FsResult<&File> {
        match self.table.get(handle)? {
            Descriptor::File(file) => Ok(file),
            Descriptor::Dir(_) => Err(ErrorCode::BadDescriptor.into()),
        }
    }

    fn writable_directory(&self, handle: &Handle) -> FsResult<()> {
        if self.directory(handle)?.perms.write_not_permitted() {
            return Err(ErrorCode::NotPermitted.into());
        }
        Ok(())
    }

    /// Puts a stream that wasmtime made under the quota.
    fn meter(&mut self, stream: Resource<DynOutputStream>) -> FsResult<Resource<DynOutputStream>> {
        let inner = self.table.delete(stream)?;
        Ok(self.table.push(self.context.quota.meter(inner))?)
    }
}

/// Refuses a directory that is too large before it is read: wasmtime collects all of its entries at once.
async fn check_entries(directory: Arc<std::fs::File>, most: usize) -> FsResult<()> {
    let count = move || {
        cap_primitives::fs::read_base_dir(&directory).map(|entries| entries.take(most.saturating_add(1)).count())
    };
    if spawn_blocking(count).await? > most { Err(ErrorCode::Overflow.into()) } else { Ok(()) }
}

impl types::Host for Guard<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        self.inner().convert_error_code(error)
    }

    fn filesystem_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.inner().filesystem_error_code(error)
    }
}

impl HostDescriptor for Guard<'_> {
    fn read_via_stream(&mut self, handle: Handle, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        self.inner().read_via_stream(handle, offset)
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
        self.inner().sync_data(handle).await
    }

    async fn get_flags(&mut self, handle: Handle) -> FsResult<DescriptorFlags> {
        self.inner().get_flags(handle).await
    }

    async fn get_type(&mut self, handle: Handle) -> FsResult<DescriptorType> {
        self.inner().get_type(handle).await
    }

    async fn set_size(&mut self, handle: Handle, size: Filesize) -> FsResult<()> {
        let file = self.file(&handle)?;
        if !file.perms.write_not_permitted() {
            self.context.quota.take_hole(&file.file, size)?;
        }
        self.inner().set_size(handle, size).await
    }

    async fn set_times(&mut self, handle: Handle, accessed: NewTimestamp, modified: NewTimestamp) -> FsResult<()> {
        self.inner().set_times(handle, accessed, modified).await
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
        self.inner().write(handle, buffer, offset).await
    }

    async fn read_directory(&mut self, handle: Handle) -> FsResult<Resource<DirectoryEntryStream>> {
        let directory = Arc::clone(&self.directory(&handle)?.dir);
        check_entries(directory, self.context.directory_entries_max).await?;
        self.inner().read_directory(handle).await
    }

    async fn sync(&mut self, handle: Handle) -> FsResult<()> {
        self.inner().sync(handle).await
    }

    async fn create_directory_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        self.writable_directory(&handle)?;
        self.context.quota.take_entry()?;
        self.inner().create_directory_at(handle, path).await
    }

    async fn stat(&mut self, handle: Handle) -> FsResult<DescriptorStat> {
        self.inner().stat(handle).await
    }

    async fn stat_at(&mut self, handle: Handle, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        self.inner().stat_at(handle, flags, path).await
    }

    async fn set_times_at(
        &mut self,
        handle: Handle,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.inner().set_times_at(handle, flags, path, accessed, modified).await
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
        self.context.quota.take_entry()?;
        self.inner().link_at(handle, flags, old_path, new_handle, new_path).await
    }

    async fn open_at(
        &mut self,
        handle: Handle,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Handle> {
        let parent = self.directory(&handle)?.clone();
        let request = Arc::new(Request::new(&parent, path_flags, path, open_flags, flags)?);
        self.context.open.reserve()?;
        let (directory, existing) = (Arc::clone(&parent.dir), Arc::clone(&request));
        let mut opened = spawn_blocking(move || existing.open_existing(&directory)).await?;
        if matches!(opened, Opened::Missing) {
            self.context.quota.take_entry()?;
            let (directory, missing) = (Arc::clone(&parent.dir), Arc::clone(&request));
            opened = spawn_blocking(move || missing.create(&directory)).await?;
        }
        match opened {
            Opened::Found(file, kind) => {
                let descriptor = request.descriptor(&parent, file, kind);
                self.context.open.note(&descriptor);
                Ok(self.table.push(descriptor)?)
            }
            Opened::Missing => Err(ErrorCode::NoEntry.into()),
        }
    }

    async fn readlink_at(&mut self, handle: Handle, path: String) -> FsResult<String> {
        self.inner().readlink_at(handle, path).await
    }

    async fn remove_directory_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        self.inner().remove_directory_at(handle, path).await
    }

    async fn rename_at(&mut self, handle: Handle, old: String, new_handle: Handle, new: String) -> FsResult<()> {
        self.inner().rename_at(handle, old, new_handle, new).await
    }

    async fn symlink_at(&mut self, handle: Handle, target: String, path: String) -> FsResult<()> {
        self.writable_directory(&handle)?;
        self.context.quota.take_entry()?;
        self.inner().symlink_at(handle, target, path).await
    }

    async fn unlink_file_at(&mut self, handle: Handle, path: String) -> FsResult<()> {
        self.inner().unlink_file_at(handle, path).await
    }

    async fn is_same_object(&mut self, one: Handle, other: Handle) -> wasmtime::Result<bool> {
        self.inner().is_same_object(one, other).await
    }

    async fn metadata_hash(&mut self, handle: Handle) -> FsResult<MetadataHashValue> {
        self.inner().metadata_hash(handle).await
    }

    async fn metadata_hash_at(
        &mut self,
        handle: Handle,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        self.inner().metadata_hash_at(handle, flags, path).await
    }

    fn drop(&mut self, handle: Handle) -> wasmtime::Result<()> {
        HostDescriptor::drop(&mut self.inner(), handle)
    }
}

impl HostDirectoryEntryStream for Guard<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        self.inner().read_directory_entry(stream).await
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        HostDirectoryEntryStream::drop(&mut self.inner(), stream)
    }
}
