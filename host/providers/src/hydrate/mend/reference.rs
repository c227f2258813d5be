//! Where a reference of a schema leads. Those of a loaded plugin all lead somewhere in it.

use serde_json::Value;

/// The subschema that a reference names: a pointer or an anchor.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = decode(reference.strip_prefix('#')?)?;
    match fragment.is_empty() || fragment.starts_with('/') {
        true => root.pointer(&fragment),
        false => anchored(root, &fragment),
    }
}

/// The subschema with an anchor. A loaded schema nests no deeper than the host's own walk over it may go.
fn anchored<'a>(schema: &'a Value, anchor: &str) -> Option<&'a Value> {
    match schema {
        Value::Object(members) => match members.get("$anchor").and_then(Value::as_str) == Some(anchor) {
            true => Some(schema),
            false => members.values().find_map(|member| anchored(member, anchor)),
        },
        Value::Array(items) => items.iter().find_map(|item| anchored(item, anchor)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Undoes the percent-encoding of a fragment.
fn decode(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).ok()
}
