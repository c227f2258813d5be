//! What a policy binds to a directory key.

use std::fmt;

use super::limits::PATH_BYTES;
use super::{BindingError, DefaultMask};
use crate::mask::{Mask, Masks};
use crate::pointer::Pointer;

/// A directory of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryBinding {
    /// The path. The host resolves a relative path against the directory of the policy.
    pub path: String,
    /// What a guest may do with it.
    pub access: Access,
    /// The argument that the handle is narrowed to.
    pub narrow: Option<Pointer>,
    /// Places that do not exist for a guest.
    pub hidden: Vec<Mask>,
    /// Places that a guest cannot change, besides those of [`DefaultMask`].
    pub read_only: Vec<Mask>,
    /// Default masks that the policy lifts.
    pub writable: Vec<DefaultMask>,
}

impl DirectoryBinding {
    /// Returns all masks that apply: those of the policy, and in a writable directory the default masks that the policy
    /// does not lift.
    pub fn masks(&self) -> Masks {
        let defaults = DefaultMask::ALL.into_iter().filter(|mask| self.default_holds(*mask));
        let read_only = self.read_only.iter().cloned().chain(defaults.flat_map(DefaultMask::masks));
        Masks::new(self.hidden.clone(), read_only.collect())
    }

    /// Returns whether a mask that applies covers at least what this one covers. It must hide the place, or, if
    /// `read_only`, at least protect it.
    pub(crate) fn has_mask(&self, mask: &Mask, read_only: bool) -> bool {
        let protecting = self.read_only.iter().filter(|_| read_only);
        let is_same = self.hidden.iter().chain(protecting).any(|held| held.is_equivalent(mask));
        let at = self.masks().walk(mask.literal_directory());
        is_same || at.is_hidden() || read_only && (at.is_read_only() || self.access == Access::ReadOnly)
    }

    fn default_holds(&self, mask: DefaultMask) -> bool {
        match self.access {
            Access::ReadOnly => false,
            Access::ReadWrite => !self.writable.contains(&mask),
        }
    }
}

/// What a guest may do with a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Access {
    /// The guest can read the directory and everything in it.
    #[default]
    ReadOnly,
    /// The guest can also change it.
    ReadWrite,
}

impl Access {
    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::ReadWrite => "read-write",
        }
    }

    pub(crate) fn read(text: &str) -> Result<Self, BindingError> {
        let known = [Self::ReadOnly, Self::ReadWrite].into_iter().find(|access| access.as_str() == text);
        known.ok_or(BindingError::Access)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

pub(crate) fn read_path(text: &str) -> Result<String, BindingError> {
    let sound = !text.is_empty() && text.len() <= PATH_BYTES && !text.chars().any(char::is_control);
    if sound { Ok(text.to_owned()) } else { Err(BindingError::Path) }
}

pub(crate) fn read_mask(text: &str) -> Result<Mask, BindingError> {
    Mask::new(text).map_err(BindingError::Mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_parts_of_a_directory_are_refused() {
        for text in ["", "readonly", "read-write ", "Read-Only", "rw", "write"] {
            assert_eq!(Access::read(text), Err(BindingError::Access), "{text:?}");
        }
        for text in ["", "a\0b", "a\nb", &"a".repeat(PATH_BYTES + 1)] {
            assert_eq!(read_path(text), Err(BindingError::Path), "{text:?}");
        }
    }
}
