//! The short list: what a client sees of a large catalog. Two tools of the server replace all others: one finds them,
//! and one calls them. No plugin can be called `tools`, so the full name of a plugin's tool never collides with theirs.

use portcullis::plugins::{Catalog, Plugin, Tool};
use portcullis::text::OneLine;
use serde_json::{Value, json};
use std::fmt::Write;

/// The name of the tool that finds others.
pub(crate) const SEARCH: &str = "tools__search";

/// The name of the tool that calls others.
pub(crate) const CALL: &str = "tools__call";

/// Default number of tools in a search result: as many as a model can compare.
pub(super) const FOUND_DEFAULT: u8 = 5;

/// Maximum number of tools in a search result. More would defeat the purpose of the short list.
pub(super) const FOUND_MAX: u8 = 20;

/// Maximum length of the index of plugins, in bytes: about a thousand tokens, which a model reads in every turn.
const INDEX_BYTES_MAX: usize = 4096;

/// Maximum length of a plugin's description in the index, in bytes: a few words.
const WORDS_BYTES_MAX: usize = 80;

/// The definition of one of the two tools of the short list.
#[derive(Clone, Debug)]
pub struct ShortTool {
    /// The name of the tool.
    pub name: &'static str,
    /// The description for models. That of `tools__search` contains an index of the plugins, in their own words.
    pub description: String,
    /// The JSON Schema of the arguments.
    pub schema: Value,
}

/// Returns the two tools that find and call the other tools of a catalog. They change only with the catalog.
///
/// The index leaves out the host's own tools, tools that are not `shown`, and plugins that have no shown tool.
pub fn short_list(catalog: &Catalog, shown: impl Fn(&Plugin, &Tool) -> bool) -> [ShortTool; 2] {
    [
        ShortTool { name: SEARCH, description: search_description(catalog, shown), schema: search_schema() },
        ShortTool { name: CALL, description: CALL_DESCRIPTION.to_owned(), schema: call_schema() },
    ]
}

/// The description of `tools__call`.
const CALL_DESCRIPTION: &str = "Calls a tool by the name that tools__search returned, with arguments that match its \
                                schema. The same rules apply as for a direct call: it may be denied, or need a \
                                person's approval.";

/// A plugin and the number of its shown tools.
type CountedPlugin<'a> = (&'a Plugin, usize);

fn search_description(catalog: &Catalog, shown: impl Fn(&Plugin, &Tool) -> bool) -> String {
    let counted = |plugin: &Plugin| plugin.tools().filter(|tool| shown(plugin, tool)).count();
    let plugins = catalog.plugins().filter(|plugin| !plugin.is_standard());
    let plugins: Vec<CountedPlugin<'_>> =
        plugins.map(|plugin| (plugin, counted(plugin))).filter(|(_, tools)| *tools > 0).collect();
    let tools: usize = plugins.iter().map(|(_, tools)| tools).sum();
    let mut description = format!(
        "Finds tools by what they do, among the {tools} tools of this server. Returns full definitions, the best match \
         first. The search matches words: describe the task as a tool's description would, with a verb, an object, and \
         the plugin if you know it, such as \"resize an image to a width\". Call a found tool with tools__call."
    );
    if !plugins.is_empty() {
        description.push_str(" Plugins, with the number of their tools:");
        description.push_str(&index(&plugins));
    }
    description
}

/// Returns the index of the plugins: with a short description of each if everything fits, otherwise as many names as
/// fit.
fn index(plugins: &[CountedPlugin<'_>]) -> String {
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

fn line((plugin, tools): &CountedPlugin<'_>) -> String {
    let words = words(plugin.description());
    let colon = if words.is_empty() { "" } else { ": " };
    format!("\n- {} ({tools}){colon}{words}", plugin.name())
}

/// Returns the first sentence of a description on one line, truncated at a word if it is too long.
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
            "query": { "type": "string", "description": "Words that describe the task" },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": FOUND_MAX, "default": FOUND_DEFAULT,
                "description": "Maximum number of tools to return"
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
            "name": { "type": "string", "description": "The name of the tool, from tools__search" },
            "arguments": { "type": "object", "description": "The arguments, as the tool's schema requires" }
        },
        "required": ["name"],
        "additionalProperties": false
    })
}
