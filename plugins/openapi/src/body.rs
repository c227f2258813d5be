//! The body of a request: its media type, and how a form is encoded.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{Map, Value};

use crate::document::Document;
use crate::serialization::{Encoding, Expansion, ParameterStyle, plain};

/// Media types of a body, the preferred one first.
const MEDIA_TYPES: [&str; 3] = [JSON, FORM, TEXT];

const FORM: &str = "application/x-www-form-urlencoded";

const TEXT: &str = "text/plain";

const JSON: &str = "application/json";

/// Ranges of media types that include JSON.
const RANGES_WITH_JSON: [&str; 2] = ["application/*", "*/*"];

/// Media types that an error names.
const MEDIA_TYPES_SHOWN_MAX: usize = 5;

/// The body of a request.
#[derive(Debug)]
pub(crate) struct RequestBody<'a> {
    pub(crate) media_type: &'a str,
    pub(crate) schema: Option<&'a Value>,
    /// How the fields of a form are encoded.
    pub(crate) encoding: Option<&'a Value>,
    pub(crate) is_required: bool,
}

impl<'a> RequestBody<'a> {
    /// Reads the body of an operation, in the first media type that the plugin can send.
    pub(crate) fn read(document: &'a Document, operation: &'a Value) -> Result<Option<Self>, String> {
        let Some(body) = operation.get("requestBody") else { return Ok(None) };
        let body = document.resolve(body)?;
        let is_required = body.get("required") == Some(&Value::Bool(true));
        // An operation works without an optional body that cannot be sent, but not without a required one.
        let none = |reason: String| if is_required { Err(reason) } else { Ok(None) };
        let Some(content) = body.get("content").and_then(Value::as_object).filter(|content| !content.is_empty()) else {
            return none("its required body has no media type".to_owned());
        };
        let Some((media_type, media)) = chosen(content) else {
            let names: Vec<&str> = content.keys().map(String::as_str).take(MEDIA_TYPES_SHOWN_MAX).collect();
            return none(format!("its body is only {}, which the plugin cannot send", names.join(", ")));
        };
        // The media type becomes a header of the request.
        if !media_type.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Err("its media type has invalid characters".to_owned());
        }
        let media = document.resolve(media)?;
        Ok(Some(Self { media_type, schema: media.get("schema"), encoding: media.get("encoding"), is_required }))
    }

    /// Returns a value as the bytes of the body.
    pub(crate) fn bytes(&self, value: &Value) -> Result<Vec<u8>, Failure> {
        Ok(match essence(self.media_type).as_str() {
            FORM => self.form(value)?.into_bytes(),
            TEXT => plain(value).into_bytes(),
            _ => value.to_string().into_bytes(),
        })
    }

    fn form(&self, value: &Value) -> Result<String, Failure> {
        let Value::Object(fields) = value else {
            return Err(Failure::invalid("body must be an object of form fields"));
        };
        let fields = fields.iter().filter(|(_, field)| !field.is_null());
        let pairs = fields.flat_map(|(name, field)| self.pairs(name, field));
        Ok(pairs.collect::<Vec<_>>().join("&"))
    }

    fn pairs(&self, name: &str, field: &Value) -> Vec<String> {
        let encoding = self.encoding.and_then(|encoding| encoding.get(name));
        let text = |key: &str| encoding?.get(key)?.as_str();
        let flag = |key: &str| encoding?.get(key)?.as_bool();
        let is_styled = text("style").is_some() || flag("explode").is_some() || flag("allowReserved").is_some();
        let is_json = text("contentType").is_some_and(is_json);
        // An object without a style is one field with JSON, which is the default of OpenAPI.
        let json = ((field.is_object() && !is_styled) || is_json).then(|| Value::String(field.to_string()));
        let style = text("style").and_then(ParameterStyle::parse).unwrap_or(ParameterStyle::Form);
        let explode = flag("explode").unwrap_or(style == ParameterStyle::Form);
        let encoding = match flag("allowReserved") {
            Some(true) => Encoding::Reserved,
            Some(false) | None => Encoding::Unreserved,
        };
        Expansion { name, style, explode, encoding }.pairs(json.as_ref().unwrap_or(field))
    }
}

fn chosen(content: &Map<String, Value>) -> Option<(&str, &Value)> {
    let of = |wanted: &str| content.iter().find(|(name, _)| essence(name) == wanted);
    let named = MEDIA_TYPES.into_iter().find_map(of).or_else(|| content.iter().find(|(name, _)| is_json(name)));
    let named = named.map(|(name, media)| (name.as_str(), media));
    named.or_else(|| RANGES_WITH_JSON.into_iter().find_map(of).map(|(_, media)| (JSON, media)))
}

/// Returns whether a media type is JSON.
pub(crate) fn is_json(media_type: &str) -> bool {
    let essence = essence(media_type);
    essence == JSON || essence.ends_with("+json")
}

/// Returns a media type in lower case, without its parameters.
pub(crate) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_form_are_encoded_as_the_document_says() {
        let encoding = json!({
            "deep": { "style": "deepObject", "explode": true }, "flat": { "explode": true },
            "json": { "contentType": "application/json" }, "list": { "explode": false },
        });
        let body = RequestBody { media_type: FORM, schema: None, encoding: Some(&encoding), is_required: true };
        let value = json!({
            "a b": "c&d=é", "deep": { "x": [1, { "y": 2 }] }, "flat": { "p": 1 }, "json": [1], "list": [1, 2],
            "more": [1, 2], "none": null, "object": { "q": 1 },
        });
        let expected = "a%20b=c%26d%3D%C3%A9&deep%5Bx%5D%5B0%5D=1&deep%5Bx%5D%5B1%5D%5By%5D=2&p=1&json=%5B1%5D&\
                        list=1,2&more=1&more=2&object=%7B%22q%22%3A1%7D";
        assert_eq!(String::from_utf8(body.bytes(&value).unwrap()).unwrap(), expected);
        assert!(body.bytes(&json!("a=b")).is_err());
    }
}
