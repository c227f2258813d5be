//! Writes one value as JSON.

use std::fmt::Write as _;

use boa_engine::object::JsObject;
use boa_engine::object::builtins::{JsDate, JsMap, JsSet};
use boa_engine::property::PropertyKey;
use boa_engine::{Context, JsString, JsValue, JsVariant, js_string};
use portcullis_sdk::serde_json::Value;

use super::describe::{self, ObjectKind, own_data, shortened};

/// Maximum depth of a value. A host reads arguments to about twice this depth.
const DEPTH_MAX: usize = 64;

/// Why a value cannot be an argument. The text is for the model.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) String);

/// How to write what JSON cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Refuse it.
    Arguments,
    /// Describe it.
    Shown,
}

pub(super) struct Writer<'a> {
    style: Style,
    bytes_max: usize,
    context: &'a mut Context,
    text: String,
    /// The objects that contain the current value.
    parents: Vec<JsObject>,
    /// The path of the current value, such as `.edits[0].old`, for errors.
    path: String,
}

impl<'a> Writer<'a> {
    pub(super) fn new(style: Style, bytes_max: usize, context: &'a mut Context) -> Self {
        Self { style, bytes_max, context, text: String::new(), parents: Vec::new(), path: String::new() }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    pub(super) fn value(&mut self, value: &JsValue) -> Result<(), Refusal> {
        match value.variant() {
            JsVariant::Null => self.text.push_str("null"),
            JsVariant::Boolean(boolean) => self.text.push_str(if boolean { "true" } else { "false" }),
            JsVariant::Integer32(number) => {
                // Writing to a string cannot fail.
                let _ = write!(self.text, "{number}");
            }
            JsVariant::Float64(number) if number.is_finite() => self.number(value)?,
            JsVariant::Float64(number) => self.other(&number.to_string(), "", value)?,
            JsVariant::String(string) => self.string(&string)?,
            JsVariant::Object(object) => self.object(&object, value)?,
            JsVariant::BigInt(number) => {
                self.other(&format!("{number}n"), "use a number or a string", value)?;
            }
            JsVariant::Symbol(symbol) => {
                self.other(&symbol.descriptive_string().to_std_string_lossy(), "", value)?;
            }
            // Only an element of an array arrives here: it keeps its place, as with `JSON.stringify`.
            JsVariant::Undefined => self.text.push_str("null"),
        }
        self.check_size()
    }

    /// Writes a number as JavaScript writes it.
    fn number(&mut self, value: &JsValue) -> Result<(), Refusal> {
        let text = value.to_string(self.context).map_err(|_| self.refusal(value, ""))?;
        self.text.push_str(&text.to_std_string_lossy());
        Ok(())
    }

    fn string(&mut self, string: &JsString) -> Result<(), Refusal> {
        let text = match (string.to_std_string(), self.style) {
            (Ok(text), _) => text,
            (Err(_), Style::Shown) => string.to_std_string_lossy(),
            (Err(_), Style::Arguments) => {
                return Err(Refusal(format!("{} has half of a surrogate pair, which is no text", self.place())));
            }
        };
        self.quoted(&text);
        Ok(())
    }

    fn quoted(&mut self, text: &str) {
        self.text.push_str(&Value::from(text).to_string());
    }

    fn object(&mut self, object: &JsObject, value: &JsValue) -> Result<(), Refusal> {
        if self.parents.iter().any(|parent| JsObject::equals(parent, object)) {
            return self.other("[Circular]", "it contains itself", value);
        }
        if self.parents.len() == DEPTH_MAX {
            return self.other("[…]", &format!("it is nested more than {DEPTH_MAX} levels deep"), value);
        }
        self.parents.push(object.clone());
        let written = self.content(object, value);
        self.parents.pop();
        written
    }

    fn content(&mut self, object: &JsObject, value: &JsValue) -> Result<(), Refusal> {
        match ObjectKind::of(object) {
            ObjectKind::Plain => self.members(object),
            ObjectKind::Array => self.elements(object),
            ObjectKind::Date => self.date(object, value),
            ObjectKind::Map if self.style == Style::Shown => {
                let mut entries = Vec::new();
                if let Ok(map) = JsMap::from_object(object.clone()) {
                    // The function collects and does not fail.
                    let _ = map.for_each_native(|key, value| {
                        entries.push((key, value));
                        Ok(())
                    });
                }
                self.entries(&entries)
            }
            ObjectKind::Set if self.style == Style::Shown => {
                let mut items = Vec::new();
                if let Ok(set) = JsSet::from_object(object.clone()) {
                    // As above.
                    let _ = set.for_each_native(|item| {
                        items.push(item);
                        Ok(())
                    });
                }
                self.list(items.into_iter())
            }
            ObjectKind::Map => self.other("", "use Object.fromEntries(map)", value),
            ObjectKind::Set => self.other("", "use [...set]", value),
            ObjectKind::Other(description) => {
                let hint = if value.is_promise() { "write `await` before it" } else { "pass plain data" };
                self.other(&description, hint, value)
            }
        }
    }

    fn members(&mut self, object: &JsObject) -> Result<(), Refusal> {
        let keys =
            object.own_property_keys(self.context).map_err(|_| Refusal(format!("cannot read {}", self.place())))?;
        self.text.push('{');
        let mut first = true;
        for key in keys {
            let Some(name) = name(&key) else { continue };
            let Some(property) = object.borrow().properties().get(&key) else { continue };
            if !property.expect_enumerable() {
                continue;
            }
            let length = self.path.len();
            let _ = write!(self.path, ".{name}");
            let value = match property.value() {
                Some(value) if value.is_undefined() => None,
                Some(value) => Some(value.clone()),
                None => self.getter()?,
            };
            if let Some(value) = value {
                if !first {
                    self.text.push(',');
                }
                first = false;
                self.quoted(&name);
                self.text.push(':');
                self.value(&value)?;
            }
            self.path.truncate(length);
        }
        self.text.push('}');
        Ok(())
    }

    fn getter(&self) -> Result<Option<JsValue>, Refusal> {
        match self.style {
            Style::Arguments => Err(Refusal(format!("{} is a getter; pass its value", self.place()))),
            Style::Shown => Ok(Some(js_string!("[Getter]").into())),
        }
    }

    /// Writes an array. Only its own elements count, whatever the script has done to `Array.prototype`.
    fn elements(&mut self, array: &JsObject) -> Result<(), Refusal> {
        let length = own_data(array, &PropertyKey::from(js_string!("length")));
        let length = length.and_then(|length| length.as_number()).unwrap_or_default();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a length is an integer of 32 bits"
        )]
        let length = length as u32;
        let array = array.clone();
        // An array can claim four billion elements without having one. `check_size` ends the loop long before that.
        self.list((0..length).map(move |index| own_data(&array, &PropertyKey::from(index)).unwrap_or_default()))
    }

    fn list(&mut self, items: impl Iterator<Item = JsValue>) -> Result<(), Refusal> {
        self.text.push('[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            let length = self.path.len();
            let _ = write!(self.path, "[{index}]");
            self.value(&item)?;
            self.path.truncate(length);
        }
        self.text.push(']');
        Ok(())
    }

    /// Writes a map as pairs of key and value.
    fn entries(&mut self, entries: &[(JsValue, JsValue)]) -> Result<(), Refusal> {
        self.text.push('[');
        for (index, (key, value)) in entries.iter().enumerate() {
            self.text.push_str(if index > 0 { ",[" } else { "[" });
            self.value(key)?;
            self.text.push(',');
            self.value(value)?;
            self.text.push(']');
        }
        self.text.push(']');
        Ok(())
    }

    fn date(&mut self, object: &JsObject, value: &JsValue) -> Result<(), Refusal> {
        let iso = JsDate::from_object(object.clone()).and_then(|date| date.to_iso_string(self.context));
        match iso.ok().and_then(|iso| iso.as_string()) {
            Some(iso) => self.string(&iso),
            None => self.other("[Invalid Date]", "it is an invalid date", value),
        }
    }

    /// Writes a description of what JSON cannot express, or refuses it.
    fn other(&mut self, description: &str, hint: &str, value: &JsValue) -> Result<(), Refusal> {
        match self.style {
            Style::Arguments => Err(self.refusal(value, hint)),
            Style::Shown => {
                self.quoted(description);
                Ok(())
            }
        }
    }

    fn refusal(&self, value: &JsValue, hint: &str) -> Refusal {
        let mut text = match value.as_number() {
            Some(number) => format!("{} is {number}, which JSON cannot express", self.place()),
            None => format!("{} is {}", self.place(), describe::kind(value)),
        };
        if !hint.is_empty() {
            let _ = write!(text, "; {hint}");
        }
        Refusal(text)
    }

    /// Returns the path of the current value, for an error.
    fn place(&self) -> String {
        match self.path.strip_prefix('.').unwrap_or(&self.path) {
            "" => "the argument".to_owned(),
            path => format!("`{}`", shortened(path, 100)),
        }
    }

    /// Ends a value that is too large: arguments with an error, and a shown value with what there is of it.
    fn check_size(&mut self) -> Result<(), Refusal> {
        if self.text.len() <= self.bytes_max {
            return Ok(());
        }
        Err(match self.style {
            Style::Arguments => Refusal(format!("the arguments have more than {} bytes", self.bytes_max)),
            Style::Shown => {
                let mut end = self.bytes_max;
                while !self.text.is_char_boundary(end) {
                    end -= 1;
                }
                Refusal(format!("{}… [cut at {end} bytes]", &self.text[..end]))
            }
        })
    }
}

/// Returns a key as text, or `None` for a symbol.
fn name(key: &PropertyKey) -> Option<String> {
    match key {
        PropertyKey::String(name) => Some(name.to_std_string_lossy()),
        PropertyKey::Index(index) => Some(index.get().to_string()),
        PropertyKey::Symbol(_) => None,
    }
}
