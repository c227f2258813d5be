//! Reads the policy files for people. The host reads them by itself.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tokio::task::spawn_blocking;

/// Maximum bytes of a policy file that are shown.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Reads a policy file, on a thread that may block. `None` if it does not exist.
///
/// # Errors
/// It is not a regular file, is not text, or cannot be read.
pub(crate) async fn read(path: &Path) -> io::Result<Option<String>> {
    let path: PathBuf = path.to_owned();
    spawn_blocking(move || blocking_read(&path)).await.map_err(io::Error::other)?
}

fn blocking_read(path: &Path) -> io::Result<Option<String>> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    // Without NONBLOCK, opening a named pipe would wait for its writer.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(CWD, path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(error) if error == rustix::io::Errno::NOENT => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // Check the open file and not its path, at which another file can appear in between.
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    // One byte more shows that the file is longer. Its beginning alone could hide a rule.
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other("it is too large to be shown"));
    }
    Ok(Some(text))
}
