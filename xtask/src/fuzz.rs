//! Fuzzes the policy and the token verifier: builds `tests/fuzz` with coverage counters and runs each target for a
//! given time.
//!
//! libFuzzer comes as source with its crate, and the machine's C++ compiler builds it. Coverage counters work with a
//! stable Rust compiler. Only the sanitizers need a nightly one, and safe code does not need sanitizers.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::process;
use portcullis_build::workspace::Workspace;

/// The programs of `tests/fuzz`, each with its maximum input length in bytes. The lengths fit a policy with several
/// sections, a pattern with its texts (three lines), and a token with a key set.
const TARGETS: [(&str, usize); 4] = [("policy", 4096), ("matchers", 512), ("url", 512), ("tokens", 2048)];
/// Default duration per target.
const SECONDS: u64 = 20;
/// Timeout for one input, in seconds. It is a thousand times what an ordinary input takes.
const INPUT_SECONDS: u64 = 5;
/// Extra time before a program is stopped: it reads its corpus first and writes it last.
const GRACE: Duration = Duration::from_secs(120);
/// Compiler flags that add libFuzzer's coverage counters to every edge.
const COUNTERS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                        -Cllvm-args=-sanitizer-coverage-pc-table -Ccodegen-units=1";

/// Builds and runs every target.
pub(crate) fn run(workspace: &Workspace, words: &[&str]) -> Result<()> {
    let seconds = match words {
        [] => SECONDS,
        [seconds] => seconds.parse().with_context(|| format!("`{seconds}` is not a number of seconds"))?,
        _ => bail!("`{}` is not a valid argument: expected a number of seconds", words.join(" ")),
    };
    let target = workspace.target.join("fuzz");
    let triple = host_triple()?;
    build(workspace, &target, &triple)?;
    for (name, longest) in TARGETS {
        eprintln!("fuzz: {name}, {seconds} s");
        let program = target.join(&triple).join("release").join(name);
        let seeds = workspace.root.join("tests/fuzz/corpus").join(name);
        fuzz(&program, &target.join("run").join(name), &seeds, longest, seconds)?;
    }
    Ok(())
}

/// // Name the target even where it is the host, so that build scripts and macros are compiled without counters.
fn build(workspace: &Workspace, target: &Path, triple: &str) -> Result<()> {
    let mut cargo = process::cargo();
    cargo.current_dir(workspace.root.join("tests/fuzz")).env("CARGO_TARGET_DIR", target).env("RUSTFLAGS", COUNTERS);
    process::run_aside(cargo.args(["build", "--release", "--locked", "--target", triple]))
}

/// Runs one target in its own folder, where it keeps its corpus. A finding is written there as a file.
fn fuzz(program: &Path, folder: &Path, seeds: &Path, longest: usize, seconds: u64) -> Result<()> {
    let corpus = folder.join("corpus");
    fs::create_dir_all(&corpus).with_context(|| format!("cannot create {}", corpus.display()))?;
    let mut fuzzer = Command::new(program);
    process::clear(&mut fuzzer);
    fuzzer.current_dir(folder).args(["-verbosity=0", "-print_funcs=0", "-print_final_stats=1"]);
    fuzzer.arg(format!("-max_total_time={seconds}")).arg(format!("-max_len={longest}"));
    fuzzer.arg(format!("-timeout={INPUT_SECONDS}")).arg(format!("-artifact_prefix={}/found-", folder.display()));
    fuzzer.arg(&corpus).arg(seeds);
    process::run_within(&mut fuzzer, Duration::from_secs(seconds) + GRACE)
        .with_context(|| format!("the failing input is in {}", folder.join("found-*").display()))
}

/// Returns the default target of this toolchain.
fn host_triple() -> Result<String> {
    let mut rustc = Command::new("rustc");
    process::clear(&mut rustc);
    let about = process::capture(rustc.arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` names no host")
}
