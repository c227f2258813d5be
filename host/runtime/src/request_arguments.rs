//! The arguments of a request, as its caller has them: text, or an object that the caller has parsed.

use crate::json;
use serde_json::{Map, Value};

/// The arguments of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RequestArguments {
    /// Text that is not parsed yet.
    Text(Vec<u8>),
    /// An object that the strict parser would read from its canonical text.
    Object {
        /// The members.
        members: Map<String, Value>,
        /// The canonical text.
        canonical: String,
    },
}

impl RequestArguments {
    /// Returns an object, or its text if the strict parser would refuse or change it.
    pub(crate) fn object(members: Map<String, Value>) -> Self {
        let canonical = json::canonical(&members);
        if json::reads_back(&members, &canonical) {
            Self::Object { members, canonical }
        } else {
            Self::Text(canonical.into_bytes())
        }
    }

    /// Returns the length of the text, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.text().len()
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> &[u8] {
        match self {
            Self::Text(text) => text,
            Self::Object { canonical, .. } => canonical.as_bytes(),
        }
    }
}

impl Default for RequestArguments {
    fn default() -> Self {
        Self::Text(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> RequestArguments {
        let Value::Object(members) = value else { panic!("not an object: {value}") };
        RequestArguments::object(members)
    }

    fn nested(depth: usize) -> Value {
        (1..depth).fold(serde_json::json!({}), |inner, _| serde_json::json!({ "a": inner }))
    }

    /// Whatever an object holds, the strict parser of its text decides what the call gets.
    #[test]
    fn an_object_is_kept_only_if_the_strict_parser_reads_the_same_object_from_its_text() {
        let many: Vec<_> = (0..60_000).map(|_| serde_json::json!({ "": 0 })).collect();
        let rows = [
            (serde_json::json!({ "a": [1, -1, 1.5, 1e300, true, null, "x", { "b": [] }] }), true),
            (serde_json::json!({ "a": 9_007_199_254_740_992.0_f64 }), true),
            (serde_json::json!({ "a": 1.0 }), false),
            (serde_json::json!({ "a": [{ "b": -0.0 }] }), false),
            (nested(64), true),
            (nested(65), false),
            (serde_json::json!({ "a": many }), false),
        ];
        for (value, kept) in rows {
            let (text, arguments) = (value.to_string(), object(value.clone()));
            assert_eq!(arguments.text(), text.as_bytes());
            assert_eq!(matches!(arguments, RequestArguments::Object { .. }), kept, "{:.60}", text);
            assert_eq!(json::parse(&text).is_ok_and(|read| read == value), kept, "{:.60}", text);
        }
    }
}
