//! State directories with compiled plugins, and other directories that take long to make, cached between tests: each
//! test runs in its own process.

use crate::{Site, allow_all};
use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

/// How long a state directory is kept that no test uses any more, such as that of an older build of the tests.
const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

impl Site {
    /// Copies a state directory in which this site's plugins are compiled, as after opening a host once. The first test
    /// that needs it creates it.
    pub fn warm(&self) {
        let place = place(self);
        if !place.is_dir() {
            make(self, &place);
        }
        copy_private(&place, &self.state());
    }
}

/// Returns the place of the state for these plugins. All test programs share it. It is a new one after a change of the
/// sandbox or of what a host keeps on disk (see `build.rs`).
fn place(site: &Site) -> PathBuf {
    let mut parts = vec![env!("PORTCULLIS_COMPILED_BY").to_owned()];
    let mut plugins: Vec<_> = fs::read_dir(site.plugins()).unwrap().map(|entry| entry.unwrap().path()).collect();
    plugins.sort();
    for plugin in plugins {
        parts.push(format!("{} {}", plugin.file_name().unwrap().display(), digest(&fs::read(&plugin).unwrap())));
    }
    states().join(digest(parts.join("\n").as_bytes()))
}

fn states() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/test-states")).to_owned()
}

/// Creates the state directory, unless another test has done so meanwhile.
fn make(site: &Site, place: &Path) {
    once(place, |partial| {
        let like = Site::of_plugins(site);
        thread::scope(|scope| {
            // The caller may be in its own runtime, which must not be blocked.
            let opening = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                drop(runtime.block_on(like.open(&allow_all(""))));
            });
            opening.join().unwrap();
        });
        copy_private(&like.state(), partial);
    });
}

/// Returns a directory with content that takes long to make, and that is the same for these parts. The first test that
/// needs it makes it.
pub fn made_once(parts: &[Vec<u8>], make: impl FnOnce(&Path)) -> PathBuf {
    let place = states().join(digest(&parts.concat()));
    if !place.is_dir() {
        once(&place, make);
    }
    place
}

/// Makes a directory, unless another test has done so meanwhile. It is there with all of its content, or not at all.
fn once(place: &Path, make: impl FnOnce(&Path)) {
    fs::create_dir_all(states()).unwrap();
    let lock = File::create(place.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    if place.is_dir() {
        return;
    }
    forget_old();
    let partial = place.with_extension("partial");
    // A killed test may have left it behind.
    let _ = fs::remove_dir_all(&partial);
    make(&partial);
    fs::rename(&partial, place).unwrap();
}

fn forget_old() {
    for entry in fs::read_dir(states()).unwrap().flatten() {
        let used = entry.metadata().and_then(|metadata| metadata.modified());
        let age = used.ok().and_then(|used| SystemTime::now().duration_since(used).ok());
        if age.is_some_and(|age| age > KEPT_FOR) {
            // Another test program may remove it too.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Copies a directory, with the private mode that a state directory needs.
fn copy_private(from: &Path, to: &Path) {
    fs::DirBuilder::new().mode(0o700).create(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_private(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Returns a unique name for these bytes.
fn digest(bytes: &[u8]) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
