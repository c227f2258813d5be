//! The request of a call: its URL, headers and body.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{Map, Value};

use crate::operation::Operation;
use crate::parameter::{BODY, Parameter, ParameterLocation};
use crate::serialization::{Encoding, Expansion};

/// What the tools can show.
const ACCEPT: &str = "application/json, text/*;q=0.8, */*;q=0.5";

/// Builds the request of a call.
pub(crate) fn build(operation: &Operation<'_>, arguments: &Map<String, Value>) -> Result<Request, Failure> {
    let mut path = operation.path.to_owned();
    let (mut query, mut cookies, mut headers) = (Vec::new(), Vec::new(), Vec::new());
    for parameter in &operation.parameters {
        let Some(value) = arguments.get(&parameter.argument).filter(|value| !value.is_null()) else {
            if parameter.is_required {
                return Err(Failure::invalid(format!("{} is missing", parameter.argument)));
            }
            continue;
        };
        let expansion = expansion(parameter);
        let json = parameter.is_json.then(|| Value::String(value.to_string()));
        let value = json.as_ref().unwrap_or(value);
        match parameter.location {
            ParameterLocation::Path => {
                path = path.replace(&format!("{{{}}}", parameter.name), &in_path(&expansion, value)?);
            }
            ParameterLocation::Query => query.extend(expansion.pairs(value)),
            ParameterLocation::Cookie => cookies.extend(expansion.pairs(value)),
            ParameterLocation::Header => headers.push((parameter.name, in_header(&expansion, value)?)),
        }
    }
    // Check the whole path and not each value: in `{a}{b}`, two values of one dot make a segment of two.
    check_segments(&path)?;
    let mut url = format!("{}{path}", operation.server);
    if !query.is_empty() {
        // The path in the document can have a query of its own.
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str(&query.join("&"));
    }
    let mut request = Request::new(operation.method, url).header("accept", ACCEPT);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    if !cookies.is_empty() {
        request = request.header("cookie", cookies.join("; "));
    }
    match (&operation.body, arguments.get(BODY)) {
        (Some(body), Some(value)) => Ok(request.header("content-type", body.media_type).body(body.bytes(value)?)),
        // The host has checked the arguments against the schema, so a required body is there.
        _ => Ok(request),
    }
}

fn expansion<'a>(parameter: &Parameter<'a>) -> Expansion<'a> {
    let encoding = match parameter.location {
        ParameterLocation::Header => Encoding::Verbatim,
        ParameterLocation::Path if parameter.allows_reserved => Encoding::Segments,
        ParameterLocation::Query if parameter.allows_reserved => Encoding::Reserved,
        ParameterLocation::Path | ParameterLocation::Query | ParameterLocation::Cookie => Encoding::Unreserved,
    };
    Expansion { name: parameter.name, style: parameter.style, explode: parameter.explode, encoding }
}

/// Returns the text of a path parameter. Braces are encoded, so a value cannot become another placeholder.
fn in_path(expansion: &Expansion<'_>, value: &Value) -> Result<String, Failure> {
    let text = expansion.text(value);
    if text.is_empty() {
        return Err(Failure::invalid(format!("{} is empty, but it is a part of the path", expansion.name)));
    }
    Ok(text)
}

fn in_header(expansion: &Expansion<'_>, value: &Value) -> Result<String, Failure> {
    let text = expansion.text(value);
    if !text.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)) {
        let name = expansion.name;
        return Err(Failure::invalid(format!("{name} is a header: it can have only visible ASCII characters")));
    }
    Ok(text)
}

/// Refuses segments that a client or a server would remove together with others.
fn check_segments(path: &str) -> Result<(), Failure> {
    let path = path.split('?').next().unwrap_or_default();
    match path.split('/').find(|segment| matches!(*segment, "." | "..")) {
        Some(segment) => Err(Failure::invalid(format!("a segment of the path cannot be {segment:?}"))),
        None => Ok(()),
    }
}
