//! `console`: adds messages to those of the session.

use boa_engine::object::JsObject;
use boa_engine::property::Attribute;
use boa_engine::{Context, JsResult, JsValue, js_string};

use crate::console::MESSAGE_CHARACTERS_MAX;
use crate::native;
use crate::notation;
use crate::session::Session;

/// The functions that write a message. They differ in nothing that a model would miss.
const FUNCTIONS: [&str; 8] = ["log", "info", "warn", "error", "debug", "trace", "dir", "table"];

/// Defines `console`.
pub(super) fn define(context: &mut Context) -> JsResult<()> {
    let console = JsObject::with_null_proto();
    for name in FUNCTIONS {
        let function = native::function(name, context, |_, arguments, _, context| log(arguments, context), ());
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
