//! The lines that a policy lacks for a tool to run, ready for its author to paste.

use portcullis::plugins::{DependencyKind, Manifest, Plugin, Tool};
use portcullis::policy::{Access, DependencyKey, ExampleBlank, Permission, Permissions, Policy};
use portcullis::{Host, Reply};
use serde::Serialize;
use std::fmt::Write;

/// The heading above the lines, for people.
pub(crate) const HEADING: &str = "To grant it, add these lines to the policy:";

/// A JSON document with the lines as an additional field, if there are any.
#[derive(Serialize)]
pub(crate) struct WithLines<'a, T: Serialize> {
    #[serde(flatten)]
    document: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_lines: Option<&'a str>,
}

impl<'a, T: Serialize> WithLines<'a, T> {
    pub(crate) fn new(document: &'a T, policy_lines: Option<&'a str>) -> Self {
        Self { document, policy_lines }
    }
}

/// The parts that a policy lacks.
#[derive(Default)]
struct Lacking {
    /// The tools that no rule permits, as a rule names them.
    rule: Option<String>,
    /// The lines of the bindings in the plugin's section.
    bindings: Vec<String>,
}

/// Returns the lines that the host's policy lacks for a tool. `None` if the tool can run or a rule forbids it.
pub(crate) fn of_tool(host: &Host, plugin: &Plugin, tool: &Tool) -> Option<String> {
    let policy = host.policy();
    let missing = host.missing_grants(plugin, tool);
    let keys = plugin.dependencies().iter().filter(|(key, _)| missing.contains(&key.to_string()));
    let access = access(tool.permissions());
    let lacking = Lacking {
        rule: lacks_rule(&policy, tool).then(|| tool.name().to_string()),
        bindings: keys.map(|(key, dependency)| binding(dependency.kind, key.as_str(), access)).collect(),
    };
    lacking.lines(plugin.name().as_str(), policy.has_section(plugin.name()))
}

/// Returns the lines that the policy lacks for the tool of a denied reply.
pub(crate) fn of_reply(host: &Host, reply: &Reply) -> Option<String> {
    let catalog = host.catalog();
    let (plugin, tool) = catalog.tools().find(|(_, tool)| tool.name().to_string() == reply.tool)?;
    of_tool(host, plugin, tool)
}

/// Returns the lines that the host's policy lacks for a plugin, including its optional keys.
pub(crate) fn of_plugin(host: &Host, plugin: &Plugin) -> Option<String> {
    let policy = host.policy();
    let bound = policy.bindings(plugin.name());
    let all = plugin.tools().map(|tool| tool.permissions()).fold(Permissions::default(), Permissions::union);
    let unbound = plugin.dependencies().iter().filter(|(key, _)| !bound.contains_key::<DependencyKey>(key));
    let lacking = Lacking {
        rule: plugin.tools().any(|tool| lacks_rule(&policy, tool)).then(|| format!("{}.*", plugin.name())),
        bindings: unbound.map(|(key, dependency)| binding(dependency.kind, key.as_str(), access(all))).collect(),
    };
    lacking.lines(plugin.name().as_str(), policy.has_section(plugin.name()))
}

/// Returns the lines that a plugin with handles needs in an empty policy. The catalog has already checked its names.
pub(crate) fn of_manifest(manifest: &Manifest) -> Option<String> {
    if manifest.dependencies.is_empty() {
        return None;
    }
    let permissions = manifest.tools.iter().map(|tool| tool.required.union(tool.optional));
    let access = access(permissions.fold(Permissions::default(), Permissions::union));
    let bindings = manifest.dependencies.iter().map(|dependency| binding(dependency.kind, &dependency.key, access));
    let lacking = Lacking { rule: Some(format!("{}.*", manifest.name)), bindings: bindings.collect() };
    lacking.lines(&manifest.name, false)
}

fn lacks_rule(policy: &Policy, tool: &Tool) -> bool {
    let (permissions, hints) = (tool.permissions(), tool.hints());
    // A rule that forbids the tool wins, so another rule would not help.
    !policy.may_permit(tool.name(), permissions, hints) && !policy.forbids(tool.name(), permissions, hints)
}

fn access(permissions: Permissions) -> Access {
    if permissions.contains(Permission::Write) { Access::ReadWrite } else { Access::ReadOnly }
}

/// Returns the line that binds a key. Placeholders that the user must fill in are in capitals.
fn binding(kind: DependencyKind, key: &str, access: Access) -> String {
    kind.example(key, access, ExampleBlank::Word)
}

impl Lacking {
    fn lines(&self, plugin: &str, has_section: bool) -> Option<String> {
        let mut lines = String::new();
        // Writing to a string cannot fail.
        if let Some(tool) = &self.rule {
            let _ = write!(lines, "[[rule]]\ntool = \"{tool}\"\ndecision = \"ask\"\n");
        }
        if !self.bindings.is_empty() {
            let separator = if lines.is_empty() { "" } else { "\n" };
            let heading = if has_section { format!("# in [plugin.{plugin}]") } else { format!("[plugin.{plugin}]") };
            let _ = write!(lines, "{separator}{heading}\n{}\n", self.bindings.join("\n"));
        }
        (!lines.is_empty()).then_some(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis::policy::PluginName;

    #[test]
    fn lines_are_valid_in_a_policy() {
        for access in [Access::ReadOnly, Access::ReadWrite] {
            let bindings =
                DependencyKind::ALL.map(|kind| binding(kind, &format!("key-{kind:?}").to_lowercase(), access));
            let lacking = Lacking { rule: Some("files.*".to_owned()), bindings: bindings.into() };
            let lines = lacking.lines("files", false).unwrap().replace("HOST", "a.example").replace("NAME", "name");
            let policy = Policy::parse(&lines).unwrap_or_else(|error| panic!("{error}\n{lines}"));
            assert_eq!(policy.bindings(&PluginName::new("files").unwrap()).len(), DependencyKind::ALL.len());
        }
        assert_eq!(Lacking::default().lines("files", false), None);
    }
}
