//! TypeScript and JavaScript: bundled by esbuild, run inside the component by QuickJS or by StarlingMonkey.
//!
//! The types of TypeScript are checked after bundling. The world of a component consists of what its bundle imports, so
//! that a plugin that reads no files does not import the file system.

mod runtime;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::language::Language;
use crate::npm::{self, Lock};
use crate::project::{Engine, Project};
use crate::{cache, process, project_file};

const TOOLCHAIN: Lock = Lock {
    name: "JavaScript",
    manifest: include_str!("../../toolchains/javascript/package.json"),
    lock: include_str!("../../toolchains/javascript/package-lock.json"),
    native: &["@andreiltd/componentize-qjs-binding-", "@esbuild/", "@typescript/typescript-"],
};

const STARLINGMONKEY: Lock = Lock {
    name: "StarlingMonkey",
    manifest: include_str!("../../toolchains/starlingmonkey/package.json"),
    lock: include_str!("../../toolchains/starlingmonkey/package-lock.json"),
    native: &["@bytecodealliance/wizer-", "@napi-rs/lzma-", "@oxc-parser/binding-"],
};

const BUNDLE: &str = include_str!("../../toolchains/javascript/bundle.mjs");

const EXPLAIN: &str = include_str!("../../toolchains/javascript/explain.mjs");

const QUICKJS: &str = include_str!("../../toolchains/javascript/quickjs.mjs");

const COMPONENTIZE: &str = include_str!("../../toolchains/starlingmonkey/componentize.mjs");

/// The world that the bundling script writes.
const WORLD: &str = "javascript";

/// The stand-in for the namespace `wasi` while QuickJS is initialised: as in `bundle.mjs`, and of the same length.
const HIDDEN: &[u8] = b"wazi:";
const SHOWN: &[u8] = b"wasi:";

/// Builds a project's component into `out`.
pub(super) fn build(project: &Project, out: &Path) -> Result<()> {
    ensure!(project.source.is_file(), "there is no {}: set `source` in plugin.toml", project.source.display());
    ensure!(project.sdk.is_dir(), "there is no SDK in {}: set `sdk` in plugin.toml", project.sdk.display());
    npm::check_node()?;
    let modules = TOOLCHAIN.install()?;
    let work = out.with_extension("work");
    fs::create_dir(&work).with_context(|| format!("cannot create {}", work.display()))?;
    // Bundle first: a missing package is a clearer error than the type errors that follow from it.
    bundle(project, &modules, &work)?;
    if project.language == Language::TypeScript {
        check_types(project, &modules, &work)?;
    }
    match project.engine {
        Engine::QuickJs => quickjs(project, &modules, &work, out),
        Engine::StarlingMonkey => starlingmonkey(project, &work, out),
    }
}

/// Checks the types of the source with the SDK's settings. The project's own settings are for editors.
fn check_types(project: &Project, modules: &Path, work: &Path) -> Result<()> {
    let sdk = project.sdk.join("src");
    let settings = json!({
        "extends": project.sdk.join("tsconfig.plugin.json"),
        "compilerOptions": {
            "paths": {
                "portcullis-sdk": [sdk.join("index.ts")],
                "portcullis-sdk/*": [sdk.join("*.ts")],
                "zod": [modules.join("zod")],
                "zod/*": [modules.join("zod/*")],
                "buffer": [modules.join("buffer")],
                "whatwg-url-minimum": [modules.join("whatwg-url-minimum")],
            },
        },
        "files": [project.source],
    });
    let file = work.join("tsconfig.json");
    fs::write(&file, settings.to_string())?;
    let mut tsc = Command::new("node");
    tsc.arg(modules.join("typescript/bin/tsc")).arg("--project").arg(&file).args(["--pretty", "false"]);
    // The compiler prints paths relative to its working directory.
    tsc.current_dir(&project.root);
    process::run_tool(&mut tsc, "fix the types above; the README.md in the SDK's folder describes the SDK")
}

/// Writes `plugin.js`, `plugin.js.map` and `wit` into the working folder.
fn bundle(project: &Project, modules: &Path, work: &Path) -> Result<()> {
    let options = json!({
        "root": project.root,
        "source": project.source,
        "sdk": project.sdk,
        "contract": project.sdk.join("wit"),
        "modules": modules,
        "engine": match project.engine {
            Engine::QuickJs => "quickjs",
            Engine::StarlingMonkey => "starlingmonkey",
        },
        "out": work,
    });
    let mut bundle = script(work, "bundle", BUNDLE, &options)?;
    bundle.current_dir(&project.root);
    process::run_tool(&mut bundle, "fix the errors above; the README.md in the SDK's folder describes the SDK")
}

fn quickjs(project: &Project, modules: &Path, work: &Path, out: &Path) -> Result<()> {
    let made = work.join("quickjs.wasm");
    let options = json!({
        "root": project.root,
        "modules": modules,
        "bundle": work.join("plugin.js"),
        "wit": work.join("wit"),
        "world": WORLD,
        "runtime": quickjs_runtime(modules)?,
        "out": made,
    });
    process::run_tool(&mut script(work, "quickjs", QUICKJS, &options)?, AT_BUILD)?;
    let mut component = project_file::read(&made, project_file::MODULE_BYTES_MAX)?;
    // The tool that initialises QuickJS has a WASI of its own, in which the contract's interfaces do not link. So the
    // bundle used the stand-in.
    show_namespace(&mut component);
    fs::write(out, component).with_context(|| format!("cannot write {}", out.display()))
}

/// The remedy if a source fails while it is initialised.
const AT_BUILD: &str = "fix the error above: the top level of the source runs while the component is built";

/// Returns the path of the runtime without its own imports, from the cache or extracted from its package.
fn quickjs_runtime(modules: &Path) -> Result<PathBuf> {
    // This source file pins the runtime's digest and has all of the rewriting, so it determines the result.
    let key = format!("quickjs-{}", &cache::digest(include_bytes!("javascript/runtime.rs"))[..16]);
    let folder = cache::entry(&cache::folder("toolchains")?, &key, |folder| {
        let native = native_module(modules)?;
        // npm has checked the digest of the package, so this file needs no limit.
        let native = fs::read(&native).with_context(|| format!("cannot read {}", native.display()))?;
        Ok(fs::write(folder.join("runtime.wasm"), runtime::close(runtime::find(&native)?)?)?)
    })?;
    Ok(folder.join("runtime.wasm"))
}

/// Returns the native module that npm installed for this platform.
fn native_module(modules: &Path) -> Result<PathBuf> {
    for package in fs::read_dir(modules.join("@andreiltd"))? {
        for file in fs::read_dir(package?.path())? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "node") {
                return Ok(path);
            }
        }
    }
    anyhow::bail!("componentize-qjs has no native module for this machine")
}

/// Restores the name of the namespace everywhere. Both names have the same length, so no other bytes change.
fn show_namespace(component: &mut [u8]) {
    let mut start = 0;
    while let Some(found) = component[start..].windows(HIDDEN.len()).position(|bytes| bytes == HIDDEN) {
        component[start + found..][..SHOWN.len()].copy_from_slice(SHOWN);
        start += found + SHOWN.len();
    }
}

fn starlingmonkey(project: &Project, work: &Path, out: &Path) -> Result<()> {
    let modules = STARLINGMONKEY.install()?;
    let options = json!({
        "root": project.root,
        "modules": modules,
        "bundle": work.join("plugin.js"),
        "wit": work.join("wit"),
        "world": WORLD,
        "out": out,
    });
    process::run_tool(&mut script(work, "componentize", COMPONENTIZE, &options)?, AT_BUILD)
}

/// Writes a script with its imports and its options into the working folder, and returns the command that runs it.
fn script(work: &Path, name: &str, source: &str, options: &Value) -> Result<Command> {
    let (program, settings) = (work.join(name).with_extension("mjs"), work.join(name).with_extension("json"));
    fs::write(work.join("explain.mjs"), EXPLAIN)?;
    fs::write(&program, source)?;
    fs::write(&settings, options.to_string())?;
    let mut command = Command::new("node");
    command.arg(program).arg(settings).current_dir(work);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_namespace_is_restored_everywhere() {
        let mut bytes = b"wazi:io wazi wazi:cli \xffwazi:".to_vec();
        show_namespace(&mut bytes);
        assert_eq!(bytes, b"wasi:io wazi wasi:cli \xffwasi:");
        assert_eq!(HIDDEN.len(), SHOWN.len());
    }
}
