//! The length of the log and the number of its links, which every append checks.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

/// The length of an open file, and whether it still has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogExtent {
    /// Number of names of the file. Zero if it was removed.
    pub(super) links: u64,
    /// Length in bytes.
    pub(super) bytes: u64,
}

impl LogExtent {
    /// Asks the system for the extent of a file.
    ///
    /// Asks for nothing else. Once a process has asked for the times of a file, Linux 6.13 and later give the next
    /// write an exact time, and the file system then has to store it with each line.
    #[cfg(target_os = "linux")]
    pub(super) fn of(file: &File) -> io::Result<Self> {
        use rustix::fs::{AtFlags, StatxFlags, statx};
        let asked = StatxFlags::NLINK | StatxFlags::SIZE;
        match statx(file, "", AtFlags::EMPTY_PATH, asked) {
            Ok(found) if StatxFlags::from_bits_retain(found.stx_mask).contains(asked) => {
                Ok(Self { links: found.stx_nlink.into(), bytes: found.stx_size })
            }
            // A filter of system calls may not know this one, and a file system may not know the number of links.
            Ok(_) | Err(_) => Self::of_metadata(file),
        }
    }

    /// Asks the system for the extent of a file.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn of(file: &File) -> io::Result<Self> {
        Self::of_metadata(file)
    }

    fn of_metadata(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self { links: metadata.nlink(), bytes: metadata.len() })
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own file")]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_extent_follows_the_length_and_the_name_of_a_file() {
        let path = std::env::temp_dir().join(format!("portcullis-extent-{}", std::process::id()));
        fs::write(&path, "seven b").unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(LogExtent::of(&file).unwrap(), LogExtent { links: 1, bytes: 7 });
        fs::write(&path, "eight by").unwrap();
        assert_eq!(LogExtent::of(&file).unwrap(), LogExtent::of_metadata(&file).unwrap());
        fs::remove_file(&path).unwrap();
        assert_eq!(LogExtent::of(&file).unwrap(), LogExtent { links: 0, bytes: 8 });
    }
}
