//! One file for each language: how its toolchain is had, and how it makes a component.

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

/// Builds a project's component into `out`, the first file of a folder that is this build's alone and goes with it.
/// What else is made on the way can lie beside it.
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
