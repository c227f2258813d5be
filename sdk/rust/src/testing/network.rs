//! Servers and services that a test plays. They test the logic of a plugin, without a network.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use serde::Serialize;
use serde_json::Value;

use super::body::Body;
use crate::Failure;
use crate::http::{Request, Response, Url};

/// The reply of a played server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    breaks: Option<Failure>,
}

impl Reply {
    /// Creates a reply without headers and body.
    #[must_use]
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), breaks: None }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.body = bytes.into();
        self
    }

    /// Sets a JSON body and its `content-type` header.
    #[must_use]
    pub fn json(self, value: &impl Serialize) -> Self {
        let body = serde_json::to_vec(value).unwrap_or_default();
        self.header("content-type", "application/json").body(body)
    }

    /// Makes reading fail after the body. `Failure::Failed` simulates a limit of the policy, which cuts the body. Any
    /// other failure simulates a broken connection.
    #[must_use]
    pub fn breaks(mut self, failure: Failure) -> Self {
        self.breaks = Some(failure);
        self
    }
}

type Answers = dyn Fn(&Request) -> Result<Reply, Failure>;

/// The logic of a played server.
#[derive(Clone)]
pub(super) struct Server(Rc<Answers>);

impl Server {
    pub(super) fn new(logic: impl Fn(&Request) -> Result<Reply, Failure> + 'static) -> Self {
        Self(Rc::new(logic))
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a played server")
    }
}

/// A client of a played server.
#[derive(Debug)]
pub(crate) struct Client {
    server: Server,
    requests: Rc<RefCell<Vec<Request>>>,
    has_secret: bool,
    refusal: RefCell<Option<String>>,
}

impl Client {
    pub(super) fn new(server: Server, requests: Rc<RefCell<Vec<Request>>>, has_secret: bool) -> Self {
        Self { server, requests, has_secret, refusal: RefCell::default() }
    }

    pub(crate) fn has_secret(&self) -> bool {
        self.has_secret
    }

    pub(crate) fn refusal(&self) -> Option<String> {
        self.refusal.borrow().clone()
    }

    pub(crate) fn send(&self, url: &Url, request: &Request) -> Result<Response, Failure> {
        self.requests.borrow_mut().push(request.clone());
        let reply = (self.server.0)(request).inspect_err(|failure| {
            if let Failure::Denied(text) = failure {
                self.refusal.replace(Some(text.clone()));
            }
        })?;
        let Reply { status, headers, body, breaks } = reply;
        let body = Body::new(body, breaks);
        Ok(Response::new(url.clone(), status, headers, body))
    }
}

type Calls = dyn Fn(&str, Value) -> Result<Value, String>;

/// The logic of a played service.
#[derive(Clone)]
pub(super) struct ServiceLogic(Rc<Calls>);

impl ServiceLogic {
    pub(super) fn new(logic: impl Fn(&str, Value) -> Result<Value, String> + 'static) -> Self {
        Self(Rc::new(logic))
    }
}

impl fmt::Debug for ServiceLogic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a played service")
    }
}

/// A played service.
#[derive(Debug)]
pub(crate) struct Service {
    logic: ServiceLogic,
}

impl Service {
    pub(super) fn new(logic: ServiceLogic) -> Self {
        Self { logic }
    }

    pub(crate) fn call(&self, method: &str, input: &str) -> Result<String, String> {
        let input = serde_json::from_str(input).map_err(|error| error.to_string())?;
        (self.logic.0)(method, input).map(|output| output.to_string())
    }
}
