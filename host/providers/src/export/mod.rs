//! From the authoritative definitions to a provider's: a copy, and a list of what it lost.

use crate::definitions::Definitions;
use crate::format::Format;
use serde::Serialize;
use serde_json::Value;

/// Tools in a provider's format.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Export {
    /// The format.
    #[serde(serialize_with = "word")]
    pub format: Format,
    /// The array that goes into a request under `tools`.
    pub tools: Value,
    /// What the format cannot say, or the provider would not take. Empty where nothing was lost.
    pub losses: Vec<Loss>,
}

/// Something of a definition that its export does not say, or says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Loss {
    /// The tool, by the name that models know it by.
    pub tool: String,
    /// Where in the authoritative schema, as a JSON Pointer; empty for its root or the tool as a whole.
    pub pointer: String,
    /// The keyword it is about.
    pub keyword: String,
    /// What was done, in words.
    pub what: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn word<S: serde::Serializer>(format: &Format, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(format.as_str())
}

impl Definitions {
    /// The tools as a provider takes them.
    pub fn export(&self, format: Format) -> Export {
        let tools = self.tools().iter().map(|tool| Value::String(tool.name.clone())).collect();
        Export { format, tools, losses: Vec::new() }
    }
}
