//! Runs benches, and writes their tables into the documents.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, iter};

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;

use crate::{clients, guests, languages, plugins, process, test, toolchain};
use portcullis_build::crates::Optimization;
use portcullis_build::workspace::Workspace;

/// All benches. Those that take longer come later.
const BENCHES: [&str; 14] = [
    "call",
    "narrow",
    "nested",
    "record",
    "hydrate",
    "memory",
    "scaling",
    "alternatives",
    "upstream",
    "mcp",
    "hosts",
    "start",
    "process",
    "large",
];

/// The documents with tables.
const DOCUMENTS: [&str; 3] = ["docs/performance.md", "docs/composition.md", "docs/scale.md"];

/// Runs the benches that `words` name, or `all`. With `--write`, writes their tables into the documents.
pub(crate) fn run(workspace: &Workspace, words: &[&str]) -> Result<()> {
    let (names, options): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| !word.starts_with("--"));
    let writes = match options.as_slice() {
        [] => false,
        ["--write"] => true,
        _ => bail!("unknown option: {}", options.join(" ")),
    };
    let names = if names == ["all"] { BENCHES.to_vec() } else { names };
    ensure!(!names.is_empty(), "name a bench, or `all`: {}", BENCHES.join(", "));
    for name in &names {
        ensure!(BENCHES.contains(name), "no bench is named {name}. Choose one of: {}", BENCHES.join(", "));
    }
    let toolchain = toolchain::prepare(&workspace.root)?;
    plugins::build_shipped(workspace, &toolchain, None, Optimization::AcrossCrates)?;
    guests::build(workspace, &toolchain)?;
    if names.iter().any(|name| matches!(*name, "large" | "mcp" | "start" | "upstream")) {
        // They measure the real program, and look for it next to themselves.
        process::run(workspace.cargo().args(["build", "--release", "--quiet", "--package", "portcullis-cli"]))?;
    }
    for name in names {
        let out = measure(workspace, name)?;
        if writes {
            write_table(&workspace.root, name, &out)?;
        }
    }
    Ok(())
}

/// Runs one bench. Returns the file with its rows.
fn measure(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    if name == "large" {
        languages::build(workspace)?;
    }
    let mut cargo = workspace.cargo();
    test::provide(workspace, &mut cargo);
    if name == "mcp" {
        // Servers of other libraries, to measure beside ours.
        clients::prepare(workspace)?.provide(&mut cargo);
    }
    let out = workspace.target.join("bench").join(format!("{name}.json"));
    cargo.args(["run", "--release", "--quiet", "--package", "portcullis-bench", "--", name]);
    cargo.args([plugins::folder(workspace), guests::folder(workspace)]).arg(&out);
    // Unset, not zero: a bench must measure a service without these variables.
    process::run(cargo.env_remove("RUST_BACKTRACE").env_remove("RUST_LIB_BACKTRACE"))?;
    Ok(out)
}

/// A row of a bench.
#[derive(Deserialize)]
struct Measured {
    /// What was measured, and after a slash beside what.
    work: String,
    unit: String,
    floor: f64,
    ours: f64,
    ratio: f64,
    p95_ratio: f64,
}

/// Writes the rows of a bench into the document that has a place for them.
fn write_table(root: &Path, name: &str, rows: &Path) -> Result<()> {
    let rows: Vec<Measured> = serde_json::from_slice(&fs::read(rows)?).with_context(|| rows.display().to_string())?;
    let table = format!("{}\n{}", table(&rows), origin(root)?);
    for document in DOCUMENTS {
        let path = root.join(document);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        if let Some(written) = with_table(&text, name, &table) {
            return Ok(fs::write(&path, written)?);
        }
    }
    bail!("no document has a place for the table of `{name}`: {}", DOCUMENTS.join(", "))
}

/// Says when, from which commit and on what machine a table was measured.
fn origin(root: &Path) -> Result<String> {
    let date = process::capture(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    let git = |arguments: &[&str]| process::capture(Command::new("git").arg("-C").arg(root).args(arguments));
    let commit = git(&["rev-parse", "--short", "HEAD"])?;
    // The tables themselves are changes, too.
    let is_changed = !git(&["status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs"])?.trim().is_empty();
    let processor = fs::read_to_string("/proc/cpuinfo")?;
    let processor = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let cores = std::thread::available_parallelism()?;
    Ok(format!(
        "Measured on {} at `{}{}`, with {cores} cores of {} and Linux {}.\n",
        date.trim(),
        commit.trim(),
        if is_changed { "-changed" } else { "" },
        processor.map_or("an unknown processor", |(_, model)| model.trim()),
        kernel.trim()
    ))
}

fn table(rows: &[Measured]) -> String {
    let mut table = "| work | beside | theirs | ours | ratio | p95 ratio |\n|---|---|---|---|---|---|\n".to_owned();
    for row in rows {
        let (work, beside) = row.work.split_once(" / ").unwrap_or((&row.work, ""));
        let (theirs, ours) = (quantity(row.floor, &row.unit), quantity(row.ours, &row.unit));
        let _ = writeln!(table, "| {work} | {beside} | {theirs} | {ours} | {:.2} | {:.2} |", row.ratio, row.p95_ratio);
    }
    table
}

/// Returns a number with three or more digits and its unit.
fn quantity(value: f64, unit: &str) -> String {
    let (value, unit) = match unit {
        "us" if value >= 10_000.0 => (value / 1000.0, "ms"),
        "KiB" if value >= 10_240.0 => (value / 1024.0, "MiB"),
        _ => (value, unit),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}

/// Returns the document with another table of this bench, or `None` if it has no place for one.
fn with_table(document: &str, name: &str, table: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- bench {name}: begin -->\n"), format!("<!-- bench {name}: end -->"));
    let (before, rest) = document.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(iter::once(before).chain([&*begin, "\n", table, "\n", &*end, after]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_replaces_the_one_of_its_bench_only() {
        let document = "a\n<!-- bench call: begin -->\n\nold\n\n<!-- bench call: end -->\nb\n<!-- bench mcp: begin -->\n<!-- bench mcp: end -->\n";
        let written = with_table(document, "call", "new\n").unwrap();
        assert_eq!(written.replace("new", "old"), document);
        assert!(with_table(document, "large", "new\n").is_none());
    }

    #[test]
    fn a_row_has_its_unit() {
        let row = |work: &str, unit: &str, floor, ours| Measured {
            work: work.to_owned(),
            unit: unit.to_owned(),
            floor,
            ours,
            ratio: 2.0,
            p95_ratio: 2.5,
        };
        let rows = [row("echo / bare", "us", 5.25, 10.5), row("list / none", "us", 10_240.0, 20_480.0)];
        let expected =
            "| echo | bare | 5.25 us | 10.5 us | 2.00 | 2.50 |\n| list | none | 10.2 ms | 20.5 ms | 2.00 | 2.50 |\n";
        assert!(table(&rows).ends_with(expected), "{}", table(&rows));
    }

    /// Each bench has a place for its table.
    #[test]
    fn every_bench_has_a_place_in_a_document() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let texts: String = DOCUMENTS.iter().map(|document| fs::read_to_string(root.join(document)).unwrap()).collect();
        for name in BENCHES {
            assert!(with_table(&texts, name, "").is_some(), "{name}");
        }
    }
}
