//! A call with a scripted host, as a test builds it.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;

use serde_json::Value;

use super::host::{Host, Question};
use super::network::{Reply, Server, ServiceLogic};
use super::program::{Execution, ProgramLogic, Started};
use super::store::Values;
use super::toolset::ToolsLogic;
use crate::http::Request;
use crate::{Blob, Call, CallableTool, Failure, Launch, Level, Progress, Success, ToolCall};

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
