//! Functions of strings that take time in proportion to the text.
//!
//! The engine searches from the start of the text for each match, so that splitting a megabyte into lines would take
//! longer than a call may. These functions replace it in the cases that scripts use on large texts, and call the
//! engine's own function in all others.

use boa_engine::builtins::regexp::RegExp;
use boa_engine::object::JsObject;
use boa_engine::object::builtins::{JsArray, JsFunction, JsRegExp};
use boa_engine::property::{PropertyDescriptor, PropertyKey};
use boa_engine::{Context, JsNativeError, JsResult, JsString, JsSymbol, JsValue, js_string};

use crate::native::{Native, function};
use crate::notation::own_data;

/// Replaces functions of the prototypes of strings and regular expressions.
pub(super) fn define(context: &mut Context) -> JsResult<()> {
    let string = context.intrinsics().constructors().string().prototype();
    for (name, native) in [("split", split as Native<JsFunction>), ("indexOf", index_of), ("replaceAll", replace_all)] {
        replace(&string, PropertyKey::from(js_string!(name)), name, native, context)?;
    }
    let regexp = context.intrinsics().constructors().regexp().prototype();
    let symbols = [
        (JsSymbol::split(), "[Symbol.split]", split_by_pattern as Native<JsFunction>),
        (JsSymbol::r#match(), "[Symbol.match]", with_wide_text),
        (JsSymbol::match_all(), "[Symbol.matchAll]", with_wide_text),
        (JsSymbol::replace(), "[Symbol.replace]", with_wide_text),
    ];
    for (symbol, name, native) in symbols {
        replace(&regexp, PropertyKey::from(symbol), name, native, context)?;
    }
    Ok(())
}

fn replace(
    prototype: &JsObject,
    key: PropertyKey,
    name: &str,
    native: Native<JsFunction>,
    context: &mut Context,
) -> JsResult<()> {
    let original = own_data(prototype, &key).and_then(|original| original.as_function());
    let Some(original) = original else {
        return Err(JsNativeError::typ().with_message(format!("the engine has no {name}")).into());
    };
    let property = PropertyDescriptor::builder()
        .value(function(name, context, native, original))
        .writable(true)
        .configurable(true);
    prototype.define_property_or_throw(key, property, context)?;
    Ok(())
}

/// Returns the first index of a text at or after a position.
pub(super) fn find(text: &JsString, sought: &JsString, from: usize) -> Option<usize> {
    let rest = text.as_str().get(from..)?;
    rest.index_of(sought.as_str(), 0).map(|index| index + from)
}

/// Returns the pieces of a text between the places of a separator, which is not empty.
fn pieces(text: &JsString, separator: &JsString) -> Vec<JsString> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while let Some(index) = find(text, separator, start) {
        pieces.push(text.slice(start, index));
        start = index + separator.len();
    }
    pieces.push(text.slice(start, text.len()));
    pieces
}

/// `String.prototype.split` with a text and without a limit.
fn split(this: &JsValue, arguments: &[JsValue], original: &JsFunction, context: &mut Context) -> JsResult<JsValue> {
    let separator = arguments.first().and_then(JsValue::as_string).filter(|separator| !separator.is_empty());
    match (this.as_string(), separator, arguments.get(1).is_none_or(JsValue::is_undefined)) {
        (Some(text), Some(separator), true) => {
            let pieces = pieces(&text, &separator).into_iter().map(JsValue::from);
            Ok(JsArray::from_iter(pieces, context).into())
        }
        _ => original.call(this, arguments, context),
    }
}

/// `String.prototype.indexOf` with a text and a position within the text.
fn index_of(this: &JsValue, arguments: &[JsValue], original: &JsFunction, context: &mut Context) -> JsResult<JsValue> {
    let sought = arguments.first().and_then(JsValue::as_string).filter(|sought| !sought.is_empty());
    let from = arguments.get(1).and_then(JsValue::as_i32).and_then(|from| usize::try_from(from).ok());
    match (this.as_string(), sought, from) {
        (Some(text), Some(sought), Some(from)) if from <= text.len() => Ok(find(&text, &sought, from)
            .and_then(|index| u32::try_from(index).ok())
            .map_or(JsValue::new(-1), JsValue::new)),
        _ => original.call(this, arguments, context),
    }
}

/// `String.prototype.replaceAll` with a text and a replacement without `$`.
fn replace_all(
    this: &JsValue,
    arguments: &[JsValue],
    original: &JsFunction,
    context: &mut Context,
) -> JsResult<JsValue> {
    let text = |index: usize| arguments.get(index).and_then(JsValue::as_string);
    let sought = text(0).filter(|sought| !sought.is_empty());
    let replacement = text(1).filter(|replacement| !replacement.contains(b'$'));
    let (Some(text), Some(sought), Some(replacement)) = (this.as_string(), sought, replacement) else {
        return original.call(this, arguments, context);
    };
    let pieces = pieces(&text, &sought);
    let mut parts = Vec::with_capacity(pieces.len() * 2);
    for piece in &pieces {
        if !parts.is_empty() {
            parts.push(replacement.as_str());
        }
        parts.push(piece.as_str());
    }
    Ok(JsString::concat_array(&parts).into())
}

/// `RegExp.prototype[Symbol.split]` without a limit. It searches from match to match, where the engine tries each
/// position of the text.
fn split_by_pattern(
    this: &JsValue,
    arguments: &[JsValue],
    original: &JsFunction,
    context: &mut Context,
) -> JsResult<JsValue> {
    let pattern = this.as_object().filter(|object| object.is::<RegExp>());
    let text = arguments.first().and_then(JsValue::as_string).filter(|text| !text.is_empty());
    let (Some(pattern), Some(text), true) = (pattern, text, arguments.get(1).is_none_or(JsValue::is_undefined)) else {
        return original.call(this, arguments, context);
    };
    let flags = JsRegExp::from_object(pattern.clone())?.flags(context)?;
    // A sticky pattern matches only at `lastIndex`, so it cannot search ahead.
    if flags.contains('y') {
        return original.call(this, arguments, context);
    }
    let flags = if flags.contains('g') { flags } else { format!("{flags}g") };
    // Search with a copy, because a search changes `lastIndex` of the script's own pattern.
    let constructor = context.intrinsics().constructors().regexp().constructor();
    let search = constructor.construct(&[pattern.into(), JsString::from(flags.as_str()).into()], None, context)?;
    let search = JsRegExp::from_object(search)?;
    let mut pieces: Vec<JsValue> = Vec::new();
    let (mut start, mut from) = (0, 0);
    // The engine copies a text of one byte per character for each search.
    let text = wide(&text);
    while from < text.len() {
        search.set(js_string!("lastIndex"), from, true, context)?;
        let Some(found) = search.exec(text.clone(), context)? else { break };
        let end = search.get(js_string!("lastIndex"), context)?.to_length(context)?;
        let end = usize::try_from(end).unwrap_or(usize::MAX).min(text.len());
        let index = own_data(&found, &PropertyKey::from(js_string!("index"))).and_then(|index| index.as_number());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of a text")]
        let index = index.unwrap_or_default() as usize;
        if index >= text.len() {
            break;
        }
        if end == start {
            from = end + 1;
            continue;
        }
        pieces.push(text.slice(start, index).into());
        for group in 1..found.length(context)? {
            pieces.push(found.get(group, context)?);
        }
        start = end;
        from = if end == index { end + 1 } else { end };
    }
    pieces.push(text.slice(start, text.len()).into());
    Ok(JsArray::from_iter(pieces, context).into())
}

/// Calls the engine's own function, which searches for all matches, with a text that it does not copy for each of them.
fn with_wide_text(
    this: &JsValue,
    arguments: &[JsValue],
    original: &JsFunction,
    context: &mut Context,
) -> JsResult<JsValue> {
    let mut arguments = arguments.to_vec();
    if let Some(text) = arguments.first().and_then(JsValue::as_string).filter(|text| text.as_str().is_latin1()) {
        arguments[0] = wide(&text).into();
    }
    original.call(this, &arguments, context)
}

/// Returns a text with two bytes per character, which the engine searches without a copy.
pub(crate) fn wide(text: &JsString) -> JsString {
    JsString::from(text.to_vec().as_slice())
}
