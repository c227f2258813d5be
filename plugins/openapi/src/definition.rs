//! The tool of an operation.

use portcullis_sdk::http::Method;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{Map, Value};

use crate::body::RequestBody;
use crate::document::Document;
use crate::operation::{Operation, Operations, SkippedOperation};
use crate::parameter::{BODY, Parameter};
use crate::request_digest;
use crate::schema::{ConvertedSchema, SchemaBudget, convert};
use crate::text::{hidden, line, paragraph};

/// Maximum bytes of a title. A host accepts 256.
const TITLE_BYTES_MAX: usize = 120;

/// Maximum bytes of a description without the request. With it, a description stays below the 1024 characters of some
/// providers.
const DESCRIPTION_BYTES_MAX: usize = 740;

/// Maximum bytes of the request in a description.
const REQUEST_BYTES_MAX: usize = 200;

/// Maximum bytes of the description of a parameter.
const PARAMETER_DESCRIPTION_BYTES_MAX: usize = 400;

/// Maximum bytes of all definitions together. A host accepts 8 MiB, with the memory around each.
const DEFINITIONS_BYTES_MAX: usize = 6 * 1024 * 1024;

/// Maximum bytes of the arguments of one tool, whatever the budget. A host accepts 64 KiB.
const ARGUMENTS_BYTES_MAX: usize = 60 * 1024;

/// Bytes around the name of an argument in a schema.
const ARGUMENT_AROUND_BYTES: usize = 16;

/// Budgets for the schema of one tool, to try one after the other until all definitions fit. A host accepts 64 KiB and
/// 2000 subschemas, but refuses a schema with many subschemas and many different names.
const BUDGETS: [SchemaBudget; 5] = [
    SchemaBudget { bytes: 40 * 1024, subschemas: 400 },
    SchemaBudget { bytes: 16 * 1024, subschemas: 300 },
    SchemaBudget { bytes: 8 * 1024, subschemas: 200 },
    SchemaBudget { bytes: 4 * 1024, subschemas: 100 },
    SchemaBudget { bytes: 2 * 1024, subschemas: 50 },
];

/// Minimum share of a budget that parameters leave for the body, as a divisor.
const BODY_SHARE: usize = 2;

/// Makes the tools. An operation whose schema has a remote or broken reference is skipped.
pub(crate) fn tools(document: &Document, operations: &mut Operations<'_>) -> Result<Vec<GeneratedTool>, String> {
    for budget in BUDGETS {
        if let Some(made) = within(document, &operations.tools, budget) {
            return Ok(keep(made, operations));
        }
    }
    Err(format!(
        "the definitions of {} operations have more than {} MiB: select some with the settings `tags`, `paths`, \
         `operations` or `methods`",
        operations.tools.len(),
        DEFINITIONS_BYTES_MAX / 1024 / 1024
    ))
}

/// Returns the tool of each operation, or the reason why it has none. Returns `None` if they are too large together.
fn within(
    document: &Document,
    operations: &[Operation<'_>],
    budget: SchemaBudget,
) -> Option<Vec<Result<GeneratedTool, String>>> {
    let (mut made, mut bytes) = (Vec::with_capacity(operations.len()), 0);
    for operation in operations {
        let tool = tool(document, operation, budget);
        if let Ok((tool, schema_bytes)) = &tool {
            bytes += schema_bytes + tool.description.len() + tool.name.len() + TITLE_BYTES_MAX;
        }
        // The next budget, which is smaller, makes all of them again.
        if bytes > DEFINITIONS_BYTES_MAX {
            return None;
        }
        made.push(tool.map(|(tool, _)| tool));
    }
    Some(made)
}

fn keep(made: Vec<Result<GeneratedTool, String>>, operations: &mut Operations<'_>) -> Vec<GeneratedTool> {
    let (mut tools, mut kept) = (Vec::new(), Vec::new());
    for (operation, tool) in operations.tools.drain(..).zip(made) {
        match tool {
            Ok(tool) => {
                tools.push(tool);
                kept.push(operation);
            }
            Err(reason) => {
                let name = format!("{} {}", operation.method.name(), operation.path);
                operations.skipped.push(SkippedOperation { name, reason });
            }
        }
    }
    operations.tools = kept;
    tools
}

/// Returns the tool of an operation, and the size of its schema in bytes.
fn tool(
    document: &Document,
    operation: &Operation<'_>,
    budget: SchemaBudget,
) -> Result<(GeneratedTool, usize), String> {
    let mut maker =
        SchemaMaker { document, budget, bytes: 0, properties: Map::new(), required: Vec::new(), is_trimmed: false };
    let has_body = operation.body.is_some();
    for parameter in &operation.parameters {
        maker.parameter(parameter, has_body)?;
    }
    if let Some(body) = &operation.body {
        maker.body(body)?;
    }
    let (is_trimmed, bytes) = (maker.is_trimmed, maker.bytes);
    let schema = maker.schema(&request_digest::of(operation));
    // Descriptions were cleaned, but a name or a value must reach the server unchanged.
    check_texts(&schema)?;
    let text = |key: &str| operation.value.get(key).and_then(Value::as_str).unwrap_or_default();
    // Each call reads the document again, so the tool needs to read too.
    let mut tool = GeneratedTool::new(&operation.tool, description(operation, is_trimmed), schema)
        .requires(&[Permission::Network, Permission::Read])
        .hints(hints(operation.method));
    let title = line(text("summary"), TITLE_BYTES_MAX);
    if !title.is_empty() {
        tool = tool.title(title);
    }
    Ok((tool, bytes))
}

fn description(operation: &Operation<'_>, is_trimmed: bool) -> String {
    let text = |key: &str| operation.value.get(key).and_then(Value::as_str).unwrap_or_default();
    let own = match text("description").trim() {
        "" => text("summary"),
        description => description,
    };
    let mut description = paragraph(own, DESCRIPTION_BYTES_MAX);
    if !description.is_empty() {
        description.push('\n');
    }
    description.push_str(&line(&format!("{} {}", operation.method.name(), operation.path), REQUEST_BYTES_MAX));
    if is_trimmed {
        description.push_str("\nParts of the schema are left out, because it is too large. The server checks them.");
    }
    description
}

fn hints(method: Method) -> &'static [Hint] {
    match method {
        Method::Get | Method::Head | Method::Options => &[Hint::ReadOnly, Hint::Idempotent, Hint::OpenWorld],
        Method::Put => &[Hint::Idempotent, Hint::OpenWorld],
        Method::Delete => &[Hint::Destructive, Hint::Idempotent, Hint::OpenWorld],
        Method::Post | Method::Patch => &[Hint::OpenWorld],
    }
}

struct SchemaMaker<'a> {
    document: &'a Document,
    /// The budget for the next arguments.
    budget: SchemaBudget,
    bytes: usize,
    properties: Map<String, Value>,
    required: Vec<String>,
    is_trimmed: bool,
}

impl SchemaMaker<'_> {
    fn parameter(&mut self, parameter: &Parameter<'_>, leaves_body: bool) -> Result<(), String> {
        let share = if leaves_body { BODY_SHARE } else { 1 };
        let budget = SchemaBudget { bytes: self.budget.bytes / share, subschemas: self.budget.subschemas / share };
        let ConvertedSchema { mut schema, mut bytes, .. } = self.converted(parameter.schema, budget)?;
        if let (Value::Object(members), Some(text)) = (&mut schema, parameter.description) {
            let text = paragraph(text, PARAMETER_DESCRIPTION_BYTES_MAX.min(budget.bytes / 4));
            if !text.is_empty() {
                bytes += text.len() + ARGUMENT_AROUND_BYTES;
                members.insert("description".to_owned(), Value::String(text));
            }
        }
        self.add(&parameter.argument, parameter.is_required, schema, bytes)
    }

    fn body(&mut self, body: &RequestBody<'_>) -> Result<(), String> {
        let ConvertedSchema { schema, bytes, .. } = self.converted(body.schema, self.budget)?;
        self.add(BODY, body.is_required, schema, bytes)
    }

    fn converted(&mut self, schema: Option<&Value>, budget: SchemaBudget) -> Result<ConvertedSchema, String> {
        let any = json!({});
        let converted = convert(self.document, schema.unwrap_or(&any), budget)?;
        // A parameter without a schema accepts any value, and nothing of it is left out.
        self.is_trimmed |= converted.is_trimmed && schema.is_some();
        self.budget.subschemas = self.budget.subschemas.saturating_sub(converted.subschemas);
        Ok(converted)
    }

    fn add(&mut self, argument: &str, is_required: bool, schema: Value, bytes: usize) -> Result<(), String> {
        let bytes = 2 * (argument.len() + ARGUMENT_AROUND_BYTES) + bytes;
        self.bytes += bytes;
        self.budget.bytes = self.budget.bytes.saturating_sub(bytes);
        if self.bytes > ARGUMENTS_BYTES_MAX {
            return Err("it has too many parameters, or their names are too long".to_owned());
        }
        self.properties.insert(argument.to_owned(), schema);
        if is_required {
            self.required.push(argument.to_owned());
        }
        Ok(())
    }

    fn schema(self, comment: &str) -> Value {
        let mut schema = json!({
            "$comment": comment, "type": "object", "properties": self.properties, "additionalProperties": false,
        });
        if let (false, Value::Object(members)) = (self.required.is_empty(), &mut schema) {
            members.insert("required".to_owned(), json!(self.required));
        }
        schema
    }
}

/// Checks that no name and no value has an invisible character, because a host refuses the whole plugin for one.
fn check_texts(value: &Value) -> Result<(), String> {
    let refused =
        |character: char| format!("its schema contains the invisible character U+{:04X}", u32::from(character));
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::String(text) => match text.split(['\n', '\t']).find_map(hidden) {
            Some(character) => Err(refused(character)),
            None => Ok(()),
        },
        Value::Array(items) => items.iter().try_for_each(check_texts),
        Value::Object(members) => members.iter().try_for_each(|(name, member)| {
            hidden(name).map_or(Ok(()), |character| Err(refused(character)))?;
            check_texts(member)
        }),
    }
}
