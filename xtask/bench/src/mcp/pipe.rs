//! A client over pipes that only writes and reads lines, so that its own cost is the same for every server.

use crate::process_memory::ProcessMemory;
use anyhow::{Context, Result, bail, ensure};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes that are read at once: the capacity of a pipe.
const READ_BYTES: usize = 64 * 1024;

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
        let output = BufReader::with_capacity(READ_BYTES, child.stdout.take().context("no output")?);
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
    pub(crate) fn call(&mut self, tool: &str, arguments: &str, answer: &str) -> Result<()> {
        let params = format!("{{\"name\":\"{tool}\",\"arguments\":{arguments}{}}}", self.era.meta());
        self.request("tools/call", &params)?;
        ensure!(self.line.contains(answer), "unexpected response: {}", self.line);
        Ok(())
    }

    /// Makes calls with this many in flight until all are answered. Returns the time that they took.
    pub(super) fn calls_in_flight(
        &mut self,
        tool: &str,
        arguments: &str,
        (calls, in_flight): (usize, usize),
    ) -> Result<Duration> {
        let params = format!("{{\"name\":\"{tool}\",\"arguments\":{arguments}{}}}", self.era.meta());
        let (began, mut sent, mut answered) = (Instant::now(), 0, 0);
        while answered < calls {
            // All that fit in one write, and then all responses that one read brings.
            let mut lines = String::new();
            while sent < calls && sent - answered < in_flight {
                self.id += 1;
                writeln!(
                    lines,
                    "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/call\",\"params\":{params}}}",
                    self.id
                )?;
                sent += 1;
            }
            self.write(&lines)?;
            loop {
                self.line.clear();
                ensure!(self.output.read_line(&mut self.line)? > 0, "the server closed its output");
                ensure!(self.line.contains("\"result\":{"), "refused: {}", self.line);
                answered += 1;
                if !self.output.buffer().contains(&b'\n') {
                    break;
                }
            }
        }
        Ok(began.elapsed())
    }

    /// Returns the memory of the server.
    pub(crate) fn memory(&self) -> Result<ProcessMemory> {
        ProcessMemory::of(self.child.id())
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
