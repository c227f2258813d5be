//! Polls files for changes: the policy, tokens, keys. They are few, so a poll takes microseconds. Polling sees changes
//! that directory notifications miss: a link with a new target, a network file system, a directory that was replaced.

use crate::places::{self, FileStamp};
use std::path::PathBuf;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// How often the files are polled. A change counts when two polls find the same, so that a half-written file is not
/// read. It takes effect within a second.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// Polls after which a file that keeps changing is read all the same.
const UNQUIET_LOOKS_MAX: u32 = 10;

/// A watch on some files.
#[derive(Debug)]
pub struct FileWatch {
    paths: Vec<PathBuf>,
    known: Vec<Option<FileStamp>>,
}

impl FileWatch {
    /// Starts to watch these files. A file need not exist.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let paths: Vec<PathBuf> = paths.into_iter().collect();
        let known = stamps(&paths);
        Self { paths, known }
    }

    /// Watches these files from now on. No change of a file that is watched already is missed.
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

    /// Waits until one of the files changed, appeared or was removed.
    pub async fn changed(&mut self) {
        let (mut last, mut looks) = (self.known.clone(), 0);
        loop {
            sleep(LOOK_INTERVAL).await;
            let paths = self.paths.clone();
            let Ok(now) = spawn_blocking(move || stamps(&paths)).await else { continue };
            looks = if now == self.known { 0 } else { looks + 1 };
            if looks > 0 && (now == last || looks > UNQUIET_LOOKS_MAX) {
                // `known` changes only here, so a caller that drops this future misses no change.
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
