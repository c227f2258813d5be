//! The log of a server on standard error: its events, as text for people or as JSON for programs.
//!
//! It has the events of Portcullis alone. Those of its dependencies could hold arguments, tokens and secrets.

use crate::arguments::LogFormat;
use crate::environment;
use crate::failure::{FailureCode, WithCode};
use crate::style::TextStyle;
use crate::terminal::Terminal;
use anyhow::Context as _;
use portcullis::text::{Lines, OneLine};
use serde_json::{Map, Value};
use std::fmt::Debug;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::Targets;

/// The beginning of the targets whose events are logged.
const OWN_TARGETS: &str = "portcullis";

/// The field that names what happened.
const EVENT: &str = "event";

/// The field of a message's further lines.
const DETAIL: &str = "detail";

/// Begins to write the events of this process to standard error, in the format of the terminal. `RUST_LOG` says which.
///
/// # Errors
/// The variable is no filter. The log then has what it has by default.
pub(crate) fn begin(terminal: Terminal) -> anyhow::Result<()> {
    let usual = || Targets::new().with_target(OWN_TARGETS, Level::INFO);
    let chosen =
        environment::variable("RUST_LOG").map(|filter| filter.to_string_lossy().parse::<Targets>()).transpose();
    let (filter, refused) = match chosen {
        Ok(filter) => (filter.unwrap_or_else(usual), None),
        Err(error) => (usual(), Some(error)),
    };
    terminal.queue_messages(move |messages| left_out(terminal.log_format(), messages))?;
    // Only this function sets it, once in a process.
    let _ = tracing::subscriber::set_global_default(ServerLog { terminal, filter });
    match refused {
        None => Ok(()),
        Some(error) => Err(error)
            .context("RUST_LOG is not a list of levels and targets, such as `warn` or `portcullis=debug`")
            .code(FailureCode::Usage),
    }
}

/// Writes events to standard error.
struct ServerLog {
    terminal: Terminal,
    filter: Targets,
}

/// What an event says.
#[derive(Default)]
struct EventFields {
    message: String,
    others: Map<String, Value>,
}

impl EventFields {
    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        self.others.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for EventFields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message = OneLine(value).to_string(),
            DETAIL => self.put(field, Lines(value).to_string()),
            _ => self.put(field, OneLine(value).to_string()),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }
}

impl Subscriber for ServerLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // `RUST_LOG` chooses among these, and cannot turn on the events of dependencies.
        let is_own = metadata.is_event() && metadata.target().starts_with(OWN_TARGETS);
        is_own && self.filter.would_enable(metadata.target(), metadata.level())
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = EventFields::default();
        event.record(&mut fields);
        match self.terminal.log_format() {
            LogFormat::Text => write_text(self.terminal, *event.metadata().level(), &fields),
            LogFormat::Json => write_json(self.terminal, event.metadata(), fields),
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        // Spans are not enabled, so this one is never used.
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Writes the message for people. It says what the other fields say, except the details.
fn write_text(terminal: Terminal, level: Level, fields: &EventFields) {
    let look = match level {
        Level::ERROR => TextStyle::Bad,
        Level::WARN => TextStyle::Doubtful,
        _ if fields.others.get(EVENT).is_some_and(|event| event == "start") => TextStyle::Plain,
        _ => TextStyle::Quiet,
    };
    terminal.note(terminal.note_style().paint(look, &fields.message));
    if let Some(Value::String(detail)) = fields.others.get(DETAIL) {
        terminal.note(format_args!("  {detail}"));
    }
}

fn write_json(terminal: Terminal, metadata: &Metadata<'_>, fields: EventFields) {
    terminal.say(&json_line(*metadata.level(), metadata.target(), fields));
}

fn json_line(level: Level, target: &str, fields: EventFields) -> String {
    let mut line = fields.others;
    // After the fields of the event, so that none of them takes the place of these.
    line.insert("time".to_owned(), format!("{:.3}", jiff::Timestamp::now()).into());
    line.insert("level".to_owned(), level.as_str().to_ascii_lowercase().into());
    line.insert("target".to_owned(), target.into());
    line.insert("message".to_owned(), fields.message.into());
    format!("{}\n", Value::Object(line))
}

/// Returns the line in place of messages that were not read in time.
fn left_out(format: LogFormat, messages: u64) -> String {
    let message = format!("{messages} messages are missing here, because standard error was not read");
    match format {
        LogFormat::Text => format!("{message}\n"),
        LogFormat::Json => {
            let mut fields = EventFields { message, ..EventFields::default() };
            fields.others.insert(EVENT.to_owned(), "left-out".into());
            fields.others.insert("messages".to_owned(), messages.into());
            json_line(Level::WARN, "portcullis::log", fields)
        }
    }
}
