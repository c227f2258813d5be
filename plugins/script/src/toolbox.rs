//! The object `tools`: one function for each tool.
//!
//! A function turns its argument into JSON at once, without running code of the script. Whatever the script changes
//! later, in the argument or in the prototypes of its realm, the queued call stays the same.

use std::collections::BTreeMap;

use boa_engine::object::builtins::JsPromise;
use boa_engine::object::{IntegrityLevel, JsObject};
use boa_engine::property::{Attribute, PropertyDescriptor, PropertyKey};
use boa_engine::{Context, JsNativeError, JsResult, JsString, JsValue, js_string};
use portcullis_sdk::prelude::*;

use crate::native;
use crate::notation;
use crate::queue::{QUEUED_CALLS_MAX, QueuedCall};
use crate::reply;
use crate::session::Session;

/// Maximum names in the error about a tool that does not exist.
const NAMES_SHOWN_MAX: usize = 30;

/// How the error about an unknown name begins.
const NO_TOOL: &str = "There is no tool";

/// Names that the language or a habit reads from any object. They are not taken for tools.
const ORDINARY: [&str; 8] =
    ["then", "toJSON", "constructor", "prototype", "toString", "valueOf", "length", "asymmetricMatch"];

/// Defines `tools` with the tools of these full names.
pub(crate) fn define(names: &[String], context: &mut Context) -> JsResult<()> {
    let mut plugins: BTreeMap<&str, Vec<(&str, JsValue)>> = BTreeMap::new();
    for name in names {
        let Some((plugin, tool)) = name.split_once('.') else { continue };
        let function = native::function(tool, context, call, name.clone());
        plugins.entry(plugin).or_default().push((tool, function.into()));
    }
    let mut members = Vec::new();
    for (plugin, tools) in plugins {
        members.push((plugin, toolbox(&tools, format!("{plugin}."), context)?.into()));
    }
    let tools = toolbox(&members, String::new(), context)?;
    // Without attributes, the script can neither replace nor remove the object.
    context.register_global_property(js_string!("tools"), tools, Attribute::empty())
}

/// Creates a frozen object with these members, which refuses unknown names.
fn toolbox(members: &[(&str, JsValue)], prefix: String, context: &mut Context) -> JsResult<JsObject> {
    let object = JsObject::with_null_proto();
    for (name, value) in members {
        object.create_data_property_or_throw(JsString::from(*name), value.clone(), context)?;
    }
    for (name, value) in members {
        let alias = camel_case(name);
        if !members.iter().any(|(other, _)| *other == alias) {
            // The alias is not enumerable, so that a list of the members has each tool once.
            let alias_property = PropertyDescriptor::builder().value(value.clone()).enumerable(false);
            object.define_property_or_throw(JsString::from(alias), alias_property, context)?;
        }
    }
    object.set_integrity_level(IntegrityLevel::Frozen, context)?;
    // The handler has no prototype, so that a script cannot add traps to it.
    let handler = JsObject::with_null_proto();
    let known: Vec<&str> = members.iter().map(|(name, _)| *name).take(NAMES_SHOWN_MAX).collect();
    let get = native::function("get", context, get, (prefix, known.join(", ")));
    handler.create_data_property_or_throw(js_string!("get"), get, context)?;
    let proxy = context.intrinsics().constructors().proxy().constructor();
    proxy.construct(&[object.into(), handler.into()], None, context)
}

/// Returns `readAll` for `read-all`.
pub(crate) fn camel_case(name: &str) -> String {
    let mut parts = name.split('-');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut characters = part.chars();
        camel.extend(characters.next().map(|first| first.to_ascii_uppercase()));
        camel.extend(characters);
    }
    camel
}

/// Reads a member of a toolbox. The captures are the name of the toolbox with a dot, and its members.
fn get(
    _: &JsValue,
    arguments: &[JsValue],
    (prefix, known): &(String, String),
    context: &mut Context,
) -> JsResult<JsValue> {
    let target = arguments.first().and_then(JsValue::as_object);
    let key = arguments.get(1).cloned().unwrap_or_default().to_property_key(context)?;
    if let Some(value) = target.and_then(|target| notation::own_data(&target, &key)) {
        return Ok(value);
    }
    let PropertyKey::String(name) = &key else { return Ok(JsValue::undefined()) };
    let name = name.to_std_string_lossy();
    if ORDINARY.contains(&name.as_str()) {
        return Ok(JsValue::undefined());
    }
    let message = match (prefix.strip_suffix('.'), known.as_str()) {
        (_, "") => "No tool can be called: the policy binds none, or none is allowed.".to_owned(),
        (None, known) => format!("{NO_TOOL} `tools.{name}`. There are: {known}."),
        (Some(plugin), known) => format!("{NO_TOOL} `{plugin}.{name}`. Tools of `{plugin}`: {known}."),
    };
    Err(JsNativeError::typ().with_message(message).into())
}

/// Returns the name that an error about an unknown name is about.
pub(crate) fn missing_name(message: &str) -> Option<&str> {
    let (full_name, _) = message.strip_prefix(NO_TOOL)?.strip_prefix(" `")?.split_once('`')?;
    full_name.rsplit_once('.').map(|(_, name)| name)
}

/// Queues a call, and returns the promise of its answer. Nothing in here runs code of the script.
#[expect(clippy::ptr_arg, reason = "the type of what the function captures")]
fn call(_: &JsValue, arguments: &[JsValue], tool: &String, context: &mut Context) -> JsResult<JsValue> {
    let Some(session) = Session::of(context) else { return Ok(JsValue::undefined()) };
    let (promise, resolvers) = JsPromise::new_pending(context);
    // An error has the position where it is created, so create it while the script makes the call.
    let error = reply::error_here(context)?;
    match prepare(tool, arguments, &session, context) {
        Ok(call) => session.queue.borrow_mut().push(QueuedCall { call, resolvers, error }),
        Err(failure) => {
            let reason = reply::reason(&error, tool, &failure);
            resolvers.reject.call(&JsValue::undefined(), &[reason], context)?;
        }
    }
    Ok(promise.into())
}

fn prepare(tool: &str, arguments: &[JsValue], session: &Session, context: &mut Context) -> Result<ToolCall, Failure> {
    if session.queue.borrow().len() == QUEUED_CALLS_MAX {
        let text = format!("{QUEUED_CALLS_MAX} calls are waiting. Await some of them before you make more.");
        return Err(Failure::failed(text));
    }
    let arguments = match arguments {
        [] => "{}".to_owned(),
        [argument] if argument.is_undefined() => "{}".to_owned(),
        [argument] => notation::arguments(argument, context).map_err(|refusal| Failure::invalid(refusal.0))?,
        _ => return Err(Failure::invalid(format!("`{tool}` takes one object: write `{{ name: value }}`."))),
    };
    Ok(ToolCall { tool: tool.to_owned(), arguments })
}
