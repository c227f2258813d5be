//! Finds an exact version for a package that is written without one, as launchers such as `npx` and `uvx` accept it.

use crate::error::PackageError;
use crate::options::InstallOptions;
use crate::resolved::InstallFailure;
use crate::runtime::Runtime;
use crate::spec::{PackageKind, PackageSpec};
use crate::store::PackageStore;
use crate::tool::ToolRunner;
use crate::{npm, pypi};

impl PackageStore {
    /// Asks the registry for the newest version of a package. `range` is a range or a tag of npm; PyPI's newest wheel
    /// is taken without one. Blocks: call it on a blocking thread.
    ///
    /// # Errors
    /// npm or pip is missing or fails, npm could read the text as a file or an address, or there is no such package.
    pub fn newest(
        &self,
        kind: PackageKind,
        name: &str,
        range: Option<&str>,
        options: &InstallOptions,
    ) -> Result<PackageSpec, PackageError> {
        let requirement = range.map_or_else(|| name.to_owned(), |range| format!("{name}@{range}"));
        let none = || PackageError::NoVersion { requirement: requirement.clone() };
        // Any version makes a specification whose name is checked, so that the tools read it as nothing else.
        let name = PackageSpec::new(kind, name, "1.0.0").map_err(|_| none())?.name().to_owned();
        // npm would look for a file or directory relative to the work folder, and take the version that it names.
        if is_archive(&name) || !range.is_none_or(is_range_or_tag) {
            return Err(PackageError::NotOfRegistry { requirement });
        }
        let work = self.begin()?;
        let runner = ToolRunner::new(&work, options);
        let found = match kind {
            PackageKind::Npm => npm::newest(&runner, &requirement).map(|version| format!("npm:{name}@{version}")),
            PackageKind::Pypi => {
                let runtime = Runtime::find(kind, &options.environment)?;
                pypi::newest(&runner, &name, &runtime).map(|found| format!("pypi:{found}"))
            }
        };
        let found = found.map_err(|failure| match failure {
            InstallFailure::Tool(error) => PackageError::Tool(error),
            InstallFailure::Refused(_) => none(),
        })?;
        found.parse().map_err(|_| none())
    }
}

/// Returns whether npm reads the text after `NAME@` as a range or a tag, and never as a file, a directory, an address
/// or another package (`npm-package-arg`).
fn is_range_or_tag(text: &str) -> bool {
    let words = || text.split([' ', '|']);
    !words().any(is_archive) && (is_tag(text) || words().all(is_comparator))
}

/// Returns whether npm reads a text with this end as the name of a file. Older releases accept any character before
/// `gz`.
fn is_archive(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    matches!(
        text.as_bytes(),
        [.., b'.', b't', b'g', b'z'] | [.., b'.', b't', b'a', b'r'] | [.., b'.', b't', b'a', b'r', _, b'g', b'z']
    )
}

fn is_tag(text: &str) -> bool {
    // A text that starts with a dot is a path. Without `:` and `/`, it is neither an address nor a repository.
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

/// Returns whether the text is a word of a range, such as `^1.2`, `>=`, `1.x` or `-`.
fn is_comparator(word: &str) -> bool {
    let version = word.trim_start_matches(['<', '>', '=', '~', '^']);
    let version = version.strip_prefix('v').unwrap_or(version);
    let starts_as_version = version.starts_with(|first: char| first.is_ascii_digit() || "*xX".contains(first));
    let has_only_known = version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+*".contains(&byte));
    word == "-" || version.is_empty() || (starts_as_version && has_only_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ranges_and_tags_follow_a_name() {
        for text in [
            "",
            "*",
            "1",
            "1.x",
            "X",
            "v1.2",
            "=v1.2.3",
            "1.2.3-beta.1+build",
            "^1.2",
            "~0.1",
            "> 1",
            ">=1.2 <3",
            "1.2 - 2.3",
            "^1 || ^2.0.0",
            "latest",
            "next-11",
            "release_1.x",
        ] {
            assert!(is_range_or_tag(text), "{text:?}");
        }
        for text in [
            ".",
            "..",
            "...",
            ".a",
            "~.",
            "^..",
            "1 ..",
            "a b",
            "x.tgz",
            "1.x.TGZ",
            "latest.tar",
            "next.tar.gz",
            "a.tar-gz",
            "x.tgz ",
            "1 || x.tgz",
            "~/a",
            "/a",
            "a/b",
            "npm:b",
            "file:..",
            "c:",
            "git+ssh",
            "a#b",
            "$(id)",
            "-x",
            "--",
            "a\\b",
            "a%2e",
            "\u{e9}",
            "1\n",
        ] {
            assert!(!is_range_or_tag(text), "{text:?}");
        }
    }
}
