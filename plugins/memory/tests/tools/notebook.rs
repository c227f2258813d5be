//! A notebook for one test, and calls that use it.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use portcullis_plugin_memory::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::{Output, testing};

/// A notebook in memory.
pub(crate) struct Notebook {
    context: testing::Context,
}

impl Notebook {
    pub(crate) fn new() -> Self {
        Self { context: testing::Context::new().store("notes") }
    }

    /// Creates a notebook that holds at most this many bytes.
    pub(crate) fn of(bytes_max: usize) -> Self {
        Self { context: testing::Context::new().store_of("notes", bytes_max) }
    }

    pub(crate) fn with(notes: &[(&str, &str)]) -> Self {
        let notebook = Self::new();
        for (key, value) in notes {
            notebook.call("set", json!({ "key": key, "value": value })).unwrap();
        }
        notebook
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Result<Answer, Failure> {
        call(tool, arguments, &self.context)
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.context.stored("notes").into_keys().collect()
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
