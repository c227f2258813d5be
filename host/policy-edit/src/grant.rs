//! Binds a dependency key of a plugin.
//!
//! TOML has several forms of the same table, and not every form can be added to every text. So each form is tried, and
//! the first one that means the right thing is used. This file must not know which keys a plugin has.

use portcullis_policy::{Binding, DependencyKind, Policy, StoreScope};

use crate::document::PolicyDocument;
use crate::edit::{GrantBinding, GrantEdit};
use crate::error::EditError;
use crate::meaning::PolicyMeaning;
use crate::quote;
use crate::splice::{insert_lines, line_number, spliced};
use crate::written::WrittenEdit;

impl GrantBinding {
    /// Returns the kind of the dependency.
    pub fn kind(&self) -> DependencyKind {
        match self {
            Self::Directory { .. } => DependencyKind::Directory,
            Self::Http { .. } => DependencyKind::Http,
            Self::Store { .. } => DependencyKind::Store,
            Self::Service { .. } => DependencyKind::Service,
            Self::Process { .. } => DependencyKind::Process,
            Self::Tools { .. } => DependencyKind::Tools,
        }
    }

    /// Returns the keys of the binding with their values.
    fn entries(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Directory { path, access, hidden, read_only } => {
                let mut entries = vec![("path", quote::quoted(path)), ("access", quote::quoted(access.as_str()))];
                let masks = [("hidden", hidden), ("read-only", read_only)].into_iter();
                entries
                    .extend(masks.filter(|(_, masks)| !masks.is_empty()).map(|(key, masks)| (key, quote::list(masks))));
                entries
            }
            Self::Http { hosts } => vec![("hosts", quote::list(hosts))],
            Self::Store { scope } => vec![("scope", quote::quoted(StoreScope::as_str(*scope)))],
            Self::Service { name } => vec![("name", quote::quoted(name))],
            Self::Process { program, directories } => {
                let directories = (!directories.is_empty()).then(|| ("directories", quote::list(directories)));
                [("program", quote::quoted(program))].into_iter().chain(directories).collect()
            }
            Self::Tools { tools } => vec![("tools", quote::list(tools))],
        }
    }
}

/// Returns the lines of a grant in a section of its own.
pub(crate) fn lines(edit: &GrantEdit) -> String {
    format!("[plugin.{}]\n{}", edit.plugin, line(edit))
}

/// Returns the line of a binding in its plugin's section.
fn line(GrantEdit { key, binding, .. }: &GrantEdit) -> String {
    let entries: Vec<String> = binding.entries().iter().map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{}.{} = {{ {} }}\n", binding.kind().as_str(), quote::key(key.as_str()), entries.join(", "))
}

/// Returns the binding as a table with a header.
fn headed(GrantEdit { plugin, key, binding }: &GrantEdit) -> String {
    let header = format!("[plugin.{plugin}.{}.{}]\n", binding.kind().as_str(), quote::key(key.as_str()));
    binding.entries().iter().fold(header, |lines, (key, value)| lines + &format!("{key} = {value}\n"))
}

/// Returns the texts that could bind the key, the best first. The caller uses the first that means what it must.
///
/// # Errors
/// The binding is malformed, or the policy binds the key already.
pub(crate) fn write(text: &str, old: &Policy, edit: &GrantEdit) -> Result<Vec<WrittenEdit>, EditError> {
    let binding = parsed(edit)?;
    let document = PolicyDocument::parse(text);
    let mut expected = PolicyMeaning::of(old);
    if let Some(bound) = expected.bindings.insert((edit.plugin.clone(), edit.key.clone()), binding) {
        let place = document.as_ref().and_then(|document| {
            document.place_of_binding(edit.plugin.as_str(), bound.kind().as_str(), edit.key.as_str())
        });
        let line = place.map_or(1, |at| line_number(text, at));
        return Err(EditError::Bound { plugin: edit.plugin.clone(), key: edit.key.clone(), line });
    }
    let in_section = document.as_ref().and_then(|document| document.end_of_section(edit.plugin.as_str()));
    let in_section = in_section.map(|at| insert_lines(text, at, &line(edit)));
    let at_end = |lines: String| {
        let before = if text.is_empty() { "" } else { "\n" };
        insert_lines(text, text.len(), &format!("{before}{lines}"))
    };
    let splices = in_section.into_iter().chain([at_end(lines(edit)), at_end(headed(edit))]);
    let written = splices.map(|splice| WrittenEdit {
        text: spliced(text, vec![splice]),
        expected: expected.clone(),
        lines: lines(edit),
    });
    Ok(written.collect())
}

/// Parses the binding alone.
pub(crate) fn parsed(edit: &GrantEdit) -> Result<Binding, EditError> {
    // A text alone may name keys of other texts, such as the directories of a program. The combined policy checks them.
    let policy = Policy::parse(&lines(edit)).map_err(|error| EditError::Refused(Box::new(error)))?;
    let binding = policy.bindings(&edit.plugin).get(&edit.key).cloned();
    binding.ok_or_else(|| EditError::ChangesMore { what: "a grant", lines: lines(edit) })
}
