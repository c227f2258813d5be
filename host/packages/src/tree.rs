//! The files of an installed package: lists them without following a link, hashes them, and makes them read-only.
//!
//! A package wrote them, so only regular files, directories, and links that stay in the tree are accepted.

mod hash;
mod list;
mod permissions;

use portcullis_definitions::text::OneLine;
use serde::{Deserialize, Serialize};
use std::io;

pub(crate) use hash::hash_files;
pub(crate) use list::list;
pub(crate) use permissions::{make_read_only, make_removable};

/// An installed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstalledFile {
    /// Its path in the package's folder, with `/` between names.
    pub path: String,
    /// Its bytes.
    pub size: u64,
    /// Whether it may be executed.
    pub executable: bool,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
}

/// An installed symbolic link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstalledLink {
    /// Its path in the package's folder.
    pub path: String,
    /// Its relative target, which is a file or directory of the same package.
    pub target: String,
}

/// Why the files of a package are refused.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// A symbolic link leads out of the package, or through another link.
    #[error("the symbolic link `{}` leads to `{}`, which is no file of the package", OneLine(path), OneLine(target))]
    ForeignLink {
        /// The link.
        path: String,
        /// Its target.
        target: String,
    },
    /// A socket, a pipe or a device.
    #[error("`{}` is neither a file, a directory nor a symbolic link", OneLine(path))]
    SpecialFile {
        /// The path.
        path: String,
    },
    /// A file that would run with another user's rights.
    #[error("`{}` is set to run with the rights of its owner", OneLine(path))]
    SetUserId {
        /// The path.
        path: String,
    },
    /// A file that has another name elsewhere.
    #[error("`{}` is a hard link", OneLine(path))]
    HardLink {
        /// The path.
        path: String,
    },
    /// A name that is not UTF-8.
    #[error("`{}` contains a name that is not UTF-8", OneLine(path))]
    Name {
        /// The directory.
        path: String,
    },
    /// Too many nested directories.
    #[error("`{}` has too many nested directories", OneLine(path))]
    TooDeep {
        /// The directory.
        path: String,
    },
    /// Too many files.
    #[error("it has more than {files_max} files")]
    TooManyFiles {
        /// The limit.
        files_max: u64,
    },
    /// Too many bytes.
    #[error("it has more than {bytes_max} bytes")]
    TooManyBytes {
        /// The limit.
        bytes_max: u64,
    },
    /// The system reports an error.
    #[error("cannot read `{}`: {source}", OneLine(path))]
    Io {
        /// The path.
        path: String,
        /// The system's error.
        source: io::Error,
    },
}
