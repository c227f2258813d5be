//! Measures a governed call against other ways to run a tool apart from its caller: a fresh plugin of Extism, and a
//! program in bubblewrap.

use crate::governed::Governed;
use crate::process::{has_bubblewrap, in_bubblewrap};
use crate::rounds::{Block, Row, block, paired, row, summarize, through};
use crate::work::{gather, work};
use anyhow::{Context, Result, ensure};
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// The variable with the interpreter of a Python environment that has Extism.
const EXTISM: &str = "PORTCULLIS_BENCH_EXTISM";

/// Calls of another way per round. Each takes many times as long as ours.
const CALLS_PER_BLOCK: usize = 30;

/// Measures those that are installed.
pub(crate) fn measure(guests: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let governed = Governed::plain(&gather(scratch.path(), &[guests.join("json.wasm")])?, scratch.path())?;
    let work = work("echo")?;
    let ours = || through(&governed, &work);
    match std::env::var_os(EXTISM) {
        Some(python) => {
            let extism = RefCell::new(Extism::begin(Path::new(&python), &work.arguments)?);
            let theirs = || extism.borrow_mut().block();
            let [theirs, ours] = paired([&theirs, &ours])?;
            show(row("echo / Extism, a fresh plugin".to_owned(), &theirs, &ours));
        }
        None => println!("{EXTISM} is not set, so Extism is not measured"),
    }
    if has_bubblewrap() {
        let [theirs, ours] = paired([&|| block(CALLS_PER_BLOCK, in_bubblewrap), &ours])?;
        show(row("echo / bubblewrap with /bin/true".to_owned(), &theirs, &ours));
    }
    Ok(())
}

/// A process that calls a plugin of Extism.
struct Extism {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Extism {
    fn begin(python: &Path, data: &str) -> Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/extism_fresh.py");
        let mut command = Command::new(python);
        let mut child = command.arg(script).arg(data).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        Ok(Self { child, input, output })
    }

    fn block(&mut self) -> Result<Block> {
        writeln!(self.input, "{CALLS_PER_BLOCK}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let nanoseconds: Vec<u64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        ensure!(nanoseconds.len() == CALLS_PER_BLOCK, "Extism ended: {:?}", self.child.try_wait()?);
        Ok(summarize(&nanoseconds.into_iter().map(Duration::from_nanos).collect::<Vec<_>>()))
    }
}

impl Drop for Extism {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
