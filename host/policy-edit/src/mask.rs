//! Adds masks to directories that the policy binds.
//!
//! This file must not know which places a mask covers.

use portcullis_policy::{Access, Binding, DependencyKey, Mask, PluginName, Policy};

use crate::document::PolicyDocument;
use crate::edit::{GrantBinding, GrantEdit, MaskEdit};
use crate::error::EditError;
use crate::grant;
use crate::meaning::PolicyMeaning;
use crate::quote;
use crate::splice::{TextSplice, spliced};
use crate::written::WrittenEdit;

/// Adds the masks that a directory does not have yet.
///
/// # Errors
/// A pattern is malformed, or the policy binds no such directory.
pub(crate) fn write(text: &str, old: &Policy, edit: &MaskEdit) -> Result<WrittenEdit, EditError> {
    let (hidden, read_only) = parsed(edit)?;
    let mut expected = PolicyMeaning::of(old);
    let document = PolicyDocument::parse(text);
    let mut splices = Vec::new();
    let mut found = false;
    for ((plugin, key), binding) in &mut expected.bindings {
        let Binding::Directory(directory) = binding else { continue };
        if *plugin != edit.plugin || edit.key.as_ref().is_some_and(|wanted| wanted != key) {
            continue;
        }
        found = true;
        let new = |wanted: &[String], masks: &[Mask], present: &[Mask]| {
            let pairs = wanted.iter().zip(masks).filter(|(_, mask)| !present.contains(mask));
            pairs.map(|(text, _)| quote::quoted(text)).collect::<Vec<_>>()
        };
        let added = [
            ("hidden", new(&edit.hidden, &hidden, &directory.hidden)),
            ("read-only", new(&edit.read_only, &read_only, &directory.read_only)),
        ];
        // If the text has no such table, the expected meaning still gets the masks. The check then refuses the edit.
        splices.extend(extensions(document.as_ref(), plugin, key, &added));
        directory.hidden.extend(missing(&hidden, &directory.hidden));
        directory.read_only.extend(missing(&read_only, &directory.read_only));
    }
    if !found {
        return Err(EditError::NoDirectory { plugin: edit.plugin.clone() });
    }
    Ok(WrittenEdit { text: spliced(text, splices), expected, lines: lines(edit) })
}

fn missing(wanted: &[Mask], present: &[Mask]) -> Vec<Mask> {
    wanted.iter().filter(|mask| !present.contains(mask)).cloned().collect()
}

/// Returns the insertions into the table of one directory.
fn extensions(
    document: Option<&PolicyDocument<'_>>,
    plugin: &PluginName,
    key: &DependencyKey,
    added: &[(&str, Vec<String>)],
) -> Vec<TextSplice> {
    let table = document.and_then(|document| document.binding(plugin.as_str(), "directory", key.as_str()));
    let Some(table) = table else { return Vec::new() };
    let extend = |(name, masks): &(&str, Vec<String>)| {
        if masks.is_empty() { None } else { table.extend(name, masks, "path") }
    };
    added.iter().filter_map(extend).collect()
}

fn lines(edit: &MaskEdit) -> String {
    let list = |name: &str, patterns: &[String]| match patterns {
        [] => String::new(),
        patterns => format!("{name} = {}\n", quote::list(patterns)),
    };
    list("hidden", &edit.hidden) + &list("read-only", &edit.read_only)
}

/// Parses the masks alone. The same pattern may be given twice.
fn parsed(edit: &MaskEdit) -> Result<(Vec<Mask>, Vec<Mask>), EditError> {
    // The masks are parsed within a made-up grant, so that they meet the same checks as those of a policy.
    let key = DependencyKey::new("key").map_err(|_| EditError::NoDirectory { plugin: edit.plugin.clone() })?;
    let grant = GrantEdit {
        plugin: edit.plugin.clone(),
        key,
        binding: GrantBinding::Directory {
            path: ".".to_owned(),
            access: Access::ReadWrite,
            hidden: edit.hidden.clone(),
            read_only: edit.read_only.clone(),
        },
    };
    match grant::parsed(&grant)? {
        Binding::Directory(directory) => Ok((directory.hidden, directory.read_only)),
        Binding::Http(_) | Binding::Store(_) | Binding::Service(_) | Binding::Process(_) | Binding::Tools(_) => {
            Err(EditError::NoDirectory { plugin: edit.plugin.clone() })
        }
    }
}
