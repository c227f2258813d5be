//! Checks a source before the component is built, because building takes ten seconds or more.
//!
//! The Python of this machine parses the sources and does not run them: only the build's sandbox does. So this finds
//! only what a parser can see, and leaves the rest to the build.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::process;

const PROGRAM: &str = include_str!("../../../toolchains/python/check.py");

/// Checks the module `file` of a folder, and the modules of the folder that it imports, for this version of Python.
/// Messages name files below `prefix`.
///
/// # Errors
/// A module does not parse, or declares something that the SDK refuses.
pub(super) fn check(folder: &Path, file: &Path, prefix: &Path, version: &str) -> Result<()> {
    let mut python = Command::new("python3");
    // -I isolates Python: it does not import modules of the project in place of its own.
    // -S leaves out site-packages, whose .pth files can run code.
    python.args(["-I", "-S", "-c", PROGRAM]).arg(folder).arg(file).arg(prefix).arg(version).stderr(Stdio::null());
    // If the check itself fails, the build will report the error.
    match process::capture(&mut python) {
        Ok(found) if !found.trim().is_empty() => bail!("{}", found.trim_end()),
        Ok(_) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache;
    use std::fs;

    /// The beginning of every module here.
    const PLUGIN: &str = "from portcullis import Plugin\nplugin = Plugin('p', version='1', description='Tests.')\n";

    /// Returns the error for a module with a module `rules` next to it.
    #[track_caller]
    fn said(name: &str, source: &str, rules: &str) -> Option<String> {
        let folder = std::env::temp_dir().join(format!("portcullis-check-{name}-{}", std::process::id()));
        cache::empty(&folder).unwrap();
        fs::write(folder.join("app.py"), source).unwrap();
        fs::write(folder.join("rules.py"), rules).unwrap();
        let said = check(&folder, Path::new("app.py"), Path::new("src"), "3.14").err().map(|error| error.to_string());
        fs::remove_dir_all(folder).unwrap();
        said
    }

    #[test]
    fn a_syntax_error_is_found_where_it_is() {
        let said = |source, rules| said("syntax", source, rules).unwrap();
        let wrong = said("x = 1\ndef broken(:\n", "");
        assert!(wrong.contains("\"src/app.py\", line 2") && wrong.contains("SyntaxError"), "{wrong}");
        assert!(wrong.contains("\n    def broken(:\n               ^\n"), "{wrong}");
        assert!(said("return 1\n", "").contains("outside function"));
        assert!(said("x = f\"{1}, {{\"\ny = f'{{x}}{{{{'\ndef broken(:\n", "").contains("line 3"));
        let wrong = said("import rules\n", "if True:\nx = 1\n");
        assert!(wrong.contains("\"src/rules.py\", line 2") && wrong.contains("IndentationError"), "{wrong}");
    }

    #[test]
    fn a_bad_definition_is_found_without_running_it() {
        for (tool, wanted) in [
            ("@plugin.tool()\ndef run() -> None:\n    pass\n", "src/app.py:4: the tool `run` needs a docstring"),
            ("@plugin.tool\ndef run() -> None:\n    'Runs.'\n", "src/app.py:3: `@plugin.tool` needs paren"),
            ("@plugin.tool()\ndef run(a) -> None:\n    'Runs.'\n", "the argument `a` of the tool `run` needs a"),
            ("@plugin.tool()\ndef run(*a: int) -> None:\n    'Runs.'\n", "the tool `run` takes `a`"),
            ("@plugin.tool()\nasync def run() -> None:\n    'Runs.'\n", "the tool `run` is async"),
            ("@plugin.tool()\ndef Run() -> None:\n    'Runs.'\n", "`Run` is not a valid name for a tool"),
            ("@plugin.tool(requires='read')\ndef run() -> None:\n    'Runs.'\n", "asks for 'read': use a list"),
            ("@plugin.tool(optional=['red'])\ndef run() -> None:\n    'Runs.'\n", "asks for 'red': use a list"),
            ("@plugin.tool(readonly=True)\ndef run() -> None:\n    'Runs.'\n", "has no option `readonly`"),
            (
                "@plugin.tool(read_only=True, requires=['write'])\ndef run() -> None:\n    'Runs.'\n",
                "claims to be read-only and asks for `write`",
            ),
            (
                "@plugin.tool(name='b')\ndef a() -> None:\n    'A.'\n@plugin.tool()\ndef b() -> None:\n    'B.'\n",
                "src/app.py:7: there are two tools called `b`: the other one is in src/app.py:4",
            ),
            ("", "src/app.py declares no tool"),
        ] {
            let said = said("definition", &format!("{PLUGIN}{tool}"), "").unwrap_or_default();
            assert!(said.contains(wanted), "{tool}: {said}");
        }
        let elsewhere = "from rules import plugin as p\n@p.tool()\ndef run() -> None:\n    pass\n";
        assert!(said("definition", elsewhere, PLUGIN).unwrap().contains("src/app.py:3: the tool `run` needs"));
        assert!(said("definition", "x = 1\n", "").unwrap().contains("src/app.py declares 0 plugins"));
        let source = "import portcullis\nplugin = portcullis.Plugin('p', version='1')\n";
        let lacks = said("definition", source, "").unwrap();
        assert_eq!(lacks, "src/app.py:2: the plugin needs description=");
    }

    /// The check runs without the SDK, so it repeats the SDK's texts and limits.
    #[test]
    fn the_check_and_the_sdk_say_the_same() {
        let sdk = concat!(
            include_str!("../../../../../sdk/python/portcullis/plugin.py"),
            include_str!("../../../../../sdk/python/portcullis/_component/entry.py"),
            include_str!("../../../../../sdk/python/portcullis/_component/imports.py"),
        );
        for text in [
            "` is not a valid name for a {what}: start with a-z, and use at most 64 of a-z0-9_-\"",
            "f\"there are two tools called `{",
            "}` claims to be read-only and asks for `write`\"",
            "}` needs a docstring: a model chooses tools by it\"",
            "!r}: use a list of read, write, execute, network\"",
            "}` is async: a call has nothing to run concurrently; remove `async`\"",
            "}`: arguments have names\"",
            "}` needs a type hint\"",
            " plugins: write plugin = Plugin(\"name\", ...) once'",
            " declares no tool: put @plugin.tool() above a function\"",
            "NAME = re.compile(r\"[a-z][a-z0-9_-]{0,63}\")\n",
            "MODULES_MAX = 500\n",
        ] {
            assert!(PROGRAM.contains(text), "the check: {text}");
            assert!(sdk.contains(text), "the SDK: {text}");
        }
    }

    /// What the check cannot know is left to the build.
    #[test]
    fn what_is_not_certain_is_left_to_the_build() {
        let tool = "@plugin.tool()\ndef run() -> None:\n    'Runs.'\n";
        for source in [
            format!("{PLUGIN}{tool}"),
            format!("{PLUGIN}@other\n@plugin.tool()\ndef run(a):\n    pass\n"),
            format!("{PLUGIN}plugin.tool(**options)(print)\n"),
            format!("{PLUGIN}from rules import *\n"),
            "from rules import plugin\n".to_owned(),
            format!("{PLUGIN}{tool}import rules\n"),
            "import made_by_a_package\nplugin = made_by_a_package.plugin()\n".to_owned(),
            // Syntax of newer versions of Python.
            format!("{PLUGIN}{tool}type Pair[T] = tuple[T, T]\ndef first[T](a: list[T]) -> T:\n    return a[0]\n"),
            format!("{PLUGIN}{tool}x = {{'a': 1}}\ny = f'{{x['a']}}'\nz = t'{{y}}'\n"),
            format!("{PLUGIN}{tool}x = {{'a': 1}}\ny = f\"\"\"{{\n  x[\"\"\"a\"\"\"]\n}}\"\"\"\n"),
            format!("{PLUGIN}{tool}try:\n    pass\nexcept ValueError, TypeError:\n    pass\n"),
        ] {
            let rules = "from others import plugin\n@plugin.tool('x')\ndef a(b):\n    pass\n";
            assert_eq!(said("uncertain", &source, rules), None, "{source}");
        }
    }

    /// The module must run only in the sandbox of the build.
    #[test]
    fn the_check_does_not_run_the_source() {
        let witness = std::env::temp_dir().join(format!("portcullis-check-witness-{}", std::process::id()));
        let write = format!("open({:?}, 'w')", witness.display().to_string());
        let tool = format!("@plugin.tool(name={write})\ndef run(a: {write} = {write}) -> None: 'Runs.'\n");
        let source = format!("{PLUGIN}{write}\n{tool}");
        let rules = format!("{write}\n");
        assert_eq!(said("run", &format!("import rules\nimport ast\n{source}"), &rules), None);
        assert!(!witness.exists());
    }
}
