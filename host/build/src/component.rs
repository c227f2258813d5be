//! Encodes a core module as a component of the contract, for compilers that produce only core modules.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
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
    for payload in Parser::new(0).parse_all(module) {
        let Payload::ExportSection(exports) = payload? else { continue };
        for export in exports {
            let name = export?.name;
            if name.starts_with(REVIEW.0) && name.ends_with(REVIEW.1) {
                return Ok("reviewing-plugin");
            }
        }
    }
    Ok("plugin")
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

    #[test]
    fn sizes_are_rounded() {
        assert_eq!(size(45_001), "46 kB");
        assert_eq!(size(1_684_000), "1.68 MB");
    }
}
