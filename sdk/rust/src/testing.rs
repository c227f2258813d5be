//! A scripted host for the tests of a plugin. It is the only host of a native build.
//!
//! ```
//! # use portcullis_sdk::prelude::*;
//! # /// Counts the files.
//! # #[tool(requires(read))]
//! # fn count(context: &Context) -> Result<String, Failure> {
//! #     context.check_cancelled()?;
//! #     Ok(context.directory("workspace")?.path().display().to_string())
//! # }
//! # plugin! { name: "files", description: "Works on files.", tools: [count],
//! #     dependencies: [directory "workspace": "the files"] }
//! # fn main() {
//! use portcullis_sdk::testing::{Context, call, problems};
//!
//! assert_eq!(problems(&PLUGIN), Vec::<String>::new());
//!
//! let context = Context::new().directory("workspace", "/tmp/some-directory");
//! assert!(call(&PLUGIN, "count", json!({}), &context).is_ok());
//!
//! let context = Context::new().directory("workspace", "/tmp/some-directory").cancelled();
//! assert_eq!(call(&PLUGIN, "count", json!({}), &context), Err(Failure::Cancelled));
//! # }
//! ```

mod declared;
mod network;
mod program;
mod store;
mod text;
mod toolset;

pub use network::Reply;
pub(crate) use network::{Body, Client, Service};
pub use program::{Execution, Started};
pub(crate) use program::{InputPipe, OutputPipe, Program, Running};
pub(crate) use store::Bucket;
pub(crate) use text::Text;
pub(crate) use toolset::Toolset;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Deref;
use std::path::PathBuf;
use std::rc::Rc;

use serde_json::Value;

use crate::http::{Request, Url};
use crate::{
    Blob, Call, Directory, Failure, FileChange, Launch, Level, Permission, Plugin, Progress, Success, Verdict,
};
use crate::{CallableTool, ToolCall};
use declared::Declared;
use network::{Server, ServiceLogic};
use program::ProgramLogic;
use store::Values;
use toolset::ToolsLogic;

/// Calls a tool through the same parsing, look-up and conversions as in a guest.
///
/// Like a host, it refuses an argument that the schema does not name, and a handle whose permission the tool does not
/// declare.
///
/// # Errors
/// There is no such tool, the arguments are wrong, or the tool failed.
#[expect(clippy::needless_pass_by_value, reason = "tests write `json!({...})`")]
pub fn call(plugin: &Plugin, tool: &str, arguments: Value, context: &crate::Context) -> Result<Success, Failure> {
    let tools = plugin.manifest().tools;
    let definition = tools.iter().find(|definition| definition.name == tool);
    if let Some(definition) = definition {
        refuse_unknown(&definition.schema, &arguments)?;
    }
    context.host().declared.set(definition);
    let answer = plugin.execute(tool, &arguments.to_string(), context);
    context.host().declared.set(None);
    answer
}

/// Lets the plugin review a call, as a host does before the call runs. The review can read stores, but not change them.
#[must_use]
#[expect(clippy::needless_pass_by_value, reason = "tests write `json!({...})`")]
pub fn review(plugin: &Plugin, tool: &str, arguments: Value, context: &crate::Context) -> Verdict {
    context.host().reviewing.set(true);
    let verdict = plugin.review(tool, &arguments.to_string(), context.host());
    context.host().reviewing.set(false);
    verdict
}

/// Lets the plugin compute what a call would change, as a host does before it requests approval.
///
/// # Errors
/// The plugin cannot compute it.
#[expect(clippy::needless_pass_by_value, reason = "tests write `json!({...})`")]
pub fn preview(
    plugin: &Plugin,
    tool: &str,
    arguments: Value,
    context: &crate::Context,
) -> Result<Vec<FileChange>, Failure> {
    plugin.preview(tool, &arguments.to_string(), context)
}

/// Returns the reasons for which a host would refuse the plugin, beyond what the compiler has checked.
#[must_use]
pub fn problems(plugin: &Plugin) -> Vec<String> {
    let manifest = plugin.manifest();
    let mut problems = Vec::new();
    for (name, text) in std::iter::once((manifest.name, manifest.description))
        .chain(manifest.tools.iter().map(|tool| (tool.name, tool.description)))
    {
        if text.trim().is_empty() {
            problems.push(format!("`{name}` has no description"));
        }
        if text.chars().any(|character| character.is_control() && character != '\n') {
            problems.push(format!("the description of `{name}` has control characters"));
        }
    }
    problems
}

fn refuse_unknown(schema: &Value, arguments: &Value) -> Result<(), Failure> {
    let Some(arguments) = arguments.as_object() else { return Ok(()) };
    let closed = schema["additionalProperties"] == Value::Bool(false);
    match arguments.keys().find(|name| closed && schema["properties"].get(name).is_none()) {
        Some(name) => Err(Failure::invalid(format!("unknown argument `{name}`"))),
        None => Ok(()),
    }
}

/// A call with a scripted host. Pass it wherever a `&portcullis_sdk::Context` is expected.
///
/// By default nothing is granted: no directory, client, store, service, program, tool or setting. Every question is
/// denied. A store keeps its values between calls with the same context.
#[derive(Debug)]
pub struct Context {
    context: crate::Context,
}

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for Context {
    type Target = crate::Context;

    fn deref(&self) -> &crate::Context {
        &self.context
    }
}

impl Context {
    /// Creates a call by a default caller, with nothing granted.
    #[must_use]
    pub fn new() -> Self {
        Self { context: crate::Context::new(Host::default()) }
    }

    /// Grants a directory. The key then refers to this path instead of `/<key>`.
    #[must_use]
    pub fn directory(self, key: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        self.script().directories.borrow_mut().insert(key.into(), path.into());
        self
    }

    /// Grants an HTTP client, and plays the server. The function gets each request, with its URL in normalized form,
    /// and returns a reply or a failure. Set the hosts that the policy names with [`Context::names_host`].
    #[must_use]
    pub fn plays_server(
        self,
        key: impl Into<String>,
        server: impl Fn(&Request) -> Result<Reply, Failure> + 'static,
    ) -> Self {
        self.script().servers.borrow_mut().insert(key.into(), Server::new(server));
        self
    }

    /// Gives the client of a key a secret.
    #[must_use]
    pub fn secret(self, key: impl Into<String>) -> Self {
        self.script().secrets.borrow_mut().insert(key.into());
        self
    }

    /// Binds an HTTP key to a host, for a review that checks whether the policy names it.
    #[must_use]
    pub fn names_host(self, key: impl Into<String>, host: impl Into<String>) -> Self {
        self.script().hosts.borrow_mut().entry(key.into()).or_default().insert(host.into());
        self
    }

    /// Grants an empty store without a quota.
    #[must_use]
    pub fn store(self, key: impl Into<String>) -> Self {
        self.store_of(key, usize::MAX)
    }

    /// Grants an empty store with a quota in bytes, for keys and values together.
    #[must_use]
    pub fn store_of(self, key: impl Into<String>, bytes_max: usize) -> Self {
        self.script().stores.borrow_mut().insert(key.into(), Values::new(bytes_max));
        self
    }

    /// Grants a service, and plays it. The function gets the method and the input, and returns the output or an error.
    #[must_use]
    pub fn plays_service(
        self,
        key: impl Into<String>,
        service: impl Fn(&str, Value) -> Result<Value, String> + 'static,
    ) -> Self {
        self.script().services.borrow_mut().insert(key.into(), ServiceLogic::new(service));
        self
    }

    /// Grants a program, and plays it. The function gets each launch, and returns the run or the error of the start.
    #[must_use]
    pub fn plays_program(
        self,
        key: impl Into<String>,
        program: impl Fn(&Launch) -> Result<Execution, String> + 'static,
    ) -> Self {
        self.script().programs.borrow_mut().insert(key.into(), ProgramLogic::new(program));
        self
    }

    /// Grants tools of other plugins without definitions, and plays them. The function gets each call.
    #[must_use]
    pub fn plays_tools(
        self,
        key: impl Into<String>,
        tools: impl Fn(&ToolCall) -> Result<Success, Failure> + 'static,
    ) -> Self {
        self.plays_defined_tools(key, Vec::new(), tools)
    }

    /// Grants tools of other plugins with these definitions, and plays them. The function gets each call.
    #[must_use]
    pub fn plays_defined_tools(
        self,
        key: impl Into<String>,
        definitions: Vec<CallableTool>,
        tools: impl Fn(&ToolCall) -> Result<Success, Failure> + 'static,
    ) -> Self {
        self.script().tools.borrow_mut().insert(key.into(), ToolsLogic::new(definitions, tools));
        self
    }

    /// Sets a setting of the policy's `config`.
    #[must_use]
    pub fn setting(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.script().settings.borrow_mut().insert(key.into(), value.into());
        self
    }

    /// Answers the next question without an answer: `Ok(())` to allow, or `Err` with the reason to deny.
    #[must_use]
    pub fn answer(self, answer: Result<(), &str>) -> Self {
        self.script().answers.borrow_mut().push_back(answer.map_err(str::to_owned));
        self
    }

    /// Cancels the call from the start.
    #[must_use]
    pub fn cancelled(self) -> Self {
        self.cancelled_after(0)
    }

    /// Cancels the call after the tool has checked for cancellation this many times.
    #[must_use]
    pub fn cancelled_after(self, looks: usize) -> Self {
        self.script().looks_left.set(Some(looks));
        self
    }

    /// Sets the caller.
    #[must_use]
    pub fn called_by(self, call: Call) -> Self {
        self.script().call.replace(call);
        self
    }

    /// Returns the progress that the tool has reported.
    #[must_use]
    pub fn reported(&self) -> Vec<Progress> {
        self.script().reports.borrow().clone()
    }

    /// Returns the questions that the tool has asked.
    #[must_use]
    pub fn asked(&self) -> Vec<Question> {
        self.script().questions.borrow().clone()
    }

    /// Returns all requests that the tool has sent, successful or not.
    #[must_use]
    pub fn sent(&self) -> Vec<Request> {
        self.script().requests.borrow().clone()
    }

    /// Returns the starts of programs, in their order.
    #[must_use]
    pub fn started(&self) -> Vec<Started> {
        self.script().starts.borrow().clone()
    }

    /// Returns the calls of other tools, in their order.
    #[must_use]
    pub fn called(&self) -> Vec<ToolCall> {
        self.script().calls.borrow().clone()
    }

    /// Returns the content of the store of a key.
    #[must_use]
    pub fn stored(&self, key: &str) -> BTreeMap<String, Vec<u8>> {
        self.script().stores.borrow().get(key).map(Values::all).unwrap_or_default()
    }

    /// Returns the lines that the tool has logged.
    #[must_use]
    pub fn logged(&self) -> Vec<(Level, String)> {
        self.script().lines.borrow().clone()
    }

    /// Returns the text that the tool has written with a [`Writer`](crate::Writer).
    #[must_use]
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.script().written.borrow()).into_owned()
    }

    /// Returns the files that the tool has kept.
    #[must_use]
    pub fn kept(&self) -> Vec<Blob> {
        self.script().kept.borrow().clone()
    }

    fn script(&self) -> &Host {
        self.context.host()
    }
}

/// A question that a tool asked during a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The permission.
    pub permission: Permission,
    /// The resource.
    pub resource: String,
    /// The reason.
    pub reason: String,
    /// What a remembered approval may cover, as the tool proposed.
    pub patterns: Vec<String>,
}

/// The handle of a directory: a native directory has none.
pub(crate) type Handle = ();

#[derive(Debug)]
pub(crate) struct Host {
    call: RefCell<Call>,
    directories: RefCell<HashMap<String, PathBuf>>,
    answers: RefCell<VecDeque<Result<(), String>>>,
    looks_left: Cell<Option<usize>>,
    reports: RefCell<Vec<Progress>>,
    questions: RefCell<Vec<Question>>,
    servers: RefCell<HashMap<String, Server>>,
    secrets: RefCell<BTreeSet<String>>,
    hosts: RefCell<HashMap<String, BTreeSet<String>>>,
    requests: Rc<RefCell<Vec<Request>>>,
    stores: RefCell<HashMap<String, Values>>,
    services: RefCell<HashMap<String, ServiceLogic>>,
    programs: RefCell<HashMap<String, ProgramLogic>>,
    starts: Rc<RefCell<Vec<Started>>>,
    tools: RefCell<HashMap<String, ToolsLogic>>,
    calls: Rc<RefCell<Vec<ToolCall>>>,
    settings: RefCell<HashMap<String, String>>,
    lines: RefCell<Vec<(Level, String)>>,
    written: Rc<RefCell<Vec<u8>>>,
    kept: RefCell<Vec<Blob>>,
    declared: Declared,
    /// Whether a review is running.
    reviewing: Cell<bool>,
}

impl Default for Host {
    fn default() -> Self {
        let call = Call { id: "call-1".to_owned(), session: "session-1".to_owned(), message: None, agent: None };
        Self {
            call: RefCell::new(call),
            directories: RefCell::default(),
            answers: RefCell::default(),
            looks_left: Cell::default(),
            reports: RefCell::default(),
            questions: RefCell::default(),
            servers: RefCell::default(),
            secrets: RefCell::default(),
            hosts: RefCell::default(),
            requests: Rc::default(),
            stores: RefCell::default(),
            services: RefCell::default(),
            programs: RefCell::default(),
            starts: Rc::default(),
            tools: RefCell::default(),
            calls: Rc::default(),
            settings: RefCell::default(),
            lines: RefCell::default(),
            written: Rc::default(),
            kept: RefCell::default(),
            declared: Declared::default(),
            reviewing: Cell::default(),
        }
    }
}

impl Host {
    pub(crate) fn call(&self) -> Call {
        self.call.borrow().clone()
    }

    pub(crate) fn report(&self, progress: Progress) {
        self.reports.borrow_mut().push(progress);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        match self.looks_left.get() {
            None => false,
            Some(0) => true,
            Some(looks) => {
                self.looks_left.set(Some(looks - 1));
                false
            }
        }
    }

    pub(crate) fn ask(&self, permission: Permission, resource: &str, reason: &str) -> Result<(), String> {
        self.ask_with_patterns(permission, resource, reason, &[])
    }

    pub(crate) fn ask_with_patterns(
        &self,
        permission: Permission,
        resource: &str,
        reason: &str,
        patterns: &[&str],
    ) -> Result<(), String> {
        let patterns = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let question = Question { permission, resource: resource.to_owned(), reason: reason.to_owned(), patterns };
        self.questions.borrow_mut().push(question);
        self.answers.borrow_mut().pop_front().unwrap_or_else(|| Err("the test has no answer to this".to_owned()))
    }

    pub(crate) fn keep(&self, file: Blob) -> Result<(), String> {
        self.kept.borrow_mut().push(file);
        Ok(())
    }

    pub(crate) fn setting(&self, key: &str) -> Option<String> {
        self.settings.borrow().get(key).cloned()
    }

    pub(crate) fn log(&self, level: Level, message: &str) {
        self.lines.borrow_mut().push((level, message.to_owned()));
    }

    pub(crate) fn directory(&self, key: &str) -> Result<Directory, Failure> {
        self.declared.check(&[Permission::Read, Permission::Write], "directory", key)?;
        match self.directories.borrow().get(key) {
            Some(path) => Ok(Directory::new(path, ())),
            None => Err(not_granted("directory", key)),
        }
    }

    pub(crate) fn client(&self, key: &str) -> Result<Client, Failure> {
        self.declared.check(&[Permission::Network], "HTTP client", key)?;
        let server = self.servers.borrow().get(key).cloned().ok_or_else(|| not_granted("HTTP client", key))?;
        Ok(Client::new(server, Rc::clone(&self.requests), self.secrets.borrow().contains(key)))
    }

    pub(crate) fn store(&self, key: &str) -> Result<Bucket, Failure> {
        let values = self.stores.borrow().get(key).cloned().ok_or_else(|| not_granted("store", key))?;
        let refusal = if self.reviewing.get() {
            Some("the store is read-only while a call is reviewed")
        } else if self.declared.only_reads() {
            Some("the store is read-only for this tool: it declares `read` and not `write`")
        } else {
            None
        };
        Ok(Bucket::new(values, refusal))
    }

    pub(crate) fn service(&self, key: &str) -> Result<Service, Failure> {
        let logic = self.services.borrow().get(key).cloned().ok_or_else(|| not_granted("service", key))?;
        Ok(Service::new(logic))
    }

    pub(crate) fn program(&self, key: &str) -> Result<Program, Failure> {
        self.declared.check(&[Permission::Execute], "program", key)?;
        let logic = self.programs.borrow().get(key).cloned().ok_or_else(|| not_granted("program", key))?;
        Ok(Program::new(key, logic, Rc::clone(&self.starts)))
    }

    pub(crate) fn tools(&self, key: &str) -> Result<Toolset, Failure> {
        let logic = self.tools.borrow().get(key).cloned().ok_or_else(|| not_granted("set of tools", key))?;
        Ok(Toolset::new(logic, Rc::clone(&self.calls)))
    }

    #[expect(clippy::unnecessary_wraps, reason = "a host may have no answer to write")]
    pub(crate) fn text(&self) -> Result<Text, Failure> {
        Ok(Text::new(Rc::clone(&self.written)))
    }

    pub(crate) fn names_host(&self, key: &str, url: &str) -> Result<bool, Failure> {
        let hosts = self.hosts.borrow();
        let hosts = hosts.get(key).ok_or_else(|| not_granted("HTTP client", key))?;
        Ok(Url::parse(url).is_ok_and(|url| hosts.contains(url.host())))
    }
}

fn not_granted(kind: &str, key: &str) -> Failure {
    Failure::denied(format!("the policy grants no {kind} `{key}` to this tool"))
}
