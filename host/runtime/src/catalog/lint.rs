//! What is not wrong with a definition and yet makes a tool hard to use: for a model that reads it, for a provider that
//! takes it, for a person that trusts it.

mod finding;
mod phrases;
mod schema;

use finding::Found;
pub use finding::{LINTS_MAX, Lint, Rule};
use portcullis_sandbox::{Definition, Manifest};
use std::collections::BTreeMap;

/// A description in characters that says something.
const DESCRIPTION_CHARS_MIN: usize = 20;

/// A tool's description, in characters. OpenAI's Chat Completions have refused longer ones.
const DESCRIPTION_CHARS_MAX: usize = 1024;

/// A name that every provider takes, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// A name that Cursor shows, in bytes: it hides tools whose server and name are longer than 60 together, and the server
/// is called `portcullis` in what this project shows.
const SHOWN_NAME_BYTES_MAX: usize = 60 - "portcullis".len();

/// Tools among which a model chooses well: OpenAI advises fewer.
const TOOLS_ADVISED: usize = 20;

/// What is to be mended in a manifest that a host would take, at most [`LINTS_MAX`]: of the plugin, and then of each
/// tool in its order.
pub fn lints(manifest: &Manifest) -> Vec<Lint> {
    let mut found = Found { tool: None, lints: Vec::new() };
    if manifest.tools.len() > TOOLS_ADVISED {
        let what = format!("it has {} tools, and a model chooses well among {TOOLS_ADVISED}", manifest.tools.len());
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
                found.note(Rule::SameDescription, "", format!("it is described exactly as {other} is"));
            }
            Some(_) | None => drop(described.insert(words, &tool.name)),
        }
        instruction(&mut found, "the title", tool.title.as_deref().unwrap_or_default());
        instruction(&mut found, "the description", &tool.description);
        schema::look(&mut found, tool);
    }
    found.lints
}

/// The name that providers get, before anything is done to it.
fn name(found: &mut Found, plugin: &str, tool: &str) {
    let name = if plugin == tool { tool.to_owned() } else { format!("{plugin}__{tool}") };
    let what = match name.len() {
        length if length > NAME_BYTES_MAX => {
            format!("providers would know it as {name}, {length} characters: it is shortened to {NAME_BYTES_MAX}")
        }
        length if length > SHOWN_NAME_BYTES_MAX => {
            format!(
                "providers know it as {name}, {length} characters: with that of the server it is too long for Cursor"
            )
        }
        _ => return,
    };
    found.note(Rule::LongName, "", what);
}

fn description(found: &mut Found, tool: &Definition) {
    let text = tool.description.trim();
    let length = text.chars().count();
    let words = normal(text);
    if text.is_empty() {
        found.note(Rule::NoDescription, "", "it has no description".to_owned());
    } else if words == normal(&tool.name) || tool.title.as_deref().is_some_and(|title| words == normal(title)) {
        found.note(Rule::OnlyName, "", "its description says no more than its name".to_owned());
    } else if length < DESCRIPTION_CHARS_MIN {
        let what = format!("its description has {length} characters, fewer than {DESCRIPTION_CHARS_MIN}");
        found.note(Rule::ShortDescription, "", what);
    } else if length > DESCRIPTION_CHARS_MAX {
        let what =
            format!("its description has {length} characters, and OpenAI may refuse more than {DESCRIPTION_CHARS_MAX}");
        found.note(Rule::LongDescription, "", what);
    }
}

fn instruction(found: &mut Found, of: &str, text: &str) {
    if let Some(phrase) = phrases::in_text(text) {
        found.note(Rule::Instruction, "", format!("{of} says `{phrase}`"));
    }
}

/// Letters and digits alone, in lower case: what is left of a text when it is only compared.
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

    /// Nobody has checked what is looked at here.
    #[test]
    fn references_that_go_round_come_to_an_end() {
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
    fn no_manifest_brings_more_than_can_be_read() {
        let properties: Vec<String> = (0..1000).map(|index| format!(r#""p{index}":{{}}"#)).collect();
        let schema = format!(r#"{{"properties":{{{}}}}}"#, properties.join(","));
        assert_eq!(lints(&of_schema(&schema)).len(), LINTS_MAX);
    }
}
