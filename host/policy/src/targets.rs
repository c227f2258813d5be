//! The places that the arguments of a call name: paths, URLs and keys of a store.
//!
//! They are kept even where the content of arguments is not. So a URL loses its user and its query, which may hold
//! secrets. This file must not know where the places are kept.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::binding::Binding;
use crate::destination::Destination;
use crate::name::DependencyKey;
use crate::pattern::{RESOURCES, URLS};

/// Maximum targets of one call. A person reads them on one line, and few tools name more than two places.
pub const TARGETS_MAX: usize = 8;

/// Maximum length of one target, in bytes. A person recognises a path or URL by its beginning.
pub const TARGET_BYTES: usize = 512;

/// Names of arguments that name the keys of a store. Elsewhere, a `key` may be a credential.
const STORE_KEYS: [&str; 2] = ["key", "prefix"];

/// Formats with which a schema marks an argument as a URL.
const URL_FORMATS: [&str; 4] = ["iri", "iri-reference", "uri", "uri-reference"];

/// Formats with which a schema marks an argument as a path. They are those of pydantic.
const PATH_FORMATS: [&str; 3] = ["directory-path", "file-path", "path"];

/// The places that a call names: each argument as a JSON pointer, and its text. Untrusted text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Targets(BTreeMap<String, String>);

/// What an argument names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TargetKind {
    Path,
    Url,
    Key,
}

impl Targets {
    /// Finds the places in the arguments of a call. These are the arguments that a binding of the plugin is narrowed
    /// to, that are named like a path, a URL or a key of a bound store, or that the schema marks by their format.
    /// `redact` removes secrets from a text before it is cut.
    pub fn of(
        arguments: &Map<String, Value>,
        schema: &Value,
        bindings: &BTreeMap<DependencyKey, Binding>,
        redact: impl Fn(String) -> String,
    ) -> Self {
        let mut targets = BTreeMap::new();
        let mut add = |pointer: String, kind: TargetKind, text: &str| {
            if targets.len() < TARGETS_MAX && !targets.contains_key(&pointer) {
                let mut text = redact(place(kind, text));
                text.truncate(text.floor_char_boundary(TARGET_BYTES));
                targets.insert(pointer, text);
            }
        };
        // Narrowed arguments come first, so that the limit never drops what decides about a handle.
        for binding in bindings.values() {
            // Only directories and clients can be narrowed.
            let kind = if matches!(binding, Binding::Http(_)) { TargetKind::Url } else { TargetKind::Path };
            if let Some((pointer, text)) = binding.narrow().and_then(|it| Some((it, it.text(arguments)?))) {
                add(pointer.to_string(), kind, text);
            }
        }
        for (kind, name) in names(bindings.values().any(|binding| matches!(binding, Binding::Store(_)))) {
            if let Some(Value::String(text)) = arguments.get(name) {
                add(format!("/{name}"), kind, text);
            }
        }
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Self(targets) };
        for (name, property) in properties {
            if let (Some(kind), Some(Value::String(text))) = (kind_of(property), arguments.get(name)) {
                // `~` first, so that the escape of a slash is not escaped again (RFC 6901, section 3).
                add(format!("/{}", name.replace('~', "~0").replace('/', "~1")), kind, text);
            }
        }
        Self(targets)
    }

    /// Returns whether the call names no place.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the argument pointers and their texts, in the order of the pointers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(pointer, text)| (pointer.as_str(), text.as_str()))
    }
}

/// Returns the known names of arguments, and what an argument of that name is.
fn names(has_store: bool) -> impl Iterator<Item = (TargetKind, &'static str)> {
    let keys = STORE_KEYS.into_iter().filter(move |_| has_store).map(|name| (TargetKind::Key, name));
    // A `resource` may be a URL, so it is first in that list.
    let urls = URLS.into_iter().map(|name| (TargetKind::Url, name));
    urls.chain(RESOURCES.into_iter().map(|name| (TargetKind::Path, name))).chain(keys)
}

/// Returns what the schema of an argument marks it as.
fn kind_of(property: &Value) -> Option<TargetKind> {
    let format = property.get("format")?.as_str()?;
    let url = URL_FORMATS.contains(&format).then_some(TargetKind::Url);
    url.or_else(|| PATH_FORMATS.contains(&format).then_some(TargetKind::Path))
}

/// Returns what is kept of a place: a URL without user, query and fragment, and any other text as it is.
fn place(kind: TargetKind, text: &str) -> String {
    match (kind, text.split_once("://")) {
        (TargetKind::Path | TargetKind::Url, Some((scheme, rest))) if is_scheme(scheme) => {
            match Destination::from_url(text) {
                Ok(url) => format!("{}://{}{}", url.scheme(), url.authority(), url.path()),
                // Where the user ends is unclear, so nothing after the scheme is kept.
                Err(_) if hides_a_user(rest) => format!("{scheme}://…"),
                Err(_) => format!("{scheme}://{}", without_user(before_query(rest))),
            }
        }
        // Without a scheme, the text can still begin with a user and a password.
        (TargetKind::Url, _) if hides_a_user(text) => "…".to_owned(),
        (TargetKind::Url, _) => without_data(without_user(before_query(text))).to_owned(),
        (TargetKind::Path | TargetKind::Key, _) => text.to_owned(),
    }
}

/// Returns whether a text is the scheme of a URL (RFC 3986, section 3.1).
fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn before_query(text: &str) -> &str {
    text.split(['?', '#']).next().unwrap_or_default()
}

/// Returns whether the authority has a password with `?` or `#`, which looks like the beginning of a query.
fn hides_a_user(text: &str) -> bool {
    let authority = text.split('/').next().unwrap_or_default();
    authority.find(['?', '#']).is_some_and(|at| authority[at..].contains('@'))
}

/// Removes `user:password@`.
fn without_user(text: &str) -> &str {
    let authority = text.split('/').next().unwrap_or_default();
    authority.rfind('@').map_or(text, |at| &text[at + 1..])
}

/// Cuts the content of a `data:` URL off.
fn without_data(text: &str) -> &str {
    let is_data = text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
    if is_data { &text[..text.find([',', ';']).unwrap_or(5)] } else { text }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::policy::Policy;

    const BINDINGS: &str = "[plugin.a]\nhttp.api = { hosts = ['a.test'], narrow = '/options/where' }\n\
                            [plugin.b]\nstore.notes = { scope = 'session' }\n";

    fn found(plugin: &str, arguments: &Value, schema: &Value) -> Vec<(String, String)> {
        let policy = Policy::parse(BINDINGS).unwrap();
        let bindings = policy.bindings(&plugin.parse().unwrap());
        let targets =
            Targets::of(arguments.as_object().unwrap(), schema, bindings, |text| text.replace("S3cret", "[x]"));
        targets.iter().map(|(pointer, text)| (pointer.to_owned(), text.to_owned())).collect()
    }

    fn one(arguments: &Value) -> Option<String> {
        found("none", arguments, &json!({})).into_iter().next().map(|(_, text)| text)
    }

    #[test]
    fn places_are_found_by_name_by_schema_and_by_what_the_policy_narrows() {
        let schema = json!({ "properties": { "where/to": { "format": "uri" }, "from": { "format": "file-path" } } });
        let arguments = json!({
            "path": "src/main.rs", "content": "text", "where/to": "https://a.test/x?q", "from": "a", "count": 3,
            "options": { "where": "https://a.test/narrow?token=1" },
        });
        let expected = [
            ("/from", "a"),
            ("/options/where", "https://a.test/narrow"),
            ("/path", "src/main.rs"),
            ("/where~1to", "https://a.test/x"),
        ];
        assert_eq!(found("a", &arguments, &schema), expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn a_key_is_a_place_only_if_the_plugin_has_a_store() {
        let arguments = json!({ "key": "sk-123", "value": "v" });
        assert_eq!(found("b", &arguments, &json!({})), [("/key".to_owned(), "sk-123".to_owned())]);
        assert_eq!(found("a", &arguments, &json!({})), []);
    }

    #[test]
    fn no_user_query_or_fragment_of_a_url_is_kept() {
        let rows = [
            ("https://docs.rs/a?token=pw#pw", "https://docs.rs/a"),
            ("HTTPS://user:pw@Docs.rs:8443/a?pw", "HTTPS://Docs.rs:8443/a"),
            ("postgres://u:pw@db.test/main?sslkey=pw", "postgres://db.test/main"),
            ("https://a@pw\\@b.test/x", "https://b.test/x"),
            ("https://b.test/x y?pw", "https://b.test/x%20y"),
            ("ftp://u:p#w@b.test/x", "ftp://…"),
            ("ftp://u:p?w@b.test/x", "ftp://…"),
            ("u:pw@b.test/x?pw", "b.test/x"),
            ("/search?q=pw", "/search"),
            ("data:text/plain;base64,cHc=", "data:text/plain"),
            ("DATA:,pw", "DATA:"),
            ("", ""),
        ];
        for (url, kept) in rows {
            assert_eq!(one(&json!({ "url": url })).as_deref(), Some(kept), "{url}");
        }
        // A path may contain these characters, but a URL in it is still one.
        assert_eq!(one(&json!({ "path": "what?.md" })).as_deref(), Some("what?.md"));
        assert_eq!(one(&json!({ "path": "https://u:pw@b.test/?pw" })).as_deref(), Some("https://b.test/"));
    }

    #[test]
    fn a_secret_is_removed_before_a_target_is_cut() {
        let path = format!("{}S3cret", "a".repeat(TARGET_BYTES - 3));
        assert_eq!(one(&json!({ "path": path })), Some(format!("{}[x]", "a".repeat(TARGET_BYTES - 3))));
    }

    #[test]
    fn targets_are_few_and_short() {
        let properties: Map<String, Value> = (0..50).map(|it| (format!("u{it}"), json!({ "format": "uri" }))).collect();
        let arguments: Map<String, Value> = (0..50).map(|it| (format!("u{it}"), json!("é".repeat(5000)))).collect();
        let found = found("none", &json!(arguments), &json!({ "properties": properties }));
        assert_eq!(found.len(), TARGETS_MAX);
        assert!(found.iter().all(|(_, text)| text.len() <= TARGET_BYTES && !text.is_empty()));
    }
}
