//! What a run of a program left.

use serde_json::Value;
use std::process::Output;

/// What a run of a program left.
#[derive(Debug)]
pub struct Ran {
    /// What it ended with.
    pub code: Option<i32>,
    /// What it wrote to standard output.
    pub out: String,
    /// What it wrote to standard error.
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ran {
    /// Asserts how it ended.
    #[track_caller]
    pub fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        self
    }

    /// The one document it printed.
    #[track_caller]
    pub fn document(&self) -> Value {
        assert_eq!(self.out.matches('\n').count(), 1, "one document is one line: {}", self.out);
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}
