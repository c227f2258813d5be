//! A project: the folder of a plugin's sources, described by its `plugin.toml`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::language::Language;
use crate::project_file;

/// The file that makes a folder a project.
pub const PROJECT_FILE: &str = "plugin.toml";
/// The folder of a project's component, which is also the default plugin directory of the other commands.
const OUTPUT_FOLDER: &str = "plugins";
/// Maximum length of a plugin's name in bytes, as in the contract.
const NAME_BYTES_MAX: usize = 64;

/// A folder with a `plugin.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The folder, as an absolute path.
    pub root: PathBuf,
    /// The name of the plugin and of its file.
    pub name: String,
    /// Its language.
    pub language: Language,
    /// The main source file.
    pub source: PathBuf,
    /// The folder of the SDK.
    pub sdk: PathBuf,
    /// The JavaScript engine.
    pub engine: Engine,
}

/// A JavaScript engine that runs inside the component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Small, and quick to start.
    #[default]
    QuickJs,
    /// SpiderMonkey, with more of the APIs of browsers.
    StarlingMonkey,
}

/// The content of `plugin.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProjectFile {
    name: String,
    language: Language,
    source: Option<PathBuf>,
    sdk: Option<PathBuf>,
    engine: Option<Engine>,
}

impl Project {
    /// Opens the project in `folder`.
    ///
    /// # Errors
    /// There is no project, or its file is invalid.
    pub fn open(folder: &Path) -> Result<Project> {
        // Caches and locks identify a project by its path, so it needs one spelling.
        let root = folder.canonicalize().with_context(|| format!("there is no {}", folder.display()))?;
        ensure!(
            root.to_str().is_some(),
            "the path {} is not UTF-8, which not every toolchain accepts: move the project",
            root.display()
        );
        let file = root.join(PROJECT_FILE);
        ensure!(
            file.exists(),
            "{} is not a project: it has no {PROJECT_FILE}; to create one, run `portcullis new NAME`",
            root.display()
        );
        let text = project_file::read_text(&file, project_file::TEXT_BYTES_MAX)
            .with_context(|| format!("cannot read {}", file.display()))?;
        Project::parse(root, &text).with_context(|| file.display().to_string())
    }

    fn parse(root: PathBuf, text: &str) -> Result<Project> {
        let ProjectFile { name, language, source, sdk, engine } = toml::from_str(text)?;
        // The name becomes the name of a file, so it must not lead to another folder.
        check_name(&name)?;
        let source = source.unwrap_or_else(|| PathBuf::from(default_source(language)));
        ensure!(
            engine.is_none() || matches!(language, Language::JavaScript | Language::TypeScript),
            "`engine` is for JavaScript and TypeScript"
        );
        Ok(Project {
            source: root.join(source),
            sdk: root.join(sdk.unwrap_or_else(|| PathBuf::from("sdk"))),
            name,
            language,
            engine: engine.unwrap_or_default(),
            root,
        })
    }

    /// Returns the path of the component.
    #[must_use]
    pub fn output(&self) -> PathBuf {
        self.root.join(OUTPUT_FOLDER).join(&self.name).with_extension("wasm")
    }
}

/// Checks a plugin's name against the rule of the contract.
///
/// # Errors
/// The name is invalid. The text says the rule.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    ensure!(
        begins && name.chars().all(plain) && name.len() <= NAME_BYTES_MAX,
        "`{}` is not a valid plugin name: start with a-z, and use at most {NAME_BYTES_MAX} of a-z, 0-9, - and _",
        name.escape_debug()
    );
    Ok(())
}

/// Returns the default main source file of a language.
const fn default_source(language: Language) -> &'static str {
    match language {
        Language::Rust => "src/lib.rs",
        Language::TypeScript => "src/plugin.ts",
        Language::JavaScript => "src/plugin.js",
        Language::Python => "app.py",
        Language::Go => "plugin.go",
        Language::C => "src/plugin.c",
        Language::Cpp => "src/plugin.cpp",
        Language::Zig => "src/plugin.zig",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_needs_only_a_name_and_a_language() {
        let project = Project::parse("/p".into(), "name = \"hello\"\nlanguage = \"python\"\n").unwrap();
        assert_eq!((project.name.as_str(), project.language), ("hello", Language::Python));
        assert_eq!(project.source, Path::new("/p/app.py"));
        assert_eq!(project.sdk, Path::new("/p/sdk"));
        assert_eq!(project.output(), Path::new("/p/plugins/hello.wasm"));
    }

    #[test]
    fn an_invalid_project_file_is_refused() {
        for text in [
            "name = \"hello\"",
            "name = \"Hello\"\nlanguage = \"go\"",
            "name = \"../x\"\nlanguage = \"go\"",
            "name = \"hello\"\nlanguage = \"cobol\"",
            "name = \"hello\"\nlanguage = \"go\"\nengine = \"quickjs\"",
            "name = \"hello\"\nlanguage = \"go\"\nentry = \"a.go\"",
        ] {
            assert!(Project::parse("/p".into(), text).is_err(), "{text}");
        }
    }
}
