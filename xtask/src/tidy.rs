//! Checks the repository's documents and code against its style rules, in well under a second.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::{cycles, dependencies, process, prose};
use portcullis_build::workspace::Workspace;

/// Documents whose paths must exist.
const DOCUMENTS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];
/// The ends of file names in which the English is checked.
const PROSE_ENDS: [&str; 10] = [".c", ".go", ".h", ".js", ".md", ".py", ".rs", ".ts", ".wit", ".zig"];
/// Places whose texts are not ours, are data, or are the list of words itself.
const NOT_PROSE: [&str; 3] = ["yyjson", "tests/data/", "xtask/src/prose.rs"];
/// Maximum lines of a host file. A longer one has more than one responsibility.
const HOST_FILE_LINES: usize = 400;
/// rustfmt's line length. rustfmt does not check comments and strings.
const LINE_CHARACTERS: usize = 120;
/// Folders with this name have what a generator wrote. No person reads its lines.
const GENERATED: &str = "/generated/";
/// Names of package registries, split so that this file does not contain them.
const REGISTRIES: [(&str, &str); 7] = [
    ("crates", ".io"),
    ("npmjs", ".org"),
    ("npmjs", ".com"),
    ("pypi", ".org"),
    ("pythonhosted", ".org"),
    ("deb.debian", ".org"),
    ("static.rust-lang", ".org"),
];

/// Prints every finding. Fails if there is one.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let root = &workspace.root;
    let mut findings = Vec::new();
    let names = repository_files(root)?;
    for name in &names {
        // The file is deleted in the work tree, or is not text.
        let Ok(text) = fs::read_to_string(root.join(name)) else { continue };
        findings.extend(check_file(root, name, &text));
    }
    let sources = crate_sources(root, &names);
    for (place, files) in &sources {
        findings.extend(cycles::find(files)?.into_iter().map(|cycle| format!("{place}: {cycle}")));
    }
    let hosts = host_packages(root, &names);
    findings
        .extend(dependencies::find(&fs::read_to_string(root.join("Cargo.lock"))?, &hosts.values().cloned().collect())?);
    for (place, package) in &hosts {
        for (file, text) in sources.get(&format!("{place}/src")).into_iter().flatten() {
            let finding =
                |(line, module)| format!("{place}/src/{file}:{}: names {module}: the crate must stay pure", line + 1);
            findings.extend(dependencies::impure_modules(package, text).into_iter().map(finding));
        }
    }
    if !root.join("ARCHITECTURE.md").exists() {
        findings.push("ARCHITECTURE.md: missing".to_owned());
    }
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("{} findings", findings.len());
    }
    Ok(())
}

/// Returns the files that git tracks, and those that it does not ignore.
fn repository_files(root: &Path) -> Result<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    Ok(process::capture(&mut git)?.split_terminator('\0').map(str::to_owned).collect())
}

/// Returns the sources of each crate, by their path under its `src/`.
fn crate_sources(root: &Path, names: &[String]) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut crates: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for name in names.iter().filter(|name| name.ends_with(".rs")) {
        let Some((place, file)) = name.split_once("/src/") else { continue };
        let Ok(text) = fs::read_to_string(root.join(name)) else { continue };
        crates.entry(format!("{place}/src")).or_default().insert(file.to_owned(), text);
    }
    crates
}

/// Returns the names of the packages under `host/`, by their folders.
fn host_packages(root: &Path, names: &[String]) -> BTreeMap<String, String> {
    let package = |place: &str| {
        let manifest = fs::read_to_string(root.join(place).join("Cargo.toml")).ok()?;
        manifest.lines().find_map(|line| Some(line.strip_prefix("name = \"")?.strip_suffix('"')?.to_owned()))
    };
    let places: BTreeSet<&str> = names.iter().filter_map(|name| name.strip_suffix("/Cargo.toml")).collect();
    let hosts = places.into_iter().filter(|place| place.starts_with("host/"));
    hosts.filter_map(|place| Some((place.to_owned(), package(place)?))).collect()
}

fn check_file(root: &Path, name: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let mut find = |line: usize, what: &dyn Display| findings.push(format!("{name}:{}: {what}", line + 1));
    if DOCUMENTS.contains(&name) {
        for (line, path) in paths(text).filter(|(_, path)| names_a_place(root, path) && !root.join(path).exists()) {
            find(line, &format_args!("`{path}` does not exist"));
        }
    }
    // Lock files are written by the package managers themselves.
    if !name.ends_with(".lock") && !name.ends_with("package-lock.json") {
        for (line, host) in registries(text) {
            find(line, &format_args!("names the registry host {host}: use the registry's client instead"));
        }
    }
    if is_prose(name) {
        for (line, what) in prose::replaced_words(text) {
            find(line, &what);
        }
    }
    let is_document = ["docs/", "deploy/"].iter().any(|folder| name.starts_with(folder)) || DOCUMENTS.contains(&name);
    if name.ends_with(".md") && is_document {
        for (line, what) in prose::long_sentences(text) {
            find(line, &what);
        }
    }
    if name.ends_with(".rs") {
        if is_crate_root(name) && !text.starts_with("//!") {
            find(0, &"a crate must begin with `//!`, its responsibilities and limits");
        }
        // A string for people stays on one line, however long, so that it can be found.
        let long = |line: &str| line.chars().count() > LINE_CHARACTERS && !line.contains('"');
        for (line, _) in text.lines().enumerate().filter(|(_, line)| !name.contains(GENERATED) && long(line)) {
            find(line, &format_args!("longer than {LINE_CHARACTERS} characters"));
        }
        if name.starts_with("host/") && name.contains("/src/") && text.lines().count() > HOST_FILE_LINES {
            find(
                HOST_FILE_LINES,
                &format_args!("a host file must not be longer than {HOST_FILE_LINES} lines: split it"),
            );
        }
    }
    findings
}

/// Whether people wrote the text of a file for this repository, and it is no data of a test.
fn is_prose(name: &str) -> bool {
    let ours = PROSE_ENDS.iter().any(|end| name.ends_with(end));
    ours && !NOT_PROSE.iter().any(|place| name.contains(place))
}

fn is_crate_root(name: &str) -> bool {
    name.ends_with("src/lib.rs") || name.ends_with("src/main.rs")
}

/// Yields the words in backticks, outside of fenced blocks, that have the form of a relative path.
fn paths(document: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    let prose = document.lines().enumerate().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fence && !fenced
    });
    let words = prose.flat_map(|(line, text)| text.split('`').skip(1).step_by(2).map(move |word| (line, word)));
    words.filter(|(_, word)| {
        let form = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        word.contains('/') && word.chars().all(form) && !word.starts_with(['/', '.', '-'])
    })
}

/// Returns whether a word is a path in the repository: its first folder is one of ours, or it ends like a source file.
/// Build output is not checked.
fn names_a_place(root: &Path, word: &str) -> bool {
    let first = word.split('/').next().unwrap_or(word);
    let source = [".rs", ".md", ".toml", ".wit"].iter().any(|end| word.ends_with(end));
    first != "target" && (source || root.join(first).is_dir())
}

/// Yields the registry hosts that a text names, with their line numbers.
fn registries(text: &str) -> impl Iterator<Item = (usize, String)> {
    let hosts: Vec<String> = REGISTRIES.iter().map(|(name, end)| format!("{name}{end}")).collect();
    text.lines().enumerate().flat_map(move |(number, line)| {
        let named: Vec<_> =
            hosts.iter().filter(|host| line.contains(*host)).map(|host| (number, host.clone())).collect();
        named
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_in_backticks_are_checked() {
        let document = "See `host/policy` and `wasi:io/poll`, not host/x.\n\
                        ```\n`host/fenced`\n```\n`a b/c` `./here` `xtask/src/a.rs`";
        assert_eq!(paths(document).collect::<Vec<_>>(), [(0, "host/policy"), (4, "xtask/src/a.rs")]);
    }

    #[test]
    fn a_registry_host_is_found() {
        let host = REGISTRIES[0].0.to_owned() + REGISTRIES[0].1;
        assert_eq!(registries(&format!("\nhttps://{host}/x")).collect::<Vec<_>>(), [(1, host)]);
    }

    #[test]
    fn a_long_line_is_found() {
        let text = format!("//! A crate.\n// {}\n", "x".repeat(LINE_CHARACTERS));
        assert_eq!(check_file(Path::new("/"), "host/a/src/lib.rs", &text).len(), 1);
        assert_eq!(check_file(Path::new("/"), "host/a/src/lib.rs", "fn a() {}\n").len(), 1);
    }
}
