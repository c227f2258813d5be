//! The text of a policy, with the places of its rules and bindings.
//!
//! This file must not know what an edit means.

use std::ops::Range;

use toml_edit::{Document, Item, Key, Table, TableLike, Value};

use crate::splice::{TextSplice, insert_lines, line_end, line_start};

/// A text and its parsed form with spans.
pub(crate) struct PolicyDocument<'t> {
    pub(crate) text: &'t str,
    parsed: Document<&'t str>,
}

/// A table of the text: a rule or a binding.
pub(crate) struct DocumentTable<'d> {
    text: &'d str,
    table: &'d dyn TableLike,
    /// Whether it is written in braces.
    inline: bool,
}

impl<'t> PolicyDocument<'t> {
    /// Parses a text. None if it is not TOML. A byte order mark before it is skipped, and counts for its places.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        Some(Self { text, parsed: Document::parse(text).ok()? })
    }

    /// Returns the rules in the order of the text.
    pub(crate) fn rules(&self) -> Vec<DocumentTable<'_>> {
        let table = |table, inline| DocumentTable { text: self.text, table, inline };
        match self.parsed.get("rule") {
            Some(Item::ArrayOfTables(tables)) => {
                tables.iter().map(|rule| table(rule as &dyn TableLike, false)).collect()
            }
            Some(Item::Value(Value::Array(array))) => {
                let inline = array.iter().filter_map(Value::as_inline_table);
                inline.map(|rule| table(rule as &dyn TableLike, true)).collect()
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// Returns the byte after the last line of the last `[[rule]]`, or of the text if there is none.
    pub(crate) fn end_of_rules(&self) -> usize {
        // A rule ends after its sub-tables, such as `[rule.when]`.
        let last = match self.parsed.get("rule") {
            Some(Item::ArrayOfTables(tables)) => tables.iter().last().and_then(|rule| rule_end(rule as &dyn TableLike)),
            Some(_) | None => None,
        };
        last.map_or(self.text.len(), |end| line_end(self.text, end))
    }

    /// Returns the byte after the last element, if the rules are written as one array.
    pub(crate) fn end_of_rule_array(&self) -> Option<usize> {
        match self.parsed.get("rule") {
            Some(Item::Value(Value::Array(array))) => array.iter().last().and_then(|value| Some(value.span()?.end)),
            Some(_) | None => None,
        }
    }

    /// Returns the table of a binding.
    pub(crate) fn binding(&self, plugin: &str, kind: &str, key: &str) -> Option<DocumentTable<'_>> {
        let section = self.parsed.get("plugin")?.as_table_like()?.get(plugin)?.as_table_like()?;
        let item = section.get(kind)?.as_table_like()?.get(key)?;
        let inline = matches!(item, Item::Value(_));
        Some(DocumentTable { text: self.text, table: item.as_table_like()?, inline })
    }

    /// Returns the first byte of the key of a binding.
    pub(crate) fn place_of_binding(&self, plugin: &str, kind: &str, key: &str) -> Option<usize> {
        let section = self.parsed.get("plugin")?.as_table_like()?.get(plugin)?.as_table_like()?;
        let (key, _) = section.get(kind)?.as_table_like()?.get_key_value(key)?;
        Some(key.span()?.start)
    }

    /// Returns the byte after the values of the section `[plugin.NAME]`, if it has a header of its own.
    pub(crate) fn end_of_section(&self, plugin: &str) -> Option<usize> {
        let plugins = self.parsed.get("plugin")?.as_table_like()?;
        let section = plugins.get(plugin)?.as_table()?;
        // Without a header of its own, the section has no place in the text to which a line can be added.
        if section.is_implicit() || section.is_dotted() {
            return None;
        }
        // A line below a later header would belong to the table of that header, so only the section's own values count.
        let header = section.span()?.start;
        let last = own_values(section as &dyn TableLike).into_iter().map(|range| range.end).max();
        Some(line_end(self.text, last.unwrap_or(header)))
    }

    /// Returns the first byte of a key, which is below tables with these names.
    pub(crate) fn place_of_key(&self, path: &[&str]) -> Option<usize> {
        let (last, tables) = path.split_last()?;
        let table = self.table(tables)?;
        // A header writes the key only once for all that is below it.
        let item = table.get(last)?;
        table.key(last).and_then(Key::span).or_else(|| item.span()).map(|range| range.start)
    }

    /// Returns the place of a value, which is below tables with these names.
    pub(crate) fn place_of_value(&self, path: &[&str]) -> Option<Range<usize>> {
        let (last, tables) = path.split_last()?;
        self.table(tables)?.get(last)?.as_value()?.span()
    }

    /// Returns the parts of the text that make up the section `[OUTER.NAME]`: one for each of its headers, or the key
    /// and its value. None if it is written with dotted keys, or within another value.
    pub(crate) fn ranges_of_section(&self, outer: &str, name: &str) -> Option<Vec<Range<usize>>> {
        let outer = self.parsed.get(outer)?.as_table()?;
        match outer.get(name)? {
            Item::Table(section) => headed_parts(section),
            Item::Value(value) if !outer.is_dotted() => {
                let (key, end) = (outer.key(name)?.span()?.start, value.span()?.end);
                let line = line_start(self.text, key)..line_end(self.text, end);
                let around = (self.text.get(line.start..key)?, self.text.get(end..line.end)?);
                // The caller removes whole lines, which must not contain anything else.
                let is_alone = around.0.trim().is_empty() && (around.1.trim().is_empty() || is_comment(around.1));
                is_alone.then(|| std::iter::once(key..end).collect())
            }
            Item::Value(_) | Item::ArrayOfTables(_) | Item::None => None,
        }
    }

    fn table(&self, path: &[&str]) -> Option<&dyn TableLike> {
        let mut table: &dyn TableLike = self.parsed.as_table();
        for name in path {
            table = table.get(name)?.as_table_like()?;
        }
        Some(table)
    }

    /// Returns the key and the value of a top-level key.
    pub(crate) fn top_level(&self, name: &str) -> Option<(Range<usize>, Range<usize>)> {
        let (key, item) = self.parsed.as_table().get_key_value(name)?;
        Some((key.span()?, item.span()?))
    }
}

impl DocumentTable<'_> {
    /// Returns the place of a value.
    pub(crate) fn value(&self, name: &str) -> Option<Range<usize>> {
        self.table.get(name)?.span()
    }

    /// Returns the table of a `when`, if the rule has one.
    pub(crate) fn when(&self) -> Option<&dyn TableLike> {
        self.table.get("when")?.as_table_like()
    }

    /// Returns an edit that gives a key another value, or adds it after the key `beside`.
    pub(crate) fn set(&self, name: &str, value: &str, beside: &str) -> Option<TextSplice> {
        match self.value(name) {
            Some(range) => Some(TextSplice::replace(range, value)),
            None => self.add(name, value, beside),
        }
    }

    /// Returns an edit that adds a key after another one, in the same form.
    pub(crate) fn add(&self, name: &str, value: &str, beside: &str) -> Option<TextSplice> {
        let (key, item) = self.entry(beside)?;
        let (key, end) = (key.span()?, item.span()?.end);
        if self.inline {
            return Some(TextSplice::insert(end, format!(", {name} = {value}")));
        }
        // A dotted key such as `directory.workspace.path` has the same beginning.
        let beginning = self.text.get(line_start(self.text, key.start)..key.start)?;
        Some(insert_lines(self.text, line_end(self.text, end), &format!("{beginning}{name} = {value}\n")))
    }

    /// Returns an edit that removes a key, if there is one. A comment on its line stays.
    pub(crate) fn remove(&self, name: &str) -> Option<TextSplice> {
        let (key, item) = self.entry(name)?;
        let (start, end) = (key.span()?.start, item.span()?.end);
        if self.inline {
            // What is removed is not the first key, because every rule begins with another one.
            let comma = self.text.get(..start)?.rfind(',')?;
            return Some(TextSplice::replace(comma..end, ""));
        }
        let line = line_start(self.text, start)..line_end(self.text, end);
        let is_alone = self.text.get(end..line.end)?.trim().is_empty();
        Some(TextSplice::replace(if is_alone { line } else { start..end }, ""))
    }

    /// Returns an edit that adds texts to a list, which may be missing or empty.
    pub(crate) fn extend(&self, name: &str, elements: &[String], beside: &str) -> Option<TextSplice> {
        let written = elements.join(", ");
        match self.table.get(name) {
            None => self.add(name, &format!("[{written}]"), beside),
            Some(item) => {
                let array = item.as_array()?;
                match array.iter().last() {
                    // After the last element and not before the bracket, because a comment may be between them.
                    Some(last) => Some(TextSplice::insert(last.span()?.end, format!(", {written}"))),
                    None => Some(TextSplice::insert(array.span()?.start + 1, written)),
                }
            }
        }
    }

    fn entry(&self, name: &str) -> Option<(&Key, &Item)> {
        self.table.get_key_value(name)
    }
}

/// Returns the part below each header of a section, up to its last value. None if a part has no header.
fn headed_parts(section: &Table) -> Option<Vec<Range<usize>>> {
    if section.is_dotted() {
        return None;
    }
    let mut parts = Vec::new();
    if !section.is_implicit() {
        let header = section.span()?;
        let last = own_values(section as &dyn TableLike).into_iter().map(|range| range.end).max();
        // Without values, one byte of the header is enough, because the caller removes whole lines.
        parts.push(header.start..last.unwrap_or(header.start + 1));
    }
    for (_, item) in section.iter() {
        match item {
            Item::Table(table) if !table.is_dotted() => parts.extend(headed_parts(table)?),
            Item::ArrayOfTables(_) => return None,
            Item::Table(_) | Item::Value(_) | Item::None => {}
        }
    }
    Some(parts)
}

/// Returns whether the rest of a line is a comment.
fn is_comment(rest: &str) -> bool {
    rest.trim_start().starts_with('#')
}

/// Returns the end of the last value of a rule.
fn rule_end(table: &dyn TableLike) -> Option<usize> {
    all_values(table).into_iter().map(|range| range.end).max()
}

/// Returns the places of the values of a table, without those under other headers.
fn own_values(table: &dyn TableLike) -> Vec<Range<usize>> {
    values(table, false)
}

/// Returns the places of all values below a table.
fn all_values(table: &dyn TableLike) -> Vec<Range<usize>> {
    values(table, true)
}

fn values(table: &dyn TableLike, headers: bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (_, item) in table.iter() {
        match item {
            Item::Value(value) => found.extend(value.span()),
            Item::Table(table) if headers || table.is_dotted() => found.extend(values(table, headers)),
            Item::ArrayOfTables(tables) if headers => {
                found.extend(tables.iter().flat_map(|table| values(table, headers)));
            }
            Item::Table(_) | Item::ArrayOfTables(_) | Item::None => {}
        }
    }
    found
}
