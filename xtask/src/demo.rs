//! Demonstrates the main features: builds, then runs the host as a user would, and checks every exit code.

mod scenes;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::{cache, plugins, process, toolchain};
use portcullis_build::crates::Optimization;
use portcullis_build::workspace::Workspace;
use scenes::{Exit, QUESTION, SCENES, Scene};

/// The demo's plugin and state directories.
const PLACES: [&str; 4] = ["--plugins", "../plugins", "--state", "state"];

/// Builds everything and plays the scenes.
pub(crate) fn play(workspace: &Workspace) -> Result<()> {
    plugins::build_shipped(workspace, &toolchain::prepare(&workspace.root)?, None, Optimization::PerCrate)?;
    process::run_aside(workspace.cargo().args(["build", "--release", "--package", "portcullis-cli"]))?;
    let stage = set(workspace)?;
    println!("\n$ cd {}", stage.display());
    for scene in SCENES {
        perform(&scene, &workspace.target.join("release/portcullis"), &stage)?;
    }
    let note = stage.join("workspace/notes.md");
    ensure!(note.is_file(), "the allowed write did not create {}", note.display());
    println!("\nEvery command of the demo ended as expected.");
    Ok(())
}

/// Creates an empty directory with a source tree to work on. The policies are next to it, where the tools cannot reach
/// them.
fn set(workspace: &Workspace) -> Result<PathBuf> {
    let stage = workspace.target.join("demo");
    cache::empty(&stage)?;
    copy(&workspace.root.join("host/policy/src"), &stage.join("workspace"))?;
    fs::write(stage.join("read-only.toml"), scenes::READ_ONLY)?;
    fs::write(stage.join("read-write.toml"), scenes::READ_WRITE)?;
    fs::write(stage.join("ask.toml"), scenes::ASK)?;
    fs::write(stage.join("handles.toml"), scenes::HANDLES)?;
    Ok(stage)
}

fn perform(scene: &Scene, binary: &Path, stage: &Path) -> Result<()> {
    let mut command = host(binary, stage);
    for argument in scene.arguments {
        match *argument {
            QUESTION => command.arg(question(binary, stage)?),
            argument => command.arg(argument),
        };
    }
    command.args(PLACES);
    command.args(scene.policy.iter().flat_map(|policy| ["--policy", policy]));
    let words: Vec<_> = command.get_args().map(|word| process::quote(&word.to_string_lossy())).collect();
    println!("\n# {}\n$ portcullis {}", scene.say, words.join(" "));
    std::io::stdout().flush()?;
    let status = command.status().with_context(|| format!("{} did not start", binary.display()))?;
    let expected = scene.exit as i32;
    if scene.exit != Exit::Completed {
        println!("(exit code {})", status.code().unwrap_or(-1));
    }
    ensure!(status.code() == Some(expected), "the command above ended with {status}; {expected} was expected");
    Ok(())
}

/// Returns a command that runs the host in the demo's directory, unaffected by the user's environment.
fn host(binary: &Path, stage: &Path) -> Command {
    let mut command = Command::new(binary);
    command.current_dir(stage);
    for name in ["PORTCULLIS_PLUGINS", "PORTCULLIS_POLICY", "PORTCULLIS_STATE", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    command
}

/// Returns the first eight characters of the open approval request's ID, which is what a user would type.
fn question(binary: &Path, stage: &Path) -> Result<String> {
    let listed = host(binary, stage).args(["approvals", "list", "--json"]).args(PLACES).output()?;
    let listing: serde_json::Value = serde_json::from_slice(&listed.stdout).context("the list is not JSON")?;
    let id = listing["questions"][0]["id"].as_str().context("there is no open approval request")?;
    Ok(id.get(..8).unwrap_or(id).to_owned())
}

/// Copies a folder recursively.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
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
