//! Values of a script as JSON text.
//!
//! Reading a value never runs code of the script: getters and `toJSON` are not called, and a proxy is not entered.
//! Arguments of a call must be plain data, and anything else is refused. A value that is shown may be anything; what
//! JSON cannot express is described in a string, such as `"[Function f]"`.

mod describe;
mod writer;

use boa_engine::{Context, JsValue};

use writer::{Style, Writer};

pub(crate) use describe::{error_text, own_data, shortened};
pub(crate) use writer::Refusal;

/// Maximum bytes of the arguments of one call. The host's limit is lower in most policies; this one bounds the memory.
const ARGUMENTS_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Writes the arguments of a call.
///
/// # Errors
/// The value is not an object of plain data, or it is too large or too deep.
pub(crate) fn arguments(value: &JsValue, context: &mut Context) -> Result<String, Refusal> {
    let mut writer = Writer::new(Style::Arguments, ARGUMENTS_BYTES_MAX, context);
    match value.as_object() {
        Some(object) if !object.is_array() => writer.value(value)?,
        _ => return Err(Refusal(format!("the argument must be one object, not {}", describe::kind(value)))),
    }
    Ok(writer.finish())
}

/// Returns a value as text to read, in about `bytes_max` bytes: a string as it is, everything else as JSON.
pub(crate) fn text(value: &JsValue, bytes_max: usize, context: &mut Context) -> String {
    if let Some(string) = value.as_string() {
        return string.to_std_string_lossy();
    }
    if value.is_undefined() {
        return "undefined".to_owned();
    }
    let mut writer = Writer::new(Style::Shown, bytes_max, context);
    match writer.value(value) {
        Ok(()) => writer.finish(),
        Err(Refusal(text)) => text,
    }
}
