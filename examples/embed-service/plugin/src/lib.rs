//! Finds and stores notes, through a service of the program that embeds the host. The plugin has no access to the
//! database, to files or to other people's notes. Its handle has two methods, and the policy grants some of them.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

/// What to look for.
#[arguments]
struct Find {
    /// Words that all have to be in the note.
    text: String,
}

/// What to keep.
#[arguments]
struct Add {
    /// A few words.
    title: String,
    /// The note itself.
    text: String,
}

/// One note that was found.
#[arguments]
struct Found {
    title: String,
    excerpt: String,
}

/// Finds notes by their words.
#[tool(read_only)]
fn find(arguments: Find, context: &Context) -> Result<String, Failure> {
    let index = context.service("index")?;
    let found: Vec<Found> = index.call("search", &json!({ "text": arguments.text, "limit": 10 }))?;
    if found.is_empty() {
        return Ok(format!("No note has all of: {}", arguments.text));
    }
    Ok(found.iter().map(|note| format!("{}: {}\n", note.title, note.excerpt)).collect())
}

/// Keeps a note.
#[tool(requires(write))]
fn add(arguments: Add, context: &Context) -> Result<String, Failure> {
    let note = json!({ "title": arguments.title, "text": arguments.text });
    let kept: Value = context.service("index")?.call("add", &note)?;
    Ok(format!("Kept as note {kept}."))
}

plugin! {
    name: "notes",
    description: "Finds and keeps notes.",
    tools: [find, add],
    dependencies: [service "index": "the notes"],
}
