//! Servers that print a line of JSON when they listen.

use serde_json::Value;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A running server. Stopped on drop.
pub(crate) struct RunningServer {
    child: Child,
    pub(crate) url: String,
}

impl RunningServer {
    /// Starts a server, and waits until it listens. Its standard error goes to a file.
    #[track_caller]
    pub(crate) fn start(mut command: Command, log: &Path) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(File::create(log).unwrap());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("{error}: {line:?} {}", std::fs::read_to_string(log).unwrap()));
        let url = said["url"].as_str().unwrap().to_owned();
        Self { child, url }
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
