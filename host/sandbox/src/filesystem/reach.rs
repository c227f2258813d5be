//! What a directory handle of a call gives access to, and what a guest may do there. Only names decide, so a refusal
//! does not reveal whether something exists.

use super::masked::Standing;
use super::uses::Station;
use crate::directory::Narrowing;
use portcullis_policy::Masks;
use std::sync::Arc;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// What a directory handle gives access to.
#[derive(Clone)]
pub(super) enum Reach {
    /// Everything in it.
    All,
    /// Everything in it, except what masks hide.
    Masked(Standing),
    /// One place. The handle is a directory on the way to it.
    Way {
        /// The place.
        narrowing: Arc<Narrowing>,
        /// Steps from the directory that was narrowed, fewer than to the place.
        depth: usize,
        /// The masks of the directory that was narrowed.
        masks: Option<Arc<Masks>>,
    },
}

impl Reach {
    /// Returns the reach of a directory, by its masks.
    pub(super) fn of(standing: Option<Standing>) -> Self {
        standing.map_or(Self::All, Self::Masked)
    }
}

/// How a path ends after the last name on the way to the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
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
pub(super) struct Target {
    /// Steps from the directory that was narrowed.
    pub(super) depth: usize,
    pub(super) ending: Ending,
    pub(super) station: Station,
}

impl Target {
    /// Follows the names of a path from a handle that is `from` steps on the way. Refuses any name that is not on the
    /// way to the place, even if the path returns from it.
    pub(super) fn of(path: &str, steps: &[Box<str>], from: usize) -> Result<Self, ErrorCode> {
        if path.is_empty() {
            return Err(ErrorCode::NoEntry);
        }
        if path.starts_with('/') {
            return Err(ErrorCode::NotPermitted);
        }
        let (mut depth, mut ending, mut rest) = (from, Ending::Dot, Some(path));
        while let Some(text) = rest {
            if depth == steps.len() && text.split('/').any(|name| !name.is_empty() && name != ".") {
                check_below(text)?;
                let ending = Ending::Below(text.trim_start_matches('/').to_owned());
                return Ok(Self { depth, ending, station: Station::Below });
            }
            let (name, after) = text.split_once('/').map_or((text, None), |(name, after)| (name, Some(after)));
            rest = after;
            ending = match name {
                "" if ending == Ending::Name => Ending::Slash,
                "" => ending,
                "." => Ending::Dot,
                ".." if depth > from => {
                    depth -= 1;
                    Ending::Dot
                }
                name if steps.get(depth).is_some_and(|step| **step == *name) => {
                    depth += 1;
                    Ending::Name
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
            (".", 0, Ending::Dot),
            ("./", 0, Ending::Dot),
            ("src", 1, Ending::Name),
            ("./src", 1, Ending::Name),
            ("src/", 1, Ending::Slash),
            ("src//", 1, Ending::Slash),
            ("src/.", 1, Ending::Dot),
            ("src/..", 0, Ending::Dot),
            ("src/../src/a", 2, Ending::Name),
            ("src/a", 2, Ending::Name),
            ("src//a", 2, Ending::Name),
            ("src/a/", 2, Ending::Slash),
            ("src/a//.", 2, Ending::Dot),
            ("src/a/./", 2, Ending::Dot),
            ("src/a/x", 2, Ending::Below("x".to_owned())),
            ("src/a//x/", 2, Ending::Below("x/".to_owned())),
            ("src/a/x/..", 2, Ending::Below("x/..".to_owned())),
            ("src/a/./x", 2, Ending::Below("./x".to_owned())),
        ] {
            let target = Target::of(path, &steps(), 0).unwrap();
            assert_eq!((target.depth, target.ending), (depth, ending), "{path}");
        }
        assert_eq!(Target::of("a/x", &steps(), 1).unwrap().ending, Ending::Below("x".to_owned()));
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
            assert!(matches!(Target::of(path, &steps(), 0), Err(ErrorCode::NotPermitted)), "{path}");
        }
        assert!(matches!(Target::of("", &steps(), 0), Err(ErrorCode::NoEntry)));
        // A handle on the way cannot be used to go up, like every other handle.
        for path in ["..", "../src/a", "a/../..", "src/a"] {
            assert!(matches!(Target::of(path, &steps(), 1), Err(ErrorCode::NotPermitted)), "{path}");
        }
    }
}
