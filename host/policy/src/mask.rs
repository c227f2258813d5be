//! Masks: places below a granted directory that do not exist for a guest, or that it cannot change.
//!
//! A mask covers every place that its pattern matches, and everything below it. Names are compared as widely as a
//! narrowing rule compares texts, because a mask only removes rights. Code that walks from the directory to a place
//! takes one step for each name, and gets the masks that apply there. This file must not know a file system.

use std::fmt;

use crate::glob::{Glob, GlobError, NextName, Position};
use crate::plain::plain_form;

/// Maximum masks of each kind for one directory. A person reads them, and every name of a path is matched against each.
pub const MASKS_MAX: usize = 64;

/// A pattern of places below a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    text: Box<str>,
    glob: Glob,
}

/// Why a text is not a mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MaskError {
    /// It is not a pattern.
    #[error(transparent)]
    Glob(#[from] GlobError),
    /// It covers the directory itself.
    #[error("the mask covers the whole directory")]
    Whole,
    /// It has a `..` segment.
    #[error("the mask has a `..` segment")]
    Dots,
}

impl MaskError {
    /// Returns what to write instead.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Glob(error) => error.remedy(),
            Self::Whole => "name a place in the directory, or bind another directory or access",
            Self::Dots => "write the path from the directory on, such as \"secrets/**\"",
        }
    }
}

impl Mask {
    /// Parses a mask.
    ///
    /// # Errors
    ///
    /// The text is not a pattern, or covers the whole directory, or has a `..` segment.
    pub fn new(text: &str) -> Result<Self, MaskError> {
        let written = Glob::of_place(text)?;
        // A class such as `[Z-é]` may not be a range in its plain form. The mask is then used as it was written.
        let glob = Glob::of_place(&plain_form(text)).unwrap_or(written);
        if glob.has_segment("..") {
            return Err(MaskError::Dots);
        }
        if glob.start(&mut |_| {}) {
            return Err(MaskError::Whole);
        }
        Ok(Self { text: text.into(), glob })
    }

    /// Returns whether both masks cover the same places, regardless of their spelling.
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        self.glob.is_equivalent(&other.glob)
    }

    /// Returns the names before the first wildcard of the pattern. What a rule with this pattern matches is there, but
    /// the mask may cover more: without a slash, it covers the name in every directory.
    pub(crate) fn literal_beginning(&self) -> &str {
        let special = |name: &str| name.contains(['*', '?', '[', ']', '{', '}', '\\']);
        let spelt: usize = self.text.split('/').take_while(|name| !special(name)).map(|name| name.len() + 1).sum();
        self.text.get(..spelt.saturating_sub(1)).unwrap_or(&self.text)
    }

    /// Returns the mask as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Mask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// The masks of one directory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Masks {
    hidden: Vec<Mask>,
    read_only: Vec<Mask>,
    /// The progress of a place deep below the directory if only wildcards match the names on the way.
    far_hidden: MaskProgress,
    far_read_only: MaskProgress,
}

/// The progress of a directory's masks at one place below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskTrail {
    hidden: MaskProgress,
    read_only: MaskProgress,
}

/// The progress of the masks of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
enum MaskProgress {
    /// One of them covers the place.
    Covered,
    /// The masks that may still match below the place: each number with its position, in order.
    Open(Vec<(usize, Position)>),
}

impl Default for MaskProgress {
    fn default() -> Self {
        Self::Open(Vec::new())
    }
}

impl Masks {
    /// Makes masks that hide and masks that protect from change.
    pub fn new(hidden: Vec<Mask>, read_only: Vec<Mask>) -> Self {
        let (far_hidden, far_read_only) = (MaskProgress::far(&hidden), MaskProgress::far(&read_only));
        Self { hidden, read_only, far_hidden, far_read_only }
    }

    /// Returns whether there are no masks.
    pub fn is_empty(&self) -> bool {
        self.hidden.is_empty() && self.read_only.is_empty()
    }

    /// Returns whether any mask hides a place.
    pub fn hide_something(&self) -> bool {
        !self.hidden.is_empty()
    }

    /// Returns the trail of the directory itself.
    pub fn start(&self) -> MaskTrail {
        MaskTrail { hidden: MaskProgress::start(&self.hidden), read_only: MaskProgress::start(&self.read_only) }
    }

    /// Returns the trail of the place with this name in the directory of `trail`. The name is neither `.` nor `..`.
    pub fn step(&self, trail: &MaskTrail, name: &str) -> MaskTrail {
        with_spellings(name, |name| MaskTrail {
            hidden: trail.hidden.step(&self.hidden, name),
            read_only: trail.read_only.step(&self.read_only, name),
        })
    }

    /// Returns the trail of the place at the end of a plain relative path.
    pub fn walk(&self, path: &str) -> MaskTrail {
        path.split('/').filter(|name| !name.is_empty()).fold(self.start(), |trail, name| self.step(&trail, name))
    }

    /// Returns whether a mask spells out this name on the way to a masked place, as `.git` in `.git/hooks`. A file or
    /// link with this name would replace the directory that the mask names.
    pub fn name_on_the_way(&self, trail: &MaskTrail, name: &str) -> bool {
        // If only wildcards match the name, any other name leads to the same positions.
        let (named, unnamed) = (self.step(trail, name), NextName::Unspelt);
        !named.hidden.is_within(&trail.hidden.step(&self.hidden, unnamed))
            || !named.read_only.is_within(&trail.read_only.step(&self.read_only, unnamed))
    }

    /// Returns whether more is masked below this place than below an unnamed one. Moving or linking the place could
    /// then lift a mask, or create one.
    pub fn tell_apart(&self, trail: &MaskTrail) -> bool {
        !trail.hidden.is_within(&self.far_hidden) || !trail.read_only.is_within(&self.far_read_only)
    }
}

impl MaskTrail {
    /// Returns whether the place does not exist for a guest.
    pub fn is_hidden(&self) -> bool {
        self.hidden == MaskProgress::Covered
    }

    /// Returns whether a guest cannot change the place.
    pub fn is_read_only(&self) -> bool {
        self.read_only == MaskProgress::Covered
    }

    /// Returns whether no mask can cover anything at the place or below it.
    pub fn is_clear(&self) -> bool {
        self.hidden == MaskProgress::default() && self.read_only == MaskProgress::default()
    }
}

impl MaskProgress {
    fn start(masks: &[Mask]) -> Self {
        let mut open = Vec::new();
        let covers = masks.iter().enumerate().any(|(number, mask)| {
            let mut reached = |position| open.push((number, position));
            mask.glob.start(&mut reached)
        });
        Self::new(covers, open)
    }

    fn new(covers: bool, mut open: Vec<(usize, Position)>) -> Self {
        // Everything below a covered place is covered, so its positions are not needed any more.
        if covers {
            return Self::Covered;
        }
        // In order, so that equal positions are equal values, and `is_within` can search.
        open.sort_unstable();
        open.dedup();
        Self::Open(open)
    }

    fn step(&self, masks: &[Mask], name: NextName<'_>) -> Self {
        let Self::Open(open) = self else { return Self::Covered };
        let mut next = Vec::with_capacity(open.len());
        // `any` may stop early, because a covered place needs no positions.
        let covers = open.iter().any(|(number, position)| {
            let mut reached = |position| next.push((*number, position));
            masks.get(*number).is_some_and(|mask| mask.glob.advance(*position, name, &mut reached))
        });
        Self::new(covers, next)
    }

    /// Returns the progress below more directories than any pattern has segments.
    fn far(masks: &[Mask]) -> Self {
        let mut far = Self::start(masks);
        loop {
            let next = far.step(masks, NextName::Unspelt);
            let (Self::Open(known), Self::Open(open)) = (&far, &next) else { return next };
            // Positions only advance or stay at `**`, so this ends after as many steps as the longest pattern.
            if known == open {
                return next;
            }
            far = next;
        }
    }

    fn is_within(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Covered) => true,
            (Self::Covered, Self::Open(_)) => false,
            (Self::Open(these), Self::Open(others)) => these.iter().all(|one| others.binary_search(one).is_ok()),
        }
    }
}

/// Calls `then` with every spelling under which a file system may find the name. Some remove dots and spaces at its
/// end.
fn with_spellings<T>(name: &str, then: impl FnOnce(NextName<'_>) -> T) -> T {
    let plain = plain_form(name);
    let cut = plain.trim_end_matches(['.', ' ']);
    match plain.as_ref() == name && cut == name {
        true => then(NextName::Spelt(&[name])),
        false => then(NextName::Spelt(&[name, &plain, cut])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hiding(masks: &[&str]) -> Masks {
        Masks::new(masks.iter().map(|mask| Mask::new(mask).unwrap()).collect(), Vec::new())
    }

    fn protecting(masks: &[&str]) -> Masks {
        Masks::new(Vec::new(), masks.iter().map(|mask| Mask::new(mask).unwrap()).collect())
    }

    #[test]
    fn a_mask_covers_what_it_matches_and_everything_below() {
        for (mask, covered, free) in [
            ("secrets/**", &["secrets", "secrets/a", "secrets/a/b"][..], &["secret", "a/secrets", "secretsx"][..]),
            ("secrets/", &["secrets", "a/secrets/k"], &["a/secret"]),
            ("/secrets", &["secrets/k"], &["a/secrets"]),
            ("./a/secrets", &["a/secrets"], &["secrets"]),
            (".env*", &[".env", ".env.local", "a/b/.envrc/x"], &["env", "a/x.env"]),
            ("a/*/key", &["a/b/key", "a/b/key/c"], &["a/key", "a/b/c/key", "b/a/b/key"]),
            ("a/**/key", &["a/key", "a/b/c/key"], &["key", "b/key"]),
            ("**/.git/{hooks,x/y}", &[".git/hooks", "a/.git/x/y/z"], &[".git/x", ".git", "hooks"]),
            ("{k,a/b}", &["k", "x/k", "a/b"], &["x/a/b", "b"]),
            ("caf\u{e9}", &["CAFE\u{301}", "ca\u{200b}fe\u{301}/x"], &["cafe"]),
            ("Stra\u{df}e", &["STRASSE", "strasse.", "stra\u{df}e "], &["strase"]),
        ] {
            let masks = hiding(&[mask]);
            for path in covered {
                assert!(masks.walk(path).is_hidden(), "{mask} on {path}");
            }
            for path in free {
                assert!(!masks.walk(path).is_hidden(), "{mask} on {path}");
            }
        }
    }

    #[test]
    fn a_mask_of_the_whole_directory_or_with_dots_is_refused() {
        for text in ["**", "/", ".", "./", "**/**", "{a,**}"] {
            assert_eq!(Mask::new(text), Err(MaskError::Whole), "{text}");
        }
        for text in ["..", "../a", "a/../b"] {
            assert_eq!(Mask::new(text), Err(MaskError::Dots), "{text}");
        }
        assert!(matches!(Mask::new("a**"), Err(MaskError::Glob(_))));
    }

    #[test]
    fn two_places_have_the_same_trail_only_if_no_mask_distinguishes_them() {
        let masks = protecting(&["**/.git/hooks", "a/b/c", "*/d"]);
        for (one, other) in [("x/y", "z/w"), ("x/y/.git", ".git/x/.git"), ("a/b/x", "y/z")] {
            assert_eq!(masks.walk(one), masks.walk(other), "{one} {other}");
        }
        for (one, other) in [("x/y", "x/.git"), ("a", "b"), ("a/b", "x/y"), ("x", "x/y")] {
            assert_ne!(masks.walk(one), masks.walk(other), "{one} {other}");
        }
        assert!(!masks.tell_apart(&masks.walk("x/y")));
        for path in [".git", "x/.git", "a", "a/b", "x"] {
            assert!(masks.tell_apart(&masks.walk(path)), "{path}");
        }
    }

    #[test]
    fn only_names_that_a_mask_spells_out_are_on_the_way() {
        let masks = protecting(&["**/.git/hooks", "a/b/c", "*/d"]);
        for (around, name, expected) in [
            ("", ".git", true),
            ("x", ".GIT", true),
            ("", "a", true),
            ("a", "b", true),
            ("", "x", false),
            ("x", "a", false),
        ] {
            assert_eq!(masks.name_on_the_way(&masks.walk(around), name), expected, "{around}/{name}");
        }
    }
}
