//! Building a Python project: errors that are found before its module runs, and the isolation of builds.

use crate::row::repository;
use crate::templates::shell;
use portcullis_tests::{Ran, program};
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A module that writes to every reachable folder: those of its imports, and a package that other builds use too.
const WRITES: &str = r#"
import idna
WROTE = []
for number in range(9):
    try:
        with open(f"/{number}/portcullis_stray.pth", "w") as file:
            file.write("")
        WROTE.append(number)
    except OSError:
        pass
assert WROTE == [0, 1, 2, 3, 4], WROTE
with open(idna.__file__, "a") as file:
    file.write("\nPOISONED = True\n")
"#;

/// A module that fails if the previous one left something, or if it finds packages that it did not ask for.
const LOOKS: &str = r#"
import importlib.util
import os
import idna
assert not hasattr(idna, "POISONED")
assert importlib.util.find_spec("pip") is None
assert os.listdir("/4") == [], os.listdir("/4")
STRAYS = [number for number in range(5) if os.path.exists(f"/{number}/portcullis_stray.pth")]
assert STRAYS == [], STRAYS
"#;

/// A plugin with one tool, without errors.
const PLUGIN: &str = r#"
from portcullis import Plugin
plugin = Plugin("tested", version="1.0.0", description="Tests.")
@plugin.tool()
def nothing() -> None:
    """Does nothing."""
"#;

/// A tool whose package cannot work in a plugin.
const GETS: &str = r#"
import httpx
@plugin.tool(requires=["network"])
def get(url: str) -> str:
    """Gets a page."""
    return httpx.get(url).text
"#;

#[test]
fn a_module_leaves_nothing_for_other_builds() {
    let place = tempfile::tempdir().unwrap();
    for (name, code) in [("writes", WRITES), ("looks", LOOKS)] {
        let project = written(place.path(), name, &format!("{code}{PLUGIN}"), "idna==3.10\n");
        shell(&project, &place.path().join("state"), "portcullis build").ends(0);
    }
}

/// Building a component takes ten seconds, so errors that a parser can find are reported before.
#[test]
fn source_errors_are_reported_before_the_build() {
    let untyped = "@plugin.tool()\ndef other(path) -> None:\n    'Does nothing.'\n";
    for (name, code, wanted) in [
        ("syntax", "def broken(:\n    pass\n", "SyntaxError: invalid syntax"),
        ("definition", untyped, "the argument `path` of the tool `other` needs a type hint"),
    ] {
        let place = tempfile::tempdir().unwrap();
        let (ran, is_begun) = watched(place.path(), name, code);
        assert_ne!(ran.code, Some(0), "{name}");
        assert!(ran.err.contains("app.py") && ran.err.contains(wanted), "{name}: {}", ran.err);
        assert!(!is_begun, "{name}: the build of the component was started");
    }
}

/// An error at run time is reported without the command that ran the module.
#[test]
fn run_time_errors_are_reported_without_the_command() {
    let place = tempfile::tempdir().unwrap();
    let (ran, is_begun) = watched(place.path(), "late", "raise ValueError('only when it runs')\n");
    assert!(is_begun && ran.err.contains("only when it runs"), "{}", ran.err);
    assert!(ran.err.contains("--verbose") && !ran.err.contains("--python-path"), "{}", ran.err);
    let ran = shell(&place.path().join("late"), &place.path().join("state"), "portcullis build --verbose");
    assert!(ran.code != Some(0) && ran.err.contains("--python-path"), "{}", ran.err);
}

/// A package that opens its own connections gets an error that names the alternatives, in a call and in the build.
#[test]
fn a_package_that_needs_sockets_gets_an_error_with_the_alternatives() {
    let place = tempfile::tempdir().unwrap();
    let project = written(place.path(), "tested", &format!("{PLUGIN}{GETS}"), "httpx==0.28.1\n");
    let state = place.path().join("state");
    fs::write(project.join("allow.toml"), "[defaults]\ndecision = \"allow\"\n").unwrap();
    shell(&project, &state, "portcullis build").ends(0);
    let call = "portcullis call tested.get '{\"url\":\"https://example.com/\"}' --policy allow.toml";
    let ran = shell(&project, &state, call);
    assert_ne!(ran.code, Some(0));
    let told = format!("{}{}", ran.out, ran.err);
    for wanted in ["no module `ssl`", "the host does TLS", "no sockets", "urllib.request", "context.client"] {
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
    let project = written(place.path(), "top", &format!("import ssl\n{PLUGIN}"), "");
    let ran = shell(&project, &state, "portcullis build");
    assert!(ran.code != Some(0) && ran.err.contains("no module `ssl`: the host does TLS"), "{}", ran.err);
}

/// Builds a project of the plugin and more code. Returns whether a component build was started.
fn watched(place: &Path, name: &str, code: &str) -> (Ran, bool) {
    let (bin, log) = (place.join("bin"), place.join("log"));
    fs::create_dir(&bin).unwrap();
    // The first `python3` on the path records its arguments and runs the next one.
    let note = format!("printf '%s\\n' \"$*\" >> '{}'", log.display());
    fs::write(bin.join("python3"), format!("#!/bin/sh\n{note}\nPATH=${{PATH#*:}}\nexec python3 \"$@\"\n")).unwrap();
    fs::set_permissions(bin.join("python3"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = env::join_paths([bin].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap()))).unwrap();
    let project = written(place, name, &format!("{PLUGIN}{code}"), "");
    let ran = Command::new(program()).arg("build").arg(&project).env("PATH", path).output().unwrap().into();
    (ran, fs::read_to_string(log).unwrap().contains("from componentize_py import script"))
}

/// Writes a project with this module and these packages.
pub(crate) fn written(place: &Path, name: &str, module: &str, packages: &str) -> PathBuf {
    let (project, sdk) = (place.join(name), repository().join("sdk/python"));
    fs::create_dir(&project).unwrap();
    let about = format!("name = \"{name}\"\nlanguage = \"python\"\nsdk = \"{}\"\n", sdk.display());
    fs::write(project.join("plugin.toml"), about).unwrap();
    fs::write(project.join("requirements.txt"), packages).unwrap();
    fs::write(project.join("app.py"), module).unwrap();
    project
}
