//! A workspace directory for one test, and calls that use it.
#![expect(clippy::disallowed_methods, reason = "a test makes the directory that its call is granted")]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use portcullis_plugin_files::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::{Output, testing};
use tempfile::TempDir;

/// A temporary directory, removed on drop.
pub(crate) struct Folder {
    directory: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// Creates a directory with these files. A path that ends in `/` creates a directory.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        for (path, content) in files {
            folder.put(path, content.as_bytes());
        }
        folder
    }

    pub(crate) fn put(&self, path: &str, content: &[u8]) {
        let full = self.path(path);
        if path.ends_with('/') {
            fs::create_dir_all(full).unwrap();
            return;
        }
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, content).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        std::os::unix::fs::symlink(target, self.path(path)).unwrap();
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    pub(crate) fn get(&self, path: &str) -> String {
        String::from_utf8(fs::read(self.path(path)).unwrap()).unwrap()
    }

    /// Returns the content of all files that are text, by their path. Does not follow links.
    pub(crate) fn tree(&self) -> BTreeMap<String, String> {
        let mut tree = BTreeMap::new();
        let mut directories = vec![self.directory.path().to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    directories.push(entry.path());
                } else if entry.file_type().unwrap().is_file() {
                    let path = entry.path().strip_prefix(self.directory.path()).unwrap().to_str().unwrap().to_owned();
                    tree.insert(path, fs::read_to_string(entry.path()).unwrap());
                }
            }
        }
        tree
    }

    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub(crate) fn context(&self) -> testing::Context {
        testing::Context::new().directory("workspace", self.directory.path())
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Result<Answer, Failure> {
        call(tool, arguments, &self.context())
    }
}

/// The answer of a tool.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) title: String,
    pub(crate) metadata: Value,
}

pub(crate) fn call(tool: &str, arguments: Value, context: &Context) -> Result<Answer, Failure> {
    let success = testing::call(&PLUGIN, tool, arguments, context)?;
    let Output::Text(text) = success.output else { panic!("{:?} is not text", success.output) };
    Ok(Answer { text, title: success.title.unwrap(), metadata: success.metadata.unwrap() })
}
