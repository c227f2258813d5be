//! Does the main job visibly: builds, then drives the host as a person would, and checks every exit code.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::workspace::Workspace;
use crate::{cache, plugins, process, toolchain};

/// Lets the tools look at the workspace and nothing else.
const READ_ONLY: &str = r#"# Default deny: what no rule allows does not happen.
[plugin.files]
directory.workspace = { path = "workspace", access = "read-only" }

[[rule]]
tool = "files.*"
permission = "read"
decision = "allow"
"#;

/// Lets the tools change the workspace too.
const READ_WRITE: &str = r#"[plugin.files]
directory.workspace = { path = "workspace", access = "read-write" }

[[rule]]
tool = "files.*"
decision = "allow"
"#;

/// The exit codes that the demo meets; `docs` list them all.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(i32)]
enum Exit {
    Completed = 0,
    Denied = 3,
}

/// One command, why it is run, and how it must end.
struct Scene {
    say: &'static str,
    arguments: &'static [&'static str],
    policy: Option<&'static str>,
    exit: Exit,
}

const NOTE: &str = r##"{"path":"notes.md","content":"# Notes\nWritten by a tool in a sandbox.\n"}"##;

const SCENES: [Scene; 9] = [
    Scene {
        say: "The tools in the plugin directory.",
        arguments: &["list"],
        policy: Some("read-only.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "A policy that grants one directory, read-only: reading works.",
        arguments: &["call", "files.read", r#"{"path":"lib.rs","limit":12}"#],
        policy: Some("read-only.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "So does searching a real source tree.",
        arguments: &["call", "files.grep", r#"{"regex":"fn parse","include":"*.rs","limit":6}"#],
        policy: Some("read-only.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "No policy at all: a write is denied.",
        arguments: &["call", "files.write", NOTE],
        policy: None,
        exit: Exit::Denied,
    },
    Scene {
        say: "The read-only policy denies it too.",
        arguments: &["call", "files.write", NOTE],
        policy: Some("read-only.toml"),
        exit: Exit::Denied,
    },
    Scene {
        say: "A policy that says so allows it.",
        arguments: &["call", "files.write", NOTE],
        policy: Some("read-write.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "And the file is there.",
        arguments: &["call", "files.read", r#"{"path":"notes.md"}"#],
        policy: Some("read-only.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "Every call left a record; the chain holds.",
        arguments: &["audit", "verify"],
        policy: None,
        exit: Exit::Completed,
    },
    Scene {
        say: "What was asked, decided and done.",
        arguments: &["audit", "show"],
        policy: None,
        exit: Exit::Completed,
    },
];

/// Builds everything and plays the scenes.
pub(crate) fn play(workspace: &Workspace) -> Result<()> {
    plugins::build_shipped(workspace, &toolchain::prepare()?, None)?;
    process::run_aside(workspace.cargo().args(["build", "--release", "--package", "portcullis-cli"]))?;
    let stage = set(workspace)?;
    println!("\n$ cd {}", stage.display());
    for scene in SCENES {
        perform(&scene, &workspace.target.join("release/portcullis"), &stage)?;
    }
    let note = stage.join("workspace/notes.md");
    ensure!(note.is_file(), "the allowed write left no {}", note.display());
    println!("\nThe demo did what it said.");
    Ok(())
}

/// Makes a fresh directory with a source tree to work on, and policies beside it, out of the tools' reach.
fn set(workspace: &Workspace) -> Result<PathBuf> {
    let stage = workspace.target.join("demo");
    cache::empty(&stage)?;
    copy(&workspace.root.join("host/policy/src"), &stage.join("workspace"))?;
    fs::write(stage.join("read-only.toml"), READ_ONLY)?;
    fs::write(stage.join("read-write.toml"), READ_WRITE)?;
    Ok(stage)
}

fn perform(scene: &Scene, binary: &Path, stage: &Path) -> Result<()> {
    let mut command = Command::new(binary);
    command.args(scene.arguments).args(["--plugins", "../plugins", "--state", "state"]);
    command.args(scene.policy.iter().flat_map(|policy| ["--policy", policy]));
    // What a shell may hold must not change what is shown.
    for name in ["PORTCULLIS_PLUGINS", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    let words: Vec<_> = command.get_args().map(|word| process::quote(&word.to_string_lossy())).collect();
    println!("\n# {}\n$ portcullis {}", scene.say, words.join(" "));
    std::io::stdout().flush()?;
    let status = command.current_dir(stage).status().with_context(|| format!("{} did not start", binary.display()))?;
    let expected = scene.exit as i32;
    if scene.exit != Exit::Completed {
        println!("(exit code {})", status.code().unwrap_or(-1));
    }
    ensure!(status.code() == Some(expected), "the command above ended with {status}; {expected} was expected");
    Ok(())
}

/// Copies a folder of files and folders.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("there is no {}", from.display()))? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &place)?;
        } else {
            fs::copy(entry.path(), place)?;
        }
    }
    Ok(())
}
