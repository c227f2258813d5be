//! A client over pipes that only writes and reads lines, so that its own cost is the same for every server.

use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The protocol era of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Starts with a handshake.
    Legacy,
    /// Repeats the client's details in each request.
    Modern,
}

/// The `_meta` member of a modern request.
pub(super) const META: &str = concat!(
    r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{},"#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"0"}}"#
);

impl Era {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }

    fn meta(self) -> &'static str {
        match self {
            Self::Legacy => "",
            Self::Modern => META,
        }
    }
}

/// A server and the pipes to it.
pub(crate) struct Pipe {
    child: Child,
    /// Taken to make the server exit.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    era: Era,
    id: u64,
    line: String,
}

impl Pipe {
    /// Starts a server and sends the first request of the era.
    pub(crate) fn begin(mut command: Command, era: Era) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = Some(child.stdin.take().context("no input")?);
        let output = BufReader::new(child.stdout.take().context("no output")?);
        let mut pipe = Self { child, input, output, era, id: 0, line: String::new() };
        match era {
            Era::Legacy => {
                let hello =
                    r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}"#;
                pipe.request("initialize", hello)?;
                pipe.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
            }
            Era::Modern => {
                let hello = format!("{{{}}}", META.trim_start_matches(','));
                pipe.request("server/discover", &hello)?;
            }
        }
        Ok(pipe)
    }

    /// Calls a tool, and checks that the response contains `answer`.
    pub(super) fn call(&mut self, tool: &str, arguments: &str, answer: &str) -> Result<()> {
        let params = format!("{{\"name\":\"{tool}\",\"arguments\":{arguments}{}}}", self.era.meta());
        self.request("tools/call", &params)?;
        ensure!(self.line.contains(answer), "unexpected response: {}", self.line);
        Ok(())
    }

    /// Sends a request, and reads lines up to its response.
    fn request(&mut self, method: &str, params: &str) -> Result<()> {
        self.id += 1;
        let id = self.id;
        self.write(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n"))?;
        let answers = format!("\"id\":{id}");
        loop {
            self.line.clear();
            if self.output.read_line(&mut self.line)? == 0 {
                bail!("the server closed its output");
            }
            // Notifications may arrive before the response.
            if self.line.contains(&answers) {
                ensure!(!self.line.contains("\"error\":{"), "refused: {}", self.line);
                return Ok(());
            }
        }
    }

    fn write(&mut self, line: &str) -> Result<()> {
        Ok(self.input.as_mut().context("no input")?.write_all(line.as_bytes())?)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // The server exits when its input closes.
        self.input.take();
        let _ = self.child.wait();
    }
}
