//! C and C++: compiles the project's and the SDK's sources with Zig's compiler.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::zig::{ZigCompiler, files};
use crate::language::Language;
use crate::project::Project;

/// Flags for C with GNU and POSIX extensions. The compiler's output is shown only after an error, so warnings that
/// always mean a fault are errors.
const C_FLAGS: [&str; 4] = ["-std=gnu23", "-Wall", "-Werror=format", "-Werror=return-type"];
/// Flags for C++ without exceptions, which the C++ library does not support on WASI. It also disables `std::filesystem`
/// and file streams on WASI, although the C library has what they need, so these flags enable them.
const CPP_FLAGS: [&str; 7] = [
    "-std=gnu++23",
    "-fno-exceptions",
    "-Wall",
    "-Werror=format",
    "-Werror=return-type",
    "-U_LIBCPP_HAS_FILESYSTEM",
    "-D_LIBCPP_HAS_FILESYSTEM=1",
];
/// Flags for the library's own sources of these. Without musl it does not use `copy_file_range`, which WASI lacks.
const FILESYSTEM_FLAGS: [&str; 7] = [
    "-std=c++23",
    "-fno-exceptions",
    "-D_LIBCPP_BUILDING_LIBRARY",
    "-U_LIBCPP_HAS_FILESYSTEM",
    "-D_LIBCPP_HAS_FILESYSTEM=1",
    "-U_LIBCPP_HAS_MUSL_LIBC",
    "-D_LIBCPP_HAS_MUSL_LIBC=0",
];
/// Flags that make yyjson small: no inlining, and no support for non-standard JSON.
const JSON_FLAGS: [&str; 3] = ["-std=c23", "-Dyyjson_inline=inline", "-DYYJSON_DISABLE_NON_STANDARD=1"];

/// Builds a project with all sources in the folder of its main source file.
pub(super) fn build(project: &Project, out: &Path) -> Result<()> {
    let source = &project.source;
    ensure!(source.is_file(), "there is no {}: `source` in plugin.toml names the main file", source.display());
    let folder = source.parent().context("the source has no folder")?;
    let sdk = &project.sdk;
    ensure!(sdk.join("include/portcullis.h").is_file(), "{} contains no SDK for C", sdk.display());

    let mut compiler = ZigCompiler::new(project)?;
    for headers in ["include", "generated", "yyjson"] {
        compiler.include(&sdk.join(headers));
    }
    compiler.include(folder);
    compiler.compile(&C_FLAGS, &files(folder, &["c"])?);
    compiler.compile(&C_FLAGS, &files(&sdk.join("src"), &["c"])?);
    compiler.compile(&C_FLAGS, &files(&sdk.join("generated"), &["c"])?);
    compiler.compile(&JSON_FLAGS, &files(&sdk.join("yyjson"), &["c"])?);
    if project.language == Language::Cpp {
        // Zig's C++ library leaves these sources out on WASI, so compile them with the project.
        let library = compiler.library("libcxx/src");
        let mut filesystem = files(&library.join("filesystem"), &["cpp"])?;
        filesystem.extend(["fstream.cpp", "ios.instantiations.cpp"].map(|file| library.join(file)));
        compiler.include(&library).compile(&FILESYSTEM_FLAGS, &filesystem);
        compiler.compile(&CPP_FLAGS, &files(folder, &["cpp", "cc", "cxx"])?).link("c++");
    }
    compiler.make(project, out)
}
