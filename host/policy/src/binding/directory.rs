//! What a policy binds to a directory key.

use super::access::Access;
use super::describe::{list, of_narrow, plain};
use super::kind::{BindingKind, KindFacts, KindPermissions};
use super::limits::PATH_BYTES;
use super::place::GrantPlaceKind;
use super::{BindingError, DefaultMask};
use crate::mask::{Mask, Masks};
use crate::permission::Permission;
use crate::pointer::Pointer;

/// What is true of every directory.
pub(super) const FACTS: KindFacts = KindFacts {
    name: "directory",
    noun: "the directory",
    permissions: Some(KindPermissions {
        any_of: &[Permission::Read, Permission::Write],
        written: "`read` or `write`",
        undeclared: "the tool declares neither read nor write",
    }),
    blank: "PATH",
    example: |path, access| format!("{{ path = \"{path}\", access = \"{access}\" }}"),
};

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

    /// Returns whether the masks that apply cover what a rule with the pattern of `mask` matches. They must hide it or,
    /// if `read_only`, at least protect it.
    pub(crate) fn covers_rule(&self, mask: &Mask, read_only: bool) -> bool {
        let protecting = self.read_only.iter().filter(|_| read_only);
        let is_same = self.hidden.iter().chain(protecting).any(|held| held.is_equivalent(mask));
        // The pattern of a rule begins at the directory, also where the mask covers a name at every depth. So
        // `/secrets` covers a rule on `secrets`.
        let at = self.masks().walk(mask.literal_beginning());
        is_same || at.is_hidden() || read_only && (at.is_read_only() || self.access == Access::ReadOnly)
    }

    /// Describes the masks that the policy sets and lifts, with one text for each kind.
    pub fn describe_masks(&self) -> Vec<String> {
        let masks = |masks: &[Mask]| masks.iter().map(|mask| plain(mask.as_str())).collect::<Vec<_>>().join(" ");
        let mut parts = Vec::new();
        if !self.hidden.is_empty() {
            parts.push(format!("hiding {}", masks(&self.hidden)));
        }
        if !self.read_only.is_empty() {
            parts.push(format!("protecting {}", masks(&self.read_only)));
        }
        if !self.writable.is_empty() {
            parts.push(format!("not protecting {}", list(&self.writable)));
        }
        parts
    }

    fn default_holds(&self, mask: DefaultMask) -> bool {
        match self.access {
            // Here a guest can change nothing, so the defaults would add nothing.
            Access::ReadOnly => false,
            Access::ReadWrite => !self.writable.contains(&mask),
        }
    }
}

impl BindingKind for DirectoryBinding {
    fn describe(&self) -> Vec<String> {
        let mut parts = vec![format!("the directory {}", plain(&self.path)), self.access.to_string()];
        parts.extend(self.narrow.as_ref().map(of_narrow));
        parts.extend(self.describe_masks());
        parts
    }

    fn narrow(&self) -> Option<&Pointer> {
        self.narrow.as_ref()
    }

    fn places(&self) -> Vec<(GrantPlaceKind, &str)> {
        vec![(GrantPlaceKind::Directory, &self.path)]
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
        for text in ["", "a\0b", "a\nb", &"a".repeat(PATH_BYTES + 1)] {
            assert_eq!(read_path(text), Err(BindingError::Path), "{text:?}");
        }
    }
}
