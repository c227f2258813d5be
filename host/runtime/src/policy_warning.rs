//! Warnings: problems of a policy that do not stop a host. The operator sees them, and the host opens.

use crate::catalog::Catalog;
use portcullis_policy::{PluginName, Policy};
use std::fmt;

/// A suggestion may differ from the written name by one edit for each of this many bytes. More edits would suggest
/// unrelated plugins.
const BYTES_PER_EDIT: usize = 3;

/// Something in the policy that the operator should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyWarning {
    /// The policy names a plugin that is not installed.
    UnknownPlugin {
        /// The name in the policy.
        plugin: PluginName,
        /// An installed plugin with almost the same name.
        similar: Option<PluginName>,
    },
}

impl fmt::Display for PolicyWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPlugin { plugin, similar } => {
                write!(
                    formatter,
                    "the policy names the plugin `{plugin}`, but the plugin directory has no {plugin}.wasm; what the \
                     policy says about it has no effect until it is installed"
                )?;
                match similar {
                    Some(similar) => write!(formatter, ". Did you mean `{similar}`?"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Returns the warnings for a policy with the plugins of a catalog.
pub(crate) fn warnings(policy: &Policy, catalog: &Catalog) -> Vec<PolicyWarning> {
    let installed = installed(catalog);
    let unknown = policy.plugins().filter(|plugin| !installed.contains(plugin));
    unknown
        .map(|plugin| PolicyWarning::UnknownPlugin { plugin: plugin.clone(), similar: similar(plugin, &installed) })
        .collect()
}

/// Returns the loaded plugins, and those whose file was refused: their grants apply once they load.
fn installed(catalog: &Catalog) -> Vec<PluginName> {
    let refused = catalog.refused().iter().filter_map(|refused| refused.file.strip_suffix(".wasm"));
    let refused = refused.filter_map(|name| PluginName::new(name).ok());
    catalog.plugins().map(|plugin| plugin.name().clone()).chain(refused).collect()
}

fn similar(written: &PluginName, installed: &[PluginName]) -> Option<PluginName> {
    let edits_max = written.as_str().len().div_ceil(BYTES_PER_EDIT);
    let near = installed.iter().map(|name| (edits(written.as_str(), name.as_str()), name));
    let nearest = near.filter(|(edits, _)| *edits <= edits_max).min();
    nearest.map(|(_, name)| name.clone())
}

/// Returns the Levenshtein distance of two names, which are ASCII and at most 64 bytes long.
fn edits(one: &str, other: &str) -> usize {
    let mut previous: Vec<usize> = (0..=other.len()).collect();
    for (row, a) in one.bytes().enumerate() {
        let mut current = vec![row + 1];
        let mut last = row + 1;
        for (pair, b) in previous.windows(2).zip(other.bytes()) {
            let (diagonal, above) = (pair[0], pair[1]);
            last = (diagonal + usize::from(a != b)).min(above + 1).min(last + 1);
            current.push(last);
        }
        previous = current;
    }
    previous.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_gets_the_nearest_installed_one() {
        let installed = ["files", "web", "memory"].map(|name| PluginName::new(name).unwrap());
        for (written, expected) in [
            ("fils", Some("files")),
            ("flies", Some("files")),
            ("memroy", Some("memory")),
            ("wbe", None),
            ("wep", Some("web")),
            ("todo", None),
            ("a-name-of-another-plugin", None),
        ] {
            let found = similar(&PluginName::new(written).unwrap(), &installed);
            assert_eq!(found.as_ref().map(PluginName::as_str), expected, "{written}");
        }
    }

    #[test]
    fn edits_are_counted() {
        for (one, other, expected) in [("a", "a", 0), ("ab", "b", 1), ("kitten", "sitting", 3), ("abc", "xyz", 3)] {
            assert_eq!((edits(one, other), edits(other, one)), (expected, expected), "{one} {other}");
        }
    }
}
