//! Programs of the system, which the policy binds.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::{Chunk, Missing};

/// How much is kept of each stream.
const KEPT_BYTES: usize = 100_000;
/// How much of what was written before is searched too.
const TAIL_BYTES: usize = 100;

/// What to run.
#[arguments]
pub(crate) struct Run {
    /// The key of the program.
    key: String,
    /// Its arguments.
    arguments: Vec<String>,
    /// What it reads from stdin.
    #[serde(default)]
    input: Option<String>,
    /// The directory to start in.
    #[serde(default)]
    directory: Option<String>,
    /// Whether stderr goes to the stream of stdout.
    #[serde(default)]
    merge: bool,
    /// A host and a port that the program lacks.
    #[serde(default)]
    needs_host: Option<String>,
    /// A directory of the machine that the program has to read.
    #[serde(default)]
    needs_read: Option<String>,
    /// A directory of the machine that the program has to write.
    #[serde(default)]
    needs_write: Option<String>,
}

/// Runs a program to its end, and answers with what it wrote.
#[tool(requires(read, write, execute))]
pub(crate) fn run(arguments: Run, context: &Context) -> Result<Value, Failure> {
    let Run { key, arguments, input, directory, merge, needs_host, needs_read, needs_write } = arguments;
    let mut launch = Launch::new(arguments).environment("CALLER", "conformance").input(input.unwrap_or_default());
    if let Some(directory) = directory {
        launch = launch.directory(directory);
    }
    if merge {
        launch = launch.merged();
    }
    let missing = needs_host.map(Missing::Destination);
    let missing = missing.or(needs_read.map(Missing::ReadableDirectory));
    if let Some(missing) = missing.or(needs_write.map(Missing::WritableDirectory)) {
        launch = launch.needs(missing);
    }
    let output = context.program(&key)?.output(&launch, KEPT_BYTES)?;
    let exit = describe(&output.report.exit);
    Ok(json!({ "exit": exit, "stdout": output.text(), "stderr": output.errors(), "cut": output.is_cut }))
}

/// What to pass on.
#[arguments]
pub(crate) struct Stream {
    /// The key of the program.
    key: String,
    /// Its arguments.
    arguments: Vec<String>,
    /// What it reads from stdin.
    #[serde(default)]
    input: Option<String>,
    /// The text that ends the program.
    #[serde(default)]
    until: Option<String>,
}

/// Passes on what a program writes, and ends the program once it has written a text.
#[tool(requires(read, write, execute))]
pub(crate) fn stream(arguments: Stream, context: &Context) -> Result<String, Failure> {
    let Stream { key, arguments, input, until } = arguments;
    let mut answer = context.writer()?;
    let launch = Launch::new(arguments).input(input.unwrap_or_default()).merged();
    let mut running = context.program(&key)?.start(&launch)?;
    let mut tail = Vec::new();
    let report = loop {
        let mut is_written = false;
        let report = running.read_until_cancelled(context, |chunk| {
            let (Chunk::Stdout(bytes) | Chunk::Stderr(bytes)) = chunk;
            answer.write_all(bytes)?;
            tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
            tail.extend_from_slice(bytes);
            is_written = until.as_ref().is_some_and(|text| String::from_utf8_lossy(&tail).contains(text.as_str()));
            if is_written { Err(Failure::failed("written")) } else { Ok(()) }
        });
        match report {
            Ok(report) => break report,
            Err(_) if is_written => running.kill(),
            Err(failure) => return Err(failure),
        }
    };
    answer.flush()?;
    Ok(format!("[{}]", describe(&report.exit)))
}

/// What to write.
#[arguments]
pub(crate) struct Converse {
    /// The key of the program.
    key: String,
    /// Its arguments.
    arguments: Vec<String>,
    /// The lines.
    lines: Vec<String>,
}

/// Writes lines to a program, and reads its answer to each.
#[tool(requires(read, write, execute))]
pub(crate) fn converse(arguments: Converse, context: &Context) -> Result<Value, Failure> {
    let Converse { key, arguments, lines } = arguments;
    let mut running = context.program(&key)?.start(&Launch::new(arguments).merged())?;
    let mut stdin = running.stdin().ok_or_else(|| Failure::failed("no stdin"))?;
    let mut answers = BufReader::new(running.stdout().ok_or_else(|| Failure::failed("no stdout"))?);
    let (mut replies, mut rest) = (Vec::new(), String::new());
    for line in lines {
        writeln!(stdin, "{line}")?;
        let mut reply = String::new();
        answers.read_line(&mut reply)?;
        replies.push(reply);
    }
    drop(stdin);
    answers.read_to_string(&mut rest)?;
    Ok(json!({ "replies": replies, "rest": rest, "exit": describe(&running.wait().exit) }))
}

fn describe(exit: &Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
        Exit::Stopped(text) => text.clone(),
    }
}
