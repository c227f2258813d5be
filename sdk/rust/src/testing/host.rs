//! The scripted host: what a test has prepared, and what the tool has done.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;

use super::declared::Declared;
use super::network::{Client, Server, Service, ServiceLogic};
use super::program::{Program, ProgramLogic, Started};
use super::store::{Bucket, Values};
use super::text::Text;
use super::toolset::{ToolsLogic, Toolset};
use crate::http::{Request, Url};
use crate::{Blob, Call, Failure, Level, Permission, Progress, ToolCall};

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
    pub(super) call: RefCell<Call>,
    pub(super) directories: RefCell<HashMap<String, PathBuf>>,
    pub(super) answers: RefCell<VecDeque<Result<(), String>>>,
    pub(super) looks_left: Cell<Option<usize>>,
    pub(super) reports: RefCell<Vec<Progress>>,
    pub(super) questions: RefCell<Vec<Question>>,
    pub(super) servers: RefCell<HashMap<String, Server>>,
    pub(super) secrets: RefCell<BTreeSet<String>>,
    pub(super) hosts: RefCell<HashMap<String, BTreeSet<String>>>,
    pub(super) requests: Rc<RefCell<Vec<Request>>>,
    pub(super) stores: RefCell<HashMap<String, Values>>,
    pub(super) services: RefCell<HashMap<String, ServiceLogic>>,
    pub(super) programs: RefCell<HashMap<String, ProgramLogic>>,
    pub(super) starts: Rc<RefCell<Vec<Started>>>,
    pub(super) tools: RefCell<HashMap<String, ToolsLogic>>,
    pub(super) calls: Rc<RefCell<Vec<ToolCall>>>,
    pub(super) settings: RefCell<HashMap<String, String>>,
    pub(super) lines: RefCell<Vec<(Level, String)>>,
    pub(super) written: Rc<RefCell<Vec<u8>>>,
    pub(super) kept: RefCell<Vec<Blob>>,
    pub(super) declared: Declared,
    /// Whether a review is running.
    pub(super) reviewing: Cell<bool>,
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

    pub(crate) fn directory(&self, key: &str) -> Result<(PathBuf, Handle), Failure> {
        self.declared.check(&[Permission::Read, Permission::Write], "directory", key)?;
        match self.directories.borrow().get(key) {
            Some(path) => Ok((path.clone(), ())),
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
