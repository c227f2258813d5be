//! The handles of one call, by key: what a store can reach, and nothing else.

use crate::directory::Directory;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why a key has no handle for this call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The plugin's manifest does not name the key.
    UnknownKey,
    /// Nothing is granted under the key.
    NotGranted,
    /// The key names something of another kind.
    WrongKind,
}

/// Everything one call may reach. A new one holds nothing.
#[derive(Clone, Debug, Default)]
pub struct Handles {
    declared: BTreeMap<Arc<str>, Declared>,
}

#[derive(Clone, Debug)]
enum Declared {
    Directory(Option<Directory>),
    Other,
}

impl Handles {
    /// No handle and no key.
    pub fn none() -> Self {
        Self::default()
    }

    /// Declares a directory key, with its handle where one is granted.
    pub fn directory_key(&mut self, key: Arc<str>, directory: Option<Directory>) {
        self.declared.insert(key, Declared::Directory(directory));
    }

    /// Declares a key of a kind for which there is no handle.
    pub fn other_key(&mut self, key: Arc<str>) {
        self.declared.insert(key, Declared::Other);
    }

    pub(crate) fn directory(&self, key: &str) -> Result<&Directory, Unavailable> {
        match self.declared.get(key) {
            Some(Declared::Directory(Some(directory))) => Ok(directory),
            Some(Declared::Directory(None)) => Err(Unavailable::NotGranted),
            Some(Declared::Other) => Err(Unavailable::WrongKind),
            None => Err(Unavailable::UnknownKey),
        }
    }

    /// The granted directories, each to be preopened under its key.
    pub(crate) fn directories(&self) -> impl Iterator<Item = (&str, &Directory)> {
        self.declared.iter().filter_map(|(key, declared)| match declared {
            Declared::Directory(Some(directory)) => Some((&**key, directory)),
            Declared::Directory(None) | Declared::Other => None,
        })
    }
}
