//! A path as a model writes it, made into the one spelling that everything below uses. Purely lexical: it touches no
//! file.

use portcullis_sdk::prelude::*;

/// A place in the workspace: its segments joined by `/`, and nothing for the workspace itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    path: String,
}

impl Place {
    /// Reads a path.
    pub(crate) fn parse(written: &str) -> Result<Self, Failure> {
        if let Some(character) = written.chars().find(|character| character.is_control()) {
            return Err(Failure::invalid(format!(
                "the path {written:?} has the control character {character:?} in it"
            )));
        }
        if written.contains('\\') {
            let remedy = written.replace('\\', "/");
            return Err(Failure::invalid(format!(
                "`{written}` has a backslash in it; segments are divided by `/`: `{remedy}`"
            )));
        }
        // A second spelling of the same place would be one that a rule of the policy does not know.
        if written.starts_with('/') {
            return Err(Failure::invalid(format!(
                "`{written}` is absolute; every path is relative to the workspace, such as `src/main.rs`"
            )));
        }
        let mut segments: Vec<&str> = Vec::new();
        for segment in written.split('/') {
            match segment {
                "" | "." => {}
                ".." if segments.pop().is_none() => {
                    return Err(Failure::invalid(format!(
                        "`{written}` leads out of the workspace; every path is relative to it, such as `src/main.rs`"
                    )));
                }
                ".." => {}
                segment => segments.push(segment),
            }
        }
        Ok(Self { path: segments.join("/") })
    }

    /// The path without a leading slash; empty for the workspace itself.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The path as a model may write it again.
    pub(crate) fn shown(&self) -> &str {
        if self.path.is_empty() { "." } else { &self.path }
    }

    /// The directory around it; `None` for the workspace itself.
    pub(crate) fn parent(&self) -> Option<Self> {
        if self.path.is_empty() {
            return None;
        }
        let parent = self.path.rsplit_once('/').map_or("", |(parent, _)| parent);
        Some(Self { path: parent.to_owned() })
    }

    /// The last segment.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(self.path.as_str(), |(_, name)| name)
    }

    /// From the outermost directory to the place itself, without the workspace.
    pub(crate) fn way(&self) -> impl Iterator<Item = Self> + '_ {
        let ends = self.path.match_indices('/').map(|(index, _)| index).chain([self.path.len()]);
        ends.filter(|end| *end > 0).map(|end| Self { path: self.path[..end].to_owned() })
    }
}
