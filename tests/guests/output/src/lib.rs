//! Answers in every way a tool can: written, returned, both, without end, and broken off.
#![expect(clippy::disallowed_methods, reason = "std::fs reaches the granted directory alone")]

mod end;
#[cfg(target_arch = "wasm32")]
mod raw;

use portcullis_sdk::prelude::*;
use std::fs;
use std::io::Write;

use end::End;

/// What to write.
#[arguments]
struct Lines {
    /// How many lines.
    count: u64,
    /// How long each is, in bytes, its line feed included.
    bytes: usize,
}

/// Writes numbered lines, which are the whole answer.
#[tool(read_only)]
fn lines(arguments: Lines, context: &Context) -> Result<Writer, Failure> {
    let mut answer = context.writer()?;
    for number in 1..=arguments.count {
        line(&mut answer, number, arguments.bytes)?;
    }
    Ok(answer)
}

/// Writes lines for as long as it is let.
#[tool(read_only)]
fn endless(context: &Context) -> Result<Writer, Failure> {
    let mut answer = context.writer()?;
    for number in 1.. {
        line(&mut answer, number, 64)?;
    }
    Ok(answer)
}

/// Writes tiny pieces for as long as it is let, each at once.
#[tool(read_only)]
fn ticks(context: &Context) -> Result<Writer, Failure> {
    let mut answer = context.writer()?;
    loop {
        answer.write_all(b".")?;
        answer.flush()?;
    }
}

fn line(answer: &mut Writer, number: u64, bytes: usize) -> Result<(), Failure> {
    let text = format!("line {number} ");
    Ok(writeln!(answer, "{text:.<width$}", width = bytes.saturating_sub(1))?)
}

/// How large.
#[arguments]
struct Size {
    /// Bytes.
    bytes: usize,
}

/// Returns lines of text, all at once.
#[tool(read_only)]
fn returned(arguments: Size) -> String {
    let line = "returned: sixty-four bytes of text with a line feed at the end.\n";
    let mut text = line.repeat(arguments.bytes / line.len() + 1);
    text.truncate(arguments.bytes);
    text
}

/// Writes in one piece more than a stream takes.
#[tool(read_only)]
fn overrun(arguments: Size) -> Result<String, Failure> {
    write_unasked(arguments.bytes)
}

/// What to write, and how to end.
#[arguments]
struct Pieces {
    /// Each is a write of its own; every number is a byte.
    pieces: Vec<Vec<u8>>,
    /// Whether each goes through a stream of its own, which stays open beside the others.
    #[serde(default)]
    apart: bool,
    /// A request that is sent first.
    #[serde(default)]
    url: Option<String>,
    /// A request that is sent before this piece.
    #[serde(default)]
    before: usize,
    /// How the tool ends.
    #[serde(default)]
    then: End,
}

/// Writes pieces as they are, and ends as it is told to.
#[tool(open_world, requires(network))]
fn pieces(arguments: Pieces, context: &Context) -> Result<Success, Failure> {
    let mut answers = vec![context.writer()?];
    for (at, piece) in arguments.pieces.iter().enumerate() {
        if let Some(url) = arguments.url.as_ref().filter(|_| at == arguments.before) {
            context.client("api")?.send(Request::get(url))?;
        }
        if arguments.apart {
            answers.push(context.writer()?);
        }
        if let Some(answer) = answers.last_mut() {
            answer.write_all(piece)?;
            answer.flush()?;
        }
    }
    arguments.then.end(context)
}

/// How to end.
#[arguments]
struct Work {
    /// How the tool ends.
    #[serde(default)]
    then: End,
}

/// Does one thing of each kind to the directory, which has `old.txt` and `kept.txt`, and fails at one of each.
#[tool(requires(read, write))]
fn work(arguments: Work, context: &Context) -> Result<Success, Failure> {
    let directory = context.directory("workspace")?;
    let path = |name: &str| directory.path().join(name);
    fs::create_dir(path("made"))?;
    fs::write(path("made/new.txt"), "twelve bytes")?;
    fs::write(path("kept.txt"), "eight by")?;
    fs::rename(path("made/new.txt"), path("renamed.txt"))?;
    fs::remove_file(path("old.txt"))?;
    let failed = [
        fs::create_dir(path("made")),
        fs::write(path("nowhere/new.txt"), "lost"),
        fs::rename(path("missing"), path("other")),
        fs::remove_file(path("missing")),
        fs::remove_dir(path("missing")),
    ];
    if failed.iter().any(Result::is_ok) {
        return Err(Failure::failed("something worked that cannot"));
    }
    context.progress(Progress::title("worked"));
    arguments.then.end(context)
}

/// How large it was to be.
#[output]
struct Promised {
    bytes: usize,
}

/// Answers with JSON, as it promises.
#[tool(read_only)]
fn promised(arguments: Size, context: &Context) -> Result<Json<Promised>, Failure> {
    let mut answer = context.writer()?;
    answer.write_all(b"a beginning that JSON cannot have\n")?;
    Ok(Json(Promised { bytes: arguments.bytes }))
}

/// Which parts to return.
#[arguments]
struct Wanted {
    /// The parts, in order.
    parts: Vec<WantedPart>,
}

/// One part.
#[arguments]
struct WantedPart {
    /// The media type. `text/plain` makes a text, and an image type an image.
    media_type: String,
    /// How it begins. The rest is counted up.
    #[serde(default)]
    begins: Vec<u8>,
    /// Bytes.
    bytes: usize,
    /// The name of the file.
    #[serde(default)]
    name: Option<String>,
}

/// Returns parts.
#[tool(read_only)]
fn parts(arguments: Wanted) -> Result<Success, Failure> {
    Parts(arguments.parts.into_iter().map(part).collect()).into_success()
}

fn part(wanted: WantedPart) -> Part {
    let WantedPart { media_type, begins: mut data, bytes, name } = wanted;
    let is_text = media_type.starts_with("text/");
    // Text has a line for each letter of the alphabet.
    let rest = |at: usize| if is_text { b"abcdefghijklmnopqrstuvwxyz\n"[at % 27] } else { (at % 251) as u8 };
    data.extend((data.len()..bytes).map(rest));
    let blob = |data| Blob { name, media_type: media_type.clone(), data };
    match media_type.as_str() {
        "text/plain" => Part::Text(String::from_utf8_lossy(&data).into_owned()),
        image if image.starts_with("image/") => Part::Image(blob(data)),
        _ => Part::File(blob(data)),
    }
}

#[cfg(target_arch = "wasm32")]
fn write_unasked(bytes: usize) -> Result<String, Failure> {
    raw::write_unasked(bytes)
}

#[cfg(not(target_arch = "wasm32"))]
fn write_unasked(_: usize) -> Result<String, Failure> {
    Err(Failure::failed("only a guest has a stream"))
}

/// What the reviewer can write: nothing, and it says so.
fn opinion(_: &Review) -> Verdict {
    #[cfg(target_arch = "wasm32")]
    if raw::opens() {
        return Verdict::refuse("a review has an answer to write");
    }
    Verdict::Clear
}

plugin! {
    name: "scribe",
    description: "Answers in every way a tool can.",
    tools: [lines, endless, ticks, returned, overrun, pieces, work, promised, parts],
    dependencies: [
        optional http "api": "what has a secret",
        optional directory "workspace": "to be worked on",
    ],
    reviewer: opinion,
}
