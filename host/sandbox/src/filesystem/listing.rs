//! The memory of a directory listing.

use crate::host_memory::ALLOCATION_BYTES;
use std::sync::Arc;
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::runtime::spawn_blocking;

/// Memory of an entry in a listing without its name, in bytes. The list grows by doubling.
const LISTED_ENTRY_BYTES: usize = 128 + ALLOCATION_BYTES;

/// Returns the memory that the listing of a directory takes, in bytes. wasmtime collects all entries at once, so a
/// directory that is too large is refused before it is read.
pub(super) async fn listing_bytes(directory: Arc<std::fs::File>, most: usize) -> FsResult<usize> {
    let measure = move || -> std::io::Result<(usize, usize)> {
        let entries = cap_primitives::fs::read_base_dir(&directory)?.take(most.saturating_add(1));
        Ok(entries.fold((0, 0), |(count, bytes), entry| {
            let name = entry.map_or(0, |entry| entry.file_name().len());
            (count + 1, bytes + name + LISTED_ENTRY_BYTES)
        }))
    };
    let (count, bytes) = spawn_blocking(measure).await?;
    if count > most { Err(ErrorCode::Overflow.into()) } else { Ok(bytes) }
}
