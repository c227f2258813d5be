//! Finds what the arguments name, so that the sandbox can do no more than the approver approved.

use crate::call::rejection::Rejection;
use crate::reply::Code;
use crate::text::{OneLine, cut};
use crate::valid_call::ValidCall;
use portcullis_definitions::schema;
use portcullis_policy::{DependencyKey, Pointer};
use serde_json::{Map, Value};

/// Maximum length of an argument that a message repeats, in bytes.
const SHOWN_BYTES_MAX: usize = 256;

/// Returns what the arguments name. Returns none if the grant is not narrowed. Returns none also if the tool takes the
/// argument and the call omits it: an approval then covers the whole grant.
pub(super) fn wanted<'a>(
    pointer: Option<&Pointer>,
    key: &DependencyKey,
    call: &'a ValidCall,
) -> Result<Option<&'a str>, Rejection> {
    let Some(pointer) = pointer else { return Ok(None) };
    if let Some(text) = pointer.text(&call.arguments) {
        return Ok(Some(text));
    }
    let absent = is_absent(pointer, &call.arguments) && schema::declares(call.tool.schema(), pointer.argument());
    if absent { Ok(None) } else { Err(not_named(pointer, key, call)) }
}

fn is_absent(pointer: &Pointer, arguments: &Map<String, Value>) -> bool {
    arguments.get(pointer.argument()).is_none_or(Value::is_null)
}

fn not_named(pointer: &Pointer, key: &DependencyKey, call: &ValidCall) -> Rejection {
    let message = format!(
        "The policy narrows `{key}` to what the argument {pointer} names, and this call of {} passes no text there.",
        call.tool.name()
    );
    Rejection::new(Code::DependencyNotGranted, message)
}

/// Formats an argument for people and models, on one line and cut.
pub(super) fn shown(text: &str) -> String {
    OneLine(cut(text, SHOWN_BYTES_MAX)).to_string()
}
