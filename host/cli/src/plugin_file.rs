//! A plugin file that a person named: read once, whole, and looked at as the host looks at those of its directory.

use portcullis::plugins::{COMPONENT_BYTES_MAX, FileError};
use portcullis_build::project_file;
use sha2::{Digest, Sha256};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What the name of a plugin file ends with.
const EXTENSION: &str = ".wasm";

/// A file, read.
pub(crate) struct PluginFile {
    /// The name a host would know the plugin by; nothing where the file's name does not end as a plugin's does.
    pub(crate) name: Option<String>,
    pub(crate) bytes: Vec<u8>,
    /// It was reached through a link.
    link: bool,
    /// Anybody may write to it.
    exposed: bool,
}

impl PluginFile {
    /// Reads a file. A link is followed, and noted as the problem that it is in a plugin directory.
    ///
    /// # Errors
    /// It cannot be read, or is no file that could be.
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
        file.take(COMPONENT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.and_then(|name| name.strip_suffix(EXTENSION).map(str::to_owned));
        Ok(Self { name, bytes, link, exposed })
    }

    /// What is wrong with the file whatever its bytes are.
    pub(crate) fn problems(&self) -> impl Iterator<Item = FileError> {
        let link = self.link.then_some(FileError::NotRegular);
        link.into_iter().chain(self.exposed.then_some(FileError::Exposed))
    }

    /// The hash of its bytes: what the plugin is.
    pub(crate) fn sha256(&self) -> [u8; 32] {
        Sha256::digest(&self.bytes).into()
    }
}
