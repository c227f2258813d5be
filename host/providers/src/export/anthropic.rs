//! Anthropic's Messages.

use super::notes::Notes;
use super::schema::{Dialect, ExportCensus, Touches, copied, rewritten};
use crate::definitions::Defined;
use serde_json::{Value, json};

/// Strict tools of one request.
const STRICT_TOOLS_MAX: usize = 20;

/// Parameters that may be left out, of all strict tools of one request.
const OPTIONAL_PARAMETERS_MAX: usize = 24;

/// Parameters of more than one type, of all strict tools of one request.
const UNION_PARAMETERS_MAX: usize = 16;

/// What the strict tools of an export have used up.
#[derive(Debug, Default)]
pub(super) struct Budget {
    tools: usize,
    optional: usize,
    unions: usize,
}

impl Budget {
    /// Takes what a strict tool needs, or says what there is not enough of, and takes nothing.
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

/// A tool whose arguments are held to nothing.
pub(super) fn tool(tool: &Defined, notes: &mut Notes) -> Option<Value> {
    let schema = copied(tool, Touches::ANTHROPIC, notes)?;
    Some(json!({ "name": tool.name, "description": tool.offer.tool.description(), "input_schema": schema }))
}

/// A tool that is strict where its schema can be and the request has room for it.
pub(super) fn tool_strict(tool: &Defined, budget: &mut Budget, notes: &mut Notes) -> Option<Value> {
    let (schema, strict) = schema(tool, budget, notes)?;
    let description = tool.offer.tool.description();
    Some(json!({ "name": tool.name, "description": description, "input_schema": schema, "strict": strict }))
}

fn schema(tool: &Defined, budget: &mut Budget, notes: &mut Notes) -> Option<(Value, bool)> {
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
