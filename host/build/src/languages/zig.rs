//! Zig: its compiler makes a core module, with the C library below the SDK. The same compiler serves C and C++.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::pip::Requirements;
use crate::project::Project;
use crate::{cache, component, process};

const TOOLCHAIN: Requirements =
    Requirements { name: "zig", text: include_str!("../../toolchains/zig/requirements.txt") };

/// The stack of a guest, in bytes. It lies below all data, so that running out of it ends the guest and spoils nothing.
/// It holds the buffers that C and Zig code likes to have there; pages that nobody touches cost nothing.
const STACK_BYTES: &str = "262144";
/// The language of the SDK's own C.
const C_FLAGS: [&str; 1] = ["-std=c23"];
/// The file of the C library that reads arguments by yyjson, which a plugin in Zig does by the standard library.
const ARGUMENTS_IN_C: &str = "arguments.c";
const REMEDY: &str = "The lines above are the compiler's own.";

pub(super) fn build(project: &Project, out: &Path) -> Result<()> {
    let source = &project.source;
    ensure!(source.is_file(), "there is no {}: `source` in plugin.toml names the file with `plugin`", source.display());
    let library = project.sdk.join("src");
    ensure!(library.join("main.zig").is_file(), "{} holds no SDK for Zig", project.sdk.display());

    let mut compiler = Compiler::new(project)?;
    compiler.include(&project.sdk.join("c/include")).include(&project.sdk.join("c/generated"));
    let mut sources = files(&project.sdk.join("c/src"), &["c"])?;
    sources.retain(|file| !file.ends_with(ARGUMENTS_IN_C));
    sources.extend(files(&project.sdk.join("c/generated"), &["c"])?);
    compiler.compile(&C_FLAGS, &sources);
    compiler.command.args(["--dep", "portcullis", "--dep", "plugin"]);
    compiler.module("root", &library.join("main.zig")).module("portcullis", &library.join("portcullis.zig"));
    compiler.command.args(["--dep", "portcullis"]);
    compiler.module("plugin", source);
    compiler.make(project, out)
}

/// One run of the compiler, from sources to a core module.
pub(super) struct Compiler {
    home: PathBuf,
    command: Command,
}

impl Compiler {
    /// The compiler, from the cache or through pip, as every guest wants it.
    pub(super) fn new(project: &Project) -> Result<Self> {
        let home = TOOLCHAIN.install()?.join("ziglang");
        let mut command = Command::new(home.join("zig"));
        // What it has compiled once, such as the C library, is there for all projects of this user.
        let compiled = cache::folder("zig")?;
        command.env("ZIG_GLOBAL_CACHE_DIR", &compiled).env("ZIG_LOCAL_CACHE_DIR", &compiled);
        command.current_dir(&project.root).arg("build-exe");
        command.args(["-target", "wasm32-wasi", "-mexec-model=reactor", "-fno-entry"]);
        command.args(["-O", "ReleaseSmall", "-fstrip", "-lc", "--stack", STACK_BYTES]);
        Ok(Self { home, command })
    }

    /// A folder of the sources that come with the compiler.
    pub(super) fn library(&self, folder: &str) -> PathBuf {
        self.home.join("lib").join(folder)
    }

    /// Links a library of the toolchain, such as `c++`.
    pub(super) fn link(&mut self, library: &str) -> &mut Self {
        self.command.arg(format!("-l{library}"));
        self
    }

    /// Adds a folder that headers are looked for in.
    pub(super) fn include(&mut self, folder: &Path) -> &mut Self {
        self.command.arg("-I").arg(folder);
        self
    }

    /// Adds sources in C or C++, with their flags.
    pub(super) fn compile(&mut self, flags: &[&str], sources: &[PathBuf]) -> &mut Self {
        self.command.arg("-cflags").args(flags).arg("--").args(sources);
        self
    }

    /// Adds a module of Zig. Its dependencies come before it.
    fn module(&mut self, name: &str, root: &Path) -> &mut Self {
        let mut argument = std::ffi::OsString::from(format!("-M{name}="));
        argument.push(root);
        self.command.arg(argument);
        self
    }

    /// Compiles, and encodes what comes of it as a component.
    pub(super) fn make(mut self, project: &Project, out: &Path) -> Result<()> {
        let core = out.with_extension("core");
        let mut emit = std::ffi::OsString::from("-femit-bin=");
        emit.push(&core);
        self.command.arg(emit);
        process::run_tool(&mut self.command, REMEDY).with_context(|| format!("`{}` does not build", project.name))?;
        component::encode_file(&core, &project.sdk.join("wit"), out)
    }
}

/// The files of a folder with one of these endings, sorted.
pub(super) fn files(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("there is no folder {}", folder.display()))? {
        let path = entry?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if ending.is_some_and(|ending| endings.contains(&ending)) && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
