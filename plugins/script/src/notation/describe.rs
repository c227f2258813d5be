//! What a value is, in a few words, for what JSON cannot express.

use boa_engine::builtins::date::Date;
use boa_engine::builtins::error::Error;
use boa_engine::builtins::proxy::Proxy;
use boa_engine::builtins::regexp::RegExp;
use boa_engine::object::JsObject;
use boa_engine::object::builtins::{JsMap, JsSet};
use boa_engine::property::PropertyKey;
use boa_engine::{JsString, JsValue, JsVariant, js_string};

/// Maximum prototypes to look at for a name. A class hierarchy is not deeper.
const PROTOTYPES_MAX: usize = 16;

/// Maximum errors of an `AggregateError` to list.
const ERRORS_SHOWN_MAX: u32 = 5;

/// Maximum errors in each other to describe.
const CAUSES_DEPTH_MAX: usize = 3;

/// Returns the value of an own data property, without running code.
pub(crate) fn own_data(object: &JsObject, key: &PropertyKey) -> Option<JsValue> {
    object.borrow().properties().get(key).and_then(|property| property.value().cloned())
}

/// What an object is, as far as it matters for JSON.
pub(crate) enum ObjectKind {
    Plain,
    Array,
    Date,
    Map,
    Set,
    /// Anything else, with a description such as `[Function f]`.
    Other(String),
}

impl ObjectKind {
    pub(crate) fn of(object: &JsObject) -> Self {
        // This comes first, because a proxy of a function would pass for the function.
        if object.is::<Proxy>() {
            return Self::Other("[Proxy]".to_owned());
        }
        if object.is_callable() {
            let name = data(object, &js_string!("name")).and_then(|name| name.as_string());
            let name = name.map_or_else(String::new, |name| format!(" {}", name.to_std_string_lossy()));
            return Self::Other(format!("[Function{}]", if name == " " { "" } else { &name }));
        }
        if object.is_array() {
            return Self::Array;
        }
        if object.is::<Date>() {
            return Self::Date;
        }
        if object.is::<Error>() {
            return Self::Other(error_text(object));
        }
        if JsMap::from_object(object.clone()).is_ok() {
            return Self::Map;
        }
        if JsSet::from_object(object.clone()).is_ok() {
            return Self::Set;
        }
        if object.is::<RegExp>() || !object.is_ordinary() {
            return Self::Other(format!("[{}]", class(object)));
        }
        Self::Plain
    }
}

/// Returns what a value is, for an error: `a string`, `a Promise`.
pub(crate) fn kind(value: &JsValue) -> String {
    match value.variant() {
        JsVariant::Null => "null".to_owned(),
        JsVariant::Undefined => "undefined".to_owned(),
        JsVariant::Boolean(_) => "a boolean".to_owned(),
        JsVariant::String(_) => "a string".to_owned(),
        JsVariant::Float64(_) | JsVariant::Integer32(_) => "a number".to_owned(),
        JsVariant::BigInt(_) => "a BigInt".to_owned(),
        JsVariant::Symbol(_) => "a symbol".to_owned(),
        JsVariant::Object(object) => match ObjectKind::of(&object) {
            ObjectKind::Plain => "an object".to_owned(),
            ObjectKind::Array => "an array".to_owned(),
            ObjectKind::Date => "a Date".to_owned(),
            ObjectKind::Map => "a Map".to_owned(),
            ObjectKind::Set => "a Set".to_owned(),
            ObjectKind::Other(_) if object.is_callable() => "a function".to_owned(),
            ObjectKind::Other(_) if object.is::<Proxy>() => "a Proxy".to_owned(),
            ObjectKind::Other(_) => format!("a {}", class(&object)),
        },
    }
}

/// Returns the name, the tool and the message of an error: `Denied (files.write): no rule allows it`.
pub(crate) fn error_text(error: &JsObject) -> String {
    error_text_within(error, CAUSES_DEPTH_MAX)
}

fn error_text_within(error: &JsObject, depth: usize) -> String {
    let read = |key: &str| data(error, &JsString::from(key)).and_then(|value| value.as_string());
    let read = |key: &str| read(key).map(|text| text.to_std_string_lossy()).filter(|text| !text.is_empty());
    let mut text = match read("name") {
        Some(name) if name != "Error" => name,
        _ => class(error),
    };
    if let Some(tool) = read("tool") {
        text.push_str(&format!(" ({tool})"));
    }
    if let Some(message) = read("message") {
        text.push_str(&format!(": {message}"));
    }
    let errors = own_data(error, &PropertyKey::from(js_string!("errors"))).and_then(|errors| errors.as_object());
    if let Some(errors) = errors.filter(|errors| errors.is_array() && depth > 0) {
        let inner = (0..ERRORS_SHOWN_MAX).filter_map(|index| own_data(&errors, &PropertyKey::from(index)));
        for inner in inner.filter_map(|inner| inner.as_object()).filter(JsObject::is::<Error>) {
            text.push_str(&format!("\n  {}", error_text_within(&inner, depth - 1).replace('\n', "\n  ")));
        }
    }
    text
}

/// Returns the name of the class of an object, or `Object`.
fn class(object: &JsObject) -> String {
    let constructor = data(object, &js_string!("constructor")).and_then(|constructor| constructor.as_object());
    let name = constructor.and_then(|constructor| own_data(&constructor, &PropertyKey::from(js_string!("name"))));
    let name = name.and_then(|name| name.as_string()).map(|name| name.to_std_string_lossy());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "Object".to_owned())
}

/// Returns the value of a data property of an object or its prototypes, without running code.
fn data(object: &JsObject, key: &JsString) -> Option<JsValue> {
    let key = PropertyKey::from(key.clone());
    let mut object = object.clone();
    for _ in 0..PROTOTYPES_MAX {
        let property = object.borrow().properties().get(&key);
        if let Some(property) = property {
            return property.value().cloned();
        }
        let prototype = object.prototype();
        object = prototype?;
    }
    None
}

/// Shortens a text to a number of characters, and says how many are missing.
pub(crate) fn shortened(text: &str, characters_max: usize) -> String {
    match text.char_indices().nth(characters_max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… [{} more characters]", &text[..end], text[end..].chars().count()),
    }
}
