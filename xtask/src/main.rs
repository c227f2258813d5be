//! `cargo xtask`: the entry point for everyone who builds and checks the repository.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a build tool starts programs, reads and writes files, and prints"
)]

mod bench;
mod bindings;
mod clients;
mod component;
mod cycles;
mod demo;
mod dependencies;
mod docs;
mod features;
mod fuzz;
mod guests;
mod install;
mod languages;
mod package;
mod plugins;
mod prose;
mod selection;
mod suites;
mod test;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use portcullis_build::crates::Optimization;
use portcullis_build::workspace::Workspace;
use portcullis_build::{cache, process, toolchain};

const HELP: &str = "\
cargo xtask demo                    build everything and demonstrate the main features
cargo xtask test [WORD...]          build what the tests need, and run all of them, or those that WORD selects:
                                    a crate without the engine (build, definitions, ledger, packages, policy,
                                    policy-edit, tokens, upstream, xtask),
                                    a module of tests/tests such as `approvals` or `mcp::tasks`, or a part of a
                                    test's name
cargo xtask install [--prefix DIR]  build the program and the shipped plugins, and put them into bin/ and
                                    share/portcullis/plugins of DIR [default: ~/.local]
cargo xtask plugins [--out DIR]     build the shipped plugins into target/plugins
cargo xtask plugin CRATE [--out DIR]  build any plugin crate into the current directory
cargo xtask guests                  build the test guests into target/guests
cargo xtask languages               build the conformance plugin in every language, and the examples
cargo xtask package                 write the SDKs to target/packages in their release layout
cargo xtask bindings                regenerate the bindings of C and of Rust after a change to the contract
cargo xtask bench all|NAME... [--write]  build everything and run all benches, or those named; --write writes their
                                    tables into the documents
cargo xtask toolchain [WAY]         set up wasm32-wasip2; prints shell lines for `eval`
                                    WAY: auto, debian (leaves rustup alone), source, web;
                                    PORTCULLIS_GUEST_TOOLCHAIN sets it for the other commands
cargo xtask suites                  fetch third-party test suites; prints their paths
cargo xtask clients                 install third-party clients; prints their paths
cargo xtask fuzz [SECONDS]          fuzz the policy and the token verifier, 20 s per target by default
cargo xtask docs                    build the documentation with warnings as errors
cargo xtask features                check the library with each cargo feature alone, and without any
cargo xtask tidy                    check documents and code against the repository's style rules";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    process::show_commands();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(words: &[&str]) -> Result<()> {
    match words {
        [] | ["help" | "--help" | "-h"] => println!("{HELP}"),
        ["demo"] => demo::play(&own()?)?,
        ["test", filters @ ..] => test::run(&own()?, filters)?,
        ["install", rest @ ..] => install::install(&own()?, directory("--prefix", rest)?)?,
        ["plugins", rest @ ..] => {
            let out = out(rest)?;
            let own = own()?;
            plugins::build_shipped(&own, &toolchain::prepare(&own.root)?, out, Optimization::AcrossCrates)?;
        }
        ["plugin", folder, rest @ ..] => plugins::build_one(Path::new(folder), out(rest)?)?,
        ["guests"] => {
            let own = own()?;
            guests::build(&own, &toolchain::prepare(&own.root)?)?;
        }
        ["bindings"] => bindings::write(&own()?)?,
        ["package"] => package::all(&own()?)?,
        ["languages"] => languages::build(&own()?)?,
        ["bench", rest @ ..] => bench::run(&own()?, rest)?,
        ["toolchain"] => print!("{}", toolchain::prepare(&own()?.root)?.exports()),
        ["toolchain", way] => print!("{}", toolchain::prepare_by(toolchain::Way::parse(way)?, &own()?.root)?.exports()),
        ["suites"] => suites::print(&suites::prepare()?),
        ["clients"] => clients::print(&clients::prepare(&own()?)?),
        ["fuzz", rest @ ..] => fuzz::run(&own()?, rest)?,
        ["docs"] => docs::build(&own()?)?,
        ["features"] => features::check(&own()?)?,
        ["tidy"] => tidy::check(&own()?)?,
        _ => bail!("unknown command: `{}`\n{HELP}", words.join(" ")),
    }
    Ok(())
}

/// Returns the repository that this program was built from.
fn own() -> Result<Workspace> {
    Workspace::of(Path::new(env!("CARGO_MANIFEST_DIR")))
}

/// Parses `--out`. The path is relative to the current directory.
fn out(words: &[&str]) -> Result<Option<PathBuf>> {
    directory("--out", words)
}

/// Parses an option with a directory. The path is relative to the current directory.
fn directory(option: &str, words: &[&str]) -> Result<Option<PathBuf>> {
    match words {
        [] => Ok(None),
        [name, folder] if *name == option => {
            Ok(Some(std::env::current_dir().context("no current directory")?.join(folder)))
        }
        _ => bail!("`{}` is not a valid argument: expected `{option} DIR`", words.join(" ")),
    }
}
