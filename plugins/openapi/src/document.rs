//! An OpenAPI document: its text, its version and its local references.

use std::io::Read as _;

use percent_encoding::percent_decode_str;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde::de::DeserializeSeed as _;
use portcullis_sdk::serde_json::{self, Value};

use crate::document_part::PartReader;
use crate::settings::Settings;

/// Maximum bytes of a document. The largest public ones have about 10 MiB.
const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Maximum bytes of a document in YAML. Parsing it takes about ten times as long as JSON.
const YAML_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The beginning of a reference from one operation to a part of another. Bundlers write them.
const REFERENCE_TO_PATHS: &str = "\"#/paths/";

/// Maximum references that lead from one to the next. A longer chain is most likely a loop.
const REFERENCE_HOPS_MAX: usize = 16;

/// What a document is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentUse {
    /// To make the definitions of tools, with their schemas.
    Definitions,
    /// To build one request, which needs no schemas.
    Request,
}

/// A parsed document.
#[derive(Debug)]
pub(crate) struct Document {
    root: Value,
}

impl Document {
    /// Reads the document of the settings from its directory.
    #[expect(clippy::disallowed_methods, reason = "the path is below a directory that the host grants")]
    pub(crate) fn load(context: &Context, settings: &Settings, document_use: DocumentUse) -> Result<Self, Failure> {
        let name = &settings.document;
        let path = context.directory("documents")?.path().join(name);
        let failed = |error: std::io::Error| Failure::failed(format!("the document {name:?} cannot be read: {error}"));
        let file = std::fs::File::open(path).map_err(failed)?;
        // A text that grows while it is read takes up to three times its size.
        let size = file.metadata().map_err(failed)?.len().min(DOCUMENT_BYTES_MAX as u64);
        let mut text = String::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
        // Read one byte more than is allowed, so that `parse` refuses a longer document.
        file.take(DOCUMENT_BYTES_MAX as u64 + 1).read_to_string(&mut text).map_err(failed)?;
        Self::parse(&text, document_use).map_err(Failure::failed)
    }

    /// Parses JSON or YAML, and checks the version. Reads only what the use needs.
    pub(crate) fn parse(text: &str, document_use: DocumentUse) -> Result<Self, String> {
        check_size(text, DOCUMENT_BYTES_MAX, "the document")?;
        let text = text.trim_start_matches('\u{feff}');
        let reader = PartReader::root(document_use == DocumentUse::Definitions, text.contains(REFERENCE_TO_PATHS));
        let root = if text.trim_start().starts_with('{') {
            let mut deserializer = serde_json::Deserializer::from_str(text);
            // Without `end`, text after the document would be ignored.
            let root = reader.deserialize(&mut deserializer).and_then(|root| deserializer.end().map(|()| root));
            root.map_err(|error| format!("the document is not valid JSON: {error}"))?
        } else {
            check_size(text, YAML_BYTES_MAX, "the YAML document")?;
            // Without a snippet of the document, an error is one line.
            let options = serde_saphyr::options! { with_snippet: false };
            let read = |deserializer: serde_saphyr::Deserializer<'_, '_>| reader.deserialize(deserializer);
            serde_saphyr::with_deserializer_from_str_with_options(text, options, read)
                .map_err(|error| format!("the document is not valid YAML: {error}"))?
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
        self.root
            // In the fragment of a URI, a JSON Pointer is percent-encoded (RFC 6901, section 6).
            .pointer(&percent_decode_str(pointer).decode_utf8_lossy())
            .ok_or_else(|| format!("{reference:?} refers to nothing"))
    }
}

fn check_size(text: &str, bytes_max: usize, what: &str) -> Result<(), String> {
    match text.len() > bytes_max {
        true => Err(format!("{what} is larger than {} MiB", bytes_max / 1024 / 1024)),
        false => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Document, String> {
        Document::parse(text, DocumentUse::Definitions)
    }

    #[test]
    fn json_and_yaml_are_parsed() {
        for text in ["{\"openapi\": \"3.1.0\"}", "openapi: 3.0.3\ninfo:\n  title: Cats\n"] {
            parse(text).unwrap();
        }
        for text in ["{\"openapi\": \"3.1.0\"} trailing", "openapi: [3", "[]", "", "openapi: 3.2.0"] {
            parse(text).unwrap_err();
        }
    }

    #[test]
    fn swagger_is_refused_with_the_name_of_a_converter() {
        let error = parse("swagger: '2.0'").unwrap_err();
        assert!(error.contains("swagger2openapi"), "{error}");
    }

    #[test]
    fn references_stay_within_the_document() {
        let text = r##"{"openapi":"3.0.0","a":{"$ref":"#/b~1%20c"},"b/ c":{"x":1},"l":{"$ref":"#/l"}}"##;
        let document = parse(text).unwrap();
        assert_eq!(document.resolve(&document.root["a"]).unwrap()["x"], 1);
        assert!(document.resolve(&document.root["l"]).is_err());
        assert!(document.target("other.yaml#/a").is_err());
    }

    #[test]
    fn parts_that_no_request_needs_are_skipped() {
        let text = r##"{"openapi": "3.0.0", "info": {"title": "x"}, "x-more": 1,
            "paths": {"/a": {"get": {"responses": {"200": {}}, "x-code": 1, "parameters": [{"name": "a", "example": 1,
                "schema": {"properties": {"example": {"example": 1}, "x-b": {}}, "title": "x"}}]}}},
            "components": {"schemas": {"example": {}}, "responses": {"a": {}}}}"##;
        let document = parse(text).unwrap();
        let schema = "{\"properties\":{\"example\":{},\"x-b\":{}}}";
        let paths = format!("{{\"/a\":{{\"get\":{{\"parameters\":[{{\"name\":\"a\",\"schema\":{schema}}}]}}}}}}");
        assert_eq!(document.root["paths"].to_string(), paths);
        assert_eq!(document.root["components"].to_string(), "{\"schemas\":{\"example\":{}}}");
        assert_eq!(document.root.as_object().unwrap().len(), 3);
        let document = Document::parse(text, DocumentUse::Request).unwrap();
        assert_eq!(document.root["components"].to_string(), "{}");
    }

    #[test]
    fn a_bundled_document_keeps_the_responses_that_others_refer_to() {
        let text = r##"{"openapi": "3.0.0", "paths": {"/a": {"get": {"responses": {"200": {"x": {"y": 7}}}}},
            "/b": {"post": {"requestBody": {"$ref": "#/paths/~1a/get/responses/200/x"}}}}}"##;
        let document = parse(text).unwrap();
        let body = document.root.pointer("/paths/~1b/post/requestBody").unwrap();
        assert_eq!(document.resolve(body).unwrap()["y"], 7);
    }

    #[test]
    fn a_document_that_nests_too_deep_is_refused() {
        let json = format!("{{\"openapi\":\"3.0.0\",\"a\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
        assert!(parse(&json).unwrap_err().contains("recursion limit"));
        let yaml = format!("openapi: 3.0.0\na: {}1{}", "[".repeat(5000), "]".repeat(5000));
        parse(&yaml).unwrap_err();
    }

    #[test]
    fn aliases_that_multiply_are_refused() {
        let mut yaml = "openapi: 3.0.0\nl0: &l0 [a, a, a, a, a, a, a, a, a, a]\n".to_owned();
        for level in 1..9 {
            let aliases = vec![format!("*l{}", level - 1); 10].join(", ");
            yaml.push_str(&format!("l{level}: &l{level} [{aliases}]\n"));
        }
        parse(&yaml).unwrap_err();
    }
}
