//! Builds what shows that every language works: the conformance plugin in each, and the examples.
//!
//! Each is a project that an author might have, built by what `portcullis build` builds with. What is built once stays
//! until something it is made of changes.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, ensure};
use portcullis_build::workspace::Workspace;
use portcullis_build::{Engine, Project, cache, size};

/// Projects, each with the folder that its component is put in and the engine that it is built for.
const PROJECTS: [(&str, &str, Option<Engine>); 15] = [
    // Those that take longest come first.
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
/// What every build is made with, beside its own project and its SDK.
const BUILDERS: [&str; 4] = ["host/build/src", "host/build/toolchains", "wit/v0.1", "wit/v0.2"];
/// How many are built at once: toolchains wait for the network, and for one another, half of the time.
const AT_ONCE: usize = 2;
/// What building and editing leave behind: it says nothing of what is built.
const LEFT_BEHIND: [&str; 6] = ["plugins", "target", "node_modules", "__pycache__", ".zig-cache", "zig-out"];

/// Where the tests look for components.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("languages")
}

/// Builds all of them.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let waiting = Mutex::new(VecDeque::from(PROJECTS));
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                while let Some((project, place, engine)) = next() {
                    if let Err(failure) = build_one(workspace, project, place, engine) {
                        let failure = failure.context(format!("{project} for {place} does not build"));
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
    ensure!(failures.is_empty(), "{} of {} projects do not build", failures.len(), PROJECTS.len());
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
    let built = portcullis_build::build(&project, &out)?;
    fs::write(stamp, content)?;
    println!("{}  {}", built.file.display(), size(built.bytes));
    Ok(())
}

/// One digest of everything in this repository that a project's component is made of.
fn content(workspace: &Workspace, project: &Project) -> Result<String> {
    // A project in Rust names its SDK in its manifest.
    let sdk = if project.sdk.is_dir() { project.sdk.clone() } else { workspace.root.join("sdk/rust") };
    let builders = BUILDERS.map(|folder| workspace.root.join(folder));
    let mut content = format!("{:?}\n", project.engine);
    for folder in [&project.root, &sdk].into_iter().chain(&builders) {
        content.push_str(&cache::digest_of(folder, &LEFT_BEHIND)?);
    }
    Ok(cache::digest(content.as_bytes()))
}
