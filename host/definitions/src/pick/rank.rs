//! Ranks the tools of an index by how well they fit a query.

use super::index::Index;
use super::query::scores;
use std::cmp::Ordering;

/// Returns the indices of the tools that fit a query best, at most `limit`. They are sorted from best to worst, and by
/// index if they fit equally well. Returns none if no tool contains any of the query's words.
pub fn best(index: &Index, query: &str, limit: usize) -> Vec<usize> {
    let mut scores = scores(index, query);
    scores.sort_by(|one, other| best_first(*one, *other));
    scores.into_iter().take(limit).map(|(tool, _)| tool).collect()
}

fn best_first(one: (usize, f32), other: (usize, f32)) -> Ordering {
    other.1.total_cmp(&one.1).then(one.0.cmp(&other.0))
}

#[cfg(test)]
mod tests {
    use super::super::fields::{DescribedTool, index};
    use super::*;
    use serde_json::{Value, json};

    /// A tool of a test.
    struct TestTool {
        name: &'static str,
        title: &'static str,
        description: String,
        schema: Value,
    }

    /// The tools of a test with their full names, sorted by them, and their index.
    struct TestCatalog {
        names: Vec<String>,
        index: Index,
    }

    fn tool(name: &'static str, description: &str, schema: &Value) -> TestTool {
        TestTool { name, title: "", description: description.to_owned(), schema: schema.clone() }
    }

    /// Creates a tool with only a name.
    fn named(name: &'static str) -> TestTool {
        tool(name, "It is what it is.", &json!({ "type": "object" }))
    }

    fn catalog(plugins: &[(&str, &str, &[TestTool])]) -> TestCatalog {
        let mut tools = Vec::new();
        for (plugin, description, of_plugin) in plugins {
            tools.extend(of_plugin.iter().map(|tool| (format!("{plugin}.{}", tool.name), *plugin, *description, tool)));
        }
        tools.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        let described = tools.iter().map(|(_, plugin, plugin_description, tool)| DescribedTool {
            name: tool.name,
            title: tool.title,
            description: &tool.description,
            plugin,
            plugin_description,
            schema: &tool.schema,
        });
        let index = index(described);
        TestCatalog { names: tools.into_iter().map(|(name, ..)| name).collect(), index }
    }

    fn picked(catalog: &TestCatalog, query: &str) -> Vec<String> {
        best(&catalog.index, query, usize::MAX).into_iter().map(|tool| catalog.names[tool].clone()).collect()
    }

    #[test]
    fn a_word_is_found_in_every_field() {
        let nested = json!({ "type": "array", "items": { "type": "object", "properties": {
            "cedar": { "anyOf": [{ "description": "a willow" }] }
        } } });
        let schema = json!({
            "type": "object",
            "properties": { "larch": { "type": "string", "enum": ["maple"], "description": "a rowan" }, "x": nested },
            "patternProperties": { "^p": { "description": "a poplar" } },
            "$defs": { "d": { "const": "alder" } },
        });
        let mut tree = tool("beech", "It has an acorn. It has a chestnut too.\nAnd hazel.", &schema);
        tree.title = "Elm";
        let catalog = catalog(&[("ash", "Birches", &[tree]), ("other", "Stones", &[named("granite")])]);
        for word in [
            "beech", "elm", "acorn", "chestnut", "hazel", "ash", "birch", "larch", "maple", "rowan", "cedar", "willow",
            "poplar", "alder",
        ] {
            assert_eq!(picked(&catalog, word), ["ash.beech"], "{word}");
        }
        assert_eq!(picked(&catalog, "items"), [""; 0], "a keyword of a schema is no word of the tool");
    }

    #[test]
    fn the_weight_of_a_word_depends_on_its_field() {
        let lead = tool("b", "Weaves a carpet.", &json!({ "type": "object" }));
        let rest = tool("c", "Weaves.\nNot a carpet, mostly.", &json!({ "type": "object" }));
        let parameter = json!({ "type": "object", "properties": { "p": { "description": "not a carpet" } } });
        let parameter = tool("d", "Weaves.", &parameter);
        let catalog = catalog(&[("p", "A loom.", &[parameter, rest, lead, named("carpet")])]);
        assert_eq!(picked(&catalog, "carpet"), ["p.carpet", "p.b", "p.c", "p.d"]);
    }

    #[test]
    fn tools_that_fit_equally_well_are_sorted_by_name() {
        let both = [named("one"), named("two")];
        let catalog = catalog(&[("b", "Same.", &both), ("a", "Same.", &both)]);
        let expected = ["a.one", "a.two", "b.one", "b.two"];
        for _ in 0..3 {
            assert_eq!(picked(&catalog, "same"), expected);
        }
    }

    #[test]
    fn related_verbs_find_a_tool_and_the_used_verb_ranks_first() {
        let tools = [named("delete_file"), named("remove_file"), named("create_file"), named("describe_file")];
        let catalog = catalog(&[("p", "Something.", &tools)]);
        assert_eq!(picked(&catalog, "remove the files")[..2], ["p.remove_file", "p.delete_file"]);
        assert_eq!(picked(&catalog, "erase a file")[..2], ["p.delete_file", "p.remove_file"]);
        assert_eq!(picked(&catalog, "make a new file")[0], "p.create_file");
        assert_eq!(picked(&catalog, "what is in this file")[0], "p.describe_file");
    }

    #[test]
    fn words_are_found_joined_split_and_by_prefix() {
        let tools = [named("import_keypair"), named("list_key_rings"), named("authenticate")];
        let catalog = catalog(&[("p", "Something.", &tools)]);
        assert_eq!(picked(&catalog, "key pair")[0], "p.import_keypair");
        assert_eq!(picked(&catalog, "keyrings")[0], "p.list_key_rings");
        assert_eq!(picked(&catalog, "auth"), ["p.authenticate"]);
        assert_eq!(picked(&catalog, "authenticators"), ["p.authenticate"]);
        assert_eq!(picked(&catalog, "aut"), [""; 0], "too short to say anything");
    }

    #[test]
    fn text_of_every_alphabet_is_compared_in_lower_case() {
        let text = "Öffnet ein ARCHIV. Ανοίγει ένα ΑΡΧΕΊΟ, открывает АРХИВ.";
        let catalog = catalog(&[
            ("p", "Something.", &[tool("open", text, &json!({ "type": "object" }))]),
            ("q", "Something.", &[named("other")]),
        ]);
        for query in ["öffnet", "ÖFFNET", "αρχείο", "Архив", "archiv"] {
            assert_eq!(picked(&catalog, query), ["p.open"], "{query}");
        }
    }

    #[test]
    fn nothing_is_returned_if_nothing_fits_or_the_limit_is_zero() {
        let catalog = catalog(&[("p", "Something.", &[named("run")])]);
        for query in ["", " ", "...", "\u{0}\u{202e}", "unheard", "the of and"] {
            assert!(best(&catalog.index, query, 5).is_empty(), "{query:?}");
        }
        assert!(best(&catalog.index, "run", 0).is_empty());
        assert_eq!(best(&catalog.index, "run", 1).len(), 1);
        let empty = self::catalog(&[]);
        assert!(best(&empty.index, "run", 5).is_empty());
    }

    #[test]
    fn a_query_is_read_up_to_its_maximum_length() {
        let catalog = catalog(&[("p", "Something.", &[named("needle")])]);
        assert_eq!(picked(&catalog, &format!("{} needle", "x".repeat(2000))), ["p.needle"]);
        for query in [format!("{} needle", "é".repeat(1100)), "\u{1f600}".repeat(100_000)] {
            assert_eq!(picked(&catalog, &query), [""; 0], "what stands behind is not read");
        }
        let words: String = (0..63).map(|number| format!("w{number} ")).collect();
        assert_eq!(picked(&catalog, &format!("{words} {words} needle")), ["p.needle"], "repeated words are one");
        assert_eq!(picked(&catalog, &format!("{words} one more needle")), [""; 0], "there are too many before it");
    }
}
