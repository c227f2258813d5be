//! Reads files that packages and tools have written: only regular files, without following a link, up to a limit.

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Opens a regular file. Does not block if it is something else.
pub(crate) fn open(folder: &Dir, path: impl AsRef<Path>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Without `O_NONBLOCK`, opening a FIFO would wait for a writer (open(2)).
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = folder.open_with(path, &options)?;
    // Checked on the open file, so that nothing else can take its place before it is read.
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file")),
    }
}

/// Reads a whole file.
///
/// # Errors
/// The file is larger than the limit, or cannot be read.
pub(crate) fn read(folder: &Dir, path: impl AsRef<Path>, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than the limit shows that a file is too large, whatever its metadata says.
    open(folder, path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large"));
    }
    Ok(bytes)
}

/// Reads the beginning of a file.
pub(crate) fn read_beginning(folder: &Dir, path: impl AsRef<Path>, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(folder, path)?.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the end of a file.
pub(crate) fn read_end(folder: &Dir, path: impl AsRef<Path>, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut file = open(folder, path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes_max)))?;
    let mut bytes = Vec::new();
    // A process may still append to the file, so the length from before is no bound.
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}
