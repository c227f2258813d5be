//! TypeScript declarations of tools, for a model that writes a script.
//!
//! Names, descriptions and schemas are the text of other plugins. None of it can end a comment or a string.

mod document;
mod schema;

use portcullis_sdk::CallableTool;
use portcullis_sdk::serde_json::Value;

use crate::toolbox::camel_case;
use document::comment;
use schema::{SchemaWriter, property_name};

/// Declares as many tools as fit into `bytes_max`, at least one. Returns the text and their number.
pub(crate) fn of(tools: &[CallableTool], bytes_max: usize) -> (String, usize) {
    let mut methods: Vec<(&str, String)> = Vec::new();
    let mut bytes = 0;
    for tool in tools {
        let (plugin, name) = tool.name.split_once('.').unwrap_or(("", &tool.name));
        let method = method(name, tool);
        bytes += method.len();
        if bytes > bytes_max && !methods.is_empty() {
            break;
        }
        methods.push((plugin, method));
    }
    let count = methods.len();
    (grouped(&methods), count)
}

/// Puts the methods of a plugin together, in the order in which the plugins appear.
fn grouped(methods: &[(&str, String)]) -> String {
    let mut text = "declare const tools: {\n".to_owned();
    let mut done: Vec<&str> = Vec::new();
    for (plugin, _) in methods {
        if done.contains(plugin) {
            continue;
        }
        done.push(plugin);
        text.push_str(&format!("  {}: {{\n", property_name(&camel_case(plugin))));
        for (_, method) in methods.iter().filter(|(other, _)| other == plugin) {
            text.push_str(method);
        }
        text.push_str("  };\n");
    }
    text.push_str("};\n");
    text
}

/// Declares one tool as a method.
fn method(name: &str, tool: &CallableTool) -> String {
    let mut paragraphs = vec![tool.description.clone()];
    let alias = camel_case(name);
    if alias != name {
        paragraphs.push(format!("Also {}.", access(&tool.name)));
    }
    let writer = SchemaWriter::new(&tool.schema);
    let arguments = match writer.has_properties(&tool.schema) {
        false if tool.schema["additionalProperties"] == Value::Bool(false) => String::new(),
        _ => {
            let mark = if writer.requires_any(&tool.schema) { "" } else { "?" };
            format!("args{mark}: {}", writer.text(&tool.schema, 2))
        }
    };
    let result = match &tool.output_schema {
        Some(schema) => SchemaWriter::new(schema).text(schema, 2),
        None => "string".to_owned(),
    };
    let comment = comment(&paragraphs, 2);
    format!("{comment}    {}({arguments}): Promise<{result}>;\n", property_name(&alias))
}

/// Returns the expression for a tool by its full name: `tools.files["read-all"]`.
fn access(full_name: &str) -> String {
    full_name.split('.').fold("tools".to_owned(), |access, part| {
        let name = property_name(part);
        if name.starts_with('"') { format!("{access}[{name}]") } else { format!("{access}.{name}") }
    })
}
