//! Lets a process that has the log for itself append without the lock of the log.
//!
//! Two words in `audit.lock`, which all processes map, say which writer has the log for itself and which one appends
//! now. Each writer holds a shared lock of the log file as long as it is open. So another one can tell whether there
//! are others, and a crash cannot leave a writer behind. Who opens the log takes the lock of the head first. It then
//! ends the sole use, and waits until that writer does not append.

#[cfg_attr(not(target_os = "linux"), path = "sole/words_absent.rs")]
mod words;

use super::error::AuditError;
use cap_std::fs::Dir;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Release, SeqCst};
use std::thread;
use std::time::Duration;
use words::SharedWords;

/// The pause between two looks at a writer that appends. Appending takes a few microseconds.
const LOOK_PAUSE: Duration = Duration::from_micros(100);

/// Entries that a writer appends under the lock before it looks whether it is alone again. Looking costs as much as
/// two locks.
const LOCKED_ENTRIES: u32 = 64;

/// How a writer shares the log with other writers.
pub(super) struct SoleUse {
    /// `None` if the file system does not share memory between all processes that can lock its files.
    words: Option<Arc<SharedWords>>,
    /// Names this writer in the words. Not zero.
    name: u64,
    /// Entries appended under the lock since the last look.
    locked: u32,
}

/// The time in which the writer that has the log for itself appends. Dropping it ends that.
pub(super) struct SoleAppend(Arc<SharedWords>);

impl SoleUse {
    /// Joins the users of the log. The caller holds the lock of the head.
    ///
    /// # Errors
    /// The words cannot be mapped or the log cannot be locked. `LockGone` if the words of the other users were removed.
    pub(super) fn begin(directory: &Dir, log: &File) -> Result<Self, AuditError> {
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(io::Error::other)?;
        let (words, name) = (SharedWords::open(directory)?.map(Arc::new), u64::from_le_bytes(name) | 1);
        let joined = Self { words, name, locked: 0 };
        if let Some(words) = &joined.words {
            while !joined.take(words, log)? {
                // The others use other words, so that this writer could not find out whether they append.
                if words.used.load(SeqCst) == 0 {
                    return Err(AuditError::LockGone);
                }
                words.sole.store(0, SeqCst);
                if words.appends.load(SeqCst) == 0 {
                    break;
                }
                thread::sleep(LOOK_PAUSE);
            }
            flock(log, FlockOperation::LockShared).map_err(io::Error::from)?;
        }
        Ok(joined)
    }

    /// Returns the right to append without the lock of the head, if this writer has the log for itself.
    pub(super) fn append(&self) -> Option<SoleAppend> {
        let words = self.words.as_ref().filter(|words| self.is_sole(words))?;
        let appending = SoleAppend(Arc::clone(words));
        words.appends.store(self.name, SeqCst);
        // Who opens the log writes the one word and then reads the other. So it waits for this writer, or this writer
        // sees it.
        self.is_sole(words).then_some(appending)
    }

    fn is_sole(&self, words: &SharedWords) -> bool {
        words.sole.load(SeqCst) == self.name
    }

    /// Looks from time to time whether this writer has the log for itself again. The caller holds the lock of the head.
    pub(super) fn look(&mut self, log: &File) -> io::Result<()> {
        let Some(words) = self.words.clone() else { return Ok(()) };
        self.locked += 1;
        if self.locked < LOCKED_ENTRIES {
            return Ok(());
        }
        self.take(&words, log)?;
        flock(log, FlockOperation::LockShared)?;
        // Only now: a writer without its shared lock must look again before it appends.
        self.locked = 0;
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn has_log_alone(&self) -> bool {
        self.words.as_ref().is_some_and(|words| self.is_sole(words))
    }

    /// Takes the log for this writer if no other one has it open. Then, or if not, it holds no shared lock of the log
    /// until the caller takes it again. No other writer can do the same meanwhile, because the caller holds the lock of
    /// the head.
    fn take(&self, words: &SharedWords, log: &File) -> io::Result<bool> {
        match flock(log, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(error.into()),
            Ok(()) => {
                // A writer that was killed while it appended did not reset this.
                words.appends.store(0, SeqCst);
                words.used.store(1, SeqCst);
                words.sole.store(self.name, SeqCst);
                Ok(true)
            }
        }
    }
}

impl Drop for SoleAppend {
    fn drop(&mut self) {
        // `Release` suffices, because only the beginning of an append is ordered with the reads of `sole`.
        self.0.appends.store(0, Release);
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own directory")]
mod tests {
    use super::super::line::Kind;
    use super::super::log::AuditWriter;
    use super::*;
    use cap_std::ambient_authority;
    use std::sync::atomic::AtomicBool;

    fn directory(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("portcullis-sole-{name}-{}", std::process::id()));
        Dir::create_ambient_dir_all(&path, ambient_authority()).unwrap();
        Dir::open_ambient_dir(&path, ambient_authority()).unwrap()
    }

    fn open(directory: &Dir) -> AuditWriter {
        AuditWriter::open(directory, &[7; 32], 16).unwrap()
    }

    fn append(log: &AuditWriter) {
        log.append(Kind::Plugin, None::<&()>, &serde_json::json!({})).unwrap();
    }

    /// Each file that is opened has locks of its own, so two writers of one process are like two processes.
    #[test]
    fn a_writer_is_alone_until_another_one_opens_the_log_and_again_after_that() {
        let directory = directory("turns");
        let first = open(&directory);
        assert!(first.is_sole());
        let second = open(&directory);
        assert!(!first.is_sole() && !second.is_sole());
        append(&first);
        append(&second);
        drop(second);
        assert!(!first.is_sole());
        (0..LOCKED_ENTRIES).for_each(|_| append(&first));
        assert!(first.is_sole());
        assert_eq!(first.verify().unwrap().fault, None);
        directory.remove_open_dir_all().unwrap();
    }

    #[test]
    fn writers_that_come_and_go_write_one_chain() {
        let directory = directory("chain");
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            let steady = scope.spawn(|| {
                let log = open(&directory);
                (0..5_000).for_each(|_| append(&log));
                ended.store(true, SeqCst);
            });
            scope.spawn(|| {
                while !ended.load(SeqCst) {
                    let log = open(&directory);
                    (0..20).for_each(|_| append(&log));
                    drop(log);
                    thread::sleep(Duration::from_millis(1));
                }
            });
            steady.join().unwrap();
        });
        assert_eq!(open(&directory).verify().unwrap().fault, None);
        directory.remove_open_dir_all().unwrap();
    }

    /// Who opens the log waits for an append, and not for a writer that was killed during one.
    #[test]
    fn a_writer_that_appends_is_waited_for_unless_it_has_ended() {
        let directory = directory("killed");
        let first = open(&directory);
        let appending = first.sole_append();
        assert!(appending.is_some());
        let is_open = AtomicBool::new(false);
        thread::scope(|scope| {
            let opening = scope.spawn(|| {
                let log = open(&directory);
                is_open.store(true, SeqCst);
                append(&log);
            });
            while first.is_sole() {
                thread::yield_now();
            }
            thread::sleep(20 * LOOK_PAUSE);
            assert!(!is_open.load(SeqCst));
            drop(appending);
            opening.join().unwrap();
        });
        drop(first);
        let killed = open(&directory);
        std::mem::forget(killed.sole_append());
        drop(killed);
        append(&open(&directory));
        directory.remove_open_dir_all().unwrap();
    }

    #[test]
    fn a_log_whose_words_were_removed_does_not_open_beside_its_writers() {
        let directory = directory("removed");
        let first = open(&directory);
        directory.remove_file(words::FILE).unwrap();
        assert!(matches!(AuditWriter::open(&directory, &[7; 32], 16), Err(AuditError::LockGone)));
        append(&first);
        drop(first);
        append(&open(&directory));
        directory.remove_open_dir_all().unwrap();
    }
}
