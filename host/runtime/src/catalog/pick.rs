//! Picks the tools of a catalog that fit a need best.

use super::contents::Catalog;
use super::offer::Offer;
use super::picker::Picking;
use portcullis_definitions::pick::{self, DescribedTool};

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
        let best = pick::best(&picking.index, query, limit);
        best.iter().filter_map(|tool| picking.offers.get(*tool).cloned()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Plugin;
    use crate::policy_in_force::PolicyInForce;
    use crate::standard;
    use portcullis_definitions::manifest::{Definition, Manifest};
    use portcullis_policy::Permissions;
    use std::sync::Arc;

    /// Creates a plugin with one tool that has only a name.
    fn plugin(name: &str, tool: &str) -> Plugin {
        let tool = Definition {
            name: tool.to_owned(),
            title: None,
            description: "It is what it is.".to_owned(),
            schema: r#"{"type":"object"}"#.to_owned(),
            output_schema: None,
            required: Permissions::default(),
            optional: Permissions::default(),
            hints: Vec::new(),
        };
        let (name, version, description) = (name.to_owned(), "1".to_owned(), "Same.".to_owned());
        Plugin::standard(Manifest { name, version, description, tools: vec![tool], dependencies: Vec::new() }).unwrap()
    }

    fn catalog(plugins: Vec<Plugin>) -> Catalog {
        let plugins = plugins.into_iter().map(|plugin| (plugin.name.clone(), Arc::new(plugin)));
        let policy = PolicyInForce::deny_all();
        Catalog { plugins: plugins.collect(), ..Catalog::under(&policy, standard::plugins()) }
    }

    fn picked(catalog: &Catalog, query: &str) -> Vec<String> {
        catalog.pick(query, usize::MAX).iter().map(|offer| offer.tool.name().to_string()).collect()
    }

    #[test]
    fn a_changed_copy_has_an_index_of_its_own() {
        let before = catalog(vec![plugin("a", "one"), plugin("b", "two")]);
        assert_eq!(picked(&before, "same"), ["a.one", "b.two"]);
        let mut after = before.clone();
        assert_eq!(picked(&after, "same"), picked(&before, "same"));
        after = after.clone();
        after.plugins.pop_first();
        assert_eq!(picked(&after, "same"), ["b.two"]);
        assert_eq!(picked(&before, "same").len(), 2);
    }

    #[test]
    fn no_tool_is_picked_if_the_limit_is_zero() {
        let catalog = catalog(vec![plugin("p", "run")]);
        assert!(catalog.pick("run", 0).is_empty());
        assert_eq!(catalog.pick("run", 1).len(), 1);
        assert!(self::catalog(Vec::new()).pick("run", 5).is_empty());
    }
}
