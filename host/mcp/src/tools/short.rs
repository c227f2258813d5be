//! The short list: what a client sees of a large catalog at first. Two tools of the server's own stand for all others:
//! one finds them, and one calls them. No plugin can be called `tools`, so no tool of one can have their names in full.

use portcullis::plugins::{Catalog, Plugin, Tool};
use portcullis::text::OneLine;
use serde_json::{Value, json};
use std::fmt::Write;

/// The name of the tool that finds others.
pub(crate) const SEARCH: &str = "tools__search";

/// The name of the tool that calls others.
pub(crate) const CALL: &str = "tools__call";

/// How many tools a search gives where it does not say: what a model can compare.
pub(super) const FOUND_DEFAULT: u8 = 5;

/// The most tools a search gives: more would be the long list again.
pub(super) const FOUND_MAX: u8 = 20;

/// The index of plugins, in bytes: about a thousand tokens, which a model reads in every turn.
const INDEX_BYTES_MAX: usize = 4096;

/// What the index says of a plugin, in bytes: a few words.
const WORDS_BYTES_MAX: usize = 80;

/// One of the two tools, as models are told of it.
#[derive(Clone, Debug)]
pub struct ShortTool {
    /// Its name.
    pub name: &'static str,
    /// What it does. That of the one that finds others holds an index of the plugins, in their words.
    pub description: String,
    /// The schema of its arguments.
    pub schema: Value,
}

/// Returns the two tools that stand for all tools of a catalog but the host's own and those that are not `shown`. They
/// change only with the catalog.
///
/// A tool that is not shown is not counted either, and a plugin without a tool that is shown is not named.
pub fn short_list(catalog: &Catalog, shown: impl Fn(&Plugin, &Tool) -> bool) -> [ShortTool; 2] {
    [
        ShortTool { name: SEARCH, description: search_description(catalog, shown), schema: search_schema() },
        ShortTool { name: CALL, description: CALL_DESCRIPTION.to_owned(), schema: call_schema() },
    ]
}

/// What is said of the tool that calls others.
const CALL_DESCRIPTION: &str = "Calls a tool by the name that tools__search gave, with arguments that fit its schema. \
                                This is the same as to call the tool itself: it may be denied, or wait for a person.";

/// A plugin, and how many of its tools are shown.
type Counted<'a> = (&'a Plugin, usize);

fn search_description(catalog: &Catalog, shown: impl Fn(&Plugin, &Tool) -> bool) -> String {
    let counted = |plugin: &Plugin| plugin.tools().filter(|tool| shown(plugin, tool)).count();
    let plugins = catalog.plugins().filter(|plugin| !plugin.is_standard());
    let plugins: Vec<Counted<'_>> =
        plugins.map(|plugin| (plugin, counted(plugin))).filter(|(_, tools)| *tools > 0).collect();
    let tools: usize = plugins.iter().map(|(_, tools)| tools).sum();
    let mut description = format!(
        "Finds tools by what they do, among the {tools} that this server has, and gives their whole definitions, the \
         best first. It matches words: write what the tool would do as its own description would say it, the verb, the \
         thing it is done to, and the plugin if you know it, such as \"resize an image to a width\". Call what you find \
         with tools__call."
    );
    if !plugins.is_empty() {
        description.push_str(" The plugins, each with the number of its tools:");
        description.push_str(&index(&plugins));
    }
    description
}

/// The plugins by name: with a few words on each where all of that fits, and otherwise by name alone, as many as fit.
fn index(plugins: &[Counted<'_>]) -> String {
    let lines: String = plugins.iter().map(line).collect();
    if lines.len() <= INDEX_BYTES_MAX {
        return lines;
    }
    let mut names = String::from("\n");
    for (told, (plugin, tools)) in plugins.iter().enumerate() {
        let name = format!("{} ({tools})", plugin.name());
        if names.len() + name.len() > INDEX_BYTES_MAX {
            // Writing to a string cannot fail.
            let _ = write!(names, "and {} more", plugins.len() - told);
            return names;
        }
        names.push_str(&name);
        names.push_str(if told + 1 < plugins.len() { ", " } else { "" });
    }
    names
}

fn line((plugin, tools): &Counted<'_>) -> String {
    let words = words(plugin.description());
    let colon = if words.is_empty() { "" } else { ": " };
    format!("\n- {} ({tools}){colon}{words}", plugin.name())
}

/// The first sentence of a description, or as much of it as there is room for, on one line.
fn words(description: &str) -> String {
    let line = description.lines().next().unwrap_or_default().trim();
    let sentence = line.find(". ").map_or(line, |end| &line[..end]).trim_end_matches('.');
    let words = OneLine(sentence).to_string();
    if words.len() <= WORDS_BYTES_MAX {
        return words;
    }
    let cut = &words[..words.floor_char_boundary(WORDS_BYTES_MAX)];
    format!("{}…", cut.rfind(' ').map_or(cut, |end| &cut[..end]))
}

fn search_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "What is to be done, in words" },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": FOUND_MAX, "default": FOUND_DEFAULT,
                "description": "How many tools to give at the most"
            }
        },
        "required": ["query"],
        "additionalProperties": false
    })
}

fn call_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "The name of the tool, as tools__search gave it" },
            "arguments": { "type": "object", "description": "Its arguments, as its schema says" }
        },
        "required": ["name"],
        "additionalProperties": false
    })
}
