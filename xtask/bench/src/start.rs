//! Measures how long the real program takes to start beside a thousand cached plugins, against an empty directory and
//! against one plugin alone.

use crate::mcp::{Era, Pipe};
use crate::real_program::{finished, put, real_program};
use crate::rounds::{Row, block, paired, row, summarize};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The plugins of a large directory.
const PLUGINS: usize = 1000;

/// Runs of one variant per round. A start takes tens of milliseconds.
const RUNS_PER_BLOCK: usize = 3;

/// The part of the guest that names it, with its version behind it, so that it occurs once.
const NAMED: &[u8] = b"hello0.1.0";

/// How old a file must be so that the host knows it by its times.
pub(crate) const SETTLED_AFTER: Duration = Duration::from_secs(5);

/// Allows the tool that is called.
const POLICY: &str = "[approvals]\nrepeats = 1000000\n[[rule]]\ntool = \"*.greet\"\ndecision = \"allow\"\n";

/// Measures `list`, one `call`, and the first answer of `serve`. The plugins and their code stay in `kept` for the next
/// run, because it takes minutes to compile them.
pub(crate) fn measure(guests: &Path, kept: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let bench = StartBench::prepare(guests, kept)?;
    let list = |directory: &str| block(RUNS_PER_BLOCK, || finished(bench.command(directory, &["list"])));
    let [none, many] = paired([&|| list("none"), &|| list("many")])?;
    show(row(format!("list, {PLUGINS} plugins / an empty directory"), &none, &many));

    let call = ["call", "h0000.greet", r#"{"name":"Ann"}"#];
    let call = |directory: &str| block(RUNS_PER_BLOCK, || finished(bench.command(directory, &call)));
    let [one, many] = paired([&|| call("one"), &|| call("many")])?;
    show(row(format!("a call, {PLUGINS} plugins / one plugin"), &one, &many));

    let serve = |directory: &str| {
        let mut times = Vec::new();
        for _ in 0..RUNS_PER_BLOCK {
            let began = Instant::now();
            let served = Pipe::begin(bench.command(directory, &["serve", "--stdio"]), Era::Legacy)?;
            times.push(began.elapsed());
            // The end of the server is not measured.
            drop(served);
        }
        Ok(summarize(&times))
    };
    let [none, many] = paired([&|| serve("none"), &|| serve("many")])?;
    show(row(format!("initialize, {PLUGINS} plugins / an empty directory"), &none, &many));
    Ok(())
}

/// The real program, with a directory for plugins and one for state for each variant.
struct StartBench {
    program: PathBuf,
    kept: PathBuf,
}

impl StartBench {
    fn prepare(guests: &Path, kept: &Path) -> Result<Self> {
        let bench = Self { program: real_program("start")?, kept: kept.to_owned() };
        let guest = fs::read(guests.join("hello.wasm")).context("cannot read the guest")?;
        for (directory, plugins) in [("none", 0), ("one", 1), ("many", PLUGINS)] {
            fs::create_dir_all(bench.plugins(directory))?;
            for number in 0..plugins {
                put(&bench.plugins(directory).join(format!("h{number:04}.wasm")), &named(&guest, number)?)?;
            }
        }
        fs::write(bench.policy(), POLICY)?;
        // The first start compiles. The second one finds files that are old enough to be known by their times.
        for pause in [Duration::ZERO, SETTLED_AFTER] {
            std::thread::sleep(pause);
            for directory in ["none", "one", "many"] {
                finished(bench.command(directory, &["list"]))?;
            }
        }
        Ok(bench)
    }

    fn plugins(&self, directory: &str) -> PathBuf {
        self.kept.join(directory)
    }

    fn policy(&self) -> PathBuf {
        self.kept.join("policy.toml")
    }

    fn command(&self, directory: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--plugins").arg(self.plugins(directory)).arg("--policy").arg(self.policy());
        command.arg("--state").arg(self.kept.join(format!("{directory}-state"))).args(arguments);
        command
    }
}

/// Returns the guest under another name of the same length.
fn named(guest: &[u8], number: usize) -> Result<Vec<u8>> {
    let found: Vec<usize> =
        guest.windows(NAMED.len()).enumerate().filter(|(_, part)| *part == NAMED).map(|(at, _)| at).collect();
    let [at] = found.as_slice() else { anyhow::bail!("the guest has its name {} times, not once", found.len()) };
    let mut bytes = guest.to_vec();
    bytes[*at..at + 5].copy_from_slice(format!("h{number:04}").as_bytes());
    Ok(bytes)
}
