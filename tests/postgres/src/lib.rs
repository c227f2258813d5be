//! A PostgreSQL server of the machine (Debian's package `postgresql`), for tests. It runs in a temporary directory on a
//! port of the loopback address, and ends with its value.
//!
//! To fill a data directory takes most of the time of a start. So it is filled once, and each server gets a copy.

#![expect(clippy::disallowed_methods, reason = "tests start programs and write files")]

use anyhow::{Context as _, Result, bail, ensure};
use portcullis_build::cache;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, UNIX_EPOCH};
use std::{fs, thread};
use tempfile::TempDir;

/// Where Debian's packages put the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// Where the data directories are that servers begin with.
const FILLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-postgres");

/// How long a server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// The name of the database's user.
const USER: &str = "portcullis";

/// Settings of the server. It survives a crash of its process, but not one of the machine, which no test makes.
const SETTINGS: [&str; 8] = [
    "fsync=off",
    "full_page_writes=off",
    "max_connections=600",
    "shared_buffers=32MB",
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "logging_collector=off",
    "log_min_messages=fatal",
];

/// A running server.
#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
    folder: TempDir,
    port: u16,
    account: Option<Account>,
    settings: Vec<&'static str>,
    process: Option<Child>,
}

/// The user of the system that runs the server. PostgreSQL refuses to run as root.
#[derive(Clone, Copy, Debug)]
struct Account {
    uid: u32,
    gid: u32,
}

/// Returns whether the machine has a server to start. Tests that need one are left out without it, but not in CI.
///
/// # Panics
/// There is none, and the variable `CI` is set.
pub fn is_installed() -> bool {
    let found = programs();
    assert!(found.is_ok() || std::env::var_os("CI").is_none(), "CI must have PostgreSQL: {:?}", found.err());
    found.is_ok()
}

impl Server {
    /// Creates a server and starts it.
    ///
    /// # Errors
    /// The machine has none, or it does not start.
    pub fn start() -> Result<Self> {
        let mut server = Self::create_stopped()?;
        server.start_again()?;
        Ok(server)
    }

    /// Creates a server with a certificate and its key in PEM, and starts it.
    ///
    /// # Errors
    /// The machine has none, or it does not start.
    pub fn start_with_tls(certificate: &str, key: &str) -> Result<Self> {
        let mut server = Self::create_stopped()?;
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            let path = server.data().join(name);
            fs::write(&path, text)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            if let Some(Account { uid, gid }) = server.account {
                chown(&path, Some(uid), Some(gid))?;
            }
        }
        server.settings.push("ssl=on");
        server.start_again()?;
        Ok(server)
    }

    fn create_stopped() -> Result<Self> {
        let account = Account::of_machine()?;
        let folder = TempDir::new()?;
        if let Some(Account { uid, gid }) = account {
            chown(folder.path(), Some(uid), Some(gid))?;
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700))?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let server = Self { programs: programs()?, folder, port, account, settings: SETTINGS.to_vec(), process: None };
        copy(&server.filled()?, &server.data(), account)?;
        Ok(server)
    }

    /// Returns the data directory that all servers of these programs begin with. The first one fills it. Another
    /// release of the programs has a directory of its own.
    fn filled(&self) -> Result<PathBuf> {
        let program = fs::metadata(self.programs.join("initdb"))?;
        let changed = program.modified()?.duration_since(UNIX_EPOCH)?.as_secs();
        cache::entry(Path::new(FILLED), &format!("{}-{changed}", program.len()), |partial| {
            let data = self.data();
            let mut create = self.command("initdb");
            create.args([
                "--no-sync",
                "--auth=trust",
                "--encoding=UTF8",
                "--no-locale",
                "--username",
                USER,
                "--pgdata",
            ]);
            let created = create.arg(&data).stdout(Stdio::null()).status().context("initdb")?;
            ensure!(created.success(), "initdb: {created}");
            copy(&data, partial, None)?;
            Ok(fs::remove_dir_all(&data)?)
        })
    }

    /// Starts the server again, after it was stopped or killed.
    ///
    /// # Errors
    /// It does not start.
    pub fn start_again(&mut self) -> Result<()> {
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).arg("-p").arg(self.port.to_string());
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        self.process = Some(command.spawn().context("postgres")?);
        let begun = Instant::now();
        while !self.is_ready() {
            ensure!(begun.elapsed() < PATIENCE, "the server does not start");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Returns the address of a database of this server.
    pub fn address(&self, database: &str) -> String {
        address_at(self.port, database)
    }

    /// Returns the port of this server, on the loopback address.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the number of the server's first process, while it runs.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    /// Creates an empty database.
    ///
    /// # Errors
    /// It exists, or the server does not answer.
    pub fn create(&self, database: &str) -> Result<()> {
        create(self.port, database)
    }

    /// Runs statements in a database, and returns what they print.
    ///
    /// # Errors
    /// The server refuses them, or does not answer.
    pub fn run(&self, database: &str, statements: &str) -> Result<String> {
        query(self.port, database, statements)
    }

    /// Stops the server as its administrator does: connections end at once, and nothing is lost.
    ///
    /// # Errors
    /// It does not stop.
    pub fn stop(&mut self) -> Result<()> {
        let mut command = self.command("pg_ctl");
        command.args(["stop", "--silent", "--mode=fast", "--pgdata"]).arg(self.data());
        let stopped = command.status().context("pg_ctl")?;
        if let Some(mut process) = self.process.take() {
            process.wait()?;
        }
        ensure!(stopped.success(), "pg_ctl: {stopped}");
        Ok(())
    }

    /// Kills the server, as a crash does.
    ///
    /// # Errors
    /// The system refuses.
    pub fn kill(&mut self) -> Result<()> {
        let mut command = self.command("pg_ctl");
        command.args(["stop", "--silent", "--mode=immediate", "--pgdata"]).arg(self.data());
        command.status().context("pg_ctl")?;
        if let Some(mut process) = self.process.take() {
            process.wait()?;
        }
        Ok(())
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn is_ready(&self) -> bool {
        TcpStream::connect(("127.0.0.1", self.port)).is_ok() && query(self.port, "postgres", "SELECT 1").is_ok()
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(self.folder.path()).env("LC_ALL", "C").stdin(Stdio::null());
        if let Some(Account { uid, gid }) = self.account {
            command.uid(uid).gid(gid);
        }
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.process.is_some() {
            let _ = self.kill();
        }
    }
}

impl Account {
    /// Returns the account of the package, if this process is root.
    fn of_machine() -> Result<Option<Self>> {
        let id = |arguments: &[&str]| -> Result<u32> {
            let output = Command::new("id").args(arguments).output()?;
            ensure!(output.status.success(), "id {arguments:?}: {}", output.status);
            Ok(String::from_utf8(output.stdout)?.trim().parse()?)
        };
        if id(&["-u"])? != 0 {
            return Ok(None);
        }
        Ok(Some(Self { uid: id(&["-u", "postgres"])?, gid: id(&["-g", "postgres"])? }))
    }
}

/// Copies a directory with its permissions. The account owns the copy, or this process's user if there is none.
fn copy(from: &Path, to: &Path, account: Option<Account>) -> Result<()> {
    fs::create_dir_all(to)?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    for entry in fs::read_dir(from)? {
        let (entry, from) = entry.map(|entry| (entry.file_name(), entry.path()))?;
        let to = to.join(entry);
        if from.is_dir() {
            copy(&from, &to, account)?;
            continue;
        }
        fs::copy(&from, &to)?;
        if let Some(Account { uid, gid }) = account {
            chown(&to, Some(uid), Some(gid))?;
        }
    }
    if let Some(Account { uid, gid }) = account {
        chown(to, Some(uid), Some(gid))?;
    }
    Ok(())
}

/// Returns the address of a database at a port.
pub fn address_at(port: u16, database: &str) -> String {
    format!("postgres://{USER}@127.0.0.1:{port}/{database}")
}

/// Creates an empty database on the server at a port.
///
/// # Errors
/// It exists, or the server does not answer.
pub fn create(port: u16, database: &str) -> Result<()> {
    query(port, "postgres", &format!("CREATE DATABASE {database} TEMPLATE template0")).map(drop)
}

/// Runs a statement on the server at a port. Returns the columns as text, a line for each row.
///
/// # Errors
/// The statement fails.
pub fn query(port: u16, database: &str, statement: &str) -> Result<String> {
    let mut command = Command::new(programs()?.join("psql"));
    command.args([
        "--no-psqlrc",
        "--quiet",
        "--tuples-only",
        "--no-align",
        "--command",
        statement,
        &address_at(port, database),
    ]);
    let output = command.stdin(Stdio::null()).output().context("psql")?;
    if !output.status.success() {
        bail!("{statement}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a statement on the tables of the ledger in a database, as [`query`] does.
///
/// # Errors
/// The statement fails.
pub fn query_ledger(port: u16, database: &str, statement: &str) -> Result<String> {
    query(port, database, &format!("SET search_path = portcullis; {statement}"))
}

/// Returns the folder of the newest version's programs.
fn programs() -> Result<PathBuf> {
    let entries = fs::read_dir(VERSIONS).context("PostgreSQL is not installed: apt-get install postgresql")?;
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let folders = entries.flatten().map(|entry| entry.path());
    let newest = folders.filter(|folder| folder.join("bin/postgres").exists()).max_by_key(|folder| version(folder));
    Ok(newest.context("PostgreSQL's server is not installed: apt-get install postgresql")?.join("bin"))
}
