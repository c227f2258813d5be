//! A client that writes and reads raw lines, well-formed or not, and a site for the program.

use portcullis_tests::{BlockOn, Manifest, Site, built_guest, guest, program};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use std::{fs, thread};

/// Timeout of every wait. It only makes a test fail; nothing else depends on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Allows everything, and lets the clerk write notes.
pub(crate) const OPEN: &str = "[approvals]\nrepeats = 1000000\n\
    [plugin.clerk]\ndirectory.desk = { path = \"desk\", access = \"read-write\" }\n\
    [[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// The protocol era of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Starts with a handshake.
    Legacy,
    /// Has no handshake. Every request carries the client's details.
    Modern,
}

/// Both eras.
pub(crate) const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// A site with the clerk plugin, whose notes show how often it ran.
pub(crate) struct Desk {
    pub(crate) site: Site,
}

impl Desk {
    /// Makes a site with this policy.
    pub(crate) fn new(policy: &str) -> Self {
        let desk = Self::bare(policy);
        desk.site.warm();
        desk
    }

    fn bare(policy: &str) -> Self {
        let site = Site::new();
        site.plugin("clerk", &built_guest("clerk"));
        for name in ["loop-in-execute", "long-text", "trap-on-demand"] {
            site.plugin(name, &guest(name, &Manifest::of(name)));
        }
        site.directory("desk");
        fs::write(site.path("portcullis.toml"), policy).unwrap();
        Self { site }
    }

    /// Returns the command of the program with an otherwise empty environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(program());
        command.current_dir(self.site.path("")).env_clear().env("HOME", self.site.path("home"));
        command.env("PORTCULLIS_STATE", self.site.state()).env("PORTCULLIS_POLICY", "portcullis.toml");
        command.stdin(Stdio::null());
        command
    }

    /// Returns the clerk's notes in order.
    pub(crate) fn notes(&self) -> Vec<String> {
        let notes = fs::read_to_string(self.site.path("desk/notes.txt")).unwrap_or_default();
        notes.lines().map(str::to_owned).collect()
    }

    /// Returns the audit entries, merged into one value per call, in the order in which the calls ended. No other
    /// process may hold the state.
    pub(crate) fn calls(&self) -> Vec<Value> {
        let audit = portcullis::open_audit(&self.site.state()).block_on().unwrap();
        let (mut calls, mut ended) = (BTreeMap::<String, Value>::new(), Vec::new());
        let verified = audit
            .read(|entry| {
                let Some(id) = entry.document["call"].as_str().map(str::to_owned) else { return Ok(()) };
                if entry.document["kind"] == "outcome" {
                    ended.push(id.clone());
                }
                let call = calls.entry(id).or_insert_with(|| json!({}));
                call.as_object_mut().unwrap().extend(entry.document.as_object().unwrap().clone());
                Ok(())
            })
            .block_on();
        assert_eq!(verified.unwrap().fault, None);
        ended.iter().map(|id| calls[id].clone()).collect()
    }

    /// Starts the program and a client that has sent the first requests of its era.
    pub(crate) fn client(&self, era: Era) -> Wire {
        self.client_with(era, &[])
    }

    /// Does the same with more arguments.
    pub(crate) fn client_with(&self, era: Era, arguments: &[&str]) -> Wire {
        let mut wire = self.stranger(era, arguments);
        if era == Era::Legacy {
            wire.shake_hands("2025-11-25");
        }
        wire
    }

    /// Starts the program and a client with this name.
    pub(crate) fn client_named(&self, era: Era, name: &'static str) -> Wire {
        let mut wire = self.stranger(era, &[]);
        wire.name = name;
        if era == Era::Legacy {
            wire.shake_hands("2025-11-25");
        }
        wire
    }

    /// Starts the program and a client that has sent nothing yet.
    pub(crate) fn stranger(&self, era: Era, arguments: &[&str]) -> Wire {
        self.told(era, arguments, Stdio::null())
    }

    /// Does the same, and redirects the program's notes to this file of the site.
    pub(crate) fn noting(&self, era: Era, arguments: &[&str], notes: &str) -> Wire {
        self.told(era, arguments, File::create(self.site.path(notes)).unwrap().into())
    }

    /// Does the same, and passes the notes on to `notes`.
    pub(crate) fn told(&self, era: Era, arguments: &[&str], notes: Stdio) -> Wire {
        let mut command = self.command();
        command.args(["serve", "--stdio"]).args(arguments).stderr(notes);
        Wire::start(command, era)
    }
}

/// A client over the pipes of a program.
pub(crate) struct Wire {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Messages that arrived while the client waited for another one.
    heard: VecDeque<Value>,
    next: i64,
    era: Era,
    /// The name that the client gives itself.
    name: &'static str,
}

impl Wire {
    /// Starts this command, which must serve pipes.
    pub(crate) fn start(mut command: Command, era: Era) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, heard: VecDeque::new(), next: 1, era, name: "wire" }
    }

    /// Does the handshake with this version. Returns the response.
    pub(crate) fn shake_hands(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": { "name": self.name, "version": "1" },
        });
        let answer = self.ask_raw("initialize", &params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    /// Sends bytes unchanged, and a line end.
    pub(crate) fn raw(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        // One write. A server may act on what it has before it reads the rest.
        input.write_all(&[line.as_ref(), b"\n"].concat()).unwrap();
        input.flush().unwrap();
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &Value) {
        self.raw(message.to_string());
    }

    /// Adds what every request of the era must carry to the parameters.
    pub(crate) fn with_meta(&self, mut params: Value) -> Value {
        if self.era == Era::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
            meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": self.name, "version": "1" });
        }
        params
    }

    /// Sends a request. Returns its ID.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> i64 {
        let params = self.with_meta(params);
        self.request_raw(method, &params)
    }

    fn request_raw(&mut self, method: &str, params: &Value) -> i64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Returns the complete response to a request. Earlier messages are kept.
    pub(crate) fn answer(&mut self, id: &Value) -> Value {
        let is_it = |message: &Value| message["id"] == *id && message.get("method").is_none();
        self.take_first(is_it)
    }

    /// Returns the first received message that matches, and keeps the others.
    pub(crate) fn take_first(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(&wanted) {
            return self.heard.remove(at).unwrap();
        }
        loop {
            let message = self.hear().expect("the program closed its output");
            if wanted(&message) {
                return message;
            }
            self.heard.push_back(message);
        }
    }

    /// Returns the next message, or `None` if the program closed its output. A line that is not a message fails the
    /// test.
    fn hear(&self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
                assert_eq!(message["jsonrpc"], "2.0", "{line}");
                Some(message)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the program sends no message"),
        }
    }

    fn ask_raw(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request_raw(method, params);
        self.answer(&json!(id))
    }

    /// Sends a request and returns the complete response.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let params = self.with_meta(params);
        self.ask_raw(method, &params)
    }

    /// Sends a request that must succeed. Returns its result.
    #[track_caller]
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Sends a request that must fail. Returns its error code.
    #[track_caller]
    pub(crate) fn error(&mut self, method: &str, params: Value) -> i64 {
        let answer = self.ask(method, params);
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{answer}"))
    }

    /// Calls a tool. Returns its result.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "a test writes its arguments where it makes the call")]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Returns the notifications received so far, after the program has handled all messages sent.
    pub(crate) fn notifications(&mut self, method: &str) -> Vec<Value> {
        self.ask("tools/list", json!({}));
        self.heard_already(method)
    }

    /// Returns the notifications received while the client waited for another message.
    pub(crate) fn heard_already(&mut self, method: &str) -> Vec<Value> {
        let (wanted, others): (Vec<Value>, Vec<Value>) =
            self.heard.drain(..).partition(|message| message["method"] == method);
        self.heard = others.into();
        wanted
    }

    /// Returns the messages that answer no request, after the program has handled all messages sent.
    pub(crate) fn unasked(&mut self) -> Vec<Value> {
        self.ask("tools/list", json!({}));
        self.heard.drain(..).collect()
    }

    /// Closes this end, reads the remaining messages, and waits for the program to exit.
    pub(crate) fn close(mut self) -> (ExitStatus, Vec<Value>) {
        drop(self.input.take());
        self.until_its_end()
    }

    /// Reads the remaining messages, and waits for the program to exit.
    pub(crate) fn until_its_end(mut self) -> (ExitStatus, Vec<Value>) {
        let mut said: Vec<Value> = self.heard.drain(..).collect();
        while let Some(message) = self.hear() {
            said.push(message);
        }
        (self.child.wait().unwrap(), said)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // The program may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the text of a result's first block.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}
