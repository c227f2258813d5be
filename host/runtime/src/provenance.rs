//! The origin of a request's arguments, and the changes that were made to them.

use portcullis_definitions::schema::Mismatch;
use serde_json::Value;
use std::time::Duration;

/// The origin of arguments that came in a message of a model. Everything that the model wrote is untrusted text.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// The format of the message, such as `openai-chat`.
    pub format: &'static str,
    /// The provider's id of the call, if it has one.
    pub id: Option<String>,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments exactly as received.
    pub raw: String,
    /// The parsed arguments. `None` if they are not JSON.
    pub parsed: Option<Value>,
    /// The validation of the arguments. `None` if they were not validated.
    pub validation: Option<Validation>,
    /// JSON Pointers of the members that were removed, because a strict format makes a model write null for members
    /// that it would omit.
    pub nulls: Vec<String>,
    /// The repairs that made the arguments match the schema. Repaired arguments always need approval.
    pub repairs: Vec<Repair>,
    /// Whether a repair was tried. If it did not succeed, the arguments are unchanged and `repairs` is empty.
    pub attempted: bool,
}

/// One repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The place, as a JSON Pointer. Empty for the whole text.
    pub pointer: String,
    /// A description of the repair.
    pub what: String,
}

/// A validation of arguments in addition to the host's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validation {
    /// The validator and its version.
    pub validator: &'static str,
    /// How long it took.
    pub took: Duration,
    /// The mismatches. Empty if the arguments match.
    pub mismatches: Vec<Mismatch>,
}

impl Provenance {
    /// Returns whether the arguments were repaired.
    pub fn is_repaired(&self) -> bool {
        !self.repairs.is_empty()
    }
}
