//! The last component that the host took, kept for when it refuses the next one.

use portcullis_build::project_file;
use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::Path;

/// A component that was good. It is held by its file, which stays as it is when a build puts another in its place.
#[derive(Default)]
pub(super) struct Kept {
    good: Option<File>,
    put_back: bool,
}

#[expect(clippy::disallowed_methods, reason = "what a build of the person's own project has made")]
impl Kept {
    /// Keeps what lies in a place.
    pub(super) fn keep(&mut self, place: &Path) {
        *self = Self { good: project_file::open(place).ok(), put_back: false };
    }

    /// Puts it there again, so that whoever looks at the plugins next finds it; false where there is none.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn put_back(&mut self, place: &Path) -> io::Result<bool> {
        let Some(good) = &mut self.good else { return Ok(false) };
        let beside = place.with_extension("wasm.before");
        good.rewind()?;
        io::copy(good, &mut project_file::create(&beside)?)?;
        fs::rename(&beside, place)?;
        self.put_back = true;
        Ok(true)
    }

    /// Whether it lies there in place of a newer one.
    pub(super) fn is_put_back(&self) -> bool {
        self.put_back
    }
}
