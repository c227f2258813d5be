//! What a directory handle of a call gives access to, and what a guest may do there. Only names decide, so a refusal
//! does not reveal whether something exists.

use super::masked::MaskPosition;
use super::uses::Station;
use crate::directory::Narrowing;
use portcullis_policy::Masks;
use std::sync::Arc;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// What a directory handle gives access to.
#[derive(Clone)]
pub(super) enum HandleReach {
    /// Everything in it.
    All,
    /// Everything in it, except what masks hide.
    Masked(MaskPosition),
    /// One place. The handle is a directory on the way to it.
    Way {
        /// The place.
        narrowing: Arc<Narrowing>,
        /// Steps from the directory that was narrowed, fewer than to the place.
        depth: usize,
        /// The masks of the directory that was narrowed.
        masks: Option<Arc<Masks>>,
    },
    /// Nothing. The call was not given the directory, and the guest knows it from another call of its session.
    Closed,
}

impl HandleReach {
    /// Returns the reach of a directory, by its masks.
    pub(super) fn of(standing: Option<MaskPosition>) -> Self {
        standing.map_or(Self::All, Self::Masked)
    }
}

/// How a path ends after the last name on the way to the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathEnding {
    Name,
    /// A slash: the path means only a directory.
    Slash,
    /// `.` or `..`: the path means the directory itself, not its name.
    Dot,
    /// A path below the place.
    Below(String),
}

/// The end of a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PathTarget {
    /// Steps from the directory that was narrowed.
    pub(super) depth: usize,
    pub(super) ending: PathEnding,
    pub(super) station: Station,
}

impl PathTarget {
    /// Follows the names of a path from a handle that is `from` steps on the way. Refuses any name that is not on the
    /// way to the place, even if the path returns from it.
    pub(super) fn of(path: &str, steps: &[Box<str>], from: usize) -> Result<Self, ErrorCode> {
        if path.is_empty() {
            return Err(ErrorCode::NoEntry);
        }
        if path.starts_with('/') {
            return Err(ErrorCode::NotPermitted);
        }
        let (mut depth, mut ending, mut rest) = (from, PathEnding::Dot, Some(path));
        while let Some(text) = rest {
            if depth == steps.len() && text.split('/').any(|name| !name.is_empty() && name != ".") {
                check_below(text)?;
                let ending = PathEnding::Below(text.trim_start_matches('/').to_owned());
                return Ok(Self { depth, ending, station: Station::Below });
            }
            let (name, after) = text.split_once('/').map_or((text, None), |(name, after)| (name, Some(after)));
            rest = after;
            ending = match name {
                "" if ending == PathEnding::Name => PathEnding::Slash,
                "" => ending,
                "." => PathEnding::Dot,
                ".." if depth > from => {
                    depth -= 1;
                    PathEnding::Dot
                }
                name if steps.get(depth).is_some_and(|step| **step == *name) => {
                    depth += 1;
                    PathEnding::Name
                }
                _ => return Err(ErrorCode::NotPermitted),
            };
        }
        let station = if depth == steps.len() { Station::Place } else { Station::Way };
        Ok(Self { depth, ending, station })
    }
}

/// Refuses a path that leads above its start.
fn check_below(path: &str) -> Result<(), ErrorCode> {
    let mut level = 0_usize;
    for name in path.split('/') {
        level = match name {
            "" | "." => level,
            ".." => level.checked_sub(1).ok_or(ErrorCode::NotPermitted)?,
            _ => level + 1,
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps() -> Vec<Box<str>> {
        ["src", "a"].map(Box::from).to_vec()
    }

    #[test]
    fn a_path_is_followed_to_the_place_and_below_it() {
        for (path, depth, ending) in [
            (".", 0, PathEnding::Dot),
            ("./", 0, PathEnding::Dot),
            ("src", 1, PathEnding::Name),
            ("./src", 1, PathEnding::Name),
            ("src/", 1, PathEnding::Slash),
            ("src//", 1, PathEnding::Slash),
            ("src/.", 1, PathEnding::Dot),
            ("src/..", 0, PathEnding::Dot),
            ("src/../src/a", 2, PathEnding::Name),
            ("src/a", 2, PathEnding::Name),
            ("src//a", 2, PathEnding::Name),
            ("src/a/", 2, PathEnding::Slash),
            ("src/a//.", 2, PathEnding::Dot),
            ("src/a/./", 2, PathEnding::Dot),
            ("src/a/x", 2, PathEnding::Below("x".to_owned())),
            ("src/a//x/", 2, PathEnding::Below("x/".to_owned())),
            ("src/a/x/..", 2, PathEnding::Below("x/..".to_owned())),
            ("src/a/./x", 2, PathEnding::Below("./x".to_owned())),
        ] {
            let target = PathTarget::of(path, &steps(), 0).unwrap();
            assert_eq!((target.depth, target.ending), (depth, ending), "{path}");
        }
        assert_eq!(PathTarget::of("a/x", &steps(), 1).unwrap().ending, PathEnding::Below("x".to_owned()));
    }

    #[test]
    fn every_other_name_is_refused() {
        for path in [
            "..",
            "../src/a",
            "/",
            "/src/a",
            "//src/a",
            "srca",
            "Src",
            "sr",
            "src\0",
            "src /a",
            "other",
            "other/../src/a",
            "src/b",
            "src/a.txt",
            "src/aa",
            "src/b/../a",
            "src/../..",
            "src/../other",
            "src/a/..",
            "src/a/../a",
            "src/a/../b",
            "src/a/x/../..",
            "src/a/x/../../b",
            "src\\a",
        ] {
            assert!(matches!(PathTarget::of(path, &steps(), 0), Err(ErrorCode::NotPermitted)), "{path}");
        }
        assert!(matches!(PathTarget::of("", &steps(), 0), Err(ErrorCode::NoEntry)));
        // A handle on the way cannot be used to go up, like every other handle.
        for path in ["..", "../src/a", "a/../..", "src/a"] {
            assert!(matches!(PathTarget::of(path, &steps(), 1), Err(ErrorCode::NotPermitted)), "{path}");
        }
    }
}
