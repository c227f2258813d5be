//! Lints: problems of a valid definition that make a tool hard to use for models, unacceptable for providers, or
//! untrustworthy for people.

mod finding;
mod phrases;
mod schema;

use crate::manifest::{Definition, Manifest};
use finding::LintFindings;
pub use finding::{LINTS_MAX, Lint, Rule};
use std::collections::BTreeMap;

/// Minimum length of a useful description, in characters.
const DESCRIPTION_CHARS_MIN: usize = 20;

/// Maximum length of a tool's description, in characters. OpenAI's Chat Completions API has refused longer ones.
const DESCRIPTION_CHARS_MAX: usize = 1024;

/// Maximum length of a name that every provider accepts, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Maximum length of a name that Cursor shows, in bytes. Cursor hides tools whose server name and own name are longer
/// than 60 together. This project's documentation names the server `portcullis`.
const SHOWN_NAME_BYTES_MAX: usize = 60 - "portcullis".len();

/// Maximum tools from which a model chooses well. OpenAI recommends fewer.
const TOOLS_ADVISED: usize = 20;

/// Returns the lints of a valid manifest, at most [`LINTS_MAX`]: first those of the plugin, then those of each tool in
/// order.
pub fn lints(manifest: &Manifest) -> Vec<Lint> {
    let mut found = LintFindings { tool: None, lints: Vec::new() };
    if manifest.tools.len() > TOOLS_ADVISED {
        let what = format!("it has {} tools; models choose well among {TOOLS_ADVISED}", manifest.tools.len());
        found.note(Rule::ManyTools, "", what);
    }
    instruction(&mut found, "the description of the plugin", &manifest.description);
    let mut described: BTreeMap<String, &str> = BTreeMap::new();
    for tool in &manifest.tools {
        found.tool = Some(tool.name.clone());
        name(&mut found, &manifest.name, &tool.name);
        description(&mut found, tool);
        let words = normal(&tool.description);
        match described.get(&words) {
            Some(other) if !words.is_empty() => {
                found.note(Rule::SameDescription, "", format!("its description is the same as that of {other}"));
            }
            Some(_) | None => drop(described.insert(words, &tool.name)),
        }
        instruction(&mut found, "the title", tool.title.as_deref().unwrap_or_default());
        instruction(&mut found, "the description", &tool.description);
        schema::look(&mut found, tool);
    }
    found.lints
}

/// Checks the length of the name that providers get.
fn name(found: &mut LintFindings, plugin: &str, tool: &str) {
    let name = if plugin == tool { tool.to_owned() } else { format!("{plugin}__{tool}") };
    let what = match name.len() {
        length if length > NAME_BYTES_MAX => {
            format!("its name for providers, {name}, has {length} characters and is shortened to {NAME_BYTES_MAX}")
        }
        length if length > SHOWN_NAME_BYTES_MAX => {
            format!(
                "its name for providers, {name}, has {length} characters: with the server's name it is too long for \
                 Cursor"
            )
        }
        _ => return,
    };
    found.note(Rule::LongName, "", what);
}

fn description(found: &mut LintFindings, tool: &Definition) {
    let text = tool.description.trim();
    let length = text.chars().count();
    let words = normal(text);
    if text.is_empty() {
        found.note(Rule::NoDescription, "", "it has no description".to_owned());
    } else if words == normal(&tool.name) || tool.title.as_deref().is_some_and(|title| words == normal(title)) {
        found.note(Rule::OnlyName, "", "its description only repeats its name".to_owned());
    } else if length < DESCRIPTION_CHARS_MIN {
        let what = format!("its description has {length} characters, fewer than {DESCRIPTION_CHARS_MIN}");
        found.note(Rule::ShortDescription, "", what);
    } else if length > DESCRIPTION_CHARS_MAX {
        let what =
            format!("its description has {length} characters, but OpenAI may refuse more than {DESCRIPTION_CHARS_MAX}");
        found.note(Rule::LongDescription, "", what);
    }
}

fn instruction(found: &mut LintFindings, of: &str, text: &str) {
    if let Some(phrase) = phrases::in_text(text) {
        found.note(Rule::Instruction, "", format!("{of} says `{phrase}`"));
    }
}

/// Normalizes a text for comparison: keeps only letters and digits, in lower case.
fn normal(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_policy::Permissions;

    fn of_schema(schema: &str) -> Manifest {
        let tool = Definition {
            name: "run".to_owned(),
            title: None,
            description: "Does what its plugin is there for.".to_owned(),
            schema: schema.to_owned(),
            output_schema: None,
            required: Permissions::NONE,
            optional: Permissions::NONE,
            hints: Vec::new(),
        };
        Manifest {
            name: "tool".to_owned(),
            version: "1.0.0".to_owned(),
            description: "A plugin of the tests.".to_owned(),
            tools: vec![tool],
            dependencies: Vec::new(),
        }
    }

    /// Lints see schemas that no other check has seen.
    #[test]
    fn cyclic_references_terminate() {
        let schemas = [
            r##"{"$ref":"#"}"##,
            r##"{"properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#/properties/a"}}}"##,
            r##"{"properties":{"a":{"anyOf":[{"$ref":"#/properties/a"},{"$ref":"#"}]}}}"##,
        ];
        let found = schemas.map(|schema| lints(&of_schema(schema)).iter().map(|lint| lint.rule).collect::<Vec<_>>());
        let (open, parameter) = (Rule::OpenSchema, Rule::NoParameterDescription);
        assert_eq!(found, [vec![open], vec![open, parameter, parameter], vec![open, parameter]]);
    }

    #[test]
    fn the_number_of_lints_is_limited() {
        let properties: Vec<String> = (0..1000).map(|index| format!(r#""p{index}":{{}}"#)).collect();
        let schema = format!(r#"{{"properties":{{{}}}}}"#, properties.join(","));
        assert_eq!(lints(&of_schema(&schema)).len(), LINTS_MAX);
    }
}
