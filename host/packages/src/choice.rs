//! Chooses the program of a package that is its server.

use portcullis_definitions::text::cut;

use crate::error::PackageError;
use crate::program::Program;
use crate::spec::{PackageKind, PackageSpec, normalized_name};

/// Maximum bytes of the list of names in an error: ten rows of a terminal.
const NAMES_BYTES_MAX: usize = 800;

/// Finds the program with the chosen name. Without a choice, finds the only one, or the one named like the package.
pub(crate) fn choose<'a>(
    spec: &PackageSpec,
    programs: &'a [Program],
    choice: Option<&str>,
) -> Result<&'a Program, PackageError> {
    let names = || {
        let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
        cut(&names.join(", "), NAMES_BYTES_MAX).to_owned()
    };
    if let Some(choice) = choice {
        let chosen = programs.iter().find(|program| program.name == choice);
        let missing = || PackageError::NoSuchProgram { spec: spec.clone(), choice: choice.to_owned(), names: names() };
        return chosen.ok_or_else(missing);
    }
    if let [only] = programs {
        return Ok(only);
    }
    let own = programs.iter().find(|program| is_named_like(spec, &program.name));
    own.ok_or_else(|| PackageError::SeveralPrograms { spec: spec.clone(), names: names() })
}

fn is_named_like(spec: &PackageSpec, program: &str) -> bool {
    match spec.kind() {
        PackageKind::Npm => spec.name().rsplit('/').next() == Some(program),
        PackageKind::Pypi => normalized_name(program) == spec.name(),
    }
}
