//! The programs of a package: the field `bin` of its `package.json`.

use cap_std::fs::Dir;
use serde_json::Value;

use super::document::{MODULES, read_json};
use crate::bounded_file;
use crate::limits::PROGRAMS_MAX;
use crate::program::{Program, ProgramEntry};
use crate::refusal::PackageRefusal;
use crate::spec::PackageSpec;

/// Maximum bytes of a script that are read to find its interpreter: one long line.
const FIRST_LINE_BYTES_MAX: u64 = 256;

/// Reads the programs of an installed package.
pub(super) fn programs(tree: &Dir, spec: &PackageSpec) -> Result<Vec<Program>, PackageRefusal> {
    let folder = format!("{MODULES}/{}", spec.name());
    let package = read_json(tree, &format!("{folder}/package.json"), "package.json")?;
    let own_name = spec.name().rsplit('/').next().unwrap_or_default().to_owned();
    let bins: Vec<(String, &Value)> = match package.get("bin") {
        // npm names such a program after the package, without its scope.
        Some(script @ Value::String(_)) => vec![(own_name, script)],
        Some(Value::Object(bins)) => bins.iter().map(|(name, script)| (name.clone(), script)).collect(),
        Some(_) | None => Vec::new(),
    };
    if bins.is_empty() || bins.len() > PROGRAMS_MAX {
        return Err(PackageRefusal::NoProgram { needed: "a field `bin` in package.json" });
    }
    bins.into_iter().map(|(name, script)| program(tree, &folder, name, script)).collect()
}

fn program(tree: &Dir, folder: &str, name: String, script: &Value) -> Result<Program, PackageRefusal> {
    let refused = |problem: &str| PackageRefusal::Program { program: name.clone(), problem: problem.to_owned() };
    let script = script.as_str().ok_or_else(|| refused("its path is not a string"))?;
    let path = inner_path(script).ok_or_else(|| refused("its path leads out of the package"))?;
    let path = find_script(tree, &format!("{folder}/{path}")).ok_or_else(|| refused("its file does not exist"))?;
    let first = bounded_file::read_beginning(tree, &path, FIRST_LINE_BYTES_MAX);
    let first = first.map_err(|error| refused(&error.to_string()))?;
    if !is_for_node(&first) {
        return Err(refused("it is not a script of Node.js"));
    }
    Ok(Program { name, entry: ProgramEntry::NodeScript(path) })
}

/// Returns a path within the package without `.` and empty names.
fn inner_path(path: &str) -> Option<String> {
    let names: Vec<&str> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    let inside = !names.is_empty() && names.iter().all(|name| *name != ".." && !name.contains('\\'));
    (inside && !path.starts_with('/')).then(|| names.join("/"))
}

/// Finds a script as Node.js does, which may be named without its extension.
fn find_script(tree: &Dir, path: &str) -> Option<String> {
    let candidates = [path.to_owned(), format!("{path}.js"), format!("{path}/index.js")];
    // Only a regular file opens. A directory of this name does not count, so its `index.js` is found.
    candidates.into_iter().find(|path| bounded_file::open(tree, path).is_ok())
}

/// Returns whether a file is text that names no other interpreter.
fn is_for_node(first: &[u8]) -> bool {
    let line = first.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match line.strip_prefix(b"#!") {
        Some(interpreter) => String::from_utf8_lossy(interpreter).contains("node"),
        None => !first.contains(&0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_its_package() {
        assert_eq!(inner_path("./dist//index.js").as_deref(), Some("dist/index.js"));
        for path in ["../x", "a/../../x", "/etc/passwd", "", ".", "a\\..\\b"] {
            assert_eq!(inner_path(path), None, "{path}");
        }
    }

    #[test]
    fn only_scripts_of_node_are_started_with_it() {
        for script in
            ["#!/usr/bin/env node\n", "#!/usr/bin/env -S node --enable-source-maps\n", "import x from 'y'", ""]
        {
            assert!(is_for_node(script.as_bytes()), "{script}");
        }
        for other in ["#!/bin/sh\nnode x", "#!/usr/bin/env bun\n", "\u{7f}ELF\0\0"] {
            assert!(!is_for_node(other.as_bytes()), "{other}");
        }
    }
}
