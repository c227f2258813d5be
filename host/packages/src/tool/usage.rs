//! Measures what an installation has written so far.

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;

use crate::limits::{InstallLimits, TREE_DEPTH_MAX};

/// Maximum depth of the work folder: of the installed tree, and of the folders of npm's cache around it.
const WORK_DEPTH_MAX: usize = TREE_DEPTH_MAX + 8;

/// Whether an installation is within its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    /// It is.
    Within,
    /// It has written too many bytes.
    TooManyBytes,
    /// It has written too many files, or too deep.
    TooManyFiles,
}

/// Adds up the files below a folder until one limit is exceeded. The tool may change them meanwhile.
pub(super) fn measure(folder: &Dir, limits: &InstallLimits) -> Usage {
    let mut sum = Sum { limits, bytes: 0, files: 0 };
    sum.add(folder, 0)
}

struct Sum<'a> {
    limits: &'a InstallLimits,
    bytes: u64,
    files: u64,
}

impl Sum<'_> {
    fn add(&mut self, folder: &Dir, depth: usize) -> Usage {
        if depth > WORK_DEPTH_MAX {
            return Usage::TooManyFiles;
        }
        // The tool may have removed the folder. The installed files are counted again at the end.
        let Ok(entries) = folder.entries() else { return Usage::Within };
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            self.files += 1;
            self.bytes = self.bytes.saturating_add(metadata.len());
            if self.files > self.limits.files_max {
                return Usage::TooManyFiles;
            }
            if self.bytes > self.limits.bytes_max {
                return Usage::TooManyBytes;
            }
            if metadata.is_dir()
                && let Ok(inner) = folder.open_dir_nofollow(entry.file_name())
            {
                match self.add(&inner, depth + 1) {
                    Usage::Within => {}
                    exceeded @ (Usage::TooManyBytes | Usage::TooManyFiles) => return exceeded,
                }
            }
        }
        Usage::Within
    }
}
