//! SQLite in a Python plugin, in the real host: what works without system locks, and what is rejected.

use crate::row::repository;
use crate::templates::shell;
use portcullis_tests::{Ran, made_once, program};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const APP: &str = r#"
import sqlite3
import time
from portcullis import Context, Plugin

plugin = Plugin("databases", version="1.0.0", description="Uses a database.")
plugin.directory("data", "the database")

def run(context: Context, statement: str) -> list[list[int]]:
    with sqlite3.connect(context.directory("data") / "a.db", timeout=0.5) as connection:
        return [list(row) for row in connection.execute(statement)]

@plugin.tool(requires=["read"])
def look(statement: str, context: Context) -> list[list[int]]:
    """Reads."""
    return run(context, statement)

@plugin.tool(requires=["read", "write"])
def change(statement: str, context: Context) -> list[list[int]]:
    """Writes."""
    return run(context, statement)

@plugin.tool(requires=["read", "write"])
def hang(context: Context) -> str:
    """Is stopped in the middle of a transaction."""
    connection = sqlite3.connect(context.directory("data") / "a.db")
    connection.execute("insert into t values (13)")
    while True:
        pass

@plugin.tool(requires=["read", "write"])
def wait(context: Context) -> str:
    """Writes, and lets another program write before the commit."""
    data = context.directory("data")
    connection = sqlite3.connect(data / "a.db")
    connection.execute("insert into t values (1)")
    (data / "begun").touch()
    while not (data / "go").exists():
        time.sleep(0.01)
    connection.commit()
    return "committed"
"#;

/// The time limit of a call in seconds: much longer than the work here, and short enough to wait for.
const CALL_SECONDS: u64 = 5;

/// Timeout for another program to start a transaction, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A directory with a database, for the shared component.
struct Desk {
    place: tempfile::TempDir,
    component: PathBuf,
}

/// Returns the folder of the component, which is built once for this program and this SDK.
fn plugins() -> PathBuf {
    let sdk = repository().join("sdk/python");
    let program = fs::metadata(program()).unwrap();
    let built = format!("{:?} {}", program.modified().unwrap(), program.len());
    made_once(&[APP.into(), built.into(), contents(&sdk)], |place| {
        fs::create_dir(place).unwrap();
        let about = format!("name = \"databases\"\nlanguage = \"python\"\nsdk = \"{}\"\n", sdk.display());
        fs::write(place.join("plugin.toml"), about).unwrap();
        fs::write(place.join("app.py"), APP).unwrap();
        shell(place, &place.join("state"), "portcullis build").ends(0);
    })
}

/// Returns the bytes of all sources of an SDK.
fn contents(folder: &Path) -> Vec<u8> {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let mut bytes = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            bytes.extend(contents(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "py" || extension == "wit") {
            bytes.extend(fs::read(&entry).unwrap());
        }
    }
    bytes
}

impl Desk {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("data")).unwrap();
        for access in ["read-only", "read-write"] {
            let grant = format!("directory.data = {{ path = \"data\", access = \"{access}\" }}");
            let limit = format!("limits.time = \"{CALL_SECONDS} s\"");
            let policy = format!("[defaults]\ndecision = \"allow\"\n[plugin.databases]\n{grant}\n{limit}\n");
            fs::write(place.path().join(format!("{access}.toml")), policy).unwrap();
        }
        let desk = Self { place, component: plugins().join("plugins") };
        desk.native("create table t (a)");
        desk
    }

    /// Calls a tool under the policy with that access.
    fn call(&self, tool: &str, statement: &str, access: &str) -> Ran {
        let arguments =
            if statement.is_empty() { "{}".to_owned() } else { format!("{{\"statement\":\"{statement}\"}}") };
        // All desks share one compilation cache.
        let state = plugins().join("state");
        let plugins = self.component.display();
        let line = format!("portcullis call databases.{tool} '{arguments}' --plugins {plugins} --policy {access}.toml");
        shell(self.place.path(), &state, &line)
    }

    /// Executes SQL in a native program that knows nothing about components.
    fn native(&self, statement: &str) {
        let code =
            "import sqlite3, sys; c = sqlite3.connect('data/a.db'); c.execute(sys.argv[1]); c.commit(); c.close()";
        let ran =
            Command::new("python3").args(["-c", code, statement]).current_dir(self.place.path()).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }

    fn rows(&self) -> String {
        answer(self.call("look", "select a from t order by a", "read-only"))
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.place.path().join("data")).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Returns the JSON result of a call, without blanks.
#[track_caller]
fn answer(ran: Ran) -> String {
    ran.ends(0).out.split_whitespace().collect()
}

#[test]
fn a_database_in_a_read_only_directory_can_be_read() {
    let desk = Desk::new();
    desk.native("insert into t values (1)");
    // Read-only by the policy, and by the tool's declaration.
    assert_eq!(desk.rows(), "[[1]]");
    assert_eq!(answer(desk.call("look", "select a from t", "read-write")), "[[1]]");
    assert_eq!(answer(desk.call("change", "select a from t", "read-only")), "[[1]]");
    let ran = desk.call("change", "insert into t values (2)", "read-only");
    assert!(ran.code != Some(0) && ran.err.contains("attempt to write a readonly database"), "{}", ran.err);
    assert_eq!(desk.files(), ["a.db"]);
}

#[test]
fn a_stopped_call_does_not_block_later_ones() {
    let desk = Desk::new();
    desk.call("change", "insert into t values (1)", "read-write").ends(0);
    let ran = desk.call("hang", "", "read-write");
    assert!(ran.code != Some(0) && ran.err.contains("limit-time"), "{}", ran.err);
    assert!(desk.files().contains(&"a.db.lock".to_owned()), "it was not stopped in a transaction: {:?}", desk.files());
    desk.call("change", "insert into t values (2)", "read-write").ends(0);
    assert_eq!(desk.rows(), "[[1],[2]]", "uncommitted rows must not exist");
    assert_eq!(desk.files(), ["a.db"]);
}

/// A component cannot notice that another program writes. It must not overwrite what that program has committed.
#[test]
fn a_row_that_another_program_committed_is_not_overwritten() {
    let desk = Desk::new();
    let ran = std::thread::scope(|scope| {
        let call = scope.spawn(|| desk.call("wait", "", "read-write"));
        let deadline = Instant::now() + PATIENCE;
        while !desk.files().contains(&"begun".to_owned()) {
            assert!(Instant::now() < deadline && !call.is_finished(), "the call did not begin");
            std::thread::sleep(Duration::from_millis(10));
        }
        desk.native("insert into t values (7)");
        fs::write(desk.place.path().join("data/go"), "").unwrap();
        call.join().unwrap()
    });
    assert!(ran.code != Some(0) && ran.err.contains("another program changed"), "{}{}", ran.out, ran.err);
    assert_eq!(desk.rows(), "[[7]]");
}

#[test]
fn a_database_that_could_be_corrupted_is_rejected() {
    let desk = Desk::new();
    fs::write(desk.place.path().join("data/a.db-journal"), [1; 512]).unwrap();
    for (tool, access) in [("look", "read-only"), ("change", "read-write")] {
        let ran = desk.call(tool, "select a from t", access);
        assert!(ran.code != Some(0) && ran.err.contains("is not finished"), "{}", ran.err);
    }
    assert_eq!(desk.files(), ["a.db", "a.db-journal"]);
    fs::remove_file(desk.place.path().join("data/a.db-journal")).unwrap();
    desk.native("pragma journal_mode = wal");
    for (tool, access) in [("look", "read-only"), ("change", "read-write")] {
        let ran = desk.call(tool, "select a from t", access);
        assert!(ran.code != Some(0) && ran.err.contains("is in WAL mode"), "{}", ran.err);
    }
}
