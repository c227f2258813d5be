//! Keeps the last component that the host accepted, in case it refuses the next one.

use portcullis_build::project_file;
use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::Path;

/// The last accepted component, as an open file. The file stays intact when a build replaces it at its path.
#[derive(Default)]
pub(super) struct LastGoodComponent {
    good: Option<File>,
    put_back: bool,
}

#[expect(clippy::disallowed_methods, reason = "what a build of the person's own project has made")]
impl LastGoodComponent {
    /// Keeps the component at a path.
    pub(super) fn keep(&mut self, place: &Path) {
        *self = Self { good: project_file::open(place).ok(), put_back: false };
    }

    /// Restores the component at its path, where the next reload finds it. Returns false if there is none.
    ///
    /// # Errors
    /// The component cannot be written.
    pub(super) fn put_back(&mut self, place: &Path) -> io::Result<bool> {
        let Some(good) = &mut self.good else { return Ok(false) };
        // Not `.wasm`, because a host would load it as a plugin.
        let beside = place.with_extension("wasm.before");
        good.rewind()?;
        io::copy(good, &mut project_file::create(&beside)?)?;
        // A reload never sees half a component.
        fs::rename(&beside, place)?;
        self.put_back = true;
        Ok(true)
    }

    /// Returns whether the component at the path is the restored one.
    pub(super) fn is_put_back(&self) -> bool {
        self.put_back
    }
}
