//! The answer of a call as a value of the script: a result, or the error to reject with.

use boa_engine::object::JsObject;
use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, JsResult, JsString, JsValue, js_string};
use data_encoding::BASE64;
use portcullis_sdk::Output;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

use crate::queue::QueuedCall;
use crate::realm::strings::wide;

/// Settles the promise of a call.
///
/// # Errors
/// Code of the script that runs here has exceeded a limit of the engine.
pub(crate) fn deliver(queued: &QueuedCall, answer: Result<Success, Failure>, context: &mut Context) -> JsResult<()> {
    let QueuedCall { call, resolvers, error } = queued;
    let (settle, value) = match answer {
        Ok(success) => (&resolvers.resolve, value(success.output, context)?),
        Err(failure) => (&resolvers.reject, reason(error, &call.tool, &failure)),
    };
    // Resolving reads `then` of the value, which the script can have defined for all objects.
    settle.call(&JsValue::undefined(), &[value], context)?;
    Ok(())
}

/// Converts an output: text to a string, JSON to its value, parts to an array of objects.
fn value(output: Output, context: &mut Context) -> JsResult<JsValue> {
    match output {
        Output::Text(text) => Ok(wide(&JsString::from(text.as_str())).into()),
        Output::Json(json) => JsValue::from_json(&json, context),
        Output::Parts(parts) => {
            let parts: Vec<Value> = parts.into_iter().map(part).collect();
            JsValue::from_json(&Value::Array(parts), context)
        }
    }
}

fn part(part: Part) -> Value {
    let blob = |kind: &str, Blob { name, media_type, data }: Blob| {
        let mut value = json!({ "type": kind, "mediaType": media_type, "data": BASE64.encode(&data) });
        if let Some(name) = name {
            value["name"] = Value::String(name);
        }
        value
    };
    match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Image(image) => blob("image", image),
        Part::File(file) => blob("file", file),
    }
}

/// Creates an error that has the position of the running code.
pub(crate) fn error_here(context: &mut Context) -> JsResult<JsObject> {
    let constructor = context.intrinsics().constructors().error().constructor();
    constructor.construct(&[], None, context)
}

/// Gives an error the kind of a failure as its name, and the text as its message.
pub(crate) fn reason(error: &JsObject, tool: &str, failure: &Failure) -> JsValue {
    let name = match failure {
        Failure::InvalidArguments(_) => "InvalidArguments",
        Failure::Denied(_) => "Denied",
        Failure::Unavailable(_) => "Unavailable",
        Failure::Cancelled => "Cancelled",
        Failure::Failed(_) => "Failed",
    };
    for (key, text) in [("name", name), ("message", failure.text()), ("tool", tool)] {
        let property = PropertyDescriptor::builder()
            .value(JsString::from(text))
            .writable(true)
            .enumerable(false)
            .configurable(true);
        // Insert the property directly, because an assignment could run a setter of the script.
        error.insert_property(js_string!(key), property);
    }
    error.clone().into()
}
