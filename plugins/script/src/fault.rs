//! Why a script ended without a value.

use std::collections::BTreeSet;

use boa_engine::builtins::error::Error;
use boa_engine::error::{EngineError, RuntimeLimitError};
use boa_engine::{Context, JsError, JsValue};

use crate::notation;
use crate::realm::{LOOP_ITERATIONS_MAX, RECURSION_DEPTH_MAX};
use crate::session::Session;
use crate::source::{self, CodePosition, FILE, ScriptSource, Sought, SyntaxFault};
use crate::toolbox;

/// Maximum characters of the text of an error.
const ERROR_CHARACTERS_MAX: usize = 4000;

/// Maximum characters of the line of code in a report.
const LINE_CHARACTERS_MAX: usize = 200;

/// Maximum lines to name, if the engine does not tell which of them an error comes from.
const LINES_SHOWN_MAX: usize = 8;

/// An error that ended a script.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) message: String,
    /// Where it comes from. Several places, if it may be any of them.
    places: Vec<CodePosition>,
    /// Whether the code cannot run at all.
    pub(crate) is_syntax: bool,
}

impl Fault {
    pub(crate) fn of_syntax(fault: SyntaxFault) -> Self {
        let SyntaxFault { message, position } = fault;
        Self { message: format!("SyntaxError: {message}"), places: position.into_iter().collect(), is_syntax: true }
    }

    /// An uncaught value that the script threw.
    pub(crate) fn of_thrown(thrown: &JsValue, source: &ScriptSource, context: &mut Context) -> Self {
        let error = thrown.as_object().filter(|object| object.is::<Error>());
        let message = match &error {
            Some(error) => notation::error_text(error),
            None => format!("the script threw {}", notation::text(thrown, ERROR_CHARACTERS_MAX, context)),
        };
        let recorded = error.and_then(|_| stack(thrown, context)).and_then(|stack| first_position(&stack, source));
        let places = match sought(&message) {
            Some(sought) => source::find(source.code(), sought, recorded),
            None => recorded.into_iter().collect(),
        };
        Self { message: notation::shortened(&message, ERROR_CHARACTERS_MAX), places, is_syntax: false }
    }

    /// An error that a script cannot catch, or that the engine raised outside of a promise.
    pub(crate) fn of_engine(error: &JsError, source: &ScriptSource, context: &mut Context) -> Self {
        if let Some(thrown) = error.as_opaque() {
            return Self::of_thrown(thrown, source, context);
        }
        // The text of an engine error ends with its stack.
        let recorded = first_position(&error.to_string(), source).into_iter().collect();
        let (message, places) = match limit(error) {
            Some(RuntimeLimitError::LoopIteration) => {
                let message = format!("a loop ran more than {LOOP_ITERATIONS_MAX} times");
                (message, source::find(source.code(), Sought::Loop, first_position(&error.to_string(), source)))
            }
            Some(RuntimeLimitError::Recursion) => {
                let message = format!("functions called each other more than {RECURSION_DEPTH_MAX} levels deep");
                (message, recorded)
            }
            Some(RuntimeLimitError::StackSize) => {
                ("the script needed more than the stack of the engine".to_owned(), recorded)
            }
            None => (format!("the engine failed: {error}"), recorded),
        };
        Self { message: notation::shortened(&message, ERROR_CHARACTERS_MAX), places, is_syntax: false }
    }

    /// A script that waits for a promise that can never be settled.
    pub(crate) fn of_stuck() -> Self {
        let message = "the script never ended: it awaits a promise that nothing resolves".to_owned();
        Self { message, places: Vec::new(), is_syntax: false }
    }

    /// Returns the message, the position and the line of code.
    pub(crate) fn text(&self, code: &str) -> String {
        let lines: BTreeSet<u32> = self.places.iter().map(|place| place.line).collect();
        let (Some(place), 1) = (self.places.first(), lines.len()) else {
            return if lines.is_empty() {
                self.message.clone()
            } else {
                format!("{}\n{}", self.message, one_of(&lines))
            };
        };
        let CodePosition { line, column } = place;
        let mut text = format!("{}\nat line {line}, column {column}", self.message);
        if let Some(code) = source::line(code, *line).map(str::trim).filter(|code| !code.is_empty()) {
            text.push_str(&format!(": {}", notation::shortened(code, LINE_CHARACTERS_MAX)));
        }
        text
    }
}

/// Names the lines that an error may come from: `at one of the lines 2, 5, 7`.
fn one_of(lines: &BTreeSet<u32>) -> String {
    let shown: Vec<String> = lines.iter().take(LINES_SHOWN_MAX).map(u32::to_string).collect();
    let more = if lines.len() > LINES_SHOWN_MAX { ", …" } else { "" };
    format!("at one of the lines {}{more}", shown.join(", "))
}

/// Returns the limit of the engine that an error comes from.
fn limit(error: &JsError) -> Option<RuntimeLimitError> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(limit) = error.downcast_ref::<RuntimeLimitError>() {
            return Some(*limit);
        }
        if let Some(EngineError::RuntimeLimit(limit)) = error.downcast_ref::<EngineError>() {
            return Some(*limit);
        }
        if let Some(EngineError::RuntimeLimit(limit)) =
            error.downcast_ref::<JsError>().and_then(|error| error.as_engine())
        {
            return Some(*limit);
        }
        cause = error.source();
    }
    None
}

/// Returns what an error is about whose position the engine does not record exactly.
fn sought(message: &str) -> Option<Sought<'_>> {
    if let Some(name) = message.strip_prefix("ReferenceError: ").and_then(|text| text.strip_suffix(" is not defined")) {
        return Some(Sought::Name(name));
    }
    if message == "TypeError: cannot convert 'null' or 'undefined' to object" {
        return Some(Sought::MethodCall);
    }
    toolbox::missing_name(message.strip_prefix("TypeError: ")?).map(Sought::Name)
}

/// Returns the engine's stack of an error, which the script cannot have changed.
fn stack(error: &JsValue, context: &mut Context) -> Option<String> {
    let getter = Session::of(context)?.stack_getter.get()?.clone();
    let stack = getter.call(error, &[], context).ok()?;
    stack.as_string().map(|stack| stack.to_std_string_lossy())
}

/// Returns the first position of a stack that is in the code of the model.
fn first_position(stack: &str, source: &ScriptSource) -> Option<CodePosition> {
    stack.lines().find_map(|frame| {
        let (_, place) = frame.rsplit_once(&format!("({FILE}:"))?;
        let (line, column) = place.strip_suffix(')')?.split_once(':')?;
        source.position(line.parse().ok()?, column.parse().ok()?)
    })
}
