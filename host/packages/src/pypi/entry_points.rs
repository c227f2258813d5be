//! The programs of a package: the section `console_scripts` of its `entry_points.txt`.

use cap_std::fs::Dir;

use crate::bounded_file;
use crate::limits::PROGRAMS_MAX;
use crate::program::{Program, ProgramEntry};
use crate::refusal::PackageRefusal;
use crate::spec::{PackageSpec, normalized_name};

/// The end of the name of the folder with the facts about a package.
const FACTS_SUFFIX: &str = ".dist-info";

/// Maximum bytes of the file. It has one line for each program.
const ENTRY_POINTS_BYTES_MAX: u64 = 1 << 20;

/// What a package must have to be a server.
const NEEDED: &str = "a section `console_scripts` in entry_points.txt";

/// Reads the programs of an installed package.
pub(super) fn programs(tree: &Dir, site: &str, spec: &PackageSpec) -> Result<Vec<Program>, PackageRefusal> {
    let unreadable = |error: std::io::Error| PackageRefusal::Document {
        document: "the installed files",
        tool: "pip",
        problem: error.to_string(),
    };
    let site = tree.open_dir(site).map_err(unreadable)?;
    let entries = site.entries().map_err(unreadable)?;
    let mut names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let facts = names.find(|name| is_facts_of(name, spec)).ok_or(PackageRefusal::NoProgram { needed: NEEDED })?;
    let bytes = bounded_file::read(&site, format!("{facts}/entry_points.txt"), ENTRY_POINTS_BYTES_MAX);
    // Without a readable file there is no program, and the check below refuses the package.
    let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let programs: Vec<Program> = console_scripts(&text).map(program).collect::<Result<_, _>>()?;
    match programs.is_empty() || programs.len() > PROGRAMS_MAX {
        true => Err(PackageRefusal::NoProgram { needed: NEEDED }),
        false => Ok(programs),
    }
}

fn is_facts_of(name: &str, spec: &PackageSpec) -> bool {
    // The first hyphen ends the name, because wheels write those of the name as `_` (PEP 427).
    let package = name.strip_suffix(FACTS_SUFFIX).and_then(|name| name.split_once('-'));
    package.is_some_and(|(package, _)| normalized_name(package) == spec.name())
}

/// Yields the lines `name = value` of the section.
fn console_scripts(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut inside = false;
    text.lines().map(str::trim).filter_map(move |line| {
        if line.starts_with('[') {
            inside = line == "[console_scripts]";
        }
        let (name, value) = line.split_once('=').filter(|_| inside && !line.starts_with(['#', ';', '[']))?;
        Some((name.trim(), value.trim()))
    })
}

fn program((name, value): (&str, &str)) -> Result<Program, PackageRefusal> {
    let refused = || PackageRefusal::Program {
        program: name.to_owned(),
        problem: format!("`{value}` does not name a function of a module"),
    };
    // The extras in brackets are a remark about dependencies.
    let object = value.split('[').next().unwrap_or_default().trim();
    let (module, function) = object.split_once(':').ok_or_else(refused)?;
    let (module, function) = (module.trim().to_owned(), function.trim().to_owned());
    match !name.is_empty() && is_dotted_name(&module) && is_dotted_name(&function) {
        true => Ok(Program { name: name.to_owned(), entry: ProgramEntry::PythonFunction { module, function } }),
        false => Err(refused()),
    }
}

/// Returns whether a text is identifiers with dots between them. Identifiers of Python can have letters of all scripts.
fn is_dotted_name(text: &str) -> bool {
    text.split('.').all(|name| {
        let letter = |character: char| character.is_alphabetic() || character == '_';
        name.starts_with(letter) && name.chars().all(|character| letter(character) || character.is_numeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_functions_of_console_scripts_are_programs() {
        let text = "[gui_scripts]\nno = a:b\n[console_scripts]\n# c = d:e\n mcp-x = mcp_x.cli : App.run [all]\n\n[other]\nno=a:b";
        let programs: Vec<_> = console_scripts(text).map(|line| program(line).unwrap()).collect();
        let entry = ProgramEntry::PythonFunction { module: "mcp_x.cli".into(), function: "App.run".into() };
        assert_eq!(programs, [Program { name: "mcp-x".into(), entry }]);
        for value in ["a", "a:", ":b", "a b:c", "a:b()", "a/b:c", "a..b:c", "1a:b", "-m:c"] {
            assert!(program(("x", value)).is_err(), "{value}");
        }
    }
}
