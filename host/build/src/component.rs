//! Encodes a core module as a component of the contract, for compilers that produce only core modules.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wasmparser::{Parser, Payload};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::project_file;

/// Encodes a core module that implements `world` of the WIT package in `wit`. An adapter translates imports of WASI
/// preview 1 to what the host provides.
///
/// # Errors
/// The module does not implement the world, or imports something that neither the world nor the adapter has.
fn encode(module: &[u8], wit: &Path, world: &str) -> Result<Vec<u8>> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(wit).with_context(|| format!("{} contains no contract", wit.display()))?;
    let world = resolve.select_world(&[package], Some(world))?;
    let mut module = module.to_vec();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    ComponentEncoder::default()
        .validate(true)
        .module(&module)?
        .adapter(WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER)?
        .encode()
        .context("the module is not a plugin")
}

/// The export of a module whose plugin has a reviewer, before and after the version of its contract.
const REVIEW: (&str, &str) = ("portcullis:tool/reviewer@", "#review");
/// The export of a module whose plugin has a generator.
const GENERATE: (&str, &str) = ("portcullis:tool/generator@", "#generate");

/// Encodes the core module in a file as a component, and writes it to `out`.
///
/// # Errors
/// As [`encode`], or a file cannot be read or written.
pub(crate) fn encode_file(module: &Path, wit: &Path, out: &Path) -> Result<()> {
    let bytes = project_file::read(module, project_file::MODULE_BYTES_MAX)
        .with_context(|| format!("the compiler did not create {}", module.display()))?;
    let component = encode(&bytes, wit, world(&bytes)?)?;
    fs::write(out, component).with_context(|| format!("cannot write {}", out.display()))
}

/// Returns the world that a core module implements.
fn world(module: &[u8]) -> Result<&'static str> {
    let (mut reviews, mut generates) = (false, false);
    for payload in Parser::new(0).parse_all(module) {
        let Payload::ExportSection(exports) = payload? else { continue };
        for export in exports {
            let name = export?.name;
            reviews |= name.starts_with(REVIEW.0) && name.ends_with(REVIEW.1);
            generates |= name.starts_with(GENERATE.0) && name.ends_with(GENERATE.1);
        }
    }
    world_with(reviews, generates)
}

/// Returns the world of a plugin that has a reviewer or a generator.
pub(crate) fn world_with(reviewer: bool, generator: bool) -> Result<&'static str> {
    match (reviewer, generator) {
        (false, false) => Ok("plugin"),
        (true, false) => Ok("reviewing-plugin"),
        (false, true) => Ok("generating-plugin"),
        (true, true) => bail!("a plugin has a reviewer or a generator, but not both"),
    }
}

/// Formats a number of bytes for people.
#[must_use]
pub fn size(bytes: u64) -> String {
    if bytes < 1_000_000 {
        format!("{} kB", bytes.div_ceil(1000))
    } else {
        format!("{}.{:02} MB", bytes / 1_000_000, bytes % 1_000_000 / 10_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{CodeSection, ExportKind, ExportSection, Function, FunctionSection, Module, TypeSection};

    /// Returns a module that exports functions with these names.
    fn exporting(names: &[&str]) -> Vec<u8> {
        let (mut types, mut functions) = (TypeSection::new(), FunctionSection::new());
        let (mut exports, mut code) = (ExportSection::new(), CodeSection::new());
        types.ty().function([], []);
        functions.function(0);
        for name in names {
            exports.export(name, ExportKind::Func, 0);
        }
        let mut body = Function::new([]);
        body.instructions().end();
        code.function(&body);
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&exports).section(&code);
        module.finish()
    }

    #[test]
    fn the_world_has_what_the_module_exports() {
        let (review, generate) = ("portcullis:tool/reviewer@0.2.0#review", "portcullis:tool/generator@0.2.0#generate");
        assert_eq!(world(&exporting(&[])).unwrap(), "plugin");
        assert_eq!(world(&exporting(&[review])).unwrap(), "reviewing-plugin");
        assert_eq!(world(&exporting(&["memory", generate])).unwrap(), "generating-plugin");
        assert!(world(&exporting(&[review, generate])).unwrap_err().to_string().contains("not both"));
    }

    #[test]
    fn sizes_are_rounded() {
        assert_eq!(size(45_001), "46 kB");
        assert_eq!(size(1_684_000), "1.68 MB");
    }
}
