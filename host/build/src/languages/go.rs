//! Go: its own compiler makes a core module of the first preview of WASI, and an adapter makes that a component.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::pip::Requirements;
use crate::project::Project;
use crate::{cache, component, process};

const TOOLCHAIN: Requirements = Requirements { name: "go", text: include_str!("../../toolchains/go/requirements.txt") };

/// No table of symbols. The SDK takes memory from the runtime's own function for it, which the linker would refuse.
const LINKER_FLAGS: &str = "-s -w -buildid= -checklinkname=0";

/// The host speaks HTTP, and a component needs no second version of it.
const TAGS: &str = "nethttpomithttp2";

/// Variables that would change what is built.
const FOREIGN: [&str; 5] = ["GO111MODULE", "GOEXPERIMENT", "GOFLAGS", "GOROOT", "GOWASM"];

pub(super) fn build(project: &Project, out: &Path) -> Result<()> {
    let toolchain = TOOLCHAIN.install()?.join("go");
    let folder = project.source.parent().context("the source has no folder")?;
    let module = out.with_extension("core");
    compile(&toolchain, folder, &module)?;
    component::encode_file(&module, &project.sdk.join("wit"), out)
}

fn compile(toolchain: &Path, folder: &Path, module: &Path) -> Result<()> {
    let program = toolchain.join("bin").join("go");
    let mut go = Command::new(&program);
    go.args(["build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-tags", TAGS, "-ldflags", LINKER_FLAGS]);
    go.arg("-o").arg(module).arg(".").current_dir(folder);
    for name in FOREIGN {
        go.env_remove(name);
    }
    go.env("GOOS", "wasip1").env("GOARCH", "wasm").env("CGO_ENABLED", "0");
    go.env("GOENV", "off").env("GOTOOLCHAIN", "local").env("GOWORK", "off");
    go.env("GOCACHE", cache::folder("go")?);
    // A build asks no network for modules unless the person who runs it says which.
    go.env("GOPROXY", env::var_os("GOPROXY").unwrap_or_else(|| OsString::from("off")));
    let program = process::quote(&program.display().to_string());
    process::run_tool(
        &mut go,
        &format!(
            "correct what the compiler names; a module of others comes into the project once, where there is a network: \
             in {}, `{program} get MODULE`, then `{program} mod vendor`",
            folder.display()
        ),
    )
}
