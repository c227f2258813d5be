//! A folder with components and cases, and the program that runs in it.

use portcullis_tests::{Ran, Site, program, user_cache};
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

/// An author's folder. It starts without any user files, so that a state or a policy that appears is noticed.
pub(crate) struct Bench {
    pub(crate) site: Site,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { site: Site::new() }
    }

    /// Adds a component next to the cases.
    pub(crate) fn component(&self, name: &str, bytes: &[u8]) {
        fs::write(self.site.path(format!("{name}.wasm")), bytes).unwrap();
    }

    /// Writes a file of cases.
    pub(crate) fn cases(&self, file: &str, cases: &Value) {
        self.file(file, &cases.to_string());
    }

    /// Writes any file in the folder of cases.
    pub(crate) fn file(&self, file: &str, text: &str) {
        let path = self.site.path("tests").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns the program's command in the folder, with an otherwise empty environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(program());
        command.current_dir(self.site.path("")).env_clear().env("HOME", self.site.path("home"));
        command.env("XDG_CACHE_HOME", user_cache());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.command().args(arguments).output().unwrap().into()
    }

    /// Runs the cases on a component.
    pub(crate) fn test(&self, name: &str, more: &[&str]) -> Ran {
        let component = format!("{name}.wasm");
        self.run(&[&["test", "--component", &component], more].concat())
    }

    /// Runs the cases on a component. All of them must pass.
    #[track_caller]
    pub(crate) fn passes(&self, name: &str) -> Value {
        let ran = self.test(name, &["--json"]);
        let document = ran.document();
        assert_eq!((ran.code, &document["failed"]), (Some(0), &Value::from(0)), "{document:#}");
        document
    }

    /// Runs the cases on a component. All of them must fail. Returns their problems, one line each.
    #[track_caller]
    pub(crate) fn fails(&self, name: &str) -> Vec<String> {
        let document = self.test(name, &["--json"]).ends(1).document();
        assert_eq!(document["passed"], 0, "{document:#}");
        let text = |problem: &Value| problem.as_str().unwrap().to_owned();
        let cases = document["cases"].as_array().unwrap().iter();
        cases.map(|case| case["problems"].as_array().unwrap().iter().map(text).collect::<Vec<_>>().join("; ")).collect()
    }
}
