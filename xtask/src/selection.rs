//! What the words after `cargo xtask test` select, and what has to be built for it.

use std::path::Path;

/// Crates whose tests need neither a guest nor the engine. They are built alone, within seconds.
const PURE_CRATES: [(&str, &str); 9] = [
    ("build", "portcullis-build"),
    ("definitions", "portcullis-definitions"),
    ("ledger", "portcullis-ledger"),
    ("packages", "portcullis-packages"),
    ("policy", "portcullis-policy"),
    ("policy-edit", "portcullis-policy-edit"),
    ("tokens", "portcullis-tokens"),
    ("upstream", "portcullis-upstream"),
    ("xtask", "xtask"),
];

/// Modules of the black-box program that read suites which others wrote.
const MODULES_WITH_SUITES: [&str; 4] = ["input", "openapi", "pick", "web"];

/// The crates that drive other people's servers.
const CRATES_WITH_CLIENTS: [&str; 1] = ["portcullis-upstream"];

/// The programs and modules of `tests/tests` that drive other people's clients.
const WITH_CLIENTS: [&str; 2] = ["clients", "conformance"];

/// The programs and modules of `tests/tests` that need a plugin in every language.
const WITH_LANGUAGES: [&str; 2] = ["author", "languages"];

/// The modules of the black-box program that also run with ledgers in PostgreSQL.
const WITH_DATABASES: [&str; 3] = ["approvals", "outputs", "state"];

/// Their tests about the file of a ledger in SQLite, and about the state directory that it is in.
const ABOUT_FILES: [&str; 11] = [
    "approvals::agreement",
    "approvals::edited",
    "approvals::pending::no_arguments_remain_on_the_disk",
    "approvals::rollback",
    "approvals::unavailable",
    "outputs::held",
    "outputs::names::the_outputs_of_an_older_ledger",
    "outputs::room::files_without_a_row",
    "outputs::room::if_the_directory_cannot_be_written",
    "outputs::room::the_oldest_outputs",
    "state::migrated",
];

/// Programs of `tests/tests` of their own.
const PROGRAMS: [&str; 2] = ["clients", "languages"];

/// The tests to run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// All tests of the workspace, or those whose name contains one of the words.
    Workspace(Vec<String>),
    /// The tests of crates that need no engine.
    Crates(Vec<&'static str>),
    /// Modules of `tests/tests`, or tests in them, such as `approvals::rollback`.
    Modules(Vec<String>),
}

/// What has to be built or fetched before the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Preparations {
    pub(crate) guests: bool,
    pub(crate) languages: bool,
    pub(crate) suites: bool,
    pub(crate) clients: bool,
}

impl Selection {
    /// Selects by the words of a command line. A word is a crate of [`PURE_CRATES`], a module of `tests/tests`, or a
    /// part of a test's name. All words must be of one kind, or else all of them are parts of names.
    pub(crate) fn of(root: &Path, words: &[&str]) -> Self {
        let crates =
            words.iter().map(|word| PURE_CRATES.iter().find(|(name, _)| name == word).map(|(_, package)| *package));
        let crates: Option<Vec<&str>> = crates.collect();
        let is_module = |word: &&str| root.join("tests/tests").join(format!("{}.rs", first_segment(word))).is_file();
        match crates.filter(|crates| !crates.is_empty()) {
            Some(crates) => Self::Crates(crates),
            None if !words.is_empty() && words.iter().all(is_module) => {
                Self::Modules(words.iter().map(|word| (*word).to_owned()).collect())
            }
            None => Self::Workspace(words.iter().map(|word| (*word).to_owned()).collect()),
        }
    }

    pub(crate) fn preparations(&self) -> Preparations {
        let words = match self {
            Self::Workspace(_) => return Preparations { guests: true, languages: true, suites: true, clients: true },
            Self::Crates(crates) => {
                let clients = crates.iter().any(|name| CRATES_WITH_CLIENTS.contains(name));
                return Preparations { guests: false, languages: false, suites: false, clients };
            }
            Self::Modules(words) => words,
        };
        let any = |modules: &[&str]| words.iter().any(|word| modules.contains(&first_segment(word)));
        Preparations {
            guests: true,
            languages: any(&WITH_LANGUAGES),
            // The clients count the tokens of the services of a suite.
            suites: any(&MODULES_WITH_SUITES) || any(&["clients"]),
            clients: any(&WITH_CLIENTS),
        }
    }

    /// Returns the arguments that make cargo build what is selected. Modules are selected in the whole workspace, so
    /// that their dependencies have the same features as in a run of all tests, and are compiled once.
    pub(crate) fn build_arguments(&self) -> Vec<String> {
        match self {
            Self::Workspace(_) => ["--workspace", "--bins", "--tests"].map(str::to_owned).to_vec(),
            Self::Crates(crates) => {
                crates.iter().flat_map(|name| ["-p", *name]).map(str::to_owned).chain(["--tests".to_owned()]).collect()
            }
            Self::Modules(_) => {
                let arguments = ["--workspace", "--bin", "portcullis"].map(str::to_owned);
                arguments.into_iter().chain(self.programs()).collect()
            }
        }
    }

    /// Returns the arguments that make nextest run what is selected.
    pub(crate) fn nextest_arguments(&self) -> Vec<String> {
        match self {
            Self::Workspace(words) => ["--workspace".to_owned()].into_iter().chain(words.iter().cloned()).collect(),
            Self::Crates(crates) => crates.iter().flat_map(|name| ["-p", *name]).map(str::to_owned).collect(),
            Self::Modules(words) => {
                let one = |word: &String| match PROGRAMS.contains(&first_segment(word)) {
                    true => format!("binary(={})", first_segment(word)),
                    false => format!("(binary(=host) & test(/^{word}/))"),
                };
                let filter = words.iter().map(one).collect::<Vec<_>>().join(" | ");
                let arguments = ["--workspace".to_owned()].into_iter().chain(self.programs());
                arguments.chain(["-E".to_owned(), filter]).collect()
            }
        }
    }

    /// Returns the arguments that make nextest run the selected tests that also run with ledgers in databases. Returns
    /// `None` if there is none.
    pub(crate) fn with_databases(&self) -> Option<Vec<String>> {
        let all = WITH_DATABASES.map(str::to_owned).to_vec();
        let words = match self {
            Self::Workspace(words) if words.is_empty() => all,
            Self::Workspace(_) | Self::Crates(_) => return None,
            Self::Modules(words) => {
                let has = |word: &&String| WITH_DATABASES.contains(&first_segment(word));
                words.iter().filter(has).cloned().collect()
            }
        };
        let any =
            |words: &[String]| words.iter().map(|word| format!("test(/^{word}/)")).collect::<Vec<_>>().join(" | ");
        let excluded = any(&ABOUT_FILES.map(str::to_owned));
        let filter = format!("binary(=host) & ({}) - ({excluded})", any(&words));
        let arguments = ["--workspace", "--test", "host", "-E"].map(str::to_owned);
        (!words.is_empty()).then(|| arguments.into_iter().chain([filter]).collect())
    }

    /// Returns the arguments that make `cargo test` run what is selected, where nextest is not installed.
    pub(crate) fn test_arguments(&self) -> Vec<String> {
        let flags = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>();
        match self {
            Self::Workspace(words) => {
                let all = flags(&["--workspace", "--lib", "--bins", "--tests", "--no-fail-fast", "--"]);
                all.into_iter().chain(words.iter().cloned()).collect()
            }
            Self::Crates(_) => self.nextest_arguments(),
            Self::Modules(words) => {
                let programs = flags(&["--workspace"]).into_iter().chain(self.programs());
                let names = words.iter().filter(|word| !PROGRAMS.contains(&first_segment(word))).cloned();
                programs.chain(flags(&["--no-fail-fast", "--"])).chain(names).collect()
            }
        }
    }

    fn programs(&self) -> Vec<String> {
        let Self::Modules(words) = self else { return Vec::new() };
        let program =
            |word: &String| PROGRAMS.iter().find(|name| **name == first_segment(word)).map_or("host", |name| *name);
        let mut programs: Vec<&str> = words.iter().map(program).collect();
        programs.sort_unstable();
        programs.dedup();
        programs.into_iter().flat_map(|program| ["--test".to_owned(), program.to_owned()]).collect()
    }
}

/// Returns the module that a word such as `approvals::rollback` begins with.
fn first_segment(word: &str) -> &str {
    word.split("::").next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(words: &[&str]) -> Selection {
        Selection::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), words)
    }

    #[test]
    fn a_crate_without_the_engine_needs_nothing() {
        let policy = selected(&["policy"]);
        assert_eq!(policy, Selection::Crates(vec!["portcullis-policy"]));
        let Preparations { guests, languages, suites, clients } = policy.preparations();
        assert!(!guests && !languages && !suites && !clients);
        let Preparations { guests, clients, .. } = selected(&["upstream"]).preparations();
        assert!(!guests && clients);
    }

    #[test]
    fn a_module_needs_the_guests_and_what_it_reads() {
        let modules = selected(&["approvals::rollback", "pick"]);
        let expected = Preparations { guests: true, languages: false, suites: true, clients: false };
        assert_eq!(modules.preparations(), expected);
        let filter = modules.nextest_arguments().pop().unwrap();
        assert_eq!(filter, "(binary(=host) & test(/^approvals::rollback/)) | (binary(=host) & test(/^pick/))");
        assert!(selected(&["languages"]).preparations().languages);
    }

    #[test]
    fn tests_of_what_a_ledger_holds_run_again_with_databases() {
        let filter =
            |words: &[&str]| selected(words).with_databases().map(|arguments| arguments.last().unwrap().clone());
        let again = filter(&["approvals::crash", "pick"]).unwrap();
        assert!(again.starts_with("binary(=host) & (test(/^approvals::crash/)) - (test(/^approvals::agreement/)"));
        assert!(filter(&[]).unwrap().contains("(test(/^approvals/) | test(/^outputs/) | test(/^state/))"));
        assert_eq!((filter(&["pick"]), filter(&["policy"]), filter(&["the_lock_is_held"])), (None, None, None));
    }

    #[test]
    fn a_part_of_a_name_needs_everything() {
        let named = selected(&["the_lock_is_held"]);
        assert_eq!(named, Selection::Workspace(vec!["the_lock_is_held".to_owned()]));
        assert!(named.preparations().clients);
        assert_eq!(selected(&[]), Selection::Workspace(Vec::new()));
    }
}
