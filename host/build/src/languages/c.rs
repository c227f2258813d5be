//! C and C++: the sources beside the project's own, with the SDK's, by the compiler that comes with Zig.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::zig::{Compiler, files};
use crate::language::Language;
use crate::project::Project;

/// C as the SDK and its authors write it, with what POSIX has. The compiler tells of no warning where there is no
/// error, so those that are always faults are errors.
const C_FLAGS: [&str; 4] = ["-std=gnu23", "-Wall", "-Werror=format", "-Werror=return-type"];
/// C++ without exceptions, which the compiler's library has none of for WASI. It leaves out `std::filesystem` and file
/// streams for WASI too, although the C library has what they need: they are switched on.
const CPP_FLAGS: [&str; 7] = [
    "-std=gnu++23",
    "-fno-exceptions",
    "-Wall",
    "-Werror=format",
    "-Werror=return-type",
    "-U_LIBCPP_HAS_FILESYSTEM",
    "-D_LIBCPP_HAS_FILESYSTEM=1",
];
/// The same for the library's own sources of them. WASI has no `copy_file_range`, which goes by that name.
const FILESYSTEM_FLAGS: [&str; 7] = [
    "-std=c++23",
    "-fno-exceptions",
    "-D_LIBCPP_BUILDING_LIBRARY",
    "-U_LIBCPP_HAS_FILESYSTEM",
    "-D_LIBCPP_HAS_FILESYSTEM=1",
    "-U_LIBCPP_HAS_MUSL_LIBC",
    "-D_LIBCPP_HAS_MUSL_LIBC=0",
];
/// What makes yyjson small: a function is there once, and JSON is what the standard says it is.
const JSON_FLAGS: [&str; 3] = ["-std=c23", "-Dyyjson_inline=inline", "-DYYJSON_DISABLE_NON_STANDARD=1"];

/// Builds a project: every source in the folder of the one that plugin.toml names.
pub(super) fn build(project: &Project, out: &Path) -> Result<()> {
    let source = &project.source;
    ensure!(source.is_file(), "there is no {}: `source` in plugin.toml names the main file", source.display());
    let folder = source.parent().context("the source is in no folder")?;
    let sdk = &project.sdk;
    ensure!(sdk.join("include/portcullis.h").is_file(), "{} holds no SDK for C", sdk.display());

    let mut compiler = Compiler::new(project)?;
    for headers in ["include", "generated", "yyjson"] {
        compiler.include(&sdk.join(headers));
    }
    compiler.include(folder);
    compiler.compile(&C_FLAGS, &files(folder, &["c"])?);
    compiler.compile(&C_FLAGS, &files(&sdk.join("src"), &["c"])?);
    compiler.compile(&C_FLAGS, &files(&sdk.join("generated"), &["c"])?);
    compiler.compile(&JSON_FLAGS, &files(&sdk.join("yyjson"), &["c"])?);
    if project.language == Language::Cpp {
        let library = compiler.library("libcxx/src");
        let mut filesystem = files(&library.join("filesystem"), &["cpp"])?;
        filesystem.extend(["fstream.cpp", "ios.instantiations.cpp"].map(|file| library.join(file)));
        compiler.include(&library).compile(&FILESYSTEM_FLAGS, &filesystem);
        compiler.compile(&CPP_FLAGS, &files(folder, &["cpp", "cc", "cxx"])?).link("c++");
    }
    compiler.make(project, out)
}
