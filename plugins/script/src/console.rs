//! `console`: collects the lines that a script writes.

use boa_engine::object::JsObject;
use boa_engine::property::Attribute;
use boa_engine::{Context, JsResult, JsValue, js_string};

use crate::notation;
use crate::realm;
use crate::session::Session;

/// Maximum number of messages: a model does not read more.
pub(crate) const MESSAGES_MAX: usize = 1000;

/// Maximum characters of one message: a screen.
pub(crate) const MESSAGE_CHARACTERS_MAX: usize = 4000;

/// Maximum characters of all messages: about 8,000 tokens.
pub(crate) const CONSOLE_CHARACTERS_MAX: usize = 30_000;

/// The functions that write a message. They differ in nothing that a model would miss.
const FUNCTIONS: [&str; 8] = ["log", "info", "warn", "error", "debug", "trace", "dir", "table"];

/// The messages of a script, in order.
#[derive(Debug, Default)]
pub(crate) struct Console {
    text: String,
    messages: usize,
    characters: usize,
    dropped: usize,
}

impl Console {
    /// Adds a message. Drops it if the console is full.
    pub(crate) fn add(&mut self, message: &str) {
        let characters = message.chars().count().min(MESSAGE_CHARACTERS_MAX);
        if self.messages == MESSAGES_MAX || self.characters + characters > CONSOLE_CHARACTERS_MAX {
            self.dropped += 1;
            return;
        }
        self.messages += 1;
        self.characters += characters;
        self.text.push_str(&notation::shortened(message, MESSAGE_CHARACTERS_MAX));
        self.text.push('\n');
    }

    /// Returns the messages, one a line, and the number of dropped ones in the last line.
    pub(crate) fn text(&self) -> String {
        match self.dropped {
            0 => self.text.clone(),
            dropped => format!("{}[{dropped} more messages were dropped: the console is full]\n", self.text),
        }
    }
}

/// Defines `console`.
pub(crate) fn define(context: &mut Context) -> JsResult<()> {
    let console = JsObject::with_null_proto();
    for name in FUNCTIONS {
        let function = realm::function(name, context, |_, arguments, _, context| log(arguments, context), ());
        console.create_data_property_or_throw(js_string!(name), function, context)?;
    }
    context.register_global_property(js_string!("console"), console, Attribute::all())
}

fn log(arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let texts: Vec<String> =
        arguments.iter().map(|argument| notation::text(argument, MESSAGE_CHARACTERS_MAX, context)).collect();
    if let Some(session) = Session::of(context) {
        session.console.borrow_mut().add(&texts.join(" "));
    }
    Ok(JsValue::undefined())
}
