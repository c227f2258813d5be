//! Reading a plugin file: once, whole, as the regular file that was opened, so that what is checked is what is
//! compiled and what is run.

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, OpenOptions};
use portcullis_policy::PluginName;
use portcullis_sandbox::COMPONENT_BYTES_MAX;
use sha2::{Digest, Sha256};
use std::io::{self, Read};

/// What the name of a plugin file ends with.
pub(crate) const EXTENSION: &str = ".wasm";

/// Files of a plugin directory that are looked at: far more than a model could be told of.
const FILES_MAX: usize = 10_000;

/// Why a file is no plugin.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The name.
    #[error(
        "its name is not a plain one: rename it to lower-case letters, digits, `-` and `_`, such as `my-tool.wasm`"
    )]
    Name,
    /// A link, a directory, a pipe, a device.
    #[error("it is not a regular file: put the file itself here, not a link to it, a directory or a pipe")]
    NotRegular,
    /// Anybody may change it.
    #[error("anybody can write to it: take the right away with `chmod o-w`")]
    Exposed,
    /// Too many bytes.
    #[error("it is larger than {} MiB", COMPONENT_BYTES_MAX >> 20)]
    TooLarge,
    /// The system says no.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// A plugin's bytes and their hash.
pub(crate) struct PluginFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) sha256: [u8; 32],
}

/// The files of a directory whose name says that they are plugins, sorted; others are no business of ours.
pub(crate) fn list(directory: &Dir) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in directory.entries()?.take(FILES_MAX) {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.to_ascii_lowercase().ends_with(EXTENSION) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The plugin a file name stands for.
pub(crate) fn plugin_name(file: &str) -> Result<PluginName, FileError> {
    let stem = file.strip_suffix(EXTENSION).ok_or(FileError::Name)?;
    PluginName::new(stem).map_err(|_| FileError::Name)
}

/// Reads a file of a plugin directory.
pub(crate) fn read(directory: &Dir, name: &str) -> Result<PluginFile, FileError> {
    let mut options = OpenOptions::new();
    // Without following a link, and without waiting for the other end of a pipe.
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = directory.open_with(name, &options).map_err(|error| match error.raw_os_error() {
        Some(number) if number == rustix::io::Errno::LOOP.raw_os_error() => FileError::NotRegular,
        Some(_) | None => FileError::Io(error),
    })?;
    let stat = rustix::fs::fstat(&file).map_err(io::Error::from)?;
    if !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() {
        return Err(FileError::NotRegular);
    }
    if stat.st_mode & 0o002 != 0 {
        return Err(FileError::Exposed);
    }
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if size > COMPONENT_BYTES_MAX {
        return Err(FileError::TooLarge);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(COMPONENT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > COMPONENT_BYTES_MAX {
        return Err(FileError::TooLarge);
    }
    Ok(PluginFile { sha256: Sha256::digest(&bytes).into(), bytes })
}
