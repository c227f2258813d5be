//! What a search did not look at, so that an answer never claims more than was searched.

use std::io;

use portcullis_sdk::serde_json::Value;

use crate::text;
use crate::workspace;

/// Maximum number of unread directories that an answer names. The rest are only counted.
const NAMED_MAX: usize = 8;

/// How much of the tree a search covered.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// Whether the walk ended before the end of the tree.
    cut: bool,
    /// The first unread directories, each with its reason.
    unread: Vec<(String, String)>,
    unread_count: usize,
}

impl Coverage {
    /// Records that the walk skipped part of the tree because of the tree's size.
    pub(crate) fn cut(&mut self) {
        self.cut = true;
    }

    /// Records a directory that could not be read completely.
    pub(crate) fn unread(&mut self, directory: &str, error: &io::Error) {
        self.unread_count += 1;
        if self.unread.len() < NAMED_MAX {
            self.unread.push((text::printable(directory), workspace::unreadable(error)));
        }
    }

    /// Returns whether the search covered everything below the start.
    pub(crate) fn is_whole(&self) -> bool {
        !self.cut && self.unread_count == 0
    }

    /// Returns a line for each part that was not searched; none after a complete search.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.cut {
            notes.push("(the tree is too large: only a part was searched; name a subdirectory in path)".to_owned());
        }
        if self.unread_count > 0 {
            let named = self.unread.iter().map(|(directory, why)| format!("`{directory}` {why}"));
            let mut named = named.collect::<Vec<_>>().join("; ");
            match self.unread_count - self.unread.len() {
                0 => {}
                1 => named.push_str("; and 1 more directory"),
                more => named.push_str(&format!("; and {more} more directories")),
            }
            notes.push(format!("(not searched completely: {named})"));
        }
        notes
    }

    /// Returns the unread directories for the metadata.
    pub(crate) fn metadata(&self) -> Value {
        self.unread.iter().map(|(directory, _)| directory.as_str()).collect()
    }
}
