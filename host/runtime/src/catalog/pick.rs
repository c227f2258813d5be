//! Picks the tools of a catalog that fit a need best.

use super::contents::Catalog;
use super::offer::Offer;
use super::picker::Picking;
use crate::pick::{self, DescribedTool};
use std::cmp::Ordering;

impl Catalog {
    /// Returns the tools that fit a need best, at most `limit`. They are sorted from best to worst, and by name if they
    /// fit equally well. `query` describes the need in words; only its first 2,048 bytes are used. Returns no tools if
    /// none contains any of its words. The first call for a catalog takes longer, because it creates the index.
    pub fn pick(&self, query: &str, limit: usize) -> Vec<Offer> {
        if limit == 0 {
            return Vec::new();
        }
        let picking = self.picker.0.get_or_init(|| {
            let offers: Vec<Offer> = self.offers().collect();
            Picking { index: pick::index(offers.iter().map(described)), offers }
        });
        let mut scores = pick::scores(&picking.index, query);
        scores.sort_by(|one, other| best_first(*one, *other));
        scores.iter().take(limit).filter_map(|(tool, _)| picking.offers.get(*tool).cloned()).collect()
    }
}

/// Returns the texts of a tool that the index contains.
fn described(Offer { plugin, tool }: &Offer) -> DescribedTool<'_> {
    DescribedTool {
        name: tool.name().tool.as_str(),
        title: tool.title().unwrap_or_default(),
        description: tool.description(),
        plugin: plugin.name().as_str(),
        plugin_description: plugin.description(),
        schema: tool.schema().document(),
    }
}

fn best_first(one: (usize, f32), other: (usize, f32)) -> Ordering {
    other.1.total_cmp(&one.1).then(one.0.cmp(&other.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Plugin;
    use crate::policy_in_force::PolicyInForce;
    use crate::standard;
    use portcullis_policy::Permissions;
    use portcullis_sandbox::{Definition, Manifest};
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn tool(name: &str, description: &str, schema: &Value) -> Definition {
        Definition {
            name: name.to_owned(),
            title: None,
            description: description.to_owned(),
            schema: schema.to_string(),
            output_schema: None,
            required: Permissions::default(),
            optional: Permissions::default(),
            hints: Vec::new(),
        }
    }

    /// Creates a tool with only a name.
    fn named(name: &str) -> Definition {
        tool(name, "It is what it is.", &json!({ "type": "object" }))
    }

    fn catalog(plugins: &[(&str, &str, &[Definition])]) -> Catalog {
        let plugin = |(name, description, tools): &(&str, &str, &[Definition])| {
            let (name, description) = ((*name).to_owned(), (*description).to_owned());
            let (version, tools) = ("1".to_owned(), tools.to_vec());
            Plugin::standard(Manifest { name, version, description, tools, dependencies: Vec::new() }).unwrap()
        };
        let plugins = plugins.iter().map(plugin).map(|plugin| (plugin.name.clone(), Arc::new(plugin)));
        let policy = PolicyInForce::deny_all();
        Catalog { plugins: plugins.collect(), ..Catalog::under(&policy, standard::plugins()) }
    }

    fn picked(catalog: &Catalog, query: &str) -> Vec<String> {
        catalog.pick(query, usize::MAX).iter().map(|offer| offer.tool.name().to_string()).collect()
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
        tree.title = Some("Elm".to_owned());
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
            assert_eq!(picked(&catalog.clone(), "same"), expected, "a copy has an index of its own");
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
            assert!(catalog.pick(query, 5).is_empty(), "{query:?}");
        }
        assert!(catalog.pick("run", 0).is_empty());
        assert_eq!(catalog.pick("run", 1).len(), 1);
        let empty = self::catalog(&[]);
        assert!(empty.pick("run", 5).is_empty());
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

    #[test]
    fn a_changed_copy_has_an_index_of_its_own() {
        let before = catalog(&[("a", "Same.", &[named("one")]), ("b", "Same.", &[named("two")])]);
        assert_eq!(picked(&before, "same").len(), 2);
        let mut after = before.clone();
        after.plugins.pop_first();
        assert_eq!(picked(&after, "same"), ["b.two"]);
        assert_eq!(picked(&before, "same").len(), 2);
    }
}
