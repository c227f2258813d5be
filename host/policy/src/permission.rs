//! Permissions that a tool declares, and sets of them.
//!
//! This file must not know who grants a permission. Rules do.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, SerializeSeq, Serializer};

use crate::excerpt::Excerpt;

/// A permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    /// Reads something.
    Read,
    /// Changes or deletes something.
    Write,
    /// Starts something that acts on its own.
    Execute,
    /// Sends something to another machine.
    Network,
}

impl Permission {
    /// Every permission, in display order.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Execute, Self::Network];

    /// Returns the word that manifests, policies and the audit log use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Execute => "execute",
            Self::Network => "network",
        }
    }

    fn bit(self) -> u8 {
        1 << self.index()
    }

    /// Returns the position in [`Permission::ALL`].
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::Execute => 2,
            Self::Network => 3,
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl Serialize for Permission {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The error for a word that is not a permission.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown} is not a permission")]
pub struct PermissionError {
    shown: Excerpt,
}

impl PermissionError {
    /// Returns how to fix it.
    pub fn remedy(&self) -> &'static str {
        "write one of `read`, `write`, `execute`, `network`"
    }
}

impl FromStr for Permission {
    type Err = PermissionError;

    fn from_str(text: &str) -> Result<Self, PermissionError> {
        let named = Self::ALL.into_iter().find(|permission| permission.as_str() == text);
        named.ok_or_else(|| PermissionError { shown: Excerpt::of(text) })
    }
}

/// A set of permissions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Permissions(u8);

impl Permissions {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// Returns whether `permission` is in the set.
    #[must_use]
    pub fn contains(self, permission: Permission) -> bool {
        self.0 & permission.bit() != 0
    }

    /// Returns the permissions that are in either set.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the permissions that are in both sets.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the members, in the order of [`Permission::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.into_iter().filter(move |permission| self.contains(*permission))
    }
}

impl From<Permission> for Permissions {
    fn from(permission: Permission) -> Self {
        Self(permission.bit())
    }
}

impl FromIterator<Permission> for Permissions {
    fn from_iter<I: IntoIterator<Item = Permission>>(members: I) -> Self {
        members.into_iter().fold(Self::NONE, |set, member| set.union(member.into()))
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, permission) in self.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(formatter, "{separator}{permission}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Permissions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.iter()).finish()
    }
}

impl Serialize for Permissions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(None)?;
        for permission in self.iter() {
            sequence.serialize_element(&permission)?;
        }
        sequence.end()
    }
}

impl<'de> Deserialize<'de> for Permissions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        names.iter().map(|name| name.parse::<Permission>().map_err(D::Error::custom)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_set() -> impl Iterator<Item = Permissions> {
        (0..16).map(Permissions)
    }

    #[test]
    fn union_and_intersection_contain_exactly_the_right_members() {
        for (left, right) in every_set().flat_map(|left| every_set().map(move |right| (left, right))) {
            for member in Permission::ALL {
                assert_eq!(left.union(right).contains(member), left.contains(member) || right.contains(member));
                assert_eq!(left.intersect(right).contains(member), left.contains(member) && right.contains(member));
            }
        }
    }

    #[test]
    fn a_set_is_rebuilt_from_its_members() {
        for set in every_set() {
            assert_eq!(set.iter().collect::<Permissions>(), set);
            assert_eq!(set.is_empty(), set.iter().count() == 0);
        }
    }

    #[test]
    fn a_set_is_shown_as_words() {
        let set: Permissions = [Permission::Write, Permission::Read].into_iter().collect();
        assert_eq!(set.to_string(), "read, write");
        assert_eq!(serde_json::to_string(&set).unwrap(), r#"["read","write"]"#);
        assert_eq!(Permissions::NONE.to_string(), "");
        assert_eq!(format!("{set:?}"), "{Read, Write}");
    }

    #[test]
    fn a_set_round_trips_and_unknown_words_are_refused() {
        for set in every_set() {
            let text = serde_json::to_string(&set).unwrap();
            assert_eq!(serde_json::from_str::<Permissions>(&text).unwrap(), set);
        }
        for text in ["[\"all\"]", "\"read\"", "[1]", "null"] {
            assert!(serde_json::from_str::<Permissions>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_the_four_words_are_permissions() {
        for permission in Permission::ALL {
            assert_eq!(permission.as_str().parse(), Ok(permission));
        }
        for text in ["", "Read", "reads", "read ", "all", "*"] {
            assert!(text.parse::<Permission>().is_err(), "{text:?}");
        }
    }
}
