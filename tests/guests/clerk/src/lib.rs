//! One tool for each thing that a client of a server meets: an answer, a structure, progress, a failure, a call that
//! waits to be cancelled, and one that changes something.

use portcullis_sdk::prelude::*;
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

/// How long the tool that waits sleeps at a time.
const NAP: Duration = Duration::from_millis(10);

/// The file that notes are kept in.
const NOTES: &str = "notes.txt";

/// Something to say back.
#[arguments]
struct Echo {
    /// Said back as it is.
    text: String,
}

/// Answers with what it was given.
#[tool(read_only, idempotent, title = "Say it back")]
fn echo(arguments: Echo) -> String {
    arguments.text
}

/// Numbers to add up.
#[arguments]
struct Add {
    /// Any whole numbers.
    numbers: Vec<i32>,
}

/// What they come to.
#[output]
struct Sum {
    count: usize,
    sum: i64,
}

/// Adds numbers up.
#[tool(read_only, idempotent)]
fn add(arguments: Add) -> Json<Sum> {
    Json(Sum { count: arguments.numbers.len(), sum: arguments.numbers.into_iter().map(i64::from).sum() })
}

/// How far to count.
#[arguments]
struct Count {
    /// The last number.
    #[schemars(range(min = 1, max = 20))]
    to: u16,
}

/// Counts, and says how far it is.
#[tool(read_only, idempotent)]
fn count(arguments: Count, context: &Context) -> String {
    let mut counted = String::new();
    for number in 1..=arguments.to {
        let fraction = f32::from(number) / f32::from(arguments.to);
        context.progress(Progress::title(format!("at {number}")).fraction(fraction));
        let _ = write!(counted, "{number} ");
    }
    counted
}

/// Nothing.
#[arguments]
struct Nothing {}

/// Cannot do what it is asked.
#[tool(read_only)]
fn fail(_: Nothing) -> Result<String, Failure> {
    Err(Failure::unavailable("the archive is closed; come back tomorrow"))
}

/// Says that it waits, keeps a note, and then waits until it is stopped.
#[tool(requires(write))]
fn wait(_: Nothing, context: &Context) -> Result<String, Failure> {
    keep(context, "waiting")?;
    context.progress(Progress::title("waiting"));
    loop {
        std::thread::sleep(NAP);
    }
}

/// Something to remember.
#[arguments]
struct Note {
    /// One line.
    text: String,
}

/// Keeps a note in the desk.
#[tool(requires(write))]
fn note(arguments: Note, context: &Context) -> Result<String, Failure> {
    keep(context, &arguments.text)?;
    Ok(format!("kept: {}", arguments.text))
}

/// Asks for leave in the middle of its work, and keeps a note when it has it.
#[tool(requires(write))]
fn sign(arguments: Note, context: &Context) -> Result<String, Failure> {
    context.ask(Permission::Write, "the seal", "a signature binds the house")?;
    keep(context, &format!("signed: {}", arguments.text))?;
    Ok(format!("signed: {}", arguments.text))
}

#[expect(clippy::disallowed_methods, reason = "std::fs reaches the granted directory alone")]
fn keep(context: &Context, line: &str) -> Result<(), Failure> {
    let path = context.directory("desk")?.path().join(NOTES);
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| writeln!(file, "{line}")).map_err(|error| Failure::failed(error.to_string()))
}

plugin! {
    name: "clerk",
    description: "Answers, adds, counts, fails, waits, and keeps notes.",
    tools: [echo, add, count, fail, wait, note, sign],
    dependencies: [directory "desk": "holds the notes"],
}
