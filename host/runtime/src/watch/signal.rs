//! Signals from the system about changes in a directory.

#[cfg(target_os = "linux")]
pub(super) use linux::Signal;
#[cfg(not(target_os = "linux"))]
pub(super) use nothing::Signal;

#[cfg(target_os = "linux")]
mod linux {
    use crate::catalog::listing;
    use cap_std::fs::Dir;
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::io::Errno;
    use std::ffi::CStr;
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd, OwnedFd};
    use tokio::io::unix::AsyncFd;

    /// Size of the buffer for changes, in bytes. A dozen of the longest file names fit.
    const TAKEN_BYTES: usize = 4096;

    /// A signal for changes of some directories.
    pub(in crate::watch) struct Signal(AsyncFd<OwnedFd>);

    impl Signal {
        /// Creates the signal of these open directories, independent of their paths.
        ///
        /// # Errors
        /// The system cannot watch one of the directories, or the limit of watches is reached.
        pub(in crate::watch) fn of<'a>(directories: impl Iterator<Item = &'a Dir>) -> io::Result<Self> {
            let watcher = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            // Wait for the end of a write instead of every write. Include permission changes, because permissions can
            // refuse a file.
            let what = WatchFlags::CLOSE_WRITE
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVE
                | WatchFlags::ATTRIB
                | WatchFlags::DELETE_SELF
                | WatchFlags::MOVE_SELF
                | WatchFlags::ONLYDIR;
            for directory in directories {
                // inotify takes only a path. This one leads to the open directory, even if it has another path by now.
                inotify::add_watch(&watcher, format!("/proc/self/fd/{}", directory.as_raw_fd()), what)?;
            }
            #[expect(deprecated, reason = "an owned descriptor stays open and the same, and its successor is unsafe")]
            let watcher = AsyncFd::new(watcher)?;
            Ok(Self(watcher))
        }

        /// Waits for a change that may affect a plugin.
        ///
        /// # Errors
        /// The signal is lost.
        pub(in crate::watch) async fn changed(&mut self) -> io::Result<()> {
            loop {
                let mut ready = self.0.readable().await?;
                // If nothing is ready after all, this waits again.
                if let Ok(taken) = ready.try_io(|watcher| take(watcher.get_ref()))
                    && taken?
                {
                    return Ok(());
                }
            }
        }
    }

    /// Reads all pending changes. Returns whether one of them may affect a plugin.
    fn take(watcher: &OwnedFd) -> io::Result<bool> {
        let mut buffer = [MaybeUninit::uninit(); TAKEN_BYTES];
        let mut changes = Reader::new(watcher, &mut buffer);
        let mut any = false;
        loop {
            match changes.next() {
                // The watch ends when the directory is removed.
                Ok(change) if change.events().contains(ReadFlags::IGNORED) => {
                    return Err(io::ErrorKind::NotFound.into());
                }
                // A change without a name is about the directory itself, or says that the queue has overflowed
                // (inotify(7)).
                Ok(change) => any |= change.file_name().is_none_or(is_ours),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) if any => return Ok(true),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn is_ours(name: &CStr) -> bool {
        listing::is_ours(&name.to_string_lossy())
    }
}

#[cfg(not(target_os = "linux"))]
mod nothing {
    use cap_std::fs::Dir;
    use std::io;

    /// An empty type for systems that do not report changes.
    pub(in crate::watch) enum Signal {}

    impl Signal {
        pub(in crate::watch) fn of<'a>(_: impl Iterator<Item = &'a Dir>) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(in crate::watch) async fn changed(&mut self) -> io::Result<()> {
            match *self {}
        }
    }
}
