//! A place outside of the database for parts of large outputs, which all hosts see. Each ledger has a folder of its own
//! in it, and each output one in that.

use super::bucket::Bucket;
use super::error::OutputError;
use super::layout::{PART_BYTES, ids_in, is_id};
use super::needs::OutputNeeds;
use crate::private_folder;
use crate::state_directory::OutputsHome;
use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};

/// The folder of a ledger.
pub(super) enum PartObjects {
    /// In a directory.
    Directory(Dir),
    /// In a bucket.
    Bucket(Bucket),
}

impl PartObjects {
    /// Opens the folder of a ledger. Creates it if it does not exist. Returns also what a process needs to reach it.
    pub(super) fn open(home: &OutputsHome, folder: &str) -> Result<(Self, OutputNeeds), OutputError> {
        match home {
            OutputsHome::Directory(directory, _) => {
                Ok((Self::Directory(private_folder::open(directory, folder)?), OutputNeeds::default()))
            }
            OutputsHome::Bucket(address) => {
                let (bucket, needs) = Bucket::open(address, folder)?;
                Ok((Self::Bucket(bucket), needs))
            }
        }
    }

    /// Writes a part.
    pub(super) fn put(&self, id: &str, number: u64, content: &[u8]) -> io::Result<()> {
        let folder = match self {
            Self::Directory(folder) => folder,
            Self::Bucket(bucket) => return bucket.put(id, number, content),
        };
        let mut options = OpenOptions::new();
        // A part that could not be written whole is written again under its number.
        options.write(true).create(true).truncate(true).mode(0o600).follow(FollowSymlinks::No);
        private_folder::open(folder, id)?.open_with(number.to_string(), &options)?.write_all(content)
    }

    /// Returns a part. `None` if there is none.
    pub(super) fn get(&self, id: &str, number: u64) -> io::Result<Option<Vec<u8>>> {
        let folder = match self {
            Self::Directory(folder) => folder,
            Self::Bucket(bucket) => return bucket.get(id, number),
        };
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        let opened = folder.open_dir_nofollow(id).and_then(|output| output.open_with(number.to_string(), &options));
        let file = match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let mut content = Vec::new();
        // One byte more than a part shows that the file is not what was written.
        file.take(PART_BYTES as u64 + 1).read_to_end(&mut content)?;
        Ok(Some(content))
    }

    /// Removes all parts of an output.
    pub(super) fn remove(&self, id: &str) -> io::Result<()> {
        match self {
            Self::Directory(folder) => folder.remove_dir_all(id),
            Self::Bucket(bucket) => bucket.remove(id),
        }
    }

    /// Returns the outputs that have parts here. Other names are ignored.
    pub(super) fn listed(&self) -> io::Result<BTreeSet<String>> {
        match self {
            Self::Directory(folder) => ids_in(folder),
            Self::Bucket(bucket) => Ok(bucket.listed()?.into_iter().filter(|name| is_id(name)).collect()),
        }
    }
}
