//! Remembers what earlier calls did, and tries to use what they were given.
#![expect(clippy::disallowed_methods, reason = "std::fs reaches the granted directories alone")]

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use std::cell::RefCell;
use std::fs::{self, File, ReadDir};
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// What the instance keeps from one call to the next.
#[derive(Default)]
struct Memory {
    notes: Vec<String>,
    files: Vec<File>,
    listings: Vec<ReadDir>,
    stores: Vec<Store>,
    clients: Vec<Client>,
    bytes: Vec<Vec<u8>>,
    began: Option<Instant>,
}

/// What is to be done, in this order.
#[arguments]
struct Steps {
    /// Each is done, whatever came of the one before it.
    steps: Vec<Step>,
    /// What a policy may narrow the workspace to. The steps take no notice of it.
    #[serde(default)]
    #[expect(dead_code, reason = "it is for the host to read")]
    place: Option<String>,
}

/// One step.
#[arguments]
struct Step {
    /// What to do.
    op: String,
    /// A path, a key or a text.
    #[serde(default)]
    text: String,
    /// How many bytes, or milliseconds.
    #[serde(default)]
    bytes: usize,
}

/// Takes steps with the right to write.
#[tool(destructive, requires(read, write))]
fn change(arguments: Steps, context: &Context) -> Result<Value, Failure> {
    take(&arguments.steps, context)
}

/// Takes steps with the right to read.
#[tool(requires(read), optional(network))]
fn look(arguments: Steps, context: &Context) -> Result<Value, Failure> {
    take(&arguments.steps, context)
}

/// Takes steps without any right.
#[tool]
fn think(arguments: Steps, context: &Context) -> Result<Value, Failure> {
    take(&arguments.steps, context)
}

fn take(steps: &[Step], context: &Context) -> Result<Value, Failure> {
    MEMORY.with_borrow_mut(|memory| steps.iter().map(|step| memory.take(step, context)).collect())
}

impl Memory {
    fn take(&mut self, step: &Step, context: &Context) -> Result<Value, Failure> {
        let text = step.text.as_str();
        Ok(match step.op.as_str() {
            "note" => {
                self.notes.push(text.to_owned());
                json!(self.notes)
            }
            "age" => json!(self.began.get_or_insert_with(Instant::now).elapsed().as_micros()),
            "read" => told(fs::read_to_string(text)),
            "write" => told(fs::write(text, "written")),
            "names" => told(fs::read_dir(text).map(|entries| entries.count())),
            "hold-file" => told(File::open(text).map(|file| self.files.push(file))),
            "hold-listing" => told(fs::read_dir(text).map(|listing| self.listings.push(listing))),
            "hold-store" => told(context.store(text).map(|store| self.stores.push(store))),
            "hold-client" => told(context.client(text).map(|client| self.clients.push(client))),
            "read-held" => told(self.files.last_mut().map_or(Ok(String::new()), read)),
            "print" => told(writeln!(io::stdout(), "{text}")),
            "grow" => {
                self.bytes.push(black_box(vec![1; step.bytes]));
                json!(self.bytes.len())
            }
            "wait" => {
                std::thread::sleep(Duration::from_millis(step.bytes as u64));
                Value::Null
            }
            "fail" => return Err(Failure::failed(text)),
            "trap" => panic!("{text}"),
            "spin" => loop {
                black_box(&self.notes);
            },
            _ => json!("no such step"),
        })
    }
}

fn read(file: &mut File) -> io::Result<String> {
    let mut text = String::new();
    file.read_to_string(&mut text).map(|_| text)
}

fn told<T: portcullis_sdk::serde::Serialize, E: ToString>(done: Result<T, E>) -> Value {
    match done {
        Ok(value) => json!({ "ok": value }),
        Err(error) => json!({ "error": error.to_string() }),
    }
}

plugin! {
    name: "keeper",
    description: "Remembers what earlier calls did.",
    tools: [change, look, think],
    dependencies: [
        optional directory "workspace": "to be read and written",
        optional directory "other": "to be read and written",
        optional store "notes": "to be held",
        optional http "site": "to be held",
    ],
}
