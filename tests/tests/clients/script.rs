//! The scripts of `tests/clients`. Each is a client of the server, and fails if something is not as it expects.

use crate::office::{Listening, Office, installed, succeeded};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// The clients of both eras.
pub(crate) const MODERN: &str = "PORTCULLIS_TEST_PYTHON_MODERN";
/// The clients of the legacy era.
pub(crate) const LEGACY: &str = "PORTCULLIS_TEST_PYTHON_LEGACY";

/// The office's details for a script. The other arguments say how to reach the server.
pub(crate) fn told(office: &Office) -> Value {
    json!({
        "plugins": office.path("plugins"),
        "spare": office.path("spare/hello.wasm"),
        "notes": office.path("desk/notes.txt"),
    })
}

/// Runs with a server that the script starts.
pub(crate) fn told_to_start(office: &Office, options: &[&str]) -> Value {
    with(told(office), &[("command", json!(office.stdio(options)))])
}

/// Runs with a server that is already listening.
pub(crate) fn told_to_connect(office: &Office, server: &Listening) -> Value {
    with(told(office), &[("url", json!(server.url)), ("token", json!(server.token))])
}

/// Does the same with more arguments.
pub(crate) fn with(mut told: Value, more: &[(&str, Value)]) -> Value {
    for (key, value) in more {
        told[*key] = value.clone();
    }
    told
}

/// Returns the command that starts a script.
pub(crate) fn script(office: &Office, python: &str, name: &str, told: &Value) -> Command {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
    let mut command = office.command(installed(python));
    // Do not use the tester's proxy or cache: the environment contains everything that a client needs.
    command.args(["-I", "-X", "utf8", "-c", START]).arg(scripts).arg(name).arg(told.to_string());
    command
}

/// Starts a script of a folder. An isolated interpreter does not search that folder for modules by default.
const START: &str = "import runpy, sys; folder, name = sys.argv[1:3]; sys.path.insert(0, folder); \
    sys.dont_write_bytecode = True; del sys.argv[:2]; runpy.run_path(f'{folder}/{name}.py', run_name='__main__')";

/// Runs a script to its end.
#[track_caller]
pub(crate) fn run(office: &Office, python: &str, name: &str, told: &Value) {
    succeeded(&script(office, python, name, told).output().unwrap());
}
