//! Zig: builds a core module with Zig's compiler, which also compiles C and C++. The SDK is based on the one for C.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::pip::Requirements;
use crate::project::Project;
use crate::{cache, component, process};

const TOOLCHAIN: Requirements =
    Requirements { name: "zig", text: include_str!("../../toolchains/zig/requirements.txt") };

/// The stack size of a guest, in bytes. The stack is below all data, so an overflow traps and corrupts nothing. C and
/// Zig code often has large buffers on the stack; pages that are not touched cost nothing.
const STACK_BYTES: &str = "262144";
/// Flags for the C sources of the SDK.
const C_FLAGS: [&str; 1] = ["-std=c23"];
/// The file of the C SDK that parses arguments with yyjson. Plugins in Zig use Zig's standard library instead.
const ARGUMENTS_IN_C: &str = "arguments.c";
const REMEDY: &str = "The lines above are the compiler's output.";

pub(super) fn build(project: &Project, out: &Path) -> Result<()> {
    let source = &project.source;
    ensure!(source.is_file(), "there is no {}: `source` in plugin.toml names the file with `plugin`", source.display());
    let library = project.sdk.join("src");
    ensure!(library.join("main.zig").is_file(), "{} contains no SDK for Zig", project.sdk.display());

    let mut compiler = ZigCompiler::new(project)?;
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
pub(super) struct ZigCompiler {
    home: PathBuf,
    command: Command,
}

impl ZigCompiler {
    /// Returns a compiler with the options of every guest. Installs it with pip if it is not in the cache.
    pub(super) fn new(project: &Project) -> Result<Self> {
        let home = TOOLCHAIN.install()?.join("ziglang");
        let mut command = Command::new(home.join("zig"));
        // All projects of this user share compiled code, such as the C library.
        let compiled = cache::folder("zig")?;
        command.env("ZIG_GLOBAL_CACHE_DIR", &compiled).env("ZIG_LOCAL_CACHE_DIR", &compiled);
        command.current_dir(&project.root).arg("build-exe");
        // A plugin has no `main`: the host calls its exports.
        command.args(["-target", "wasm32-wasi", "-mexec-model=reactor", "-fno-entry"]);
        command.args(["-O", "ReleaseSmall", "-fstrip", "-lc", "--stack", STACK_BYTES]);
        Ok(Self { home, command })
    }

    /// Returns a folder of the compiler's own sources.
    pub(super) fn library(&self, folder: &str) -> PathBuf {
        self.home.join("lib").join(folder)
    }

    /// Links a library of the toolchain, such as `c++`.
    pub(super) fn link(&mut self, library: &str) -> &mut Self {
        self.command.arg(format!("-l{library}"));
        self
    }

    /// Adds a folder of headers.
    pub(super) fn include(&mut self, folder: &Path) -> &mut Self {
        self.command.arg("-I").arg(folder);
        self
    }

    /// Adds sources in C or C++, with their flags.
    pub(super) fn compile(&mut self, flags: &[&str], sources: &[PathBuf]) -> &mut Self {
        self.command.arg("-cflags").args(flags).arg("--").args(sources);
        self
    }

    /// Adds a Zig module. Its dependencies must have been added before.
    fn module(&mut self, name: &str, root: &Path) -> &mut Self {
        let mut argument = std::ffi::OsString::from(format!("-M{name}="));
        argument.push(root);
        self.command.arg(argument);
        self
    }

    /// Compiles the sources, and encodes the core module as a component.
    pub(super) fn make(mut self, project: &Project, out: &Path) -> Result<()> {
        let core = out.with_extension("core");
        let mut emit = std::ffi::OsString::from("-femit-bin=");
        emit.push(&core);
        self.command.arg(emit);
        process::run_tool(&mut self.command, REMEDY).with_context(|| format!("`{}` does not build", project.name))?;
        component::encode_file(&core, &project.sdk.join("wit"), out)
    }
}

/// Returns the files of a folder with one of these extensions, sorted.
pub(super) fn files(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("there is no folder {}", folder.display()))? {
        let path = entry?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if ending.is_some_and(|ending| endings.contains(&ending)) && path.is_file() {
            found.push(path);
        }
    }
    // `read_dir` has no order, and the order of the sources is in the bytes of the module.
    found.sort();
    Ok(found)
}
