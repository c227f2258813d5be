//! Go: its compiler builds a core module for WASI preview 1, which is then encoded as a component with an adapter.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::pip::Requirements;
use crate::project::Project;
use crate::{cache, component, process};

const TOOLCHAIN: Requirements = Requirements { name: "go", text: include_str!("../../toolchains/go/requirements.txt") };

/// Strips symbols. The SDK links to the runtime's allocation function, which the linker refuses by default.
const LINKER_FLAGS: &str = "-s -w -buildid= -checklinkname=0";

/// Omits HTTP/2: the host sends the requests.
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
    // On wasip1, `c-shared` makes a reactor: a module without `main`, whose exports the host can call.
    go.args(["build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-tags", TAGS, "-ldflags", LINKER_FLAGS]);
    go.arg("-o").arg(module).arg(".").current_dir(folder);
    for name in FOREIGN {
        go.env_remove(name);
    }
    go.env("GOOS", "wasip1").env("GOARCH", "wasm").env("CGO_ENABLED", "0");
    // The result must not depend on the user's `go env -w`, on another toolchain that go.mod names, or on a go.work
    // above.
    go.env("GOENV", "off").env("GOTOOLCHAIN", "local").env("GOWORK", "off");
    go.env("GOCACHE", cache::folder("go")?);
    // A build does not fetch modules from the network unless the user sets a proxy.
    go.env("GOPROXY", env::var_os("GOPROXY").unwrap_or_else(|| OsString::from("off")));
    let program = process::quote(&program.display().to_string());
    process::run_tool(
        &mut go,
        &format!(
            "fix what the compiler reports; to add a module of others, run this once with network access in {}: \
             `{program} get MODULE`, then `{program} mod vendor`",
            folder.display()
        ),
    )
}
