//! A project: the folder that a plugin is made in, as its `plugin.toml` describes it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::language::Language;
use crate::project_file;

/// What makes a folder a project.
pub const PROJECT_FILE: &str = "plugin.toml";
/// Where a project's component goes, below the project: where the other commands look for plugins by default.
const OUTPUT_FOLDER: &str = "plugins";
/// The longest name of a plugin, in bytes: as in the contract.
const NAME_BYTES_MAX: usize = 64;

/// A folder with a `plugin.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The folder, as an absolute path.
    pub root: PathBuf,
    /// The plugin's name, which is also that of its file.
    pub name: String,
    /// What it is written in.
    pub language: Language,
    /// The file that the build begins with.
    pub source: PathBuf,
    /// The folder of the SDK.
    pub sdk: PathBuf,
    /// What runs JavaScript.
    pub engine: Engine,
}

/// What runs JavaScript inside the component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Small, and quick to start.
    #[default]
    QuickJs,
    /// SpiderMonkey, with more of what browsers have.
    StarlingMonkey,
}

/// `plugin.toml`, as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    language: Language,
    source: Option<PathBuf>,
    sdk: Option<PathBuf>,
    engine: Option<Engine>,
}

impl Project {
    /// The project in `folder`.
    ///
    /// # Errors
    /// There is none, or its file says what is not understood.
    pub fn open(folder: &Path) -> Result<Project> {
        let root = folder.canonicalize().with_context(|| format!("there is no {}", folder.display()))?;
        ensure!(
            root.to_str().is_some(),
            "the path {} is not UTF-8, and not every toolchain takes it: move the project",
            root.display()
        );
        let file = root.join(PROJECT_FILE);
        ensure!(
            file.exists(),
            "{} is no project: it has no {PROJECT_FILE}; `portcullis new NAME` makes one",
            root.display()
        );
        let text = project_file::read_text(&file, project_file::TEXT_BYTES_MAX)
            .with_context(|| format!("cannot read {}", file.display()))?;
        Project::parse(root, &text).with_context(|| file.display().to_string())
    }

    fn parse(root: PathBuf, text: &str) -> Result<Project> {
        let File { name, language, source, sdk, engine } = toml::from_str(text)?;
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

    /// Where the component goes.
    #[must_use]
    pub fn output(&self) -> PathBuf {
        self.root.join(OUTPUT_FOLDER).join(&self.name).with_extension("wasm")
    }
}

/// Whether a plugin may be called so, by the contract's rule.
///
/// # Errors
/// It may not; the text says what a name is.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    ensure!(
        begins && name.chars().all(plain) && name.len() <= NAME_BYTES_MAX,
        "`{}` is no name for a plugin: it begins with a letter and holds at most {NAME_BYTES_MAX} of a-z, 0-9, - and _",
        name.escape_debug()
    );
    Ok(())
}

/// Where a build begins when the project does not say it.
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
    fn a_project_says_its_name_and_its_language() {
        let project = Project::parse("/p".into(), "name = \"hello\"\nlanguage = \"python\"\n").unwrap();
        assert_eq!((project.name.as_str(), project.language), ("hello", Language::Python));
        assert_eq!(project.source, Path::new("/p/app.py"));
        assert_eq!(project.sdk, Path::new("/p/sdk"));
        assert_eq!(project.output(), Path::new("/p/plugins/hello.wasm"));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
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
