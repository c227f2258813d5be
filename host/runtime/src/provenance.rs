//! Where the arguments of a request come from, and what was done to them on the way.

use crate::schema::Mismatch;
use serde_json::Value;
use std::time::Duration;

/// What is known of arguments that came in a message of a model. Everything the model wrote is untrusted text.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// The format of the message, such as `openai-chat`.
    pub format: &'static str,
    /// The id that the provider gave the call, where it gives any.
    pub id: Option<String>,
    /// The tool, as the model named it.
    pub name: String,
    /// The arguments exactly as they came.
    pub raw: String,
    /// What they were parsed to; nothing where they are no JSON.
    pub parsed: Option<Value>,
    /// How they were validated; nothing where it did not come to that.
    pub validation: Option<Validation>,
    /// The members that were taken away, because a strict format makes a model write null for what it would leave out.
    /// JSON Pointers.
    pub nulls: Vec<String>,
    /// What was mended so that they fit. Arguments that were mended are always put to a person.
    pub repairs: Vec<Repair>,
    /// Whether it was tried to mend them. What did not come to fit is left as it came, and nothing was mended.
    pub attempted: bool,
}

/// One thing that was mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Where, as a JSON Pointer; empty for the text as a whole.
    pub pointer: String,
    /// What was done, in words.
    pub what: String,
}

/// A look at arguments beside the authoritative schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validation {
    /// Which validator, with its version.
    pub validator: &'static str,
    /// How long it took.
    pub took: Duration,
    /// In what they do not match; nothing where they do.
    pub mismatches: Vec<Mismatch>,
}

impl Provenance {
    /// Whether the arguments are others than the model's.
    pub fn is_repaired(&self) -> bool {
        !self.repairs.is_empty()
    }
}
