//! What a program must not reach: a home directory with a secret, and servers that count their connections.

use crate::lab::Scratch;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The content of a file that no program may change.
const ORIGINAL: &str = "original\n";

/// Makes a git repository in the current directory. `git init` would also change a mode, which is refused without
/// namespaces.
const REPOSITORY: &str = "mkdir -p .git/objects .git/refs && echo 'ref: refs/heads/main' > .git/HEAD";

/// A home directory with a secret and with files to overwrite.
pub(crate) struct Home {
    pub(crate) path: PathBuf,
    /// A text that exists nowhere else.
    pub(crate) secret: String,
}

impl Home {
    /// Makes a home directory at a place.
    pub(crate) fn new(path: PathBuf) -> Self {
        let secret = std::fs::read_to_string("/proc/sys/kernel/random/uuid").unwrap().trim().to_owned();
        let home = Self { path, secret };
        home.restore();
        home
    }

    /// Makes all of it anew.
    pub(crate) fn restore(&self) {
        let _ = std::fs::remove_dir_all(&self.path);
        std::fs::create_dir_all(self.path.join(".ssh")).unwrap();
        std::fs::write(self.secret_path(), format!("{}\n", self.secret)).unwrap();
        for name in ["target", ".bashrc"] {
            std::fs::write(self.path.join(name), ORIGINAL).unwrap();
        }
    }

    fn secret_path(&self) -> PathBuf {
        self.path.join(".ssh/id_ed25519")
    }

    /// Returns the content of every file.
    pub(crate) fn content(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        content_of(&self.path)
    }

    /// Puts the paths into a command.
    pub(crate) fn fill_in(&self, command: &str) -> String {
        let target = self.path.join("target");
        let command = command.replace("{repository}", REPOSITORY);
        let paths = [("{home}", &self.path), ("{secret}", &self.secret_path()), ("{target}", &target)];
        paths.iter().fold(command, |text, (name, path)| text.replace(name, path.to_str().unwrap()))
    }
}

/// Returns the content of every file below a directory.
pub(crate) fn content_of(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    add_files(directory, &mut files);
    files
}

fn add_files(directory: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            add_files(&entry.path(), files);
        } else if kind.is_file() {
            files.insert(entry.path(), std::fs::read(entry.path()).unwrap());
        }
    }
}

/// Servers that accept every connection, count it and close it.
pub(crate) struct Servers {
    port: u16,
    socket: PathBuf,
    abstract_name: String,
    connections: Arc<AtomicUsize>,
    _directory: Scratch,
}

impl Servers {
    pub(crate) fn new() -> Self {
        let connections = Arc::new(AtomicUsize::new(0));
        let directory = Scratch::new();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let socket = directory.path().join("agent.sock");
        let unix = UnixListener::bind(&socket).unwrap();
        let abstract_name = format!("portcullis-test-{port}");
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let named = UnixListener::bind_addr(&address).unwrap();
        count(&connections, move || tcp.accept());
        count(&connections, move || unix.accept());
        count(&connections, move || named.accept());
        Self { port, socket, abstract_name, connections, _directory: directory }
    }

    /// Returns the number of connections since the last call.
    pub(crate) fn take_connections(&self) -> usize {
        // Each server accepts in order: when it has closed these, it has counted all before.
        let address = SocketAddr::from_abstract_name(&self.abstract_name).unwrap();
        TcpStream::connect(("127.0.0.1", self.port)).unwrap().read_to_end(&mut Vec::new()).unwrap();
        UnixStream::connect(&self.socket).unwrap().read_to_end(&mut Vec::new()).unwrap();
        UnixStream::connect_addr(&address).unwrap().read_to_end(&mut Vec::new()).unwrap();
        self.connections.swap(0, Ordering::SeqCst) - 3
    }

    /// Puts the addresses into a command.
    pub(crate) fn fill_in(&self, command: &str) -> String {
        command
            .replace("{port}", &self.port.to_string())
            .replace("{socket}", self.socket.to_str().unwrap())
            .replace("{abstract}", &self.abstract_name)
    }
}

/// Counts connections in a thread, until the process ends.
fn count<T>(connections: &Arc<AtomicUsize>, mut accept: impl FnMut() -> io::Result<T> + Send + 'static) {
    let connections = Arc::clone(connections);
    std::thread::spawn(move || {
        // Counted before it is closed.
        while let Ok(_connection) = accept() {
            connections.fetch_add(1, Ordering::SeqCst);
        }
    });
}
