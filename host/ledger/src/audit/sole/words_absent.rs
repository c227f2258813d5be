//! The stand-in for shared words on systems where no writer has the log for itself.

use cap_std::fs::Dir;
use std::io;
use std::sync::atomic::AtomicU64;

#[cfg_attr(not(test), expect(dead_code, reason = "only tests name the file"))]
pub(super) const FILE: &str = "audit.lock";

/// The words of a log. There are none.
pub(super) struct SharedWords {
    pub(super) sole: AtomicU64,
    pub(super) appends: AtomicU64,
    pub(super) used: AtomicU64,
}

impl SharedWords {
    pub(super) fn open(_directory: &Dir) -> io::Result<Option<Self>> {
        Ok(None)
    }
}
