//! The scripts of `tests/clients`, each a client that meets the server and fails where something is not as it says.

use crate::office::{Listening, Office, installed, succeeded};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// The clients of both eras.
pub(crate) const MODERN: &str = "PORTCULLIS_TEST_PYTHON_MODERN";
/// The clients of the handshake era.
pub(crate) const LEGACY: &str = "PORTCULLIS_TEST_PYTHON_LEGACY";

/// What a script is told of the office. The rest of it says how the server is reached.
pub(crate) fn told(office: &Office) -> Value {
    json!({
        "plugins": office.path("plugins"),
        "spare": office.path("spare/hello.wasm"),
        "notes": office.path("desk/notes.txt"),
    })
}

/// With a server that the script starts.
pub(crate) fn told_to_start(office: &Office, options: &[&str]) -> Value {
    with(told(office), &[("command", json!(office.stdio(options)))])
}

/// With a server that listens.
pub(crate) fn told_to_connect(office: &Office, server: &Listening) -> Value {
    with(told(office), &[("url", json!(server.url)), ("token", json!(server.token))])
}

/// The same and more.
pub(crate) fn with(mut told: Value, more: &[(&str, Value)]) -> Value {
    for (key, value) in more {
        told[*key] = value.clone();
    }
    told
}

/// A script, ready to be started.
pub(crate) fn script(office: &Office, python: &str, name: &str, told: &Value) -> Command {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
    let mut command = office.command(installed(python));
    // Not even a proxy or a cache of the person's is used: what a client needs is in its environment.
    command.args(["-I", "-X", "utf8", "-c", START]).arg(scripts).arg(name).arg(told.to_string());
    command
}

/// Starts a script of a folder. The interpreter is isolated and would not look there by itself.
const START: &str = "import runpy, sys; folder, name = sys.argv[1:3]; sys.path.insert(0, folder); \
    sys.dont_write_bytecode = True; del sys.argv[:2]; runpy.run_path(f'{folder}/{name}.py', run_name='__main__')";

/// Runs a script to its end.
#[track_caller]
pub(crate) fn run(office: &Office, python: &str, name: &str, told: &Value) {
    succeeded(&script(office, python, name, told).output().unwrap());
}
