//! Adds and removes the section of a server, and replaces the version of its package.
//!
//! This file must not know how a server is started.

use std::ops::Range;

use portcullis_policy::{Binding, DependencyKey, PluginName, Policy, ServerPolicy};

use crate::document::PolicyDocument;
use crate::error::EditError;
use crate::meaning::PolicyMeaning;
use crate::quote;
use crate::server_edit::{ServerAddressEdit, ServerDirectory, ServerEdit, ServerSecretEdit, ServerStart};
use crate::splice::{TextSplice, insert_lines, line_end, line_number, line_start, spliced};
use crate::written::WrittenEdit;

/// Returns the lines of a server's section.
pub fn lines(edit: &ServerEdit) -> String {
    let ServerEdit { name, start, directories, hosts, environment } = edit;
    let mut lines = format!("[server.{name}]\n");
    match start {
        ServerStart::Command(words) => lines.push_str(&format!("command = {}\n", quote::list(words))),
        ServerStart::Package { spec, program, arguments } => {
            lines.push_str(&format!("package = {}\n", quote::quoted(spec)));
            if let Some(program) = program {
                lines.push_str(&format!("program = {}\n", quote::quoted(program)));
            }
            if !arguments.is_empty() {
                lines.push_str(&format!("arguments = {}\n", quote::list(arguments)));
            }
        }
        ServerStart::Address(address) => lines.push_str(&address_lines(address)),
    }
    for ServerDirectory { key, path, access } in directories {
        let (key, path) = (quote::key(key.as_str()), quote::quoted(path));
        lines.push_str(&format!("directory.{key} = {{ path = {path}, access = \"{}\" }}\n", access.as_str()));
    }
    if !hosts.is_empty() {
        lines.push_str(&format!("network = {{ hosts = {} }}\n", quote::list(hosts)));
    }
    if !environment.is_empty() {
        lines.push_str(&format!("environment = {}\n", texts(environment)));
    }
    lines
}

/// Returns the lines of the address of a server.
fn address_lines(address: &ServerAddressEdit) -> String {
    let ServerAddressEdit { url, logs_in, headers, secret } = address;
    let mut lines = format!("url = {}\n", quote::quoted(url));
    if *logs_in {
        lines.push_str("oauth = true\n");
    }
    if !headers.is_empty() {
        lines.push_str(&format!("headers = {}\n", texts(headers)));
    }
    if let Some(ServerSecretEdit { header, value, from }) = secret {
        let [header, value, from] = [header, value, from].map(|text| quote::quoted(text));
        lines.push_str(&format!("secret = {{ header = {header}, value = {value}, from = {from} }}\n"));
    }
    lines
}

/// Returns an inline table of texts.
fn texts(entries: &[(String, String)]) -> String {
    let entry = |(name, value): &(String, String)| format!("{} = {}", quote::key(name), quote::quoted(value));
    format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
}

/// Adds the section of a server at the end.
///
/// # Errors
/// The section is malformed, or the policy has a section for the name.
pub(crate) fn add(text: &str, old: &Policy, edit: &ServerEdit) -> Result<WrittenEdit, EditError> {
    if old.has_section(&edit.name) {
        let document = PolicyDocument::parse(text);
        // A server and a plugin share their names, so the section in the way may be of either kind.
        let places = [["server", edit.name.as_str()], ["plugin", edit.name.as_str()]];
        let place = places.iter().find_map(|path| document.as_ref()?.place_of_key(path));
        return Err(EditError::Section { name: edit.name.clone(), line: place.map_or(1, |at| line_number(text, at)) });
    }
    let lines = lines(edit);
    // Parse the section alone to learn what it must mean within the policy.
    let alone = Policy::parse(&lines).map_err(|error| EditError::Refused(Box::new(error)))?;
    let mut expected = PolicyMeaning::of(old);
    expected.add_section(&alone, &edit.name);
    let before = if text.is_empty() { "" } else { "\n" };
    let splice = insert_lines(text, text.len(), &format!("{before}{lines}"));
    Ok(WrittenEdit { text: spliced(text, vec![splice]), expected, lines })
}

/// Removes the section of a server, with the comments inside of it. Comments around it stay.
///
/// # Errors
/// The policy has no such server, or writes it in a form that cannot be cut out.
pub(crate) fn remove(text: &str, old: &Policy, name: &PluginName) -> Result<WrittenEdit, EditError> {
    if old.server(name).is_none() {
        return Err(EditError::NoServer { name: name.clone() });
    }
    let document = PolicyDocument::parse(text);
    let by_hand = || {
        let place = document.as_ref().and_then(|document| document.place_of_key(&["server", name.as_str()]));
        EditError::ServerForm { name: name.clone(), line: place.map_or(1, |at| line_number(text, at)) }
    };
    let ranges = document.as_ref().and_then(|document| document.ranges_of_section("server", name.as_str()));
    let ranges = ranges.ok_or_else(by_hand)?;
    let lines = whole_lines(text, ranges);
    let splices =
        lines.into_iter().map(|Range { start, end }| TextSplice::replace(without_gap(text, start, end)..end, ""));
    let mut expected = PolicyMeaning::of(old);
    expected.remove_section(name);
    Ok(WrittenEdit { text: spliced(text, splices.collect()), expected, lines: String::new() })
}

/// Returns the lines of some parts of the text, in order. Parts that follow each other become one.
fn whole_lines(text: &str, mut parts: Vec<Range<usize>>) -> Vec<Range<usize>> {
    parts.sort_by_key(|part| part.start);
    let mut lines: Vec<Range<usize>> = Vec::new();
    for part in parts {
        let last = part.end.saturating_sub(1).max(part.start);
        let (start, end) = (line_start(text, part.start), line_end(text, last));
        match lines.last_mut() {
            Some(before) if text.get(before.end..start).is_none_or(|between| between.trim().is_empty()) => {
                before.end = end.max(before.end);
            }
            Some(_) | None => lines.push(start..end),
        }
    }
    lines
}

/// Returns where a removed part begins, so that no second blank line stays between the parts around it.
fn without_gap(text: &str, start: usize, end: usize) -> usize {
    let before = text.get(..start).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    let blank = ["\r\n", "\n"].into_iter().find(|line_break| before.ends_with(&format!("\n{line_break}")));
    match blank {
        Some(blank) if after.is_empty() || after.starts_with(['\n', '\r']) => start - blank.len(),
        Some(_) | None => start,
    }
}

/// Replaces the package of a server.
///
/// # Errors
/// The policy has no such server, or the server is not started from a package.
pub(crate) fn set_package(text: &str, old: &Policy, name: &PluginName, spec: &str) -> Result<WrittenEdit, EditError> {
    if old.server(name).is_none() {
        return Err(EditError::NoServer { name: name.clone() });
    }
    let mut expected = PolicyMeaning::of(old);
    let place =
        PolicyDocument::parse(text).and_then(|document| document.place_of_value(&["server", name.as_str(), "package"]));
    let (Some(place), Some(package)) = (place, package_of(&mut expected, name)) else {
        return Err(EditError::NoPackage { name: name.clone() });
    };
    spec.clone_into(package);
    let text = spliced(text, vec![TextSplice::replace(place, quote::quoted(spec))]);
    Ok(WrittenEdit { text, expected, lines: format!("package = {}\n", quote::quoted(spec)) })
}

/// Returns the package of a server in a meaning.
fn package_of<'m>(meaning: &'m mut PolicyMeaning, name: &PluginName) -> Option<&'m mut String> {
    let key = DependencyKey::new(ServerPolicy::BINDING).ok()?;
    let Binding::Process(process) = meaning.bindings.get_mut(&(name.clone(), key))? else { return None };
    Some(&mut process.server.as_mut()?.package.as_mut()?.spec)
}
