//! A plugin file that the user named. It is read once, and checked as the host checks those in its directory.

use portcullis::plugins::{COMPONENT_BYTES_MAX, FileError};
use portcullis_build::project_file;
use sha2::{Digest, Sha256};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The extension of a plugin file.
const EXTENSION: &str = ".wasm";

/// The name and the bytes of a plugin file.
pub(crate) struct ReadPluginFile {
    /// The name of the plugin. `None` if the file's name does not end with the extension.
    pub(crate) name: Option<String>,
    pub(crate) bytes: Vec<u8>,
    /// Whether the path is a symbolic link.
    link: bool,
    /// Whether the file is world-writable.
    exposed: bool,
}

impl ReadPluginFile {
    /// Reads a file. Follows a symbolic link, and records it, because a plugin directory must not have one.
    ///
    /// # Errors
    /// The file cannot be read, is not a regular file, or is too large.
    pub(crate) fn read(path: &Path) -> Result<Self, FileError> {
        let link = std::fs::symlink_metadata(path)?.is_symlink();
        let file = project_file::open(path).map_err(|error| match error.kind() {
            ErrorKind::InvalidInput => FileError::NotRegular,
            _ => FileError::Io(error),
        })?;
        let metadata = file.metadata()?;
        let exposed = metadata.permissions().mode() & 0o002 != 0;
        if metadata.len() > COMPONENT_BYTES_MAX {
            return Err(FileError::TooLarge);
        }
        let mut bytes = Vec::new();
        // Read one byte more, so that a file that grows meanwhile is refused when its bytes are checked.
        file.take(COMPONENT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.and_then(|name| name.strip_suffix(EXTENSION).map(str::to_owned));
        Ok(Self { name, bytes, link, exposed })
    }

    /// Returns the problems of the file itself, independent of its content.
    pub(crate) fn problems(&self) -> impl Iterator<Item = FileError> {
        let link = self.link.then_some(FileError::NotRegular);
        link.into_iter().chain(self.exposed.then_some(FileError::Exposed))
    }

    /// Returns the hash of its bytes, which identifies the plugin.
    pub(crate) fn sha256(&self) -> [u8; 32] {
        Sha256::digest(&self.bytes).into()
    }
}
