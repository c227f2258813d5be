//! The calls that are measured, and the directories of their plugins.

use anyhow::{Context, Result};
use portcullis::Outcome;
use std::path::{Path, PathBuf};

/// A call to measure.
pub(crate) struct Work {
    pub(crate) name: &'static str,
    pub(crate) plugin: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) arguments: String,
    pub(crate) outcome: Outcome,
}

/// Returns the call with this name.
pub(crate) fn work(name: &str) -> Result<Work> {
    works().into_iter().find(|work| work.name == name).with_context(|| format!("{name} is not measured"))
}

pub(crate) fn works() -> Vec<Work> {
    let orders: Vec<_> = ["apple", "pear", "apple"]
        .iter()
        .enumerate()
        .map(|(at, item)| serde_json::json!({ "item": item, "count": at + 1 }))
        .collect();
    let denied = serde_json::json!({ "text": format!("denied {}", "x".repeat(93)) }).to_string();
    let echo = serde_json::json!({ "text": "x".repeat(100) }).to_string();
    vec![
        Work { name: "echo", plugin: "json", tool: "echo", arguments: echo, outcome: Outcome::Completed },
        // All of the host's own work, including both audit entries, without a sandbox.
        Work { name: "echo, denied", plugin: "json", tool: "echo", arguments: denied, outcome: Outcome::Denied },
        Work {
            name: "json",
            plugin: "json",
            tool: "summarize",
            arguments: serde_json::json!({ "orders": orders }).to_string(),
            outcome: Outcome::Completed,
        },
        Work {
            name: "files.read",
            plugin: "files",
            tool: "read",
            arguments: r#"{"path":"a.txt"}"#.to_owned(),
            outcome: Outcome::Completed,
        },
    ]
}

/// Copies the plugins into one directory, as a user would.
pub(crate) fn gather(scratch: &Path, files: &[PathBuf]) -> Result<PathBuf> {
    let directory = scratch.join("plugins");
    std::fs::create_dir(&directory)?;
    for file in files {
        let name = file.file_name().context("a plugin without a name")?;
        std::fs::copy(file, directory.join(name))
            .with_context(|| format!("{} is missing: run `cargo xtask bench call`", file.display()))?;
    }
    Ok(directory)
}
