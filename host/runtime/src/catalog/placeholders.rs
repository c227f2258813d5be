//! What a description file may leave open, and the host fills in: `${workspace}`, `${directory}` and `${cwd}`.
//!
//! The text is read once, from its beginning to its end: what was filled in is never looked at for more.

use crate::text::{OneLine, cut};

/// A description file, in bytes, as it stands and filled in: four times what a plugin may say of a tool itself. A model
/// reads it in every turn.
pub(super) const DESCRIPTION_FILE_BYTES_MAX: usize = 16 * 1024;

/// Begins a placeholder.
const OPENS: &str = "${";

/// Writes [`OPENS`] itself.
const ESCAPED: &str = "$${";

/// The longest that an unknown name is told, in bytes.
const NAME_BYTES_MAX: usize = 40;

/// What stands in a path where it is no text.
const NO_TEXT: char = '\u{fffd}';

/// Why a description cannot be filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceholderError {
    /// A name that is none.
    #[error(
        "there is no `${{{}}}`: use ${{workspace}}, ${{directory}} or ${{cwd}}, or write `$${{` for `${{` itself",
        OneLine(.0)
    )]
    Unknown(String),
    /// No end.
    #[error("a `${{` has no `}}` after it: close it, or write `$${{` for `${{` itself")]
    Unclosed,
    /// A path that is no text, or that the system does not tell.
    #[error("what `${{{0}}}` stands for cannot be written as text: name the directory in UTF-8, or do not use it here")]
    NoText(&'static str),
    /// The text grows too long.
    #[error("it is longer than {DESCRIPTION_FILE_BYTES_MAX} bytes once it is filled in: shorten it")]
    TooLong,
}

/// What placeholders stand for. Paths may hold anything, so each is encoded before it goes in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'a> {
    /// The directory that the plugin works on.
    pub(crate) workspace: Option<&'a str>,
    /// The working directory of the host.
    pub(crate) working: Option<&'a str>,
}

impl Values<'_> {
    fn of(&self, name: &str) -> Result<String, PlaceholderError> {
        let (name, path) = match name {
            "workspace" => ("workspace", self.workspace),
            "directory" => ("directory", self.working),
            "cwd" => ("cwd", self.working),
            _ => return Err(PlaceholderError::Unknown(cut(name, NAME_BYTES_MAX).to_owned())),
        };
        let path = path.filter(|path| !path.contains(NO_TEXT)).ok_or(PlaceholderError::NoText(name))?;
        Ok(OneLine(path).to_string())
    }
}

/// Fills a text in.
pub(crate) fn fill(text: &str, values: &Values<'_>) -> Result<String, PlaceholderError> {
    let (mut filled, mut rest) = (Filled::default(), text);
    while let Some(at) = rest.find('$') {
        let (before, found) = rest.split_at(at);
        filled.push(before)?;
        rest = if let Some(after) = found.strip_prefix(ESCAPED) {
            filled.push(OPENS)?;
            after
        } else if let Some(named) = found.strip_prefix(OPENS) {
            let (name, after) = named.split_once('}').ok_or(PlaceholderError::Unclosed)?;
            filled.push(&values.of(name)?)?;
            after
        } else {
            filled.push("$")?;
            &found[1..]
        };
    }
    filled.push(rest)?;
    Ok(filled.0)
}

/// A text that grows no further than a description may.
#[derive(Default)]
struct Filled(String);

impl Filled {
    fn push(&mut self, part: &str) -> Result<(), PlaceholderError> {
        if self.0.len() + part.len() > DESCRIPTION_FILE_BYTES_MAX {
            return Err(PlaceholderError::TooLong);
        }
        self.0.push_str(part);
        Ok(())
    }
}

/// The working directory of this process, for descriptions to name; nothing where the system does not tell.
#[expect(clippy::disallowed_methods, reason = "a name for descriptions, not a way to a handle")]
pub(crate) fn working_directory() -> Option<String> {
    std::env::current_dir().ok().map(|path| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: Values<'_> = Values { workspace: Some("/work/${cwd}"), working: Some("/home\n\u{202e}x") };

    fn filled(text: &str) -> Result<String, PlaceholderError> {
        fill(text, &VALUES)
    }

    #[test]
    fn every_placeholder_is_filled_in_once() {
        let rows = [
            ("", ""),
            ("no placeholder, 5 $ and a } {", "no placeholder, 5 $ and a } {"),
            ("in ${workspace}.", "in /work/${cwd}."),
            ("${cwd}${directory}", "/home\\n\\u{202e}x/home\\n\\u{202e}x"),
            ("write $${cwd} and $$5", "write ${cwd} and $$5"),
            ("$$${cwd}", "$${cwd}"),
            ("$", "$"),
        ];
        for (text, expected) in rows {
            assert_eq!(filled(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_filled_in_is_an_error() {
        let unknown = |name: &str| Err(PlaceholderError::Unknown(name.to_owned()));
        assert_eq!(filled("${HOME}"), unknown("HOME"));
        assert_eq!(filled("${}"), unknown(""));
        assert_eq!(filled("${ cwd }"), unknown(" cwd "));
        assert_eq!(filled("$${ and ${"), Err(PlaceholderError::Unclosed));
        let nowhere = Values { workspace: Some("/a\u{fffd}"), working: None };
        assert_eq!(fill("${workspace}", &nowhere), Err(PlaceholderError::NoText("workspace")));
        assert_eq!(fill("${cwd}", &nowhere), Err(PlaceholderError::NoText("cwd")));
    }

    #[test]
    fn a_text_cannot_grow_without_bound() {
        let most = "x".repeat(DESCRIPTION_FILE_BYTES_MAX);
        assert_eq!(filled(&most).as_deref(), Ok(&*most));
        assert_eq!(filled(&format!("{most}x")), Err(PlaceholderError::TooLong));
        assert_eq!(filled(&"${workspace}".repeat(1400)), Err(PlaceholderError::TooLong));
    }
}
