//! Placeholders that the host fills in in a description file: `${workspace}`, `${directory}` and `${cwd}`.
//!
//! The text is processed once from beginning to end. Inserted values are not searched for more placeholders.

use crate::text::{OneLine, cut};

/// Maximum size of a description file, in bytes, before and after its placeholders are filled in. It is four times the
/// limit of a plugin's own description. A model reads it in every turn.
pub const DESCRIPTION_FILE_BYTES_MAX: usize = 16 * 1024;

/// The start of a placeholder.
const OPENS: &str = "${";

/// The escape for [`OPENS`].
const ESCAPED: &str = "$${";

/// Maximum length of an unknown name in an error, in bytes.
const NAME_BYTES_MAX: usize = 40;

/// The replacement character, which marks parts of a path that are not text.
const NO_TEXT: char = '\u{fffd}';

/// Why a description cannot be filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceholderError {
    /// The placeholder does not exist.
    #[error(
        "there is no `${{{}}}`: use ${{workspace}}, ${{directory}} or ${{cwd}}, or write `$${{` for `${{` itself",
        OneLine(.0)
    )]
    Unknown(String),
    /// The placeholder has no end.
    #[error("a `${{` has no `}}` after it: close it, or write `$${{` for `${{` itself")]
    Unclosed,
    /// The path is not text, or the system does not tell it.
    #[error("the path for `${{{0}}}` is not valid text: give the directory a UTF-8 name, or remove the placeholder")]
    NoText(&'static str),
    /// The filled-in text is too long.
    #[error("it is longer than {DESCRIPTION_FILE_BYTES_MAX} bytes once it is filled in: shorten it")]
    TooLong,
}

/// The values of placeholders. A path can contain any character, so it is escaped before it is inserted.
#[derive(Clone, Copy, Debug)]
pub struct PlaceholderValues<'a> {
    /// The directory that the plugin works on.
    pub workspace: Option<&'a str>,
    /// The working directory of the host.
    pub working: Option<&'a str>,
}

impl PlaceholderValues<'_> {
    fn of(&self, name: &str) -> Result<String, PlaceholderError> {
        let (name, path) = match name {
            "workspace" => ("workspace", self.workspace),
            "directory" => ("directory", self.working),
            "cwd" => ("cwd", self.working),
            _ => return Err(PlaceholderError::Unknown(cut(name, NAME_BYTES_MAX).to_owned())),
        };
        // A path with replaced characters would name another place.
        let path = path.filter(|path| !path.contains(NO_TEXT)).ok_or(PlaceholderError::NoText(name))?;
        Ok(OneLine(path).to_string())
    }
}

/// Fills in the placeholders of a text.
pub fn fill(text: &str, values: &PlaceholderValues<'_>) -> Result<String, PlaceholderError> {
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

/// A text that is limited to the length of a description.
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

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: PlaceholderValues<'_> =
        PlaceholderValues { workspace: Some("/work/${cwd}"), working: Some("/home\n\u{202e}x") };

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
        let nowhere = PlaceholderValues { workspace: Some("/a\u{fffd}"), working: None };
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
