//! The tool of an operation.

use portcullis_sdk::http::Method;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{Map, Value};

use crate::document::Document;
use crate::operation::{Operation, Operations, SkippedOperation};
use crate::parameter::BODY;
use crate::schema::{ConvertedSchema, convert};
use crate::text::{line, paragraph};

/// Maximum bytes of a title. A host accepts 256.
const TITLE_BYTES_MAX: usize = 120;

/// Maximum bytes of a description. A host accepts 4096.
const DESCRIPTION_BYTES_MAX: usize = 2000;

/// Maximum bytes of all arguments but the body. With the body it stays below the 64 KiB of a host.
const PARAMETERS_BYTES_MAX: usize = 20 * 1024;

/// Maximum bytes of the description of a parameter.
const PARAMETER_DESCRIPTION_BYTES_MAX: usize = 400;

/// Makes the tools. An operation whose schema has a remote or broken reference is skipped.
pub(crate) fn tools(document: &Document, operations: &mut Operations<'_>) -> Vec<GeneratedTool> {
    let (mut tools, mut kept) = (Vec::new(), Vec::new());
    for operation in operations.tools.drain(..) {
        match tool(document, &operation) {
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

fn tool(document: &Document, operation: &Operation<'_>) -> Result<GeneratedTool, String> {
    let (schema, is_trimmed) = schema(document, operation)?;
    let text = |key: &str| operation.value.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut description = paragraph(
        match text("description").trim() {
            "" => text("summary"),
            description => description,
        },
        DESCRIPTION_BYTES_MAX,
    );
    if !description.is_empty() {
        description.push('\n');
    }
    let request = format!("{} {}", operation.method.name(), operation.path);
    description.push_str(&line(&request, DESCRIPTION_BYTES_MAX));
    if is_trimmed {
        description.push_str("\nParts of the schema are left out, because it is too large. The server checks them.");
    }
    let mut tool = GeneratedTool::new(&operation.tool, description, schema)
        .requires(&[Permission::Network])
        .hints(hints(operation.method));
    let title = line(text("summary"), TITLE_BYTES_MAX);
    if !title.is_empty() {
        tool = tool.title(title);
    }
    Ok(tool)
}

fn hints(method: Method) -> &'static [Hint] {
    match method {
        Method::Get | Method::Head | Method::Options => &[Hint::ReadOnly, Hint::Idempotent, Hint::OpenWorld],
        Method::Put => &[Hint::Idempotent, Hint::OpenWorld],
        Method::Delete => &[Hint::Destructive, Hint::Idempotent, Hint::OpenWorld],
        Method::Post | Method::Patch => &[Hint::OpenWorld],
    }
}

fn schema(document: &Document, operation: &Operation<'_>) -> Result<(Value, bool), String> {
    let (mut properties, mut required, mut is_trimmed, mut bytes) = (Map::new(), Vec::new(), false, 0);
    for parameter in &operation.parameters {
        let mut converted = of_schema(document, parameter.schema)?;
        if bytes + converted.schema.to_string().len() > PARAMETERS_BYTES_MAX {
            converted = ConvertedSchema { schema: json!({}), is_trimmed: true };
        }
        if let (Value::Object(members), Some(text)) = (&mut converted.schema, parameter.description) {
            let text = paragraph(text, PARAMETER_DESCRIPTION_BYTES_MAX);
            if bytes + text.len() <= PARAMETERS_BYTES_MAX {
                members.insert("description".to_owned(), Value::String(text));
            }
        }
        bytes += parameter.argument.len() + converted.schema.to_string().len();
        if bytes > PARAMETERS_BYTES_MAX + PARAMETER_DESCRIPTION_BYTES_MAX {
            return Err("it has too many parameters".to_owned());
        }
        is_trimmed |= converted.is_trimmed;
        properties.insert(parameter.argument.clone(), converted.schema);
        if parameter.is_required {
            required.push(parameter.argument.clone());
        }
    }
    if let Some(body) = &operation.body {
        let converted = of_schema(document, body.schema)?;
        is_trimmed |= converted.is_trimmed;
        properties.insert(BODY.to_owned(), converted.schema);
        if body.is_required {
            required.push(BODY.to_owned());
        }
    }
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if let (false, Value::Object(members)) = (required.is_empty(), &mut schema) {
        members.insert("required".to_owned(), json!(required));
    }
    Ok((schema, is_trimmed))
}

fn of_schema(document: &Document, schema: Option<&Value>) -> Result<ConvertedSchema, String> {
    schema.map_or(Ok(ConvertedSchema { schema: json!({}), is_trimmed: false }), |schema| convert(document, schema))
}
