//! Anthropic's Messages.

use super::notes::Notes;
use super::schema::{Dialect, ExportCensus, Touches, copied, rewritten};
use crate::definitions::Defined;
use serde_json::{Value, json};

/// Maximum strict tools of one request.
const STRICT_TOOLS_MAX: usize = 20;

/// Maximum optional parameters of all strict tools of one request.
const OPTIONAL_PARAMETERS_MAX: usize = 24;

/// Maximum parameters with more than one type of all strict tools of one request.
const UNION_PARAMETERS_MAX: usize = 16;

/// The resources that the strict tools of an export use.
#[derive(Debug, Default)]
pub(super) struct Budget {
    tools: usize,
    optional: usize,
    unions: usize,
}

impl Budget {
    /// Adds the needs of a strict tool. If a limit is exceeded, it adds nothing and returns the reason.
    fn take(&mut self, schema: &Value) -> Result<(), String> {
        let census = ExportCensus::of(schema);
        let next = Self {
            tools: self.tools + 1,
            optional: self.optional + census.optional,
            unions: self.unions + census.unions,
        };
        for (count, most, what) in [
            (next.tools, STRICT_TOOLS_MAX, "strict tools"),
            (next.optional, OPTIONAL_PARAMETERS_MAX, "optional parameters"),
            (next.unions, UNION_PARAMETERS_MAX, "parameters of more than one type"),
        ] {
            if count > most {
                return Err(format!("not strict: the strict tools of one request have at most {most} {what}"));
            }
        }
        *self = next;
        Ok(())
    }
}

/// Exports a tool that is not strict.
pub(super) fn tool(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let schema = copied(tool, Touches::ANTHROPIC, notes)?;
    Some(json!({ "name": tool.name, "description": tool.offer.tool.description(), "input_schema": schema }))
}

/// Exports a tool, strict if its schema and the limits of the request permit it.
pub(super) fn tool_strict(tool: &Defined, budget: &mut Budget, notes: &mut Notes) -> Option<Value> {
    let (schema, strict) = schema(tool, budget, notes)?;
    let description = tool.offer.tool.description();
    Some(json!({ "name": tool.name, "description": description, "input_schema": schema, "strict": strict }))
}

fn schema(tool: &Defined, budget: &mut Budget, notes: &mut Notes) -> Option<(Value, bool)> {
    // The losses of the strict schema count only if the tool is exported with it.
    let mut found = Notes::default();
    match rewritten(tool, &Dialect::ANTHROPIC_STRICT, &mut found) {
        Ok(schema) => match budget.take(&schema) {
            Ok(()) => {
                notes.append(found);
                return Some((schema, true));
            }
            Err(why) => notes.add("", "strict", why),
        },
        Err(unfit) => unfit.note(notes),
    }
    Some((copied(tool, Touches::ANTHROPIC, notes)?, false))
}
