//! Normalizes a path from a model into the spelling that the other modules use. Purely lexical: accesses no file.

use portcullis_sdk::prelude::*;

/// A normalized path in the workspace: segments joined by `/`, empty for the workspace itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    path: String,
}

impl Place {
    /// Parses a path.
    pub(crate) fn parse(written: &str) -> Result<Self, Failure> {
        if let Some(character) = written.chars().find(|character| character.is_control()) {
            return Err(Failure::invalid(format!("the path {written:?} contains the control character {character:?}")));
        }
        if written.contains('\\') {
            let remedy = written.replace('\\', "/");
            return Err(Failure::invalid(format!(
                "`{written}` contains a backslash; separate path segments with `/`: `{remedy}`"
            )));
        }
        // An absolute path would be a second spelling of the same file, which no policy rule would match.
        if written.starts_with('/') {
            return Err(Failure::invalid(format!(
                "`{written}` is absolute; use a path relative to the workspace, such as `src/main.rs`"
            )));
        }
        // Only the resulting path is opened. It has no `..`, so a link before one is never followed.
        let mut segments: Vec<&str> = Vec::new();
        for segment in written.split('/') {
            match segment {
                "" | "." => {}
                ".." if segments.pop().is_none() => {
                    return Err(Failure::invalid(format!(
                        "`{written}` leads out of the workspace; use a path inside it, such as `src/main.rs`"
                    )));
                }
                ".." => {}
                segment => segments.push(segment),
            }
        }
        Ok(Self { path: segments.join("/") })
    }

    /// Returns the path without a leading slash; empty for the workspace itself.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the path in a form that a model can use in its next call.
    pub(crate) fn shown(&self) -> &str {
        if self.path.is_empty() { "." } else { &self.path }
    }

    /// Returns the parent directory; `None` for the workspace itself.
    pub(crate) fn parent(&self) -> Option<Self> {
        if self.path.is_empty() {
            return None;
        }
        let parent = self.path.rsplit_once('/').map_or("", |(parent, _)| parent);
        Some(Self { path: parent.to_owned() })
    }

    /// Returns a place in the same directory.
    pub(crate) fn sibling(&self, name: &str) -> Self {
        let path = self.path.rsplit_once('/').map_or_else(|| name.to_owned(), |(parent, _)| format!("{parent}/{name}"));
        Self { path }
    }

    /// Returns the last segment.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(self.path.as_str(), |(_, name)| name)
    }

    /// Iterates from the outermost directory to the place itself, without the workspace.
    pub(crate) fn way(&self) -> impl Iterator<Item = Self> + '_ {
        let ends = self.path.match_indices('/').map(|(index, _)| index).chain([self.path.len()]);
        ends.filter(|end| *end > 0).map(|end| Self { path: self.path[..end].to_owned() })
    }
}
