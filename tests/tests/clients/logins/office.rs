//! A server that needs a login, its real authorization server, and a site whose policy names the server.

use super::user;
use crate::office::installed;
use portcullis::logins::{LoginStatus, ServerLoginError};
use portcullis::text::WithCauses;
use portcullis::{Host, Reply, Request};
use portcullis_tests::Site;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The rule that allows every call.
const ALLOW: &str = "[approvals]\nrepeats = 1000000\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// The address to which the browser returns.
pub(crate) const REDIRECT: &str = "http://127.0.0.1:7/callback";

/// A server that needs a login. Its processes end when this is dropped.
pub(crate) struct LoginOffice {
    pub(crate) site: Site,
    child: Child,
    pub(crate) mcp: String,
    pub(crate) issuer: String,
    pub(crate) other: String,
}

impl LoginOffice {
    /// Starts the servers in a mode. `host/upstream/tests/authorized/attacks.mjs` describes the modes.
    pub(crate) fn new(mode: &str) -> Self {
        portcullis::init();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/upstream/tests/authorized.mjs");
        let mut command = Command::new(installed("PORTCULLIS_TEST_NODE"));
        command.arg(script).arg(mode).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let [mcp, issuer, other] = ["mcp", "issuer", "other"].map(|name| told[name].as_str().unwrap().to_owned());
        Self { site: Site::new(), child, mcp, issuer, other }
    }

    pub(crate) fn policy(&self) -> String {
        format!("[server.desk]\nurl = {:?}\noauth = true\n{ALLOW}", self.mcp)
    }

    pub(crate) async fn open(&self) -> Host {
        self.site.open(&self.policy()).await
    }

    /// Logs in as the user who agrees to everything.
    pub(crate) async fn log_in(&self, host: &Host) -> Result<LoginStatus, String> {
        let desk = "desk".parse().unwrap();
        let offer = host.offer_login(&desk, REDIRECT.to_owned()).await.map_err(|error| text(&error))?;
        let login = offer.begin().await.map_err(|error| text(&error))?;
        let returned = user::agree(login.page(), REDIRECT).await;
        if !login.is_answered_by(&returned) {
            return Err("the answer is of another login".to_owned());
        }
        login.finish(&returned).await.map_err(|error: ServerLoginError| text(&error))
    }

    /// Opens a host that is logged in, and has listed the tools.
    pub(crate) async fn logged_in(&self) -> Host {
        let host = self.open().await;
        self.log_in(&host).await.unwrap();
        host.reload().await.unwrap();
        host
    }

    /// Tells the servers to do something.
    pub(crate) async fn control(&self, what: &str) {
        user::request("POST", format!("{}/control/{what}", self.origin())).await;
    }

    /// Returns what the servers have seen.
    pub(crate) async fn seen(&self) -> Value {
        let seen = user::request("GET", format!("{}/control/seen", self.origin())).await;
        let start = seen.find('{').unwrap();
        let end = seen.rfind('}').unwrap();
        serde_json::from_str(&seen[start..=end]).unwrap()
    }

    fn origin(&self) -> &str {
        self.mcp.strip_suffix("/mcp").unwrap()
    }
}

impl Drop for LoginOffice {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns an error with its causes.
pub(crate) fn text(error: &(dyn std::error::Error + 'static)) -> String {
    WithCauses(error).to_string()
}

pub(crate) async fn whoami(host: &Host) -> Reply {
    host.call(Request::new("desk.whoami", json!({}).to_string())).await
}

/// Returns why the server cannot be used.
pub(crate) fn refusal(host: &Host) -> String {
    let catalog = host.catalog();
    let about = catalog.refused().iter().filter(|refused| refused.file == "server.desk");
    about.map(|refused| text(&*refused.error)).collect::<Vec<_>>().join("\n")
}
