//! The rows of the table: the conformance plugin in one language, for one engine.

use portcullis_tests::{Ran, made_once, program};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A conformance plugin, as it was built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The name of the row, and the folder of its component.
    pub(crate) name: &'static str,
    /// The folder of its project.
    pub(crate) project: &'static str,
    /// The name for people.
    pub(crate) title: &'static str,
}

/// Something that a language cannot do, and what happens instead.
#[derive(Debug)]
pub(crate) struct Gap {
    /// The reason, for people.
    pub(crate) why: String,
    /// The code of the call.
    pub(crate) code: String,
    /// A part of the case's message.
    contains: Option<String>,
}

impl Gap {
    /// The code of a call whose tool the plugin does not have.
    pub(crate) const NO_TOOL: &str = "unknown-tool";

    fn read(mut members: Map<String, Value>) -> Self {
        let mut text = |name: &str| members.remove(name).map(|value| value.as_str().expect("a text").to_owned());
        let why = text("why").expect("a gap has its reason");
        let gap = Self { why, code: text("code").expect("a gap says how the call ends"), contains: text("contains") };
        assert!(members.is_empty(), "unknown members of a gap: {members:?}");
        gap
    }

    /// Returns whether a case failed as the gap says.
    pub(crate) fn tells_of(&self, case: &Value) -> bool {
        let problems: Vec<&str> = case["problems"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        // Of several steps, the report has the code of the last. A problem names its own.
        let named = format!("({})", self.code);
        let ended = case["code"] == *self.code || problems.iter().any(|problem| problem.contains(&named));
        let told = |text: &String| problems.iter().any(|problem| problem.contains(text.as_str()));
        ended && self.contains.as_ref().is_none_or(told)
    }
}

/// All rows, in display order.
pub(crate) const ROWS: [Row; 8] = [
    Row { name: "rust", project: "rust", title: "Rust" },
    Row { name: "quickjs", project: "typescript", title: "TypeScript, QuickJS" },
    Row { name: "starlingmonkey", project: "typescript", title: "TypeScript, StarlingMonkey" },
    Row { name: "python", project: "python", title: "Python" },
    Row { name: "go", project: "go", title: "Go" },
    Row { name: "c", project: "c", title: "C" },
    Row { name: "cpp", project: "cpp", title: "C++" },
    Row { name: "zig", project: "zig", title: "Zig" },
];

impl Row {
    pub(crate) fn of(name: &str) -> Self {
        *ROWS.iter().find(|row| row.name == name).expect("a row of that name")
    }

    /// Returns the component.
    pub(crate) fn component(self) -> PathBuf {
        built(self.name).join("conformance.wasm")
    }

    /// Returns the output of `inspect` for the component. The tests share it as long as the component and the program
    /// are the same. It leaves the code of the component in the user's cache, so that no other test compiles it.
    pub(crate) fn inspected(self) -> Value {
        let component = self.component();
        let program = fs::metadata(program()).unwrap();
        let built = format!("{} {} {:?}", self.name, program.len(), program.modified().unwrap());
        let place = made_once(&[built.into_bytes(), fs::read(&component).unwrap()], |place| {
            let ran = run(repository(), &["inspect", "--json", component.to_str().unwrap()]).ends(0);
            fs::create_dir(place).unwrap();
            fs::write(place.join("inspected.json"), ran.document().to_string()).unwrap();
        });
        serde_json::from_str(&fs::read_to_string(place.join("inspected.json")).unwrap()).unwrap()
    }

    /// Returns the gaps of the language: by the name of a tool or of a case.
    pub(crate) fn gaps(self) -> BTreeMap<String, Gap> {
        let folder = repository().join("tests/languages").join(self.project);
        let of_engine = folder.join(format!("gaps.{}.json", self.name));
        let file = if of_engine.is_file() { of_engine } else { folder.join("gaps.json") };
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let gaps: BTreeMap<String, Map<String, Value>> = serde_json::from_str(&text).unwrap();
        gaps.into_iter().map(|(key, gap)| (key, Gap::read(gap))).collect()
    }
}

/// The folder into which `cargo xtask test` builds the languages, with one folder per row.
pub(crate) fn built(place: &str) -> PathBuf {
    let default = repository().join("target/languages");
    env::var_os("PORTCULLIS_TEST_LANGUAGES").map_or(default, PathBuf::from).join(place)
}

/// Returns the program's directory in the user's cache.
pub(crate) fn cache() -> PathBuf {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    cache.unwrap_or_else(|| PathBuf::from(env::var_os("HOME").unwrap()).join(".cache")).join("portcullis")
}

/// Returns the folder of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Returns the command that runs the program, with only the toolchains of this machine's user. All tests share one
/// compilation cache.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Ran {
    let (state, none) = (built("state"), built("none"));
    let mut command = Command::new(program());
    command.args(arguments).current_dir(folder).env("PORTCULLIS_STATE", state).env("XDG_CONFIG_HOME", none);
    command.output().unwrap().into()
}
