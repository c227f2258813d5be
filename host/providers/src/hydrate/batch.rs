//! The calls in a call of `tools.batch`. Each names its tool as the model knows it, and cannot name a tool that was not
//! offered.

use super::{arguments, near};
use crate::definitions::Definitions;
use portcullis::plugins::{BATCH_TOOL, Tool};
use portcullis::{BatchedCall, Code};
use serde_json::Value;

impl Definitions {
    /// Returns the arguments of a call, and what the model knows of the calls in it if it is a batch. The arguments of
    /// a batch then have the full names of tools. A batch without usable calls has none, so it makes none.
    pub(super) fn name_batched(&self, tool: Option<&Tool>, arguments: String) -> (String, Option<Vec<BatchedCall>>) {
        match tool {
            Some(tool) if tool.name().to_string() == BATCH_TOOL => {
                let (arguments, batched) = self.named(&arguments).unwrap_or((arguments, Vec::new()));
                (arguments, Some(batched))
            }
            Some(_) | None => (arguments, None),
        }
    }

    fn named(&self, text: &str) -> Option<(String, Vec<BatchedCall>)> {
        let mut arguments = arguments::parse(text)?;
        let calls = arguments.get_mut("calls")?.as_array_mut()?;
        let batched = calls.iter_mut().map(|call| self.batched(call)).collect();
        Some((arguments.to_string(), batched))
    }

    fn batched(&self, call: &mut Value) -> BatchedCall {
        let Some(name) = call.get("tool").and_then(Value::as_str).map(str::to_owned) else {
            // The host refuses the batch.
            return BatchedCall::new("");
        };
        match self.known(&name) {
            Some(defined) => {
                call["tool"] = defined.full_name.clone().into();
                BatchedCall::new(name).of_definition(defined.offer.tool.sha256())
            }
            None => BatchedCall::new(&name).refused(Code::UnknownTool, &near::message(self, &name)),
        }
    }
}
