//! Generates the C bindings, on which those of C++ and Zig are based. They are stored with the SDK, so that plugin
//! authors do not need the generator.

use std::fs;

use anyhow::{Context as _, Result};
use portcullis_build::workspace::Workspace;
use wit_bindgen_core::Files;
use wit_bindgen_core::wit_parser::Resolve;

/// The contract that the SDK targets, and its world.
const CONTRACT: (&str, &str) = ("wit/v0.2", "plugin");
/// The folder of the generated bindings.
const FOLDER: &str = "sdk/c/generated";

/// Regenerates the bindings.
pub(crate) fn write(workspace: &Workspace) -> Result<()> {
    for (name, bytes) in made(workspace)?.iter() {
        let file = workspace.root.join(FOLDER).join(name);
        fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
        println!("{}", file.display());
    }
    Ok(())
}

fn made(workspace: &Workspace) -> Result<Files> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(workspace.root.join(CONTRACT.0))?;
    let world = resolve.select_world(&[package], Some(CONTRACT.1))?;
    let mut files = Files::default();
    let options = wit_bindgen_c::Opts { no_object_file: true, ..Default::default() };
    options.build().generate(&mut resolve, world, &mut files)?;
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_generated_bindings_match_the_contract() {
        let workspace = Workspace::of(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let made = made(&workspace).unwrap();
        assert_eq!(made.iter().count(), 2);
        for (name, bytes) in made.iter() {
            let kept = fs::read(workspace.root.join(FOLDER).join(name)).unwrap();
            assert!(kept == bytes, "{name} is out of date: run `cargo xtask bindings`");
        }
    }
}
