//! An OpenAPI document: its text, its version and its local references.

use portcullis_sdk::serde_json::{self, Value};

/// Maximum bytes of a document. The largest public ones have about 10 MiB.
pub(crate) const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Maximum references that lead from one to the next. A longer chain is most likely a loop.
const REFERENCE_HOPS_MAX: usize = 16;

/// A parsed document.
#[derive(Debug)]
pub(crate) struct Document {
    root: Value,
}

impl Document {
    /// Parses JSON or YAML, and checks the version.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > DOCUMENT_BYTES_MAX {
            return Err(format!("the document is larger than {} MiB", DOCUMENT_BYTES_MAX / 1024 / 1024));
        }
        let text = text.trim_start_matches('\u{feff}');
        let root: Value = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| format!("the document is not valid JSON: {error}"))?
        } else {
            serde_saphyr::from_str(text).map_err(|error| format!("the document is not valid YAML: {error}"))?
        };
        check_version(&root)?;
        Ok(Self { root })
    }

    /// Returns a member of the root.
    pub(crate) fn member(&self, name: &str) -> Option<&Value> {
        self.root.get(name)
    }

    /// Follows `$ref` to the value it leads to.
    pub(crate) fn resolve<'a>(&'a self, value: &'a Value) -> Result<&'a Value, String> {
        let mut value = value;
        for _ in 0..REFERENCE_HOPS_MAX {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return Ok(value) };
            value = self.target(reference)?;
        }
        Err(format!("more than {REFERENCE_HOPS_MAX} references follow each other"))
    }

    fn target(&self, reference: &str) -> Result<&Value, String> {
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(format!("{reference:?} refers to another document"));
        };
        self.root.pointer(&decoded(pointer)).ok_or_else(|| format!("{reference:?} refers to nothing"))
    }
}

fn check_version(root: &Value) -> Result<(), String> {
    if root.get("swagger").is_some() {
        let advice = "convert it to OpenAPI 3, for example with `npx swagger2openapi`";
        return Err(format!("the document is Swagger 2.0, which is not supported: {advice}"));
    }
    match root.get("openapi").and_then(Value::as_str) {
        Some(version) if version.starts_with("3.0") || version.starts_with("3.1") => Ok(()),
        Some(version) => Err(format!("OpenAPI {version:?} is not supported: use 3.0 or 3.1")),
        None => Err("the document has no member `openapi`, so it is not an OpenAPI document".to_owned()),
    }
}

/// Decodes the percent-encoding of a fragment. Invalid sequences stay as they are.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = match (first, tail) {
            (b'%', [high, low, ..]) => char::from(*high).to_digit(16).zip(char::from(*low).to_digit(16)),
            _ => None,
        };
        match code.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_yaml_are_parsed() {
        for text in ["{\"openapi\": \"3.1.0\"}", "openapi: 3.0.3\ninfo:\n  title: Cats\n"] {
            Document::parse(text).unwrap();
        }
    }

    #[test]
    fn swagger_is_refused_with_the_name_of_a_converter() {
        let error = Document::parse("swagger: '2.0'").unwrap_err();
        assert!(error.contains("swagger2openapi"), "{error}");
    }

    #[test]
    fn references_stay_within_the_document() {
        let text = r##"{"openapi":"3.0.0","a":{"$ref":"#/b~1%20c"},"b/ c":{"x":1},"l":{"$ref":"#/l"}}"##;
        let document = Document::parse(text).unwrap();
        assert_eq!(document.resolve(&document.root["a"]).unwrap()["x"], 1);
        assert!(document.resolve(&document.root["l"]).is_err());
        assert!(document.target("other.yaml#/a").is_err());
    }
}
