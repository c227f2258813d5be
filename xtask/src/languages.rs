//! Builds the components that prove language support: the conformance plugin in each language, and the examples.
//!
//! Each is a project like an author's, built with the code behind `portcullis build`. A project is rebuilt only when
//! one of its inputs changes, also in another checkout on the same machine.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, ensure};
use portcullis_build::workspace::Workspace;
use portcullis_build::{Engine, Project, cache, process, size};

/// The projects, each with the folder for its component and the engine to build it for.
const PROJECTS: [(&str, &str, Option<Engine>); 15] = [
    // The slowest come first, so that they do not hold up the end.
    ("tests/languages/python", "python", None),
    ("tests/languages/typescript", "starlingmonkey", Some(Engine::StarlingMonkey)),
    ("tests/languages/javascript", "surface-starlingmonkey", Some(Engine::StarlingMonkey)),
    ("tests/languages/go", "go", None),
    ("tests/languages/cpp", "cpp", None),
    ("tests/languages/rust", "rust", None),
    ("tests/languages/typescript", "quickjs", None),
    ("tests/languages/javascript", "surface", None),
    ("tests/languages/c", "c", None),
    ("tests/languages/zig", "zig", None),
    ("examples/csv", "examples", None),
    ("examples/image-resizer", "examples", None),
    ("examples/markdown-linter", "examples", None),
    ("examples/unit-converter", "examples", None),
    ("examples/github-issues", "examples", None),
];
/// The inputs of every build, besides its own project and its SDK.
const BUILDERS: [&str; 4] = ["host/build/src", "host/build/toolchains", "wit/v0.1", "wit/v0.2"];
/// Versions of one component that stay in the cache of the machine: those of a few branches.
const VERSIONS_KEPT: usize = 4;
/// Concurrent builds. Toolchains spend half of the time waiting for the network and for one another.
const AT_ONCE: usize = 2;
/// Files that builds and editors leave behind. They are not inputs of a build.
const LEFT_BEHIND: [&str; 6] = ["plugins", "target", "node_modules", "__pycache__", ".zig-cache", "zig-out"];

/// Returns the folder where the tests look for components.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("languages")
}

/// Builds all projects.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let waiting = Mutex::new(VecDeque::from(PROJECTS));
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                while let Some((project, place, engine)) = next() {
                    if let Err(failure) = build_one(workspace, project, place, engine) {
                        let failure = failure.context(format!("{project} for {place} failed to build"));
                        failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    for failure in &failures {
        eprintln!("languages: {failure:#}");
    }
    ensure!(failures.is_empty(), "{} of {} projects failed to build", failures.len(), PROJECTS.len());
    Ok(())
}

fn build_one(workspace: &Workspace, folder_of: &str, place: &str, engine: Option<Engine>) -> Result<()> {
    let mut project = Project::open(&workspace.root.join(folder_of))?;
    project.engine = engine.unwrap_or(project.engine);
    let out = folder(workspace).join(place).join(&project.name).with_extension("wasm");
    let stamp = out.with_extension("stamp");
    let content = content(workspace, &project)?;
    if out.is_file() && fs::read_to_string(&stamp).is_ok_and(|kept| kept == content) {
        return Ok(());
    }
    let name = format!("{}.wasm", project.name);
    let kept = cache::folder("components")?.join(place).join(&project.name);
    let entry = cache::entry(&kept, &content, |partial| {
        portcullis_build::build(&project, &partial.join(&name))?;
        Ok(())
    })?;
    cache::touch(&entry)?;
    cache::forget_oldest(&kept, VERSIONS_KEPT)?;
    fs::create_dir_all(out.parent().unwrap_or(&out))?;
    fs::copy(entry.join(&name), &out)?;
    fs::write(stamp, content)?;
    println!("{}  {}", out.display(), size(fs::metadata(&out)?.len()));
    Ok(())
}

/// Returns a digest of all files in this repository from which a project's component is built.
fn content(workspace: &Workspace, project: &Project) -> Result<String> {
    // A Rust project names its SDK in its manifest instead.
    let sdk = if project.sdk.is_dir() { project.sdk.clone() } else { workspace.root.join("sdk/rust") };
    let builders = BUILDERS.map(|folder| workspace.root.join(folder));
    // A Rust project is compiled by the compiler of the machine.
    let mut content = format!("{:?}\n{}", project.engine, process::capture(Command::new("rustc").arg("-vV"))?);
    for folder in [&project.root, &sdk].into_iter().chain(&builders) {
        content.push_str(&cache::digest_of(folder, &LEFT_BEHIND)?);
    }
    Ok(cache::digest(content.as_bytes()))
}
