//! The languages that a plugin can be written in.

use anyhow::{Result, bail};
use serde::Deserialize;

/// A language with an SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Language {
    Rust,
    TypeScript,
    JavaScript,
    Python,
    Go,
    C,
    Cpp,
    Zig,
}

impl Language {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Language; 8] = [
        Language::Rust,
        Language::TypeScript,
        Language::JavaScript,
        Language::Python,
        Language::Go,
        Language::C,
        Language::Cpp,
        Language::Zig,
    ];

    /// Returns its name in `plugin.toml`, which is also the folder of its template.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::TypeScript => "typescript",
            Language::JavaScript => "javascript",
            Language::Python => "python",
            Language::Go => "go",
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Zig => "zig",
        }
    }

    /// Returns the folder of its SDK under `sdk`. Some languages share one.
    #[must_use]
    pub const fn sdk(self) -> &'static str {
        match self {
            Language::TypeScript | Language::JavaScript => "js",
            Language::Cpp => "c",
            other => other.name(),
        }
    }

    /// Parses a name or an abbreviation.
    ///
    /// # Errors
    /// No language has this name.
    pub fn parse(word: &str) -> Result<Language> {
        let word = match word {
            "ts" => "typescript",
            "js" => "javascript",
            "py" => "python",
            "c++" => "cpp",
            other => other,
        };
        match Language::ALL.into_iter().find(|language| language.name() == word) {
            Some(language) => Ok(language),
            None => bail!("there is no SDK for `{}`: use rust, ts, js, python, go, c, cpp or zig", word.escape_debug()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_known_by_its_names() {
        for language in Language::ALL {
            assert_eq!(Language::parse(language.name()).unwrap(), language);
        }
        assert_eq!(Language::parse("ts").unwrap(), Language::TypeScript);
        assert!(Language::parse("cobol").is_err());
    }
}
