//! One file per language: installs its toolchain and builds the component.

mod c;
mod go;
mod javascript;
mod python;
mod rust;
mod zig;

use std::path::Path;

use anyhow::Result;

use crate::language::Language;
use crate::project::Project;

/// Builds a project's component into `out`. The folder of `out` belongs to this build alone and is deleted with it, so
/// intermediate files can be written there.
pub(crate) fn build(project: &Project, out: &Path) -> Result<()> {
    match project.language {
        Language::Rust => rust::build(project, out),
        Language::TypeScript | Language::JavaScript => javascript::build(project, out),
        Language::Python => python::build(project, out),
        Language::Go => go::build(project, out),
        Language::C | Language::Cpp => c::build(project, out),
        Language::Zig => zig::build(project, out),
    }
}
