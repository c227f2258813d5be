//! Measures the governed call against bare wasmtime and against itself, and the costs of narrowing a call to one path,
//! writing the audit log, parsing a model's response, MCP in both directions, starting a program, starting the host
//! beside many plugins, large plugins, the memory of calls in progress, what a second core
//! adds, and other ways to run a tool.
//!
//! `portcullis-bench NAME PLUGINS GUESTS OUT.json`: the directories of the shipped plugins and of the built guests, and
//! the file for the table. Usually run as `cargo xtask bench call`.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program for developers, run by hand")]

mod alternatives;
mod cores;
mod flood;
mod floor;
mod governed;
mod hosts;
mod hydrate;
mod large;
mod mcp;
mod memory;
mod nested;
mod policies;
mod process;
mod process_memory;
mod real_program;
mod record;
mod rounds;
mod scaling;
mod start;
mod work;

use anyhow::{Context, Result, bail};
use floor::{Floor, shown};
use governed::Governed;
use portcullis::Outcome;
use rounds::{Row, measure, measure_hosts};
use std::io::Write;
use std::path::Path;
use work::{Work, gather, work, works};

fn main() -> Result<()> {
    // The bench of programs starts this program again, as their broker.
    portcullis::init();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == [mcp::EMPTY_SERVER] {
        return mcp::serve_empty();
    }
    match &*arguments.iter().map(String::as_str).collect::<Vec<_>>() {
        [hosts::CHILD, given @ ..] => return hosts::work(given),
        [large::BARE_CALL, given @ ..] => return large::call_bare(given),
        [scaling::CHILD, given @ ..] => return scaling::call(given),
        [memory::CHILD, given @ ..] => return memory::hold(given),
        _ => {}
    }
    let [name, plugins, guests, out] = arguments.as_slice() else {
        bail!(
            "usage: portcullis-bench call|narrow|nested|record|hydrate|hosts|mcp|upstream|process|start|large|memory|scaling|alternatives PLUGINS GUESTS OUT.json"
        );
    };
    if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
        bail!("RUST_BACKTRACE is set: it makes every dropped call 15 to 30 us slower. Unset it and run again");
    }
    if let Some(parent) = Path::new(out).parent() {
        std::fs::create_dir_all(parent)?;
    }
    // Opened first, because the bench of programs gives up its files.
    let mut file = std::fs::File::create(out).with_context(|| format!("cannot write {out}"))?;
    println!("{:<28} {:<28} {:>9} {:>9} {:>7} {:>7}", "work", "beside", "floor us", "ours us", "ratio", "p95");
    let mut rows = Vec::new();
    let mut show = |row: Row| {
        println!("{row}");
        rows.push(row);
    };
    match name.as_str() {
        "call" => call(Path::new(plugins), Path::new(guests), &mut show)?,
        "narrow" => narrow(Path::new(plugins), Path::new(guests), &mut show)?,
        "nested" => nested::measure(Path::new(guests), &mut show)?,
        "record" => record::measure()?.into_iter().for_each(show),
        "hosts" => hosts::measure(Path::new(guests), &mut show)?,
        "hydrate" => hydrate(Path::new(plugins), Path::new(guests), &mut show)?,
        "mcp" => mcp::measure(Path::new(guests), &mut show)?,
        "upstream" => mcp::measure_upstream(Path::new(guests), &mut show)?,
        "process" => process::measure(Path::new(plugins), Path::new(guests), &mut show)?,
        "start" => start::measure(Path::new(guests), &Path::new(out).with_extension("kept"), &mut show)?,
        "large" => large::measure(Path::new(guests), &Path::new(out).with_extension("kept"), &mut show)?,
        "alternatives" => alternatives::measure(Path::new(guests), &mut show)?,
        "scaling" => scaling::measure(Path::new(guests), &mut show)?,
        "memory" => memory::measure(Path::new(guests), &mut show)?,
        _ => bail!(
            "no bench is named {name}. Choose one of: call, narrow, nested, record, hydrate, hosts, mcp, upstream, \
             process, start, large, memory, scaling, alternatives"
        ),
    }
    file.write_all((serde_json::to_string_pretty(&rows)? + "\n").as_bytes())?;
    println!("\nwritten to {out}");
    Ok(())
}

fn call(plugins: &Path, guests: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let workspace = scratch.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    let text: String = (1..=40).map(|line| format!("line {line} of a small source file\n")).collect();
    std::fs::write(workspace.join("a.txt"), text)?;
    let directory = gather(scratch.path(), &[plugins.join("files.wasm"), guests.join("json.wasm")])?;
    let governed = Governed::plain(&directory, scratch.path())?;
    println!("page scan for idle memory: {}", portcullis::plugins::Engine::resets_by_page_scan());
    for work in works() {
        let component = std::fs::read(directory.join(format!("{}.wasm", work.plugin)))?;
        let tuned = Floor::tuned(&component, &workspace).map_err(shown)?;
        let default = Floor::default_configuration(&component, &workspace).map_err(shown)?;
        measure(&work, &tuned, &default, &governed)?.into_iter().for_each(&mut *show);
    }
    let full = Governed::full(&directory, scratch.path())?;
    for work in works() {
        show(measure_hosts(&work, "full policy / plain policy", &governed, &full)?);
    }
    flood(guests, show)
}

/// Measures calls of the JSON tool during the slow calls of another principal, and also beside a plugin that computes
/// without end.
fn flood(guests: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    std::fs::create_dir(scratch.path().join("desk"))?;
    let guests = ["json.wasm", "clerk.wasm", "keeper.wasm"].map(|guest| guests.join(guest));
    let directory = gather(scratch.path(), &guests)?;
    let work = work("echo")?;
    show(flood::measure(&Governed::flooded(&directory, scratch.path(), 1)?, &work)?);
    // The program has two workers.
    show(flood::measure_with_loop(&Governed::flooded(&directory, scratch.path(), 2)?, &work)?);
    Ok(())
}

/// Measures calls of the files plugin with a directory narrowed to their path, against a directory that is not
/// narrowed.
fn narrow(plugins: &Path, guests: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let deep = scratch.path().join("workspace/src/deep/deeper");
    std::fs::create_dir_all(&deep)?;
    let text: String = (1..=40).map(|line| format!("line {line} of a small source file\n")).collect();
    for file in ["workspace/a.txt", "workspace/src/deep/deeper/a.txt"] {
        std::fs::write(scratch.path().join(file), &text)?;
    }
    let directory = gather(scratch.path(), &[plugins.join("files.wasm"), guests.join("json.wasm")])?;
    let plain = Governed::plain(&directory, scratch.path())?;
    let narrowed = Governed::narrowed(&directory, scratch.path())?;
    for (name, tool, arguments) in [
        ("files.read", "read", r#"{"path":"a.txt"}"#),
        ("files.read, 3 directories down", "read", r#"{"path":"src/deep/deeper/a.txt"}"#),
        ("files.list, 3 directories down", "list", r#"{"path":"src/deep/deeper"}"#),
    ] {
        let work = Work { name, plugin: "files", tool, arguments: arguments.to_owned(), outcome: Outcome::Completed };
        show(measure_hosts(&work, "narrowed / whole directory", &plain, &narrowed)?);
    }
    Ok(())
}

/// Measures the processing of a model's response before the JSON tool's call reaches the host.
fn hydrate(plugins: &Path, guests: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    std::fs::create_dir(scratch.path().join("workspace"))?;
    let directory = gather(scratch.path(), &[plugins.join("files.wasm"), guests.join("json.wasm")])?;
    let governed = Governed::plain(&directory, scratch.path())?;
    hydrate::measure(&governed, &work("json")?, show)
}
