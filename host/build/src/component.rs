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
        // A plugin has no `main`: the host calls its exports, so it needs the adapter for reactors.
        .adapter(WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER)?
        .encode()
        .context("the module is not a plugin")
}

/// The optional interfaces that a plugin may export, each with the world that has it.
const OPTIONAL_EXPORTS: [(&str, &str); 3] =
    [("reviewer", "reviewing-plugin"), ("generator", "generating-plugin"), ("preparer", "preparing-plugin")];

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
    let mut exported = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        let Payload::ExportSection(exports) = payload? else { continue };
        for export in exports {
            exported.extend(export?.name.strip_prefix("portcullis:tool/").and_then(|name| name.split('@').next()));
        }
    }
    world_with(|interface| exported.contains(&interface))
}

/// Returns the world of a plugin that exports some of the optional interfaces.
pub(crate) fn world_with(exports: impl Fn(&str) -> bool) -> Result<&'static str> {
    let mut worlds = OPTIONAL_EXPORTS.into_iter().filter(|(interface, _)| exports(interface)).map(|(_, world)| world);
    match (worlds.next(), worlds.next()) {
        (None, _) => Ok("plugin"),
        (Some(world), None) => Ok(world),
        (Some(_), Some(_)) => bail!("a plugin has a reviewer, a generator or a preparer, but only one of them"),
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
        let prepare = "portcullis:tool/preparer@0.2.0#prepare";
        assert_eq!(world(&exporting(&[])).unwrap(), "plugin");
        assert_eq!(world(&exporting(&[review])).unwrap(), "reviewing-plugin");
        assert_eq!(world(&exporting(&["memory", generate])).unwrap(), "generating-plugin");
        assert_eq!(world(&exporting(&[prepare, "cabi_post_portcullis:tool/preparer"])).unwrap(), "preparing-plugin");
        assert!(world(&exporting(&[review, generate])).unwrap_err().to_string().contains("only one of them"));
    }

    #[test]
    fn sizes_are_rounded() {
        assert_eq!(size(45_001), "46 kB");
        assert_eq!(size(1_684_000), "1.68 MB");
    }
}
