//! Files that are looked at by the clock: the policy, tokens, keys. There are few of them, so a look takes
//! microseconds. It sees what notifications of a directory do not tell of: a link that leads elsewhere, a file system
//! of another machine, a directory under another name.

use crate::places::{self, FileStamp};
use std::path::PathBuf;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// How often the files are looked at. A change is noticed at the second look that finds the same, so that nobody reads
/// half of a file that is being written, and takes effect within a second.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// Looks after which a file that is never quiet is read all the same.
const UNQUIET_LOOKS_MAX: u32 = 10;

/// Waits for changes of some files.
#[derive(Debug)]
pub struct FileWatch {
    paths: Vec<PathBuf>,
    known: Vec<Option<FileStamp>>,
}

impl FileWatch {
    /// Waits for changes from now on. A file need not exist.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let paths: Vec<PathBuf> = paths.into_iter().collect();
        let known = stamps(&paths);
        Self { paths, known }
    }

    /// Waits for changes of these files from now on. Of those that it watches already, no change is missed.
    pub fn follow(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        let paths: Vec<PathBuf> = paths.into_iter().collect();
        if paths == self.paths {
            return;
        }
        let known = |path: &PathBuf| self.paths.iter().position(|known| known == path);
        let known = paths.iter().map(|path| known(path).map_or_else(|| places::stamp(path), |at| self.known[at]));
        self.known = known.collect();
        self.paths = paths;
    }

    /// Waits until one of the files is another, or is there, or is gone.
    pub async fn changed(&mut self) {
        let (mut last, mut looks) = (self.known.clone(), 0);
        loop {
            sleep(LOOK_INTERVAL).await;
            let paths = self.paths.clone();
            let Ok(now) = spawn_blocking(move || stamps(&paths)).await else { continue };
            looks = if now == self.known { 0 } else { looks + 1 };
            if looks > 0 && (now == last || looks > UNQUIET_LOOKS_MAX) {
                self.known = now;
                return;
            }
            last = now;
        }
    }
}

fn stamps(paths: &[PathBuf]) -> Vec<Option<FileStamp>> {
    paths.iter().map(|path| places::stamp(path)).collect()
}
