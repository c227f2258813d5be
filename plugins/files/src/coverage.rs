//! What a search did not look at, so that an answer never claims more than was searched.

use std::io;

use portcullis_sdk::serde_json::Value;

use crate::text;
use crate::workspace;

/// How many unread directories an answer names; the others are counted.
const NAMED_MAX: usize = 8;

/// How much of the tree a search covered.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// The walk ended before the tree did.
    cut: bool,
    /// The first unread directories, each with its reason.
    unread: Vec<(String, String)>,
    unread_count: usize,
}

impl Coverage {
    /// Notes that a part of the tree was left out because of the tree's size.
    pub(crate) fn cut(&mut self) {
        self.cut = true;
    }

    /// Notes a directory that could not be read, or not to its end.
    pub(crate) fn unread(&mut self, directory: &str, error: &io::Error) {
        self.unread_count += 1;
        if self.unread.len() < NAMED_MAX {
            self.unread.push((text::printable(directory), workspace::unreadable(error)));
        }
    }

    /// Whether everything beneath the start was searched.
    pub(crate) fn is_whole(&self) -> bool {
        !self.cut && self.unread_count == 0
    }

    /// Lines that say what was not searched; none after a complete search.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.cut {
            notes.push("(the tree is too large: only a part was searched; name a directory in path)".to_owned());
        }
        if self.unread_count > 0 {
            let named = self.unread.iter().map(|(directory, why)| format!("`{directory}` {why}"));
            let mut named = named.collect::<Vec<_>>().join("; ");
            match self.unread_count - self.unread.len() {
                0 => {}
                1 => named.push_str("; and 1 more directory"),
                more => named.push_str(&format!("; and {more} more directories")),
            }
            notes.push(format!("(not searched, or not to the end: {named})"));
        }
        notes
    }

    /// The unread directories for programs.
    pub(crate) fn metadata(&self) -> Value {
        self.unread.iter().map(|(directory, _)| directory.as_str()).collect()
    }
}
