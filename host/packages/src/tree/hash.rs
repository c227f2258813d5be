//! Hashes the files of a tree on all processors.

use cap_std::fs::Dir;
use portcullis_definitions::text::hex;
use sha2::{Digest as _, Sha256};
use std::io::{self, Read as _};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::list::ListedFile;
use super::{InstalledFile, TreeError};
use crate::bounded_file;

/// Maximum threads. More would wait for the disk.
const THREADS_MAX: usize = 8;

/// The size of the pieces in which a file is read.
const PIECE_BYTES: usize = 64 << 10;

/// Reads and hashes all listed files. The result is in the same order.
pub(crate) fn hash_files(root: &Dir, listed: &[ListedFile]) -> Result<Vec<InstalledFile>, TreeError> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut hashed = Vec::new();
        // `Relaxed` is enough: the counter only hands out each index once, and the list does not change.
        while let Some(file) = listed.get(next.fetch_add(1, Ordering::Relaxed)) {
            hashed.push(hash_file(root, file)?);
        }
        Ok(hashed)
    };
    let parts: Vec<Result<Vec<InstalledFile>, TreeError>> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(panicked()))).collect()
    });
    let mut files = Vec::with_capacity(listed.len());
    for part in parts {
        files.extend(part?);
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

fn panicked() -> TreeError {
    TreeError::Io { path: String::new(), source: io::Error::other("a thread that hashes files panicked") }
}

fn hash_file(root: &Dir, listed: &ListedFile) -> Result<InstalledFile, TreeError> {
    let sha256 = digest(root, listed).map_err(|source| TreeError::Io { path: listed.path.clone(), source })?;
    let ListedFile { path, size, executable } = listed;
    Ok(InstalledFile { path: path.clone(), size: *size, executable: *executable, sha256 })
}

fn digest(root: &Dir, listed: &ListedFile) -> io::Result<String> {
    // One byte more than listed shows that the file has grown.
    let mut reader = bounded_file::open(root, &listed.path)?.take(listed.size + 1);
    let (mut hasher, mut read, mut piece) = (Sha256::new(), 0, vec![0; PIECE_BYTES]);
    loop {
        match reader.read(&mut piece)? {
            0 => break,
            length => {
                hasher.update(&piece[..length]);
                read += length as u64;
            }
        }
    }
    match read == listed.size {
        true => Ok(hex(&hasher.finalize())),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, "it changed while it was read")),
    }
}
