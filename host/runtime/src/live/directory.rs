//! The directory of the sockets, in the state directory. Only the user can enter it.
//!
//! A socket has a path of at most 107 bytes, and a state directory may have a longer one. So sockets are named through
//! the open directory.

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt};
use rustix::process::geteuid;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

/// The directory of the sockets.
const LIVE_DIRECTORY: &str = "live";

/// The end of a socket's name. The id of the host is before it.
const SOCKET_SUFFIX: &str = ".sock";

/// Maximum names that are read in one look. Sockets of dead processes are removed at the next start of a host.
const NAMES_MAX: usize = 10_000;

/// A socket that listens, and its file, which is removed when this is dropped.
pub(crate) struct LiveSocket {
    listener: UnixListener,
    file: SocketFile,
}

/// The file of a socket. Dropping it removes the file.
pub(super) struct SocketFile {
    directory: Dir,
    name: String,
}

impl LiveSocket {
    /// Begins to listen as the host `id`. Removes the sockets of hosts that are no longer alive.
    ///
    /// # Errors
    /// The directory or the socket cannot be created.
    pub(crate) fn listen(state: &Dir, id: &str, is_alive: impl Fn(&str) -> bool) -> io::Result<Self> {
        let directory = create(state)?;
        for dead in ids(&directory)?.iter().filter(|other| !is_alive(other)) {
            // A socket that stays leads to no process. Readers notice that.
            let _ = directory.remove_file(format!("{dead}{SOCKET_SUFFIX}"));
        }
        let name = format!("{id}{SOCKET_SUFFIX}");
        let listener = UnixListener::bind(path_of(&directory, &name))?;
        let file = SocketFile { directory, name };
        // `UnixListener::from_std` of tokio needs this.
        listener.set_nonblocking(true)?;
        Ok(Self { listener, file })
    }

    pub(super) fn into_parts(self) -> (UnixListener, SocketFile) {
        (self.listener, self.file)
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // The next host removes a file that cannot be removed now.
        let _ = self.directory.remove_file(&self.name);
    }
}

/// Opens the directory of the sockets, if it exists and belongs to the user of this process.
pub(super) fn open(state: &Dir) -> io::Result<Dir> {
    let directory = state.open_dir_nofollow(LIVE_DIRECTORY)?;
    // The directory may have existed before, with other permissions.
    let stat = rustix::fs::fstat(&directory)?;
    if !is_own(stat.st_uid) || stat.st_mode & 0o077 != 0 {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the directory `live` is open to other users"));
    }
    Ok(directory)
}

fn create(state: &Dir) -> io::Result<Dir> {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    match state.create_dir_with(LIVE_DIRECTORY, &builder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        // `open` checks a directory that was there before.
        Ok(()) | Err(_) => {}
    }
    open(state)
}

/// Returns the ids of the hosts that have a socket.
pub(super) fn ids(directory: &Dir) -> io::Result<Vec<String>> {
    let names = directory.entries()?.flatten().take(NAMES_MAX);
    let id = |name: &str| name.strip_suffix(SOCKET_SUFFIX).map(str::to_owned);
    Ok(names.filter_map(|entry| id(entry.file_name().to_str()?)).collect())
}

/// Returns the path to the socket of a host, through the open directory.
pub(super) fn socket_path(directory: &Dir, id: &str) -> PathBuf {
    path_of(directory, &format!("{id}{SOCKET_SUFFIX}"))
}

fn path_of(directory: &Dir, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{name}", directory.as_raw_fd()))
}

/// Returns whether a user may be at the other end: the user of this process, or root.
pub(super) fn is_own(uid: u32) -> bool {
    uid == geteuid().as_raw() || uid == 0
}
