//! What goes in and out: shapes of data, and their sizes.

use std::io::Write as _;

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

/// What the tool `picture` shows.
const PIXEL: &[u8] = include_bytes!("pixel.png");

/// Anything.
#[arguments]
pub(crate) struct Echo {
    /// Any JSON.
    value: Value,
}

/// Gives back a value as it came.
#[tool(read_only, idempotent)]
pub(crate) fn echo(arguments: Echo) -> Value {
    json!({ "value": arguments.value })
}

/// What to reverse.
#[arguments]
pub(crate) struct Reverse {
    /// The text to reverse.
    text: String,
}

/// Reverses the characters of a text.
#[tool(read_only, idempotent)]
pub(crate) fn reverse(arguments: Reverse) -> Success<String> {
    let reversed: String = arguments.text.chars().rev().collect();
    let characters = reversed.chars().count();
    Success::new(reversed).title("Reversed").metadata(json!({ "characters": characters }))
}

/// What to repeat.
#[arguments]
pub(crate) struct Repeat {
    /// The text to repeat.
    text: String,
    /// How often.
    #[schemars(range(max = 10_000_000))]
    times: u32,
}

/// Repeats a text, for an answer of any size.
#[tool(read_only, idempotent)]
pub(crate) fn repeat(arguments: Repeat) -> String {
    arguments.text.repeat(arguments.times as usize)
}

/// What to measure.
#[arguments]
pub(crate) struct Measure {
    /// The text to measure.
    text: String,
}

/// Counts the bytes and the characters of a text.
#[tool(read_only, idempotent)]
pub(crate) fn measure(arguments: Measure) -> Value {
    json!({ "bytes": arguments.text.len(), "characters": arguments.text.chars().count() })
}

/// What to add.
#[arguments]
pub(crate) struct Add {
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
    /// Words that come back beside the sum.
    #[serde(default)]
    note: Option<String>,
    /// How the sum is meant.
    #[serde(default)]
    kind: Kind,
}

/// How a sum is meant.
#[arguments]
#[derive(Clone, Copy, Default, portcullis_sdk::serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// To the last digit.
    #[default]
    Exact,
    /// Near enough.
    Rounded,
}

/// A sum.
#[output]
pub(crate) struct Sum {
    /// Both numbers together.
    sum: i64,
    /// How it is meant.
    kind: Kind,
    /// The words that came with the numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// Adds two whole numbers.
#[tool(read_only, idempotent)]
pub(crate) fn add(arguments: Add) -> Result<Json<Sum>, Failure> {
    let Add { a, b, note, kind } = arguments;
    let sum = a.checked_add(b).ok_or_else(|| Failure::invalid("the sum is beyond 64 bits: take smaller numbers"))?;
    Ok(Json(Sum { sum, kind, note }))
}

/// Shows a picture of one pixel, and a file beside it.
#[tool(read_only, idempotent)]
pub(crate) fn picture() -> Success<Parts> {
    let parts = vec![
        Part::Text("a pixel".to_owned()),
        Part::Image(Blob::new("image/png", PIXEL)),
        Part::File(Blob::new("application/octet-stream", [0, 1, 2, 255])),
    ];
    Success::new(Parts(parts)).title("Picture")
}

/// How much to write.
#[arguments]
pub(crate) struct WriteOut {
    /// How many pieces.
    #[schemars(range(min = 1, max = 1000))]
    pieces: u32,
}

/// Writes its answer in pieces while it works.
#[tool(name = "write-out", read_only, idempotent)]
pub(crate) fn write_out(arguments: WriteOut, context: &Context) -> Result<&'static str, Failure> {
    let mut answer = context.writer()?;
    for piece in 1..=arguments.pieces {
        writeln!(answer, "piece {piece}")?;
    }
    answer.flush()?;
    Ok("end")
}

/// What to keep.
#[arguments]
pub(crate) struct Keep {
    /// The name of the file.
    name: String,
    /// Its content.
    text: String,
}

/// Keeps a text as a file beside its answer.
#[tool(read_only, idempotent)]
pub(crate) fn keep(arguments: Keep, context: &Context) -> Result<String, Failure> {
    context.keep(Blob { name: Some(arguments.name), ..Blob::new("text/plain", arguments.text) })?;
    Ok("kept".to_owned())
}
