//! The folder of an installed package: its name, and its handle.

use cap_std::fs::Dir;
use std::io;
use std::path::Path;

use crate::spec::PackageSpec;

/// The digits of the tree's hash in a folder's name: 128 bits.
const HASH_DIGITS: usize = 32;

/// Maximum bytes of the package's name in a folder's name. Names of files have at most 255 bytes.
const NAME_BYTES_MAX: usize = 100;

/// Opens a directory by its path.
#[expect(clippy::disallowed_methods, reason = "the host's own places are named by the person who starts it")]
pub(crate) fn open_directory(path: &Path) -> io::Result<Dir> {
    Dir::open_ambient_dir(path, cap_std::ambient_authority())
}

pub(crate) fn is_package_name(name: &str) -> bool {
    name.starts_with("npm-") || name.starts_with("pypi-")
}

/// Returns the name of a package's folder, such as `npm-modelcontextprotocol-server-github-2025.4.8-0123456789abcdef`.
pub(crate) fn folder_name(spec: &PackageSpec, tree_hash: &str) -> String {
    let digits = &tree_hash[..HASH_DIGITS.min(tree_hash.len())];
    format!("{}{digits}", name_beginning(spec))
}

/// Returns how the names of all folders of a package begin. Those of another package can begin like that, too.
pub(crate) fn name_beginning(spec: &PackageSpec) -> String {
    let plain = |text: &str| {
        let plain = |character: char| match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' => character,
            _ => '-',
        };
        text.trim_start_matches('@').chars().map(plain).collect::<String>()
    };
    let mut name = plain(spec.name());
    name.truncate(NAME_BYTES_MAX);
    format!("{}-{name}-{}-", spec.kind().prefix(), plain(spec.version()))
}
